#pragma once
// Machines that the user compares: their names, and prices, power and failures in a file.

#include "sim/study/capacity_costs.hpp"
#include "tools/podsim/options.hpp"

namespace podsim {

// Of --costs; nothing when it is not given. Throws ConfigError with every problem.
CapacityCosts costs_from(const Arguments& arguments);

// "a,b,c" at its commas.
std::vector<std::string> split_at_commas(const std::string& text);

// The names of --systems; empty when it is not given. Throws UsageError on an empty name and on one that stands twice.
std::vector<std::string> systems_from(const Arguments& arguments);

}  // namespace podsim
