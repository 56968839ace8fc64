#pragma once
// A launch command as a value: how many copies run, on how many nodes, and what each is asked to do.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/rdu/command/arguments.hpp"
#include "models/rdu/command/command_line.hpp"
#include "models/rdu/command/tokenizer.hpp"

namespace podsim::rdu {

// Defaults as in CompileCommand. One rank is one copy of the compiled program.
struct LaunchCommand {
  CommandLine line;                       // that runs the program; of sbatch alone: sbatch's own
  std::vector<CommandLine> allocations;   // sbatch commands before it
  std::set<std::string> defines;          // names of the values of rdu.define that the text uses
  std::string action;                     // "run", "test", "measure-performance"; empty: sbatch or sambatune alone
  Argument<std::int64_t> ranks;           // ≥ 1
  Argument<std::int64_t> nodes;           // ≥ 1; 0: not told
  Argument<std::int64_t> ranks_per_node;  // ≥ 1; 0: not told
  std::vector<std::string> sambatune_modes;

  Argument<std::string> pef;          // path; empty: not given
  Argument<std::int64_t> batch_size;  // ≥ 1
  Argument<std::int64_t> microbatch_size;
  Argument<std::int64_t> num_spatial_batches;
  Argument<bool> inference;
  Argument<bool> data_parallel;
  Argument<bool> reduce_on_rdu;
  Argument<std::int64_t> world_size;
  Argument<std::int64_t> num_iterations;
  std::map<std::string, Argument<std::int64_t>> shapes;  // as in CompileCommand
  Argument<std::string> model_name;                      // empty: not given

  bool uses(LauncherKind kind) const;
  // The value of an environment variable; null when the command does not set it.
  const EnvironmentVariable* environment(std::string_view name) const;
};

// Reads the one run of a text, the sbatch command that it runs under, or sbatch or sambatune alone. All problems go to
// `diagnostics`; empty when there is nothing of that kind or several. Arguments with problems are not valid.
std::optional<LaunchCommand> read_launch_command(std::string_view text, const Place& begin, const Defines& defines,
                                                 Diagnostics& diagnostics);

}  // namespace podsim::rdu
