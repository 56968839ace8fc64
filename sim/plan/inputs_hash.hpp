#pragma once
// What decided a run, as one number.

#include <string>

namespace podsim {

struct Plan;

// SHA-256 of all resolved keys, constants, dimensions of the model and contents of files, hexadecimal: where a file
// lies is no input.
std::string inputs_hash(const Plan& plan);

}  // namespace podsim
