#pragma once
// The keys below `loss_scaling` in an experiment, of every scheme and of the gradient model.

#include <string>
#include <vector>

#include "sim/config/key_spec.hpp"
#include "sim/plan/catalog.hpp"

namespace podsim::loss_scaling {

// Paths from the section; `modes` are the names of the schemes.
std::vector<KeySpec> keys(const std::vector<std::string>& modes);

// Warns about keys in `document` that belong to schemes other than `scheme`.
void warn_unread(const Value& document, const LossScalingScheme& scheme, const Catalog& catalog,
                 Diagnostics& diagnostics);

}  // namespace podsim::loss_scaling
