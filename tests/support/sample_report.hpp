#pragma once
// A report with a value in every place, made by hand, for cases of formatters.

#include "sim/report/report.hpp"

namespace podsim::test {

// Training on two devices; fits.
Report sample_report();

// The same as a check, and too large for the memory of d1.
Report sample_check_that_does_not_fit();

}  // namespace podsim::test
