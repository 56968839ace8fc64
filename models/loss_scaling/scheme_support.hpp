#pragma once
// What the controllers share: reading their settings in single precision.

#include <string>

#include "sim/plan/loss_scaling.hpp"

namespace podsim::loss_scaling {

inline constexpr double k_half_largest = 65504;

// `loss_scaling.<key>` as a single-precision number.
float single_setting(SettingsReader& settings, const std::string& key, double fallback, const std::string& origin);

// `loss_scaling.initial`; warns when it is no power of two, since scaling by others rounds.
float initial_scale(SettingsReader& settings, double fallback, const std::string& origin, const Value& document,
                    Diagnostics& diagnostics);

// The smallest and the largest scale a controller may reach. With `minimum` above `maximum`, or `initial` outside of
// them, an error goes to `diagnostics`.
struct ScaleBounds {
  float minimum = 0;
  float maximum = 0;  // infinite: none
};
ScaleBounds scale_bounds(SettingsReader& settings, float initial, ScaleBounds fallback, const Value& document,
                         Diagnostics& diagnostics);

}  // namespace podsim::loss_scaling
