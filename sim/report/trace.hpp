#pragma once
// A timeline in Chrome's trace format, which Perfetto opens.

#include <string>

#include "sim/observe/trace.hpp"

namespace podsim {

std::string to_trace_json(const Trace& trace);

}  // namespace podsim
