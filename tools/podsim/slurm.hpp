#pragma once
// A sweep as a job array of the Slurm batch system: a shard per task, each with its own database; a task that is
// started again goes on with its file.

#include <cstdint>
#include <string>

#include "tools/podsim/exit_code.hpp"
#include "tools/podsim/options.hpp"

namespace podsim {

// The batch script for `tasks` shards of `sweep run` as it was called in the current folder; `program`: its path.
std::string slurm_script(const Arguments& arguments, const std::string& database, std::int64_t tasks,
                         const std::string& program, const std::string& folder);

// With --dry-run prints the script; else writes it beside the database, submits it, waits and merges the shards.
// Throws UsageError: no number of tasks, no database, no Slurm.
ExitCode run_on_slurm(const Arguments& arguments, const std::string& database, std::int64_t points);

}  // namespace podsim
