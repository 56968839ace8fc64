#pragma once
// The analysis of a planned training's loss scale, as a report tells it.

#include <optional>

#include "models/loss_scaling/analysis.hpp"
#include "sim/config/config_files.hpp"
#include "sim/plan/loss_scale_outlook.hpp"
#include "sim/plan/plan.hpp"

namespace podsim::loss_scaling {

ScaleVerdict verdict_of(const Analysis& analysis);

// Empty where there is no loss to scale, or none whose gradients are modelled; a written section is then told to have
// no effect. `document` is the experiment as written. What the user should know goes to `warnings`. Throws ConfigError
// as `analyse` does.
std::optional<LossScaleOutlook> outlook_for(const Plan& plan, const Value& document, const Catalog& catalog,
                                            const ConfigFiles& configs, Diagnostics& warnings);

}  // namespace podsim::loss_scaling
