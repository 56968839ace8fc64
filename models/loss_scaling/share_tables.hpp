#pragma once
// Shares of tensors at many scales. Mixtures that differ in location alone lie on one curve over the distance from it
// to the limit, so that a model of hundreds of tensors needs a few tables; log-normal shares have closed forms. The
// same values as those of gradient_model.hpp to a part in ten thousand.

#include <memory>
#include <vector>

#include "models/loss_scaling/gradient_model.hpp"
#include "models/loss_scaling/lazy_table.hpp"

namespace podsim::loss_scaling {

class ShareTables {
 public:
  ShareTables();
  ~ShareTables();

  // Of a tensor's non-zero values when it is `octaves` larger than at the first update without a scale.
  double at_most(const GradientTensor& tensor, double limit, double octaves);
  double at_least(const GradientTensor& tensor, double limit, double octaves);
  // That are made zero; stochastically or to nearest.
  double flushed(const GradientTensor& tensor, const FormatLimits& limits, bool stochastic, double octaves);

 private:
  struct Curves;  // of one spread
  Curves& curves_of(const Magnitudes& magnitudes);

  std::vector<std::unique_ptr<Curves>> curves_;
};

}  // namespace podsim::loss_scaling
