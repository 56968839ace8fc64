#pragma once
// Which input made the difference: the first run again, with one input at a time taken from the second.

#include <string>
#include <vector>

#include "sim/config/value.hpp"
#include "sim/plan/catalog.hpp"

namespace podsim {

// Sentences for two JSON reports of runs. Inputs that only one of them has replace each other and change together,
// those of one section at a time. A change that cannot be had alone is tried as the last one before the second run.
// What the changes together do beyond their product is told as such. Without an attribution
// (the plan in the first report gives another time now: other files, another program) the only sentence says why.
std::vector<std::string> attribute_change(const Value& before, const Value& after, const Catalog& catalog,
                                          const ConfigFiles& configs);

}  // namespace podsim
