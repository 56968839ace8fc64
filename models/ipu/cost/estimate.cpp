#include "models/ipu/cost/estimate.hpp"

#include <algorithm>
#include <vector>

#include "models/ipu/cost/update_cost.hpp"
#include "models/ipu/lowering/collective.hpp"
#include "models/ipu/lowering/norm_exchange.hpp"
#include "models/ipu/lowering/stage_work.hpp"

namespace podsim::ipu {
namespace {

SimTime host_input_time(const MemoryInputs& in) {
  const LinkConstants& links = in.constants.system.links;
  return to_sim_time(in.graph.host_input.size() / std::min(links.host_bandwidth, links.host_link_bandwidth));
}

// Time of each training stage on its IPU.
std::vector<SimTime> stage_times(const MemoryInputs& in, const OperatorCostModel& costs) {
  const std::vector<BlockWork> works = prepare_work(in, costs);
  std::vector<SimTime> times;
  for (int stage = 0; stage < in.pipeline.training_stages(); ++stage) {
    SimTime total;
    for (const StageStep& step : stage_steps(in, stage)) {
      for (const WorkOp& op : works[step.block].phase(step.phase)) {
        total += op.cost.total() + norm_exchange_time(op.statistics, in.setup, in.constants.system.links);
      }
    }
    times.push_back(total);
  }
  if (!in.graph.convolutional()) times[0] += host_input_time(in);
  return times;
}

SimTime cycle_time(const MemoryInputs& in, const std::vector<SimTime>& stages, std::int64_t cycle) {
  std::vector<SimTime> by_ipu(static_cast<std::size_t>(in.pipeline.ipus()));
  for (int stage = 0; stage < in.pipeline.training_stages(); ++stage) {
    if (!Pipeline::active(stage, cycle, in.setup.gradient_accumulation_steps)) continue;
    const int ipu = in.pipeline.forward()[static_cast<std::size_t>(in.pipeline.forward_of(stage))].ipu;
    by_ipu[static_cast<std::size_t>(ipu)] += stages[static_cast<std::size_t>(stage)];
  }
  SimTime time = *std::max_element(by_ipu.begin(), by_ipu.end());
  if (Pipeline::active(0, cycle, in.setup.gradient_accumulation_steps)) {
    time = std::max(time, to_sim_time(host_process_time(in.setup, in.settings, in.constants.software)));
    if (in.graph.convolutional()) time = std::max(time, host_input_time(in));
  }
  if (in.pipeline.forward_stages() > 1) {
    const LinkConstants& links = in.constants.system.links;
    time += 2 * (to_sim_time(links.message_latency) +
                 to_sim_time(largest_copy(in.graph, in.pipeline).size() / links.neighbour_bandwidth));
  }
  return time;
}

// State of the IPUs of the fullest machine, load and store.
SimTime streaming_time(const MemoryInputs& in, const std::vector<PlacedParameters>& parameters) {
  const std::int64_t per_machine = in.constants.system.ipus_per_machine;
  const auto ipus = static_cast<std::int64_t>(parameters.size());
  Bytes fullest;
  for (std::int64_t first = 0; first < ipus * in.setup.replication_factor; first += per_machine) {
    Bytes sum;
    for (std::int64_t ipu = first; ipu < std::min(first + per_machine, ipus * in.setup.replication_factor); ++ipu) {
      sum += streamed_state(parameters[static_cast<std::size_t>(ipu % ipus)], in.settings, in.setup);
    }
    fullest = std::max(fullest, sum);
  }
  return 2 * to_sim_time(fullest.size() / in.constants.system.links.streaming_bandwidth);
}

}  // namespace

StepEstimate estimate_step(const MemoryInputs& in, const OperatorCostModel& costs) {
  const std::vector<PlacedParameters> parameters = place_parameters(in.graph, in.setup, in.constants);
  const std::vector<SimTime> stages = stage_times(in, costs);
  const std::int64_t accumulation = in.setup.gradient_accumulation_steps;
  const std::int64_t fill = in.pipeline.training_stages() - 1;
  StepEstimate estimate;
  estimate.full_cycle = cycle_time(in, stages, fill);
  estimate.pipeline = (accumulation - fill) * estimate.full_cycle;
  for (std::int64_t cycle = 0; cycle < fill; ++cycle) {
    estimate.pipeline += cycle_time(in, stages, cycle) + cycle_time(in, stages, accumulation + cycle);
  }
  const std::int64_t replicas = in.setup.replication_factor;
  estimate.reduction = reduction_time(replicas, parameters, in.constants.system);
  estimate.streaming = streaming_time(in, parameters);
  for (const PlacedParameters& placed : parameters) {
    const Duration time = optimizer_time(placed, in.settings.optimizer, in.constants);
    estimate.optimizer = std::max(estimate.optimizer, to_sim_time(time));
  }
  const Duration call = in.constants.software.call_overhead / static_cast<double>(in.setup.device_iterations);
  estimate.fixed = to_sim_time(in.constants.software.update_overhead) + to_sim_time(call);
  return estimate;
}

}  // namespace podsim::ipu
