#include "sim/study/search_tree.hpp"

#include <algorithm>
#include <queue>
#include <utility>

namespace podsim {
namespace {

struct Node {
  std::size_t scenario = 0;
  SearchBranch branch;
  std::vector<std::size_t> path;
  SearchValue bound;
};

// The best bound first; of equal ones the earlier.
struct Later {
  bool operator()(const Node& a, const Node& b) const {
    if (a.bound != b.bound) return a.bound < b.bound;
    return a.path > b.path;
  }
};

bool better(const SearchPoint& a, const SearchPoint& b) {
  if (a.value != b.value) return a.value > b.value;
  if (a.devices != b.devices) return a.devices < b.devices;
  if (a.headroom_pct != b.headroom_pct) return a.headroom_pct > b.headroom_pct;
  return a.path < b.path;
}

// On the front: by rate alone.
bool faster(const SearchPoint& a, const SearchPoint& b) {
  if (a.samples_per_s != b.samples_per_s) return a.samples_per_s > b.samples_per_s;
  if (a.devices != b.devices) return a.devices < b.devices;
  if (a.headroom_pct != b.headroom_pct) return a.headroom_pct > b.headroom_pct;
  return a.path < b.path;
}

class Explorer {
 public:
  Explorer(const SearchForest& forest, const SearchEffort& effort) : forest_(forest), effort_(effort) {}

  SearchTree run() {
    for (std::size_t s = 0; s < forest_.scenarios.size(); ++s) {
      push_all(s, forest_.scenarios[s], {s});
      for (const SearchBranch& branch : forest_.scenarios[s]) tree_.counts.configurations += branch.configurations;
    }
    while (!queue_.empty() && !tree_.stopped) {
      Node node = queue_.top();
      queue_.pop();
      visit(node);
      if (effort_.progress) effort_.progress(tree_.counts);
      tree_.stopped = !queue_.empty() && (effort_.stop() || tree_.counts.judged >= effort_.most_judged);
    }
    std::ranges::stable_sort(tree_.rejections, [](const SearchRejection& a, const SearchRejection& b) {
      return std::pair(-a.configurations, a.limit) < std::pair(-b.configurations, b.limit);
    });
    return std::move(tree_);
  }

 private:
  void push_all(std::size_t scenario, const std::vector<SearchBranch>& branches, const std::vector<std::size_t>& path) {
    for (std::size_t b = 0; b < branches.size(); ++b) {
      Node node{scenario, branches[b], path, {}};
      node.path.push_back(b);
      node.bound = forest_.value(scenario, node.branch.most_samples_per_s, node.branch.devices);
      queue_.push(std::move(node));
    }
  }

  void visit(const Node& node) {
    if (effort_.prune && ruled_out(node)) {
      tree_.counts.closed += node.branch.configurations;
      tree_.counts.ruled_out += node.branch.configurations;
      return;
    }
    if (node.branch.open) {
      push_all(node.scenario, node.branch.open(), node.path);
      return;
    }
    ++tree_.counts.judged;
    tree_.counts.closed += node.branch.configurations;
    SearchJudgement judgement = forest_.judge(node.scenario, node.branch.settings);
    if (judgement.point) {
      take(node, std::move(*judgement.point));
    } else {
      reject(node, judgement);
    }
  }

  // Ties are looked at: an equal one may be preferred for other reasons.
  bool ruled_out(const Node& node) const {
    if (tree_.best.size() < effort_.keep || node.bound >= tree_.best.back().value) return false;
    return std::ranges::any_of(tree_.front, [&](const SearchPoint& point) {
      return point.devices <= node.branch.devices && point.samples_per_s > node.branch.most_samples_per_s;
    });
  }

  void take(const Node& node, SearchPoint point) {
    point.scenario = node.scenario;
    point.settings = node.branch.settings;
    point.path = node.path;
    point.value = forest_.value(node.scenario, point.samples_per_s, point.devices);
    const bool behind = std::ranges::any_of(
        tree_.front, [&](const SearchPoint& other) { return other.devices <= point.devices && faster(other, point); });
    if (!behind) {
      std::erase_if(tree_.front,
                    [&](const SearchPoint& other) { return other.devices >= point.devices && faster(point, other); });
      tree_.front.insert(std::ranges::upper_bound(tree_.front, point.devices, {}, &SearchPoint::devices), point);
    }
    tree_.best.insert(std::ranges::upper_bound(tree_.best, point, better), std::move(point));
    if (tree_.best.size() > effort_.keep) tree_.best.pop_back();
  }

  void reject(const Node& node, const SearchJudgement& judgement) {
    const std::string& limit = judgement.broken ? judgement.broken->limit : judgement.invalid;
    auto known = std::ranges::find(tree_.rejections, limit, &SearchRejection::limit);
    if (known == tree_.rejections.end()) {
      tree_.rejections.push_back({limit, 0, {}, {}, node.scenario, judgement.reason});
      known = std::prev(tree_.rejections.end());
    }
    ++known->configurations;
    if (!judgement.broken) return;
    SearchRejection own{limit, known->configurations, judgement.broken, node.branch.settings, node.scenario, {}};
    if (!known->nearest || own.missed_by() < known->missed_by()) *known = std::move(own);
  }

  const SearchForest& forest_;
  const SearchEffort& effort_;
  std::priority_queue<Node, std::vector<Node>, Later> queue_;
  SearchTree tree_;
};

}  // namespace

SearchTree explore(const SearchForest& forest, const SearchEffort& effort) {
  return Explorer(forest, effort).run();
}

}  // namespace podsim
