#include "models/rdu/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "sim/core/check.hpp"
#include "sim/units/counts.hpp"

namespace podsim::rdu {

namespace {

bool computes(RduPhase phase) {
  return phase == RduPhase::forward || phase == RduPhase::backward;
}

// Gradient norms and optimizer operators may share a section; nothing else crosses a phase.
bool share_sections(RduPhase a, RduPhase b) {
  return a == b || (!computes(a) && !computes(b));
}

Bytes resident_per_weight(WeightUse use, const SectionCapacity& capacity) {
  switch (use) {
    case WeightUse::none:
      return Bytes(0);
    case WeightUse::forward:
      return capacity.resident_forward;
    case WeightUse::backward:
      return capacity.resident_backward;
    case WeightUse::update:
      return capacity.resident_update;
  }
  return Bytes(0);
}

// The compiler retries with fewer resources until it asks for no more than there are.
ResourceFactors visible_factors(ResourceFactors factors, double retry_factor, int& retries) {
  PODSIM_CHECK(retry_factor > 0 && retry_factor < 1, "the retry factor does not lower anything");
  double* const all[] = {&factors.forward, &factors.backward, &factors.gradient_norm, &factors.optimizer};
  for (const double* factor : all) PODSIM_CHECK(*factor > 0, "a resource factor is not positive");
  while (std::ranges::any_of(all, [](const double* factor) { return *factor > 1; })) {
    for (double* factor : all) {
      if (*factor > 1) *factor *= retry_factor;
    }
    ++retries;
  }
  return factors;
}

// Part of the compute units of a section that an operator takes.
double unit_demand(const RduOperator& op, const ResourceFactors& factors, const SectionCapacity& capacity) {
  return computes(op.phase) ? 1 / (capacity.operators * factors.of(op.phase)) : 0.0;
}

class Partitioner {
 public:
  Partitioner(const OperatorGraph& graph, const PartitionOptions& options, const SectionCapacity& capacity)
      : graph_(graph), options_(options), capacity_(capacity) {
    PODSIM_CHECK(options.patterns.empty() || options.patterns.size() == graph.operators.size(),
                 "a pattern for each operator, or none");
  }

  Partition run() {
    if (graph_.operators.size() > k_most_operators) {
      throw std::range_error(fmt::format("its step has {} operators; at most {} are simulated",
                                         grouped(std::ssize(graph_.operators)),
                                         grouped(static_cast<std::int64_t>(k_most_operators))));
    }
    partition_.factors = visible_factors(options_.factors, capacity_.retry_factor, partition_.retries);
    switch (options_.level) {
      case OptimizationLevel::o0:
        split_by([](OperatorId, OperatorId) { return false; });
        break;
      case OptimizationLevel::o1:
        split_by([this](OperatorId a, OperatorId b) { return same_pattern(a, b); });
        break;
      case OptimizationLevel::o3:
        pack();
        break;
    }
    name_sections();
    find_failure();
    find_programs();
    return std::move(partition_);
  }

 private:
  RduSection& open(OperatorId first) {
    RduSection section;
    section.phase = graph_[first].phase;
    section.layer = graph_[first].layer;
    partition_.sections.push_back(std::move(section));
    return partition_.sections.back();
  }

  const std::string& pattern(OperatorId op) const {
    return options_.patterns.empty() ? graph_[op].pattern_group : options_.patterns[op.index()].name;
  }

  bool same_pattern(OperatorId a, OperatorId b) const {
    if (graph_[a].phase != graph_[b].phase) return false;
    const bool same_layer = graph_[a].layer == graph_[b].layer;
    if (options_.patterns.empty()) return same_layer && pattern(a) == pattern(b);
    const FusedPattern& own = options_.patterns[a.index()];
    return own == options_.patterns[b.index()] && (same_layer || own.instance > 0);
  }

