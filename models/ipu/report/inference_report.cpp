#include "models/ipu/report/inference_report.hpp"

#include <algorithm>

#include "models/ipu/cost/estimate_inference.hpp"
#include "models/ipu/lowering/lowering_inference.hpp"
#include "models/ipu/report/report_tables.hpp"

namespace podsim::ipu {
namespace {

double seconds_of(SimTime time) {
  return time.duration().in_base();
}

std::int64_t samples_per_call(const Plan& plan, const RunSetup& setup) {
  return plan.settings.micro_batch_size * setup.replication_factor * setup.device_iterations;
}

Table results_table(const RunSetup& setup) {
  Table table;
  table.name = "results per call";
  table.columns = {{"output_mode", ""}, {"this_run", ""}, {"results", ""}, {"result_bytes", "byte"}, {"bytes", "byte"}};
  for (const OutputMode mode : {OutputMode::all, OutputMode::sum, OutputMode::final}) {
    const std::int64_t results = results_per_call(setup, mode);
    const std::int64_t bytes = setup.inference.results.count();
    table.rows.push_back({std::string(name(mode)), mode == setup.inference.output, results, bytes, results * bytes});
  }
  return table;
}

std::string note_on(const RunSetup& setup, bool sharded, int stages) {
  if (sharded) return setup.inference.key_ignored ? "this version always shards" : "";
  if (setup.device_iterations < stages) return "refused: device iterations below the pipeline's stages";
  return setup.inference.key_ignored ? "not offered by this version" : "";
}

// Both ways of running the same call.
Table execution_table(const Plan& plan, const IpuPlan& ipu_plan, const Pipeline& pipeline, SimTime simulated) {
  const RunSetup& setup = ipu_plan.setup;
  const MemoryInputs inputs{plan.graph, plan.settings, setup, pipeline, ipu_plan.constants};
  const bool equal_speeds =
      std::all_of(ipu_plan.slowdown.begin(), ipu_plan.slowdown.end(), [](double factor) { return factor == 1.0; });
  Table table;
  table.name = "inference execution";
  table.columns = {{"execution", ""},        {"this_run", ""},   {"call_s", "s"},
                   {"samples_per_s", "1/s"}, {"request_s", "s"}, {"note", ""}};
  for (const bool sharded : {true, false}) {
    const bool own = sharded == setup.inference.sharded;
    if (!own && !equal_speeds) continue;
    const CallEstimate estimate = estimate_call(inputs, *ipu_plan.costs, sharded);
    const SimTime call = own ? simulated : estimate.call;
    const auto samples = static_cast<double>(samples_per_call(plan, setup));
    table.rows.push_back({std::string(sharded ? "sharded" : "pipelined"), own, seconds_of(call),
                          samples / seconds_of(call), seconds_of(estimate.request),
                          note_on(setup, sharded, pipeline.forward_stages())});
  }
  return table;
}

}  // namespace

std::int64_t results_per_call(const RunSetup& setup, OutputMode mode) {
  return setup.replication_factor * (mode == OutputMode::all ? setup.device_iterations : 1);
}

StepFacts inference_step_facts(const Plan& plan, const IpuPlan& ipu_plan) {
  const RunSetup& setup = ipu_plan.setup;
  const std::int64_t tokens = setup.inference.output_tokens;
  StepFacts facts;
  facts.micro_batch = plan.settings.micro_batch_size;
  facts.global_batch = samples_per_call(plan, setup);
  facts.samples_per_call = facts.global_batch;
  facts.call_factors = call_factors(facts.micro_batch, setup.replication_factor, setup.gradient_accumulation_steps,
                                    setup.device_iterations);
  facts.assumption = ipu_plan.version_note;
  if (!ipu_plan.followed_output_mode.empty()) {
    facts.condition = "output_mode " + ipu_plan.followed_output_mode + ", which Optimum Graphcore does not use here";
  }
  facts.sequences_per_sample = plan.settings.packing_factor;
  facts.images = plan.graph.images;
  if (!facts.images) facts.tokens_per_sample = tokens > 0 ? tokens : plan.graph.sequence_length;
  facts.output_tokens = tokens;
  const std::int64_t passes = setup.replication_factor * setup.device_iterations * std::max<std::int64_t>(1, tokens);
  facts.model_flop = plan.graph.forward_flop() * static_cast<double>(passes);
  facts.hardware_flop = facts.model_flop;
  facts.device_peak = ipu_plan.constants.chip.peak[static_cast<std::size_t>(setup.mode)];
  facts.devices = ipu_plan.pod.ipus;
  return facts;
}

ScheduleFacts inference_schedule(const Plan& plan, const IpuPlan& ipu_plan) {
  const RunSetup& setup = ipu_plan.setup;
  const int stages = make_pipeline(plan.graph, setup.placement).forward_stages();
  ScheduleFacts facts;
  facts.forward_stages = stages;
  facts.stages = stages;
  facts.cycle_mark = k_iteration_mark;
  if (setup.inference.sharded) {
    facts.kind = stages > 1 ? "sharded, one IPU at a time" : "one IPU";
    facts.cycles_per_update = setup.device_iterations;
    facts.request_cycles = 1;
  } else {
    facts.kind = "pipelined, lock step";
    facts.cycles_per_update = setup.device_iterations + stages - 1;
    facts.request_cycles = stages;
  }
  if (setup.inference.output_tokens > 0) facts.request_cycles = 0;  // a request is a step of many calls
  return facts;
}

std::vector<Table> inference_tables(const Plan& plan, const IpuPlan& ipu_plan, const Lowered& lowered,
                                    const RunResult& result) {
  const Pipeline pipeline = make_pipeline(plan.graph, ipu_plan.setup.placement);
  const bool one_call = ipu_plan.setup.inference.output_tokens == 0;
  const std::vector<ProgramBlock>& blocks = lowered.program.blocks;
  const Table parts = one_call ? parts_table("host call", blocks, lowered, result)
                               : parts_table("token", std::get<Repeat>(blocks.front()).blocks, lowered, result);
  std::vector<Table> tables = {stage_table(plan, ipu_plan), parts, results_table(ipu_plan.setup)};
  if (pipeline.forward_stages() > 1 && one_call) {
    tables.push_back(execution_table(plan, ipu_plan, pipeline, result.total));
  }
  return tables;
}

}  // namespace podsim::ipu
