#include "models/rdu/fusion_match.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "models/rdu/traced_graph.hpp"

namespace podsim::rdu {
namespace {

constexpr std::size_t k_most_variants = 256;     // of one rule
constexpr std::int64_t k_most_steps = 20000000;  // of all searches together: about a second

// A pattern with its choices made and its optional operators there or not.
struct Variant {
  struct Edge {
    std::uint32_t from = 0;  // nodes of the rule
    std::uint32_t to = 0;
  };
  // A node, the edges to nodes placed before it, and the one along which it is looked for.
  struct Step {
    std::uint32_t node = 0;
    std::vector<Edge> edges;
  };
  std::vector<Step> steps;
};

// Children and options of the nodes, roots first.
std::vector<std::uint32_t> in_order(const std::vector<FusionNode>& nodes) {
  std::vector<int> leading(nodes.size(), 0);
  const auto each_below = [](const FusionNode& node, const auto& visit) {
    for (const std::uint32_t child : node.children) visit(child);
    for (const std::uint32_t option : node.options) visit(option);
  };
  for (const FusionNode& node : nodes) each_below(node, [&](std::uint32_t child) { ++leading[child]; });
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (leading[i] == 0) order.push_back(i);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    each_below(nodes[order[i]], [&](std::uint32_t child) {
      if (--leading[child] == 0) order.push_back(child);
    });
  }
  return order;
}

class VariantMaker {
 public:
  // `present`: whether the graph has an operator that the node may stand for.
  VariantMaker(const std::vector<FusionNode>& nodes, const std::vector<bool>& present, std::int64_t& steps)
      : nodes_(nodes), present_(present), order_(in_order(nodes)), steps_(steps) {}

  // In the order of preference; empty result: too many.
  std::optional<std::vector<Variant>> make() {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> free;  // node, ways
    std::size_t count = 1;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      const bool choice = !nodes_[i].options.empty();
      const bool optional = !nodes_[i].required && present_[i];
      const std::size_t ways = choice ? nodes_[i].options.size() : 2;
      if (!choice && !optional) continue;
      free.emplace_back(i, static_cast<std::uint32_t>(ways));
      count *= ways;
      if (count > k_most_variants) return std::nullopt;
    }
    std::vector<Variant> variants;
    for (std::size_t number = 0; number < count; ++number) {
      way_.assign(nodes_.size(), 0);
      std::size_t rest = number;
      for (auto it = free.rbegin(); it != free.rend(); ++it) {
        way_[it->first] = static_cast<std::uint32_t>(rest % it->second);
        rest /= it->second;
      }
      if (steps_ >= k_most_steps) return std::nullopt;
      if (auto variant = make_one()) variants.push_back(std::move(*variant));
    }
    return variants;
  }

 private:
  bool is_choice(std::uint32_t node) const { return !nodes_[node].options.empty(); }
  bool is_left_out(std::uint32_t node) const {
    return !is_choice(node) && !nodes_[node].required && (way_[node] == 1 || !present_[node]);
  }