  // Share of the SRAM that the weights of the operator take.
  double resident_share(OperatorId op) const {
    const double visible = capacity_.sram.size().in_base() * partition_.factors.of(graph_[op].phase);
    return resident_weights(graph_[op], capacity_).size().in_base() / visible;
  }

  // A section ends early before weights that do not fit beside those it holds.
  template <class Together>
  void split_by(const Together& together) {
    double held = 0;
    for (std::uint32_t i = 0; i < graph_.operators.size(); ++i) {
      const OperatorId op(i);
      const double weights = resident_share(op);
      const bool room = weights == 0 || held == 0 || held + weights <= 1;
      const bool joins = i > 0 && together(OperatorId(i - 1), op) && room && !waits_off_chip(op);
      held = joins ? held + weights : weights;
      RduSection& section = joins ? partition_.sections.back() : open(op);
      section.operators.push_back(op);
      section.demand = std::min(1.0, section.demand + section_demand(graph_[op], partition_.factors, capacity_));
    }
  }

  // What the operator waits for is more than the chip can hold: it is complete off chip, before the next section.
  bool waits_off_chip(OperatorId op) const {
    const double visible = capacity_.sram.size().in_base() * partition_.factors.of(graph_[op].phase);
    return graph_[op].waits_for.size().in_base() > visible;
  }

  // Operators that no section's end parts, from `first`; the one behind their last.
  std::uint32_t end_of_unit(std::uint32_t first) const {
    std::uint32_t end = first + 1;
    while (end < graph_.operators.size() && graph_.operators[end].joins_previous) ++end;
    return end;
  }

  // Before they are made.
  void check_demand() const {
    double all = 0;
    double units = 0;
    for (const RduOperator& op : graph_.operators) {
      all += section_demand(op, partition_.factors, capacity_);
      units += unit_demand(op, partition_.factors, capacity_);
    }
    if (all <= k_most_sections) return;
    throw TooManySections(all, units > all / 2 ? SectionFill::compute_units : SectionFill::weights);
  }

  // In order, until the resources of a section are used up. A unit may begin in one section and end in the next; it is
  // listed in the one where it ends.
  void pack() {
    check_demand();
    double used = 0;
    std::uint32_t end = 0;
    for (std::uint32_t i = 0; i < graph_.operators.size(); i = end) {
      end = end_of_unit(i);
      const bool crosses = i == 0 || waits_off_chip(OperatorId(i)) ||
                           !share_sections(graph_.operators[i - 1].phase, graph_.operators[i].phase);
      if (crosses) used = 0;
      if (crosses || used >= 1) open(OperatorId(i));
      if (!crosses && used >= 1) used -= 1;
      for (std::uint32_t k = i; k < end; ++k) {
        used += section_demand(graph_.operators[k], partition_.factors, capacity_);
      }
      while (used >= 2) {
        partition_.sections.back().demand = 1;
        open(OperatorId(i));
        used -= 1;
      }
      RduSection& section = partition_.sections.back();
      for (std::uint32_t k = i; k < end; ++k) section.operators.push_back(OperatorId(k));
      section.demand = std::min(1.0, used);
    }
  }

  void name_sections() {
    std::size_t number = 0;
    for (RduSection& section : partition_.sections) {
      ++number;
      if (options_.level == OptimizationLevel::o3) {
        section.name = fmt::format("section {}", number);
      } else {
        const OperatorId first = section.operators.front();
        section.name = options_.level == OptimizationLevel::o0 ? graph_[first].name : pattern(first);
      }
    }
  }

  void find_failure() {
    PODSIM_CHECK(capacity_.tiles_per_call > 0, "no tiles per call");
    for (std::uint32_t i = 0; i < graph_.operators.size(); ++i) {
      const RduOperator& op = graph_.operators[i];
      Bytes largest;
      for (const TensorId tensor : op.inputs) largest = std::max(largest, graph_[tensor].bytes);
      for (const TensorId tensor : op.outputs) largest = std::max(largest, graph_[tensor].bytes);
      const Bytes need = round_up_bytes(largest.size() / static_cast<double>(capacity_.tiles_per_call));
      const double visible = capacity_.sram.size().in_base() * partition_.factors.of(op.phase);
      if (need.size().in_base() <= visible) continue;
      partition_.failure = {OperatorId(i), need, Bytes(static_cast<std::int64_t>(visible))};
      return;
    }
  }

