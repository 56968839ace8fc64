#pragma once
// The keys of the [rdu] section.

#include <string>
#include <utility>
#include <vector>

#include "sim/config/key_spec.hpp"

namespace podsim::rdu {

const std::vector<KeySpec>& rdu_keys();

// Keys of the section and flags of the commands that change nothing, with the reason.
std::vector<std::pair<std::string, std::string>> inputs_without_effect();

}  // namespace podsim::rdu
