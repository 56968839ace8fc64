#pragma once
// A sweep as a page: its best points, one metric against another with the points that none surpasses, the metric by two
// inputs, and what the points that do not work lack.

#include "sim/report/page.hpp"
#include "sim/study/sweep_tables.hpp"

namespace podsim {

// At most 10,000 points stand in a page: those of the fronts, then the best, then those that do not work, each kind in
// proportion. What is left out is said.
Page sweep_page(SweepStore& store, const SweepQuestions& questions);

}  // namespace podsim
