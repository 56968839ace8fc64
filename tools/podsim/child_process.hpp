#pragma once
// A piece of work in a process of its own, which may crash without taking ours along.

#include <functional>
#include <string>

namespace podsim {

struct ChildResult {
  std::string text;   // what the work returned
  std::string error;  // why there is no text; empty: there is
};

// Forks; call it only while no other thread runs. The child dies with its parent. `work` may throw.
ChildResult run_in_child(const std::function<std::string()>& work);

}  // namespace podsim
