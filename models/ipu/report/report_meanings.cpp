#include "models/ipu/report/report_meanings.hpp"

namespace podsim::ipu {
namespace {

void add(std::vector<ReportedMeaning>& all, const std::string& above, std::vector<ReportedMeaning> below) {
  for (ReportedMeaning& meaning : below) {
    meaning.name = meaning.name.empty() ? above : above + "." + meaning.name;
    all.push_back(std::move(meaning));
  }
}

void add_categories(std::vector<ReportedMeaning>& all) {
  add(all, "devices.memories.categories",
      {{"variables:_weights", "Parameters of the blocks placed on the IPU.", "parameters x bytes of their format"},
       {"variables:_gradient_accumulators", "Sums of gradients over the micro-batches of an update.",
        "parameters x bytes of the gradient"},
       {"variables:_optimizer_state", "Moments of the optimizer that stay on the chip.",
        "0 where ipu.optimizer_state_offchip keeps them in Streaming Memory"},
       {"variables:_automatic_loss_scaling", "Histograms of gradients, with ipu.auto_loss_scaling.", ""},
       {"variables:_activation_stash", "What a stage keeps of each micro-batch between its forward and its backward.",
        "bytes a micro-batch x (2 x (stages behind it) + 1)"},
       {"variables:_activations", "Live activations of the block that runs.", ""},
       {"variables:_temporaries", "Rearranged operands and partial sums of one product, at most the matmul_proportion.",
        "the largest over the operators of the IPU"},
       {"vertex_code,_vertex_instance_state,_control_code,_internal_exchange_code", "The program itself.",
        "a fitted sum over the kinds of operator, see models/ipu/facts.md"},
       {"host_exchange_code", "Code that copies from and to the host.", ""},
       {"global_exchange_code", "Code that copies between IPUs.", ""},
       {"remote_buffers:_optimizer_state", "Moments of the optimizer in Streaming Memory.",
        "parameters x bytes of both moments / replicas where it is sharded"}});
}

void add_stages(std::vector<ReportedMeaning>& all) {
  add(all, "tables.stages",
      {{"", "A row per forward stage of the pipeline.", ""},
       {"stage", "Number of the forward stage, from 0.", ""},
       {"ipu", "IPU of the replica that it runs on.", ""},
       {"attention_blocks", "Attention halves of layers in it.", ""},
       {"feed_forward_blocks", "Feed-forward halves of layers in it.", ""},
       {"forward_s", "Its forward pass of one micro-batch.", "sum over its operators"},
       {"recompute_s", "The forward pass that is run again before the backward pass.", "sum over its operators"},
       {"backward_s", "Its backward pass of one micro-batch.", "sum over its operators"}});
}

void add_parts(std::vector<ReportedMeaning>& all) {
  for (const char* table : {"tables.step", "tables.host_call", "tables.token"}) {
    add(all, table,
        {{"", "The run from its begin to its end, part by part; the times add up to it.", ""},
         {"part", "What happens: fill, full cycles, drain, reduction, optimizer, …", ""},
         {"time_s", "How long it takes.", ""},
         {"fill", "Cycles in which later stages have no work yet.", "stages - 1 cycles"},
         {"full_cycles", "Cycles in which every stage works.", ""},
         {"drain", "Cycles in which earlier stages have no work left.", "stages - 1 cycles"},
         {"gradient_all-reduce", "Replicas sum their gradients.", "2 (replicas - 1) steps of a ring"},
         {"gradient_reduce-scatter", "Replicas sum their gradients, each keeps a share.", "replicas - 1 steps"},
         {"weight_all-gather", "Replicas hand each other their shares of the new weights.", "replicas - 1 steps"},
         {"optimizer_state_load", "Moments come from Streaming Memory.", ""},
         {"optimizer", "The new weights are computed.", ""},
         {"optimizer_state_store", "Moments go back there.", ""},
         {"update_turn-around", "Fixed time around an update.", ""}});
  }
  add(all, "tables.IPUs",
      {{"", "What training leaves of the system for an evaluation beside it.", ""},
       {"held_by_training", "IPUs that the training holds.", "replicas x IPUs of a replica, to a power of two"},
       {"left", "The other IPUs of the system.", ""},
       {"needed_to_evaluate_beside_it", "IPUs that an evaluation attaches for itself.", ""},
       {"note", "What to do where too few are left.", ""}});
}

void add_inference(std::vector<ReportedMeaning>& all) {
  add(all, "tables.results_per_call",
      {{"", "What a host call returns, by output mode.", ""},
       {"output_mode", "As ipu.output_mode.", ""},
       {"this_run", "Whether the run uses it.", ""},
       {"results", "Results that the host gets.", ""},
       {"result_bytes", "Bytes of one result.", ""},
       {"bytes", "Bytes of all.", "results x result_bytes"}});
  add(all, "tables.inference_execution",
      {{"", "Sharded and pipelined execution side by side; the one not run is given by its formula.", ""},
       {"execution", "Which of the two.", ""},
       {"this_run", "Whether the run uses it.", ""},
       {"call_s", "Time of a host call.", ""},
       {"samples_per_s", "Samples per second.", "samples of a call / call_s"},
       {"request_s", "From a request to its result.", ""},
       {"note", "Why one of them is not offered or refused.", ""}});
}

}  // namespace

std::vector<ReportedMeaning> report_meanings() {
  std::vector<ReportedMeaning> all;
  add_categories(all);
  add_stages(all);
  add_parts(all);
  add_inference(all);
  return all;
}

}  // namespace podsim::ipu
