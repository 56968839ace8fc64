#pragma once
// Prices, power and failures that the user gives in a file.

#include "sim/study/capacity_costs.hpp"
#include "tools/podsim/options.hpp"

namespace podsim {

// Of --costs; nothing when it is not given. Throws ConfigError with every problem.
CapacityCosts costs_from(const Arguments& arguments);

// "a,b,c" at its commas.
std::vector<std::string> split_at_commas(const std::string& text);

}  // namespace podsim
