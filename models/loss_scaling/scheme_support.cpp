#include "models/loss_scaling/scheme_support.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/units/text.hpp"

namespace podsim::loss_scaling {
namespace {

Place place_of(const Value& document, const std::string& path) {
  const Value* written = document.find(path);
  return written != nullptr ? written->place() : Place{"default", 0, 0};
}

// A bound that need not be there: printed only when it is.
float bound(SettingsReader& settings, const std::string& key, float fallback, const Value& document) {
  const std::string path = "loss_scaling." + key;
  const bool none = fallback == 0 || std::isinf(fallback);
  if (none && !read_number(document, path)) return fallback;
  return static_cast<float>(settings.number(path, static_cast<double>(fallback), "default of the mode"));
}

}  // namespace

float single_setting(SettingsReader& settings, const std::string& key, double fallback, const std::string& origin) {
  return static_cast<float>(settings.number("loss_scaling." + key, fallback, origin));
}

float initial_scale(SettingsReader& settings, double fallback, const std::string& origin, const Value& document,
                    Diagnostics& diagnostics) {
  const float scale = single_setting(settings, "initial", fallback, origin);
  int exponent = 0;
  if (read_number(document, "loss_scaling.initial") && std::frexp(scale, &exponent) != 0.5F) {
    diagnostics.warning(place_of(document, "loss_scaling.initial"), "loss_scaling.initial",
                        fmt::format("{} is no power of two: scaling by it rounds", scale), "a power of two");
  }
  return scale;
}

ScaleBounds scale_bounds(SettingsReader& settings, float initial, ScaleBounds fallback, const Value& document,
                         Diagnostics& diagnostics) {
  const ScaleBounds bounds{bound(settings, "minimum", fallback.minimum, document),
                           bound(settings, "maximum", fallback.maximum, document)};
  const auto text = [](float number) { return format_number(static_cast<double>(number)); };
  if (bounds.minimum > bounds.maximum) {
    diagnostics.error(place_of(document, "loss_scaling.minimum"), "loss_scaling.minimum",
                      fmt::format("{} is above the maximum, {}", text(bounds.minimum), text(bounds.maximum)));
  } else if (initial < bounds.minimum || initial > bounds.maximum) {
    diagnostics.error(place_of(document, "loss_scaling.initial"), "loss_scaling.initial",
                      text(initial) + " is outside of the mode's bounds",
                      std::isinf(bounds.maximum) ? "at least " + text(bounds.minimum)
                                                 : fmt::format("{} to {}", text(bounds.minimum), text(bounds.maximum)));
  }
  return bounds;
}

}  // namespace podsim::loss_scaling
