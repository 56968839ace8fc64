// How the batch, the model and its copies are laid out.

#include "models/rdu/command/flag_builder.hpp"
#include "models/rdu/command/flag_tables.hpp"

namespace podsim::rdu {
namespace {

using Builder = FlagBuilder;
using enum KeyType;

void add_batch(std::vector<FlagSpec>& table) {
  table.push_back(Builder("inference", boolean, {"--inference"}, "forward graph only; needed at compile and at run")
                      .source(k_argument_reference)
                      .by_default("false")
                      .effects("no backward, gradient norm and optimizer sections", "no gradients, no optimizer state")
                      .zoo({"samba_compile.inference"})
                      .done());
  table.push_back(
      Builder("batch-size", integer, {"-b", "--batch-size"}, "samples per step of one copy; fixed in the PEF")
          .source(k_argument_reference)
          .by_default("1")
          .range(1)
          .effects("work of a step", "activations")
          .same_at_run()
          .zoo({"training.batch_size", "generation.batch_size"})
          .done());
  table.push_back(Builder("microbatch-size", integer, {"-mb", "--microbatch-size"},
                          "samples that go through the pipeline of a section together; divides the batch")
                      .source(k_sambatune_guide)
                      .by_default("the batch")
                      .range(1)
                      .effects("fill of a section's pipeline", "buffers between stages")
                      .same_at_run()
                      .done());
  table.push_back(Builder("mapping", choice, {"--mapping"},
                          "section: one after the other; spatial: forward, backward and update all resident")
                      .source(k_sambatune_guide)
                      .by_default("section")
                      .choices({"section", "spatial"})
                      .effects("spatial loads the program once", "spatial must fit on the chip as a whole")
                      .same_at_run()
                      .done());
  table.push_back(
      Builder("num-spatial-batches", integer, {"--num-spatial-batches"}, "batches per launch with spatial mapping")
          .source(k_sambatune_guide)
          .by_default("1")
          .range(1)
          .effects("spreads launch and host time over that many updates")
          .same_at_run()
          .done());
  table.push_back(
      Builder("grad-accumulation-steps", integer, {"--grad-accumulation-steps"}, "batches per weight update")
          .source(k_recorded_defaults)
          .by_default("1")
          .range(1)
          .effects("divides gradient reduction and optimizer time", "a gradient accumulator")
          .done());
}

void add_chips(std::vector<FlagSpec>& table) {
  table.push_back(
      Builder("num-tiles", integer, {"--num-tiles"}, "tiles per RDU; on SN30 4 are half an RDU")
          .source("SambaFlow documentation, Transition to DataScale SN30; sambanova/tutorials")
          .by_default("-1: the compiler decides; 8 on SN30")
          .effects("peak rate, off-chip bandwidth and copies per node follow it", "on-chip memory follows it")
          .use(FlagUse::compile)
          .done());
  table.push_back(
      Builder("n-chips", integer, {"--n-chips", "--num-chips"}, "RDUs of one copy; fixed in the PEF")
          .source(k_tensor_guide)
          .by_default("1")
          .range(1)
          .effects("divides the work, adds transfers between RDUs", "divides what tensor parallelism splits")
          .use(FlagUse::compile)
          .done());
  table.push_back(Builder("tensor-parallel", choice, {"--tensor-parallel"},
                          "batch: activations are split, weights repeated; weight: weights are split")
                      .source(k_tensor_guide)
                      .by_default("none; SN30 with 8 tiles behaves as batch")
                      .choices({"none", "batch", "weight"})
                      .effects("divides the work; weight adds reductions in every layer",
                               "batch divides activations, "
                               "weight divides weights")
                      .use(FlagUse::compile)
                      .done());
  table.push_back(Builder("run-early-tp", boolean, {"--run-early-tp"}, "splits tensors early in the compile")
                      .source(k_model_zoo)
                      .by_default("false")
                      .no_effect("no published measurement separates it")
                      .use(FlagUse::compile)
                      .zoo({"model.run_early_tp", "samba_compile.early_tp"})
                      .done());
  table.push_back(Builder("model-parallel", boolean, {"--model-parallel"}, "splits the model over RDUs")
                      .source(k_recorded_defaults)
                      .by_default("false")
                      .no_effect("no published description")
                      .use(FlagUse::compile)
                      .done());
  table.push_back(Builder("data-parallel", boolean, {"--data-parallel"},
                          "copies with gradient reduction; needed at compile and at run")
                      .source(k_data_guide)
                      .by_default("false")
                      .effects("adds a gradient reduction per update", "adds operand buffers of the reduction")
                      .done());
  table.push_back(Builder("world-size", integer, {"-ws", "--world-size"},
                          "least number of copies; compile with 2, the launcher says how many there are")
                      .source(k_data_guide)
                      .by_default("1")
                      .range(1)
                      .only_checked("a check: the launcher's ranks count, not this")
                      .done());
}

}  // namespace

void add_parallel_flags(std::vector<FlagSpec>& table) {
  add_batch(table);
  add_chips(table);
}

}  // namespace podsim::rdu
