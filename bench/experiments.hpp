#pragma once
// Shipped experiments as plans, with keys of their own, for benchmarks of whole steps.

#include <string>
#include <vector>

#include "sim/plan/catalog.hpp"
#include "sim/plan/plan.hpp"

namespace podsim::bench {

const Catalog& catalog();

// `overrides` as on the command line: "system.nodes=4". Throws ConfigError.
Plan plan_of(const std::string& experiment, const std::vector<std::string>& overrides = {});

}  // namespace podsim::bench
