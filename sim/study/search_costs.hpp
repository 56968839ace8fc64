#pragma once
// What a searched configuration costs by the hour.

#include "sim/plan/plan.hpp"
#include "sim/study/search.hpp"

namespace podsim {

// Sets power and price of the scenario: what the machine of a plan takes while it runs, all of it, idle devices and
// hosts too. What is not known stays 0.
void add_costs(const Plan& plan, const CapacityCosts& costs, SearchScenario& scenario);

}  // namespace podsim
