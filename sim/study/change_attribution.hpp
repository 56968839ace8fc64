#pragma once
// Which input made the difference: the first run again, with one input at a time taken from the second.

#include <optional>
#include <string>
#include <vector>

#include "sim/config/value.hpp"
#include "sim/plan/catalog.hpp"

namespace podsim {

// What inputs that change together do to the rate of samples.
struct InputEffect {
  std::string inputs;                 // "workload.micro_batch_size", "a.b in place of a.c"
  std::optional<double> rate_change;  // as a fraction; empty: the change cannot be had without the others
  std::optional<double> cycle_change;
  bool alone = true;    // seen from the first run; false: as the last change before the second
  std::string meaning;  // of the first input, as its description tells; may be empty
};

struct ChangeAttribution {
  std::vector<InputEffect> effects;  // the largest first
  std::vector<std::string> beyond;   // what the changes do together beyond that, or why there is no attribution
};

// Of two JSON reports of runs. Inputs that only one of them has replace each other and change together, those of one
// section at a time. A change that cannot be had alone is tried as the last one before the second run. What the
// changes together do beyond their product is told as such. Without an attribution (the plan in the first report
// gives another time now: other files, another program) the only sentence says why.
ChangeAttribution attribute_change(const Value& before, const Value& after, const Catalog& catalog,
                                   const ConfigFiles& configs);

// "effect of a.b: +6.8 % samples per second, alone from A".
std::string sentence_of(const InputEffect& effect);

}  // namespace podsim
