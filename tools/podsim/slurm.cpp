#include "tools/podsim/slurm.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <vector>

#include "sim/config/value.hpp"
#include "tools/podsim/interrupt.hpp"
#include "tools/podsim/output.hpp"
#include "tools/podsim/progress.hpp"
#include "tools/podsim/sweep_output.hpp"

namespace podsim {
namespace {

constexpr std::int64_t k_most_tasks = 100'000;
constexpr std::chrono::seconds k_poll_interval{2};
constexpr int k_most_failures = 30;  // of the batch system's answers, in a row

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string stem_of(const std::string& database) {
  return database.ends_with(".sqlite") ? database.substr(0, database.size() - 7) : database;
}

struct Answer {
  std::string text;
  bool good = false;
};

Answer ask(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  Answer answer;
  std::array<char, 4096> buffer{};
  std::size_t count = 0;
  while ((count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0) answer.text.append(buffer.data(), count);
  answer.good = ::pclose(pipe) == 0;
  return answer;
}

std::vector<std::string> shard_paths(const std::string& database, std::int64_t tasks) {
  std::vector<std::string> paths;
  for (std::int64_t task = 1; task <= tasks; ++task) paths.push_back(shard_path(database, Shard{task, tasks}));
  return paths;
}

std::int64_t rows_in(const std::vector<std::string>& paths) {
  std::int64_t rows = 0;
  for (const std::string& path : paths) {
    try {
      if (file_exists(path)) rows += SweepStore::read(path).count();
    } catch (const StoreError&) {
      // It is just being made.
    }
  }
  return rows;
}

// Whether the array still has a task that waits or runs.
bool is_alive(const std::string& job, int& failures) {
  const Answer answer = ask("squeue --noheader --me --array --format=%F 2>/dev/null");
  if (!answer.good) {
    if (++failures > k_most_failures) throw UsageError("squeue does not answer; job " + job + " goes on");
    return true;
  }
  failures = 0;
  return ("\n" + answer.text).find("\n" + job + "\n") != std::string::npos;
}

std::string submit(const std::string& script) {
  const Answer answer = ask("sbatch --parsable " + quoted(script));
  if (!answer.good) throw UsageError("sbatch did not take " + script);
  return answer.text.substr(0, answer.text.find_first_of(";\n"));
}

// False: interrupted.
bool wait_for(const std::string& job, const std::vector<std::string>& shards, std::int64_t points, bool quiet) {
  Progress progress(points, rows_in(shards), quiet);
  int failures = 0;
  while (is_alive(job, failures)) {
    progress.show(rows_in(shards));
    std::this_thread::sleep_for(k_poll_interval);
    if (InterruptGuard::asked()) return false;
  }
  return true;
}

std::vector<std::string> unfinished(const std::vector<std::string>& shards) {
  std::vector<std::string> paths;
  for (const std::string& path : shards) {
    if (!file_exists(path) || !SweepStore::read(path).identity().complete) paths.push_back(path);
  }
  return paths;
}

}  // namespace

std::string slurm_script(const Arguments& arguments, const std::string& database, std::int64_t tasks,
                         const std::string& program, const std::string& folder) {
  const std::string stem = stem_of(database);
  std::string text = "#!/usr/bin/env bash\n";
  const std::string name = stem.substr(stem.rfind('/') + 1);
  text += fmt::format("#SBATCH --job-name=podsim-{}\n", name);
  text += fmt::format("#SBATCH --array=1-{}\n", tasks);
  text += fmt::format("#SBATCH --cpus-per-task={}\n", arguments.value("jobs").value_or("1"));
  text += "#SBATCH --requeue\n#SBATCH --open-mode=append\n";
  text += fmt::format("#SBATCH --chdir={}\n#SBATCH --output={}.task-%a.log\n", folder, stem);
  if (arguments.has("partition")) text += fmt::format("#SBATCH --partition={}\n", *arguments.value("partition"));
  for (const std::string& option : arguments.values("sbatch")) text += fmt::format("#SBATCH {}\n", option);
  text += fmt::format("exec {} sweep run", quoted(program));
  for (const std::string& word : arguments.words()) text += " " + quoted(word);
  for (const char* option :
       {"axis", "system", "model", "ipu-config", "compile", "launch", "set", "overlay", "configs", "engine"}) {
    for (const std::string& value : arguments.values(option)) text += fmt::format(" --{} {}", option, quoted(value));
  }
  if (arguments.has("yes")) text += " --yes";
  return text + fmt::format(" --jobs {} --out {} --shard \"$SLURM_ARRAY_TASK_ID/{}\"\n",
                            arguments.value("jobs").value_or("1"), quoted(database), tasks);
}

ExitCode run_on_slurm(const Arguments& arguments, const std::string& database, std::int64_t points) {
  const std::int64_t tasks = integer_option(arguments, "tasks").value_or(0);
  if (tasks < 1 || tasks > k_most_tasks) throw UsageError("option --slurm: give --tasks N, from 1 to 100,000");
  if (database.empty()) throw UsageError("option --slurm: give --out FILE.sqlite");
  if (arguments.has("shard")) throw UsageError("option --slurm: the tasks are the shards; leave --shard out");
  std::error_code code;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", code).string();
  const std::string folder = std::filesystem::current_path().string();
  const std::string script = slurm_script(arguments, database, tasks, program, folder);
  if (arguments.has("dry-run")) {
    print(script);
    return ExitCode::done;
  }
  const std::string file = stem_of(database) + ".slurm";
  Diagnostics ignored;
  const bool same = file_exists(file) && read_text_file(file, {}, "", ignored) == script;
  if (!same) refuse_overwrite(file, arguments.has("force"));
  write_file(file, script);
  const InterruptGuard guard;
  const std::vector<std::string> shards = shard_paths(database, tasks);
  const std::string job = submit(file);
  print_error(fmt::format("job {}: {} tasks of {}", job, tasks, file));
  if (!wait_for(job, shards, points, arguments.has("quiet"))) {
    print_error(fmt::format("interrupted: job {} goes on; then `podsim sweep merge {} {}`", job, database,
                            shard_path(database, Shard{1, tasks})));
    return ExitCode::interrupted;
  }
  const std::vector<std::string> missing = unfinished(shards);
  if (!missing.empty()) {
    print_error(
        fmt::format("job {} ended with {} of {} shards unfinished, {} first; its log is {}.task-N.log; the same "
                    "command goes on",
                    job, missing.size(), tasks, missing.front(), stem_of(database)));
    return ExitCode::bad_input;
  }
  const std::string merged = merge_sweeps(database, shards);
  if (!arguments.has("quiet")) print(merged);
  return ExitCode::done;
}

}  // namespace podsim