  std::optional<Variant> make_one() {
    const std::vector<bool> live = live_nodes();
    std::vector<std::vector<std::uint32_t>> leads_to(nodes_.size());  // what an edge into the node becomes
    std::vector<Variant::Edge> edges;
    std::vector<std::uint32_t> taken;
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const std::uint32_t node = *it;
      std::set<std::uint32_t> behind;
      if (is_choice(node)) {
        const std::vector<std::uint32_t>& chosen = leads_to[nodes_[node].options[way_[node]]];
        behind.insert(chosen.begin(), chosen.end());
      }
      for (const std::uint32_t child : nodes_[node].children) {
        steps_ += static_cast<std::int64_t>(leads_to[child].size());
        behind.insert(leads_to[child].begin(), leads_to[child].end());
      }
      if (is_choice(node) || is_left_out(node)) {
        leads_to[node].assign(behind.begin(), behind.end());
        continue;
      }
      leads_to[node] = {node};
      if (!live[node]) continue;
      if (!present_[node]) return std::nullopt;
      taken.push_back(node);
      for (const std::uint32_t child : behind) edges.push_back({node, child});
    }
    return steps_of(taken, edges);
  }

  // Roots, and what live nodes and the chosen options lead to.
  std::vector<bool> live_nodes() const {
    std::vector<bool> live(nodes_.size(), true);
    for (const FusionNode& node : nodes_) {
      for (const std::uint32_t below : node.children) live[below] = false;
      for (const std::uint32_t below : node.options) live[below] = false;
    }
    for (const std::uint32_t node : order_) {
      if (!live[node]) continue;
      for (const std::uint32_t child : nodes_[node].children) live[child] = true;
      if (is_choice(node)) live[nodes_[node].options[way_[node]]] = true;
    }
    return live;
  }

  // From the first required node outwards; empty when the nodes that are left are not connected.
  std::optional<Variant> steps_of(std::vector<std::uint32_t> taken, const std::vector<Variant::Edge>& edges) {
    std::ranges::sort(taken);
    const auto first = std::ranges::find_if(taken, [&](std::uint32_t node) { return nodes_[node].required; });
    if (first == taken.end()) return std::nullopt;
    Variant variant;
    std::set<std::uint32_t> placed = {*first};
    variant.steps.push_back({*first, {}});
    while (placed.size() < taken.size()) {
      steps_ += static_cast<std::int64_t>(edges.size());
      const auto next = std::ranges::find_if(
          edges, [&](const Variant::Edge& edge) { return placed.contains(edge.from) != placed.contains(edge.to); });
      if (next == edges.end()) return std::nullopt;
      Variant::Step step;
      step.node = placed.contains(next->from) ? next->to : next->from;
      for (const Variant::Edge& edge : edges) {
        const bool joins = (edge.from == step.node && placed.contains(edge.to)) ||
                           (edge.to == step.node && placed.contains(edge.from));
        if (joins) step.edges.push_back(edge);
      }
      placed.insert(step.node);
      variant.steps.push_back(std::move(step));
    }
    return variant;
  }

  const std::vector<FusionNode>& nodes_;
  const std::vector<bool>& present_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> way_;  // option of a choice; 1: an optional node that is left out
  std::int64_t& steps_;
};

constexpr std::uint32_t k_unplaced = 0xffffffff;

class Matcher {
 public:
  Matcher(const OperatorGraph& graph, const std::vector<FusionRule>& rules, bool separate_projections)
      : rules_(rules), trace_(trace_forward(graph, separate_projections)), match_of(graph.operators.size(), 0) {
    rule_of.push_back(0);  // match 0: none
    for (const TracedOperator& op : trace_) types_.try_emplace(op.type, types_.size());
    for (const TracedOperator& op : trace_) type_.push_back(types_.at(op.type));
  }

