#include "models/rdu/section_cost.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/core/check.hpp"

namespace podsim::rdu {

namespace {

bool leaves(const RduTensor& tensor, const std::vector<std::uint32_t>& section_of, std::uint32_t section) {
  if (tensor.model_output) return true;
  return std::ranges::any_of(tensor.consumers,
                             [&](OperatorId consumer) { return section_of[consumer.index()] != section; });
}

bool enters(const RduTensor& tensor, const std::vector<std::uint32_t>& section_of, std::uint32_t section) {
  return !tensor.producer.valid() || section_of[tensor.producer.index()] != section;
}

SectionBound bound_of(const SectionTime& time, const SectionRates& rates) {
  if (rates.issue_interval > time.loads + time.execute) return SectionBound::issue;
  return time.compute > time.memory ? SectionBound::compute : SectionBound::memory;
}

}  // namespace

std::vector<SectionWork> section_work(const OperatorGraph& graph, const Partition& partition) {
  const std::vector<std::uint32_t> section_of = section_of_operators(graph, partition);
  std::vector<SectionWork> work(partition.sections.size());
  // The last section that read a tensor: operators ascend from section to section, so each section counts it once.
  std::vector<std::uint32_t> read_by(graph.tensors.size(), UINT32_MAX);
  for (std::uint32_t i = 0; i < partition.sections.size(); ++i) {
    for (const OperatorId id : partition.sections[i].operators) {
      const RduOperator& op = graph[id];
      work[i].flop += op.flop;
      work[i].weights += op.weight_bytes;
      for (const TensorId tensor : op.inputs) {
        if (read_by[tensor.index()] == i || !enters(graph[tensor], section_of, i)) continue;
        read_by[tensor.index()] = i;
        work[i].read += graph[tensor].bytes;
      }
      for (const TensorId tensor : op.outputs) {
        if (leaves(graph[tensor], section_of, i)) work[i].written += graph[tensor].bytes;
      }
    }
  }
  return work;
}

std::vector<Bytes> section_resident_bytes(const OperatorGraph& graph, const Partition& partition,
                                          const SectionCapacity& capacity) {
  std::vector<Bytes> resident(partition.sections.size());
  std::size_t first = 0;  // of the sections that share what is listed in the last of them
  for (std::size_t i = 0; i < partition.sections.size(); ++i) {
    const RduSection& section = partition.sections[i];
    if (section.operators.empty() && i + 1 < partition.sections.size()) continue;
    std::set<TensorId> tensors;
    Bytes total;
    for (const OperatorId id : section.operators) {
      const RduOperator& op = graph[id];
      total += resident_weights(op, capacity);
      tensors.insert(op.inputs.begin(), op.inputs.end());
      tensors.insert(op.outputs.begin(), op.outputs.end());
    }
    for (const TensorId tensor : tensors) {
      total += round_up_bytes(graph[tensor].bytes.size() / static_cast<double>(capacity.tiles_per_call));
    }
    const double parts = static_cast<double>(i + 1 - first);
    for (; first <= i; ++first) resident[first] = round_up_bytes(total.size() / parts);
  }
  return resident;
}

SectionTime section_time(const SectionWork& work, double factor, const SectionRates& rates) {
  return section_time(work.flop, work.bytes().size() / rates.memory, factor, rates);
}

SectionTime section_time(FlopCount products, Duration memory, double factor, const SectionRates& rates) {
  PODSIM_CHECK(factor > 0, "a resource factor is not positive");
  SectionTime time;
  time.compute = products / (rates.peak * (rates.efficiency * factor));
  time.memory = memory;
  time.loads = rates.program_load + rates.argument_load;
  time.execute = std::max(time.compute, time.memory);
  time.total = std::max(rates.issue_interval, time.loads + time.execute);
  time.bound = bound_of(time, rates);
  return time;
}

std::vector<SectionTime> section_times(const Partition& partition, const std::vector<SectionWork>& work,
                                       const SectionRates& rates) {
  PODSIM_CHECK(work.size() == partition.sections.size(), "work of another partition");
  std::vector<SectionTime> times;
  times.reserve(work.size());
  for (std::size_t i = 0; i < work.size(); ++i) {
    times.push_back(section_time(work[i], partition.factors.of(partition.sections[i].phase), rates));
  }
  return times;
}

StageView section_stages(const OperatorGraph& graph, const RduSection& section, double factor,
                         const SectionRates& rates, std::int64_t compute_units, std::int64_t tiles) {
  PODSIM_CHECK(tiles >= 1 && compute_units >= 1 && factor > 0, "no tiles or compute units");
  FlopCount whole;
  for (const OperatorId id : section.operators) whole += graph[id].flop;
  StageView view;
  view.tiles = tiles;
  for (const OperatorId id : section.operators) {
    const FlopCount own = graph[id].flop;
    SectionStage stage;
    stage.op = id;
    stage.compute_share = whole.in_base() > 0 ? own / whole : 0.0;
    const double units = stage.compute_share * factor * static_cast<double>(compute_units);
    stage.units = std::max<std::int64_t>(1, std::llround(units));
    if (stage.compute_share > 0) {
      const FlopRate rate = rates.peak * (rates.efficiency * factor * stage.compute_share);
      stage.per_tile = own / rate / static_cast<double>(tiles);
    }
    view.slowest = std::max(view.slowest, stage.per_tile);
    view.stages.push_back(stage);
  }
  const std::int64_t steps = section.operators.empty() ? 0 : tiles + std::ssize(section.operators) - 1;
  view.filled = view.slowest * static_cast<double>(steps);
  return view;
}

}  // namespace podsim::rdu
