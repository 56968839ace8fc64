#pragma once
// Programs that start other programs: mpirun, srun, sbatch, sambatune, and shells' own helpers.
// Sources: MPICH and Open MPI, mpirun manual pages; Slurm, srun and sbatch manual pages; argonne-lcf/user-guides,
// SambaTune user guide.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/rdu/command/tokenizer.hpp"

namespace podsim::rdu {

enum class LauncherKind { mpirun, srun, sbatch, sambatune, helper };

// What an option of a launcher says.
enum class LauncherRole { none, ranks, nodes, ranks_per_node, hosts, modes, wrapped_command };

struct LauncherOption {
  LauncherRole role = LauncherRole::none;
  std::string name;          // as written
  std::vector<Word> values;  // of options with a value: at least one
  Place place;
};

struct LauncherCall {
  LauncherKind kind = LauncherKind::helper;
  Word word;                            // as written: "/opt/mpich-3.4.3/bin/mpirun"
  std::vector<LauncherOption> options;  // in order

  // The last option of a role; null when there is none.
  const LauncherOption* find(LauncherRole role) const;
};

// What the file name of a program says of it; empty when it is no launcher.
std::optional<LauncherKind> launcher_kind(const std::string& program);

// The name by which messages call it: "mpirun", "srun", …
std::string to_text(LauncherKind kind);

// Reads the launcher at words[at] with its options; returns the index behind them.
std::size_t read_launcher(const std::vector<Word>& words, std::size_t at, LauncherCall& call, Diagnostics& diagnostics);

}  // namespace podsim::rdu