  std::vector<RuleUse> run() {
    std::vector<RuleUse> uses(rules_.size());
    std::vector<std::size_t> order(rules_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return rules_[a].priority > rules_[b].priority; });
    for (const std::size_t rule : order) uses[rule] = match_rule(rule);
    return uses;
  }

 private:
  RuleUse match_rule(std::size_t rule) {
    nodes_ = &rules_[rule].nodes;
    RuleUse use;
    const std::vector<bool> present = present_nodes();
    const auto variants = VariantMaker(*nodes_, present, steps_).make();
    if (!variants) return {0, 0, false, true};
    for (std::uint32_t anchor = 0; anchor < trace_.size(); ++anchor) {
      if (!find(*variants, anchor)) continue;
      ++use.matches;
      if (!claim(rule)) ++use.cut;
    }
    if (use.matches == 0) {
      ignore_claims_ = true;
      for (std::uint32_t i = 0; i < trace_.size() && !use.overlapped; ++i) use.overlapped = find(*variants, i);
      ignore_claims_ = false;
    }
    use.gave_up = steps_ >= k_most_steps;
    return use;
  }

  // Also fills wanted_.
  std::vector<bool> present_nodes() {
    std::vector<bool> present;
    wanted_.clear();
    for (const FusionNode& node : *nodes_) {
      std::vector<bool> wanted(types_.size(), false);
      for (const std::string& type : node.types) {
        if (const auto found = types_.find(type); found != types_.end()) wanted[found->second] = true;
      }
      present.push_back(std::ranges::count(wanted, true) > 0);
      wanted_.push_back(std::move(wanted));
    }
    return present;
  }

  // The first variant that matches with its first node at `anchor`.
  bool find(const std::vector<Variant>& variants, std::uint32_t anchor) {
    for (const Variant& variant : variants) {
      if (steps_ >= k_most_steps) return false;
      const std::uint32_t first = variant.steps.front().node;
      ++steps_;
      if (!wanted_[first][type_[anchor]]) continue;
      place_.assign(nodes_->size(), k_unplaced);
      if (fits(first, anchor) && place_rest(variant, anchor, 0)) return true;
    }
    return false;
  }

  bool fits(std::uint32_t node, std::uint32_t traced) {
    ++steps_;
    if (!wanted_[node][type_[traced]]) return false;
    if (std::ranges::count(place_, traced) > 0) return false;
    return !(*nodes_)[node].included || ignore_claims_ || match_of[trace_[traced].part_of.index()] == 0;
  }

  bool place_rest(const Variant& variant, std::uint32_t traced, std::size_t number) {
    place_[variant.steps[number].node] = traced;
    if (number + 1 == variant.steps.size()) return true;
    const Variant::Step& next = variant.steps[number + 1];
    const Variant::Edge& along = next.edges.front();
    const bool down = along.to == next.node;
    const TracedOperator& beside = trace_[place_[down ? along.from : along.to]];
    for (const std::uint32_t candidate : down ? beside.children : beside.parents) {
      if (steps_ >= k_most_steps) return false;
      if (fits(next.node, candidate) && joined(next, candidate) && place_rest(variant, candidate, number + 1)) {
        return true;
      }
    }
    place_[variant.steps[number].node] = k_unplaced;
    return false;
  }

  bool joined(const Variant::Step& step, std::uint32_t candidate) const {
    return std::ranges::all_of(step.edges, [&](const Variant::Edge& edge) {
      const std::uint32_t from = edge.from == step.node ? candidate : place_[edge.from];
      const std::uint32_t to = edge.to == step.node ? candidate : place_[edge.to];
      return std::ranges::binary_search(trace_[from].children, to);
    });
  }

  // The operators of what was found belong together; false when they do not follow each other.
  bool claim(std::size_t rule) {
    std::set<std::uint32_t> operators;
    for (std::uint32_t node = 0; node < place_.size(); ++node) {
      if (place_[node] == k_unplaced || !(*nodes_)[node].included) continue;
      operators.insert(trace_[place_[node]].part_of.value());
    }
    for (const std::uint32_t op : operators) match_of[op] = static_cast<std::uint32_t>(rule_of.size());
    rule_of.push_back(rule);
    return operators.empty() || *operators.rbegin() - *operators.begin() + 1 == operators.size();
  }

  const std::vector<FusionRule>& rules_;
  std::vector<TracedOperator> trace_;
  std::map<std::string, std::size_t> types_;  // of the trace, numbered
  std::vector<std::size_t> type_;             // of each traced operator
  std::vector<std::vector<bool>> wanted_;     // by node and type
  const std::vector<FusionNode>* nodes_ = nullptr;
  std::vector<std::uint32_t> place_;  // of each node, in the trace
  std::int64_t steps_ = 0;
  bool ignore_claims_ = false;

 public:
  std::vector<std::uint32_t> match_of;  // by operator; 0: none
  std::vector<std::size_t> rule_of;     // by match
};

