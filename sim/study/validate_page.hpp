#pragma once
// A validation as a page: measured against predicted, errors by group, every case.

#include "sim/report/page.hpp"
#include "sim/study/validate.hpp"

namespace podsim {

Page validation_page(const Validation& validation);

}  // namespace podsim
