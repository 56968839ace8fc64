#pragma once
// How far constants may be off. A constant that states its spread as a range ("8.7 to 9.4 GB/s", "0 to 10 ms") has the
// ends of that range as P10 and P90; any other has the factor of its confidence, from confidence.toml.
//
// Draws: value · (P90 / value)^(z / z90) for z > 0 and value · (P10 / value)^(-z / z90) below, z standard normal,
// z90 = 1.2816: the logarithm is normal to each side of the value, which stays the median. Where P10 is 0, the value is
// followed down linearly to a thousandth of itself. Constants are drawn independently of each other: what was fitted
// together may in truth be off together.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/config/config_files.hpp"
#include "sim/config/constants.hpp"
#include "sim/plan/experiment.hpp"

namespace podsim {

// P10 and P90 as factors on the value; both 1: it is taken as exact.
struct ConstantSpread {
  double low = 1;   // 0 to 1
  double high = 1;  // at least 1
  bool stated = false;
  bool exact() const { return low == 1 && high == 1; }
};

// The range that a constant's own text states; exact when it states none.
ConstantSpread stated_spread(const Constant& constant);

// The factor on a value at `z`.
double factor_at(const ConstantSpread& spread, double z);

class Spreads {
 public:
  // Throws ConfigError when the configs have no such file, or a broken one.
  explicit Spreads(const ConfigFiles& configs);

  ConstantSpread of(const Constant& constant) const;
  // P90 over P50 of what the model of a family leaves out; 1: not known.
  double model_factor(const std::string& family) const;

 private:
  std::map<std::string, double> by_confidence_;
  std::map<std::string, double> by_family_;
};

// The z that a constant has in one draw: the same whatever else is drawn.
double drawn_z(std::uint64_t seed, std::int64_t draw, const std::string& name);

// All constants of a set that are not exact, as one draw has them.
std::vector<ConstantChange> drawn_constants(const ConstantSet& set, const Spreads& spreads, std::uint64_t seed,
                                            std::int64_t draw);

}  // namespace podsim
