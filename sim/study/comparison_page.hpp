#pragma once
// A comparison as a page: what is better and worse, the step before and after, and what explains the change.

#include <string>

#include "sim/report/page.hpp"
#include "sim/study/comparison.hpp"

namespace podsim {

// `before` and `after` name the two results, as the user does; `tolerance` is a fraction. At most 500 rows stand in a
// table: those that changed most, and what is left out is said.
Page comparison_page(const Comparison& comparison, const std::string& before, const std::string& after,
                     double tolerance);

}  // namespace podsim