  // Equal text: equal operators with equal shapes, joined in the same way inside the section.
  std::string program_text(const RduSection& section, const std::vector<std::uint32_t>& section_of,
                           std::uint32_t own) const {
    std::string text = fmt::format("{}", static_cast<int>(section.phase));
    for (const OperatorId id : section.operators) {
      const RduOperator& op = graph_[id];
      text += fmt::format("|{} {} {}", op.name, op.flop.in_base(), op.weight_elements);
      for (const TensorId tensor : op.inputs) {
        const OperatorId producer = graph_[tensor].producer;
        const bool inside = producer.valid() && section_of[producer.index()] == own;
        text += fmt::format(" {}{}", graph_[tensor].bytes.count(),
                            inside ? fmt::format("@{}", id.value() - producer.value()) : "");
      }
      for (const TensorId tensor : op.outputs) text += fmt::format(" >{}", graph_[tensor].bytes.count());
    }
    return text;
  }

  void find_programs() {
    const std::vector<std::uint32_t> section_of = section_of_operators(graph_, partition_);
    std::map<std::string, std::uint32_t> first;
    for (std::uint32_t i = 0; i < partition_.sections.size(); ++i) {
      RduSection& section = partition_.sections[i];
      section.program = i;
      if (section.operators.empty()) continue;
      section.program = first.try_emplace(program_text(section, section_of, i), i).first->second;
    }
  }

  const OperatorGraph& graph_;
  const PartitionOptions& options_;
  const SectionCapacity& capacity_;
  Partition partition_;
};

}  // namespace

double ResourceFactors::of(RduPhase phase) const {
  switch (phase) {
    case RduPhase::forward:
      return forward;
    case RduPhase::backward:
      return backward;
    case RduPhase::gradient_norm:
      return gradient_norm;
    case RduPhase::optimizer:
      return optimizer;
  }
  return 1;
}

std::int64_t Partition::unique_sections() const {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < sections.size(); ++i) count += sections[i].program == i ? 1 : 0;
  return count;
}

TooManySections::TooManySections(double sections, SectionFill full_of)
    : std::range_error(fmt::format("would make {:.3g} sections; at most {} are simulated", sections,
                                   grouped(static_cast<std::int64_t>(k_most_sections)))),
      fills(full_of) {}

double section_demand(const RduOperator& op, const ResourceFactors& factors, const SectionCapacity& capacity) {
  const double factor = factors.of(op.phase);
  const double visible = factor * capacity.sram.size().in_base();
  const double waiting = op.waits_for.size().in_base();
  const double resident = resident_weights(op, capacity).size().in_base() + (waiting <= visible ? waiting : 0.0);
  return unit_demand(op, factors, capacity) + resident / visible;
}

Bytes resident_weights(const RduOperator& op, const SectionCapacity& capacity) {
  return resident_per_weight(op.weight_use, capacity) * op.weight_elements;
}

std::vector<std::uint32_t> section_of_operators(const OperatorGraph& graph, const Partition& partition) {
  std::vector<std::uint32_t> section_of(graph.operators.size(), 0);
  for (std::uint32_t i = 0; i < partition.sections.size(); ++i) {
    for (const OperatorId op : partition.sections[i].operators) section_of[op.index()] = i;
  }
  return section_of;
}

Partition make_partition(const OperatorGraph& graph, const PartitionOptions& options, const SectionCapacity& capacity) {
  return Partitioner(graph, options, capacity).run();
}

}  // namespace podsim::rdu
