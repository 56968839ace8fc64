#pragma once
// A report with a value in every place, made by hand, for cases of formatters.

#include "sim/report/report.hpp"

namespace podsim::test {

// Training on two devices; fits.
Report sample_report();

// Of a scheme that halves and doubles; 2 % of the last updates are skipped and 3 % clipped.
LossScaleOutlook sample_loss_scale();

// The training as a check, and too large for the memory of d1.
Report sample_check_that_does_not_fit();

}  // namespace podsim::test
