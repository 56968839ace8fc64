#pragma once
// What the checks of compile and launch commands share.

#include <string>
#include <utility>

#include "models/rdu/command/arguments.hpp"

namespace podsim::rdu {

// Whether an argument was told and can be computed with.
template <class T>
bool usable(const Argument<T>& argument) {
  return argument.known && argument.valid;
}

template <class T>
void refuse(const Argument<T>& argument, Diagnostics& diagnostics, std::string problem, std::string expected) {
  diagnostics.error(argument.place, argument.name, std::move(problem), std::move(expected));
}

template <class T>
void warn(const Argument<T>& argument, Diagnostics& diagnostics, std::string problem, std::string expected = {}) {
  diagnostics.warning(argument.place, argument.name, std::move(problem), std::move(expected));
}

}  // namespace podsim::rdu
