#include "models/ipu/cost/estimate_inference.hpp"

#include <algorithm>
#include <vector>

#include "models/ipu/lowering/stage_work.hpp"

namespace podsim::ipu {
namespace {

struct CallParts {
  std::vector<SimTime> stages;
  SimTime input;
  SimTime copy;     // one boundary
  SimTime results;  // one micro-batch's
};

// The share of a host link that one of the replicas behind it gets.
Bandwidth host_share(const MemoryInputs& in, Bandwidth port) {
  const SystemConstants& system = in.constants.system;
  const std::int64_t ipus = system.links.machines_per_host_link * system.ipus_per_machine;
  const std::int64_t replicas =
      std::clamp<std::int64_t>(ipus / in.setup.ipus_per_replica, 1, in.setup.replication_factor);
  return std::min(port, system.links.host_link_bandwidth / static_cast<double>(replicas));
}

CallParts call_parts(const MemoryInputs& in, const OperatorCostModel& costs) {
  const std::vector<BlockWork> works = prepare_work(in, costs);
  const LinkConstants& links = in.constants.system.links;
  CallParts parts;
  for (const ForwardStage& stage : in.pipeline.forward()) {
    SimTime total;
    for (const std::size_t block : stage.blocks) {
      for (const WorkOp& op : works[block].forward) total += op.cost.total();
    }
    parts.stages.push_back(total);
  }
  parts.input = to_sim_time(in.graph.host_input.size() / host_share(in, links.host_bandwidth));
  parts.results = to_sim_time(in.setup.inference.results.size() / host_share(in, links.host_output_bandwidth));
  parts.copy = to_sim_time(links.message_latency) +
               to_sim_time(largest_copy(in.graph, in.pipeline).size() / links.neighbour_bandwidth);
  return parts;
}

SimTime cycle_time(const MemoryInputs& in, const CallParts& parts, std::int64_t cycle) {
  const auto active = [&](std::size_t stage) {
    return Pipeline::active(static_cast<int>(stage), cycle, in.setup.device_iterations);
  };
  std::vector<SimTime> by_ipu(static_cast<std::size_t>(in.pipeline.ipus()));
  for (std::size_t stage = 0; stage < parts.stages.size(); ++stage) {
    if (!active(stage)) continue;
    SimTime& ipu = by_ipu[static_cast<std::size_t>(in.pipeline.forward()[stage].ipu)];
    ipu += parts.stages[stage];
    if (stage == 0) ipu += parts.input;
  }
  SimTime time = *std::max_element(by_ipu.begin(), by_ipu.end());
  if (in.pipeline.forward_stages() > 1) time += parts.copy;
  const bool every_iteration = in.setup.inference.output == OutputMode::all;
  if (every_iteration && active(parts.stages.size() - 1)) time += parts.results;
  return time;
}

CallEstimate sharded_call(const MemoryInputs& in, const CallParts& parts) {
  CallEstimate estimate;
  estimate.request = parts.input + (in.pipeline.forward_stages() - 1) * parts.copy;
  for (const SimTime stage : parts.stages) estimate.request += stage;
  if (in.setup.inference.output == OutputMode::all) estimate.request += parts.results;
  estimate.call = in.setup.device_iterations * estimate.request;
  return estimate;
}

// Fewer iterations than stages never fill the pipeline: then there is no full cycle, but there is a sum.
CallEstimate pipelined_call(const MemoryInputs& in, const CallParts& parts) {
  const std::int64_t fill = in.pipeline.forward_stages() - 1;
  const std::int64_t iterations = in.setup.device_iterations;
  CallEstimate estimate;
  const SimTime full = cycle_time(in, parts, std::min(fill, iterations - 1));
  estimate.request = (fill + 1) * full;
  if (iterations <= fill) {
    for (std::int64_t cycle = 0; cycle < iterations + fill; ++cycle) estimate.call += cycle_time(in, parts, cycle);
    return estimate;
  }
  estimate.call = (iterations - fill) * full;
  for (std::int64_t cycle = 0; cycle < fill; ++cycle) {
    estimate.call += cycle_time(in, parts, cycle) + cycle_time(in, parts, iterations + cycle);
  }
  return estimate;
}

}  // namespace

CallEstimate estimate_call(const MemoryInputs& in, const OperatorCostModel& costs, bool sharded) {
  const CallParts parts = call_parts(in, costs);
  CallEstimate estimate = sharded ? sharded_call(in, parts) : pipelined_call(in, parts);
  if (in.setup.inference.output != OutputMode::all) estimate.call += parts.results;
  estimate.call += to_sim_time(in.constants.system.links.host_latency);
  return estimate;
}

}  // namespace podsim::ipu