// The forward operator that a backward or recomputed one belongs to; empty: that of the operator before it.
std::string forward_name(std::string_view name) {
  constexpr std::string_view k_recompute = "recompute_";
  if (name.starts_with(k_recompute)) return std::string(name.substr(k_recompute.size()));
  for (const std::string_view end : {"_input_gradient", "_weight_gradient", "_bias_gradient", "_gradient"}) {
    if (!name.ends_with(end)) continue;
    name.remove_suffix(end.size());
    break;
  }
  if (name == "probabilities" || name == "value") return "weighted_values";
  if (name == "query" || name == "key") return "scores";
  if (name == "heads") return "query_heads";
  return std::string(name);
}

class PatternMaker {
 public:
  PatternMaker(const OperatorGraph& graph, const std::vector<FusionRule>& rules, const Matcher& matcher, bool built_in)
      : graph_(graph), rules_(rules), matcher_(matcher), built_in_(built_in) {}

  std::vector<FusedPattern> run() {
    for (std::uint32_t i = 0; i < graph_.operators.size(); ++i) {
      const RduOperator& op = graph_.operators[i];
      if (op.phase == RduPhase::forward) forward_[{op.layer, op.name}] = i;
      patterns_.push_back(pattern_of(i));
    }
    return std::move(patterns_);
  }

 private:
  FusedPattern pattern_of(std::uint32_t index) {
    const RduOperator& op = graph_.operators[index];
    if (op.phase >= RduPhase::gradient_norm) return {op.pattern_group, 0};
    std::uint32_t first = index;
    if (op.phase == RduPhase::backward) {
      const auto found = forward_.find({op.layer, forward_name(op.name)});
      // The sum of two gradients stands where the later one is made.
      if (found == forward_.end()) return patterns_.empty() ? alone(op, index) : patterns_.back();
      first = found->second;
    }
    const std::uint32_t match = matcher_.match_of[first];
    if (match == 0) return unmatched(op, index);
    const std::string& rule = rules_[matcher_.rule_of[match]].name;
    if (op.phase == RduPhase::forward) return {rule, match};
    if (op.recomputed) return {"recompute_" + rule, match};
    return {backward_name(rule, op, match), match};
  }

  // A section for each product of a match, or for its attention, with what stands around it.
  std::string backward_name(const std::string& rule, const RduOperator& op, std::uint32_t match) {
    Backward& own = backward_[match];
    if (op.products > 0 && op.pattern_group != own.group) {
      if (!own.group.empty()) ++own.number;
      own.group = op.pattern_group;
    }
    return own.number == 1 ? rule + " backward" : rule + " backward " + std::to_string(own.number);
  }

  FusedPattern unmatched(const RduOperator& op, std::uint32_t index) const {
    if (!built_in_) return alone(op, index);
    const RduOperator* before = index > 0 ? &graph_.operators[index - 1] : nullptr;
    const bool goes_on = before != nullptr && op.phase == RduPhase::backward && before->phase == op.phase &&
                         before->layer == op.layer && before->pattern_group == op.pattern_group;
    return goes_on ? patterns_.back() : FusedPattern{op.pattern_group, 0};
  }

  FusedPattern alone(const RduOperator& op, std::uint32_t index) const {
    return {op.name, static_cast<std::uint32_t>(matcher_.rule_of.size()) + index};
  }

  const OperatorGraph& graph_;
  const std::vector<FusionRule>& rules_;
  const Matcher& matcher_;
  bool built_in_;
  std::map<std::pair<int, std::string>, std::uint32_t> forward_;
  std::vector<FusedPattern> patterns_;
  // Of a match: the built-in group of its last product, and the section that it is in.
  struct Backward {
    std::string group;
    int number = 1;
  };
  std::map<std::uint32_t, Backward> backward_;
};

}  // namespace

Fusion apply_fusion_rules(const OperatorGraph& graph, const std::vector<FusionRule>& rules,
                          const FusionOptions& options) {
  Fusion fusion;
  Matcher matcher(graph, rules, options.separate_projections);
  fusion.uses = matcher.run();
  fusion.patterns = PatternMaker(graph, rules, matcher, options.built_in).run();
  return fusion;
}

}  // namespace podsim::rdu
