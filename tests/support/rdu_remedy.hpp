#pragma once
// Remedies of RDU plans, applied as a user would: in the words of the commands and of the experiment.

#include <string>

#include "sim/plan/verdict.hpp"

namespace podsim::test {

struct RduScene {
  std::string machine;  // top-level keys
  std::string model;    // config
  std::string compile;  // empty: no command
  std::string workload = "";
  std::string rdu = "";
  std::string launch = "";

  std::string toml() const;
};

// Without remedies.
Verdict verdict_of(const RduScene& scene);

// That of a plan that does not fit; the test fails when it does, or when its limits name different ones.
std::string remedy_of(const RduScene& scene);

// The scene after all changes of a remedy, which " and " parts: "--flags of the command", Model Zoo's "key=value",
// "-b 8 in both commands", "4 ranks in the launch command", "section.key = value".
RduScene with_remedy(RduScene scene, const std::string& remedy);

}  // namespace podsim::test
