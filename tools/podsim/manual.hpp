#pragma once
// The help of all verbs in other shapes, from the same descriptions.

#include <string>

namespace podsim {

// podsim(1) in the macros of man(7).
std::string manual_page();

// A script for bash: verbs, their options, and the names that `podsim list` knows.
std::string bash_completion();

}  // namespace podsim
