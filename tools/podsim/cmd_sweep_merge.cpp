// podsim sweep merge: shards into one.

#include <fmt/format.h>

#include "sim/report/human.hpp"
#include "tools/podsim/output.hpp"
#include "tools/podsim/sweep_output.hpp"
#include "tools/podsim/verbs.hpp"

namespace podsim {

const VerbSpec& sweep_merge_spec() {
  static const VerbSpec k_spec{
      "sweep merge",
      "sweep merge TARGET.sqlite SHARD.sqlite … [options]",
      "Put the rows of a sweep's shards into one database.",
      "TARGET is made, or takes what it lacks: merging twice changes nothing. Databases of different sweeps, or with\n"
      "different values for a point, are refused.",
      {{"quiet", "", "print nothing"}},
      {"podsim sweep merge sweep.sqlite sweep.shard-*-of-4.sqlite", "podsim sweep merge all.sqlite a.sqlite b.sqlite"},
      100'000};
  return k_spec;
}

ExitCode cmd_sweep_merge(const Arguments& arguments) {
  if (arguments.words().size() < 2) throw UsageError("give a target and at least one database to take rows from");
  const std::vector<std::string> shards(arguments.words().begin() + 1, arguments.words().end());
  const std::string text = merge_sweeps(arguments.words().front(), shards);
  if (!arguments.has("quiet")) print(text);
  return ExitCode::done;
}

}  // namespace podsim
