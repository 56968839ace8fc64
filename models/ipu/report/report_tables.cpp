#include "models/ipu/report/report_tables.hpp"

#include <algorithm>

#include "models/ipu/lowering/stage_work.hpp"
#include "models/ipu/memory/memory.hpp"

namespace podsim::ipu {
namespace {

double seconds_of(SimTime time) {
  return time.duration().in_base();
}

struct StageTimes {
  SimTime forward;
  SimTime recompute;
  SimTime backward;
};

void add_times(const std::vector<StageStep>& steps, const std::vector<BlockWork>& works, StageTimes& times) {
  for (const StageStep& step : steps) {
    SimTime total;
    for (const WorkOp& op : works[step.block].phase(step.phase)) total += op.cost.total();
    if (step.phase == WorkPhase::forward) times.forward += total;
    if (step.phase == WorkPhase::recompute) times.recompute += total;
    if (step.phase == WorkPhase::backward) times.backward += total;
  }
}

std::int64_t layers_on(const ModelGraph& graph, const ForwardStage& stage, BlockKind kind) {
  return std::count_if(stage.blocks.begin(), stage.blocks.end(),
                       [&](std::size_t block) { return graph.blocks[block].kind == kind; });
}

// "fill 3: compute" and "fill 3" belong to "fill".
std::string part_of(const std::string& segment) {
  for (const char* part : {"fill", "drain"}) {
    if (segment.starts_with(part)) return part;
  }
  return segment;
}

}  // namespace

Table stage_table(const Plan& plan, const IpuPlan& ipu_plan) {
  const Pipeline pipeline = make_pipeline(plan.graph, ipu_plan.setup.placement);
  const MemoryInputs inputs{plan.graph, plan.settings, ipu_plan.setup, pipeline, ipu_plan.constants};
  const OperatorCostModel& costs = *ipu_plan.costs;
  const std::vector<BlockWork> works = prepare_work(inputs, costs);
  Table table;
  table.name = "stages";
  const bool training = ipu_plan.setup.training();
  table.columns = {
      {"stage", ""}, {"ipu", ""}, {"attention_blocks", ""}, {"feed_forward_blocks", ""}, {"forward_s", "s"}};
  if (training) table.columns.insert(table.columns.end(), {{"recompute_s", "s"}, {"backward_s", "s"}});
  for (int stage = 0; stage < pipeline.forward_stages(); ++stage) {
    const ForwardStage& placed = pipeline.forward()[static_cast<std::size_t>(stage)];
    StageTimes times;
    add_times(training ? stage_steps(inputs, stage) : inference_steps(inputs, stage), works, times);
    const int backward = pipeline.training_stages() - 1 - stage;
    if (training && backward != stage) add_times(stage_steps(inputs, backward), works, times);
    table.rows.push_back({std::int64_t{stage}, std::int64_t{placed.ipu},
                          layers_on(plan.graph, placed, BlockKind::attention),
                          layers_on(plan.graph, placed, BlockKind::feed_forward), seconds_of(times.forward)});
    if (!training) continue;
    table.rows.back().emplace_back(seconds_of(times.recompute));
    table.rows.back().emplace_back(seconds_of(times.backward));
  }
  return table;
}

Table step_table(const Lowered& lowered, const RunResult& result) {
  return parts_table("step", std::get<Repeat>(lowered.program.blocks.front()).blocks, lowered, result);
}

Table ipus_table(const Plan& plan, const IpuPlan& ipu_plan) {
  const std::int64_t all = ipu_plan.constants.system.ipus * plan.nodes;
  const std::int64_t left = all - ipu_plan.pod.ipus;
  const std::int64_t beside = ipu_plan.evaluation_ipus;
  Table table;
  table.name = "IPUs";
  table.columns = {{"held_by_training", ""}, {"left", ""}, {"needed_to_evaluate_beside_it", ""}, {"note", ""}};
  const char* note = left >= beside ? "" : "evaluate in turn";
  table.rows.push_back({ipu_plan.pod.ipus, left, beside, std::string(note)});
  return table;
}

Table parts_table(const std::string& name, const std::vector<ProgramBlock>& blocks, const Lowered& lowered,
                  const RunResult& result) {
  Table table;
  table.name = name;
  table.columns = {{"part", ""}, {"time_s", "s"}};
  for (const ProgramBlock& block : blocks) {
    std::string part;
    if (const auto* segment = std::get_if<SegmentId>(&block)) {
      part = part_of(lowered.program[*segment].name);
      const bool ends_cycle = part.ends_with("copies") || part == "results";  // which stands behind its compute
      if (ends_cycle && !table.rows.empty()) part = std::get<std::string>(table.rows.back()[0]);
    } else {
      part = std::get<Repeat>(block).name;
    }
    const double time = seconds_of(block_duration(block, result));
    const bool same = !table.rows.empty() && std::get<std::string>(table.rows.back()[0]) == part;
    if (same) {
      table.rows.back()[1] = std::get<double>(table.rows.back()[1]) + time;
    } else {
      table.rows.push_back({part, time});
    }
  }
  return table;
}

}  // namespace podsim::ipu
