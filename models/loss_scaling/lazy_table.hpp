#pragma once
// A positive, smooth function of octaves from -160 to 260, evaluated at sixteenths when first asked for and
// interpolated between by cubics in its logarithm: to a part in ten thousand while that bends like the logarithm of a
// Gaussian tail.

#include <functional>
#include <vector>

namespace podsim::loss_scaling {

class LazyTable {
 public:
  explicit LazyTable(std::function<double(double)> function);

  // Arguments beyond the ends count as the ends. Linear where the function ends in double precision.
  double operator()(double octaves);

 private:
  double node(int index);
  double log_of_node(int index);

  std::function<double(double)> function_;
  std::vector<double> nodes_;  // negative: not evaluated
  std::vector<double> logs_;   // of the nodes; only where evaluated
};

}  // namespace podsim::loss_scaling
