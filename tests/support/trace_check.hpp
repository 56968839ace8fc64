#pragma once
// Traces held against the Trace Event Format ("Trace Event Format", Google, 2016), as far as viewers rely on it.

#include <string>
#include <string_view>
#include <vector>

namespace podsim::test {

// What is wrong with a trace; empty: every event has ph, pid, tid and name, those with a time have it from 0 on; slices
// of a track lie within or beside each other; counters are numbers; every process and track with events has a name;
// colours are those that viewers know.
std::vector<std::string> trace_problems(std::string_view json);

}  // namespace podsim::test
