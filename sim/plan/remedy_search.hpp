#pragma once
// The change that makes a plan fit at the least cost: changes are tried one by one, where none helps two at a time.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace podsim {

template <class Candidate>
struct PlanChange {
  std::string text;  // as a user writes it: "workload.recompute = true"
  std::function<void(Candidate&)> apply;
  std::string subject = {};  // two changes of one subject are no pair; empty: pairs with any
};

// The text of the best change or pair; empty when none helps. `rate` says what a candidate is worth, 0 when it does not
// fit; of equal ones the first counts.
template <class Candidate, class Rate>
std::string best_change(const Candidate& base, const std::vector<PlanChange<Candidate>>& changes, bool pairs,
                        const Rate& rate) {
  std::string best;
  double best_rate = 0;
  const auto test = [&](const Candidate& candidate, const std::string& text) {
    const double own = rate(candidate);
    if (own <= best_rate) return;
    best = text;
    best_rate = own;
  };
  for (const PlanChange<Candidate>& change : changes) {
    Candidate candidate = base;
    change.apply(candidate);
    test(candidate, change.text);
  }
  if (!best.empty() || !pairs) return best;
  for (std::size_t first = 0; first < changes.size(); ++first) {
    for (std::size_t second = first + 1; second < changes.size(); ++second) {
      const std::string& subject = changes[first].subject;
      if (!subject.empty() && subject == changes[second].subject) continue;
      Candidate candidate = base;
      changes[first].apply(candidate);
      changes[second].apply(candidate);
      test(candidate, changes[first].text + " and " + changes[second].text);
    }
  }
  return best;
}

}  // namespace podsim
