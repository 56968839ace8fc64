// podsim sweep: what its kinds have in common.

#include <fmt/format.h>

#include "tools/podsim/verbs.hpp"

namespace podsim {

const VerbSpec& sweep_spec() {
  static const VerbSpec k_spec{
      "sweep",
      "sweep run|show|export|merge [arguments]",
      "Simulate an experiment over many values of its keys.",
      "\n"
      "  sweep run     simulate the points: a grid, or a sample of it; into a database, or as CSV\n"
      "  sweep show    the best points of a database, a Pareto front, a table by two axes\n"
      "  sweep export  a database as CSV or JSON\n"
      "  sweep merge   the databases of shards into one\n"
      "\n"
      "`podsim help sweep run` and the like tell more.",
      {},
      {"podsim sweep run gpt2-caraml-pod4 --axis ipu.gradient_accumulation_steps=16,64,256",
       "podsim sweep show sweep.sqlite --best sequences_per_s"}};
  return k_spec;
}

ExitCode cmd_sweep(const Arguments& arguments) {
  const std::string word = arguments.words().empty() ? "" : arguments.words().front();
  throw UsageError(fmt::format("unknown kind of sweep \"{}\"; expected run, show, export or merge{}", word,
                               suggestion_for(word, {"run", "show", "export", "merge"})));
}

}  // namespace podsim
