#include "models/rdu/command/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace podsim::rdu {
namespace {

enum class Takes { nothing, one, two, several };

struct Option {
  const char* name;
  Takes takes = Takes::one;
  LauncherRole role = LauncherRole::none;
};

const std::vector<Option> k_mpirun = {
    {"-np", Takes::one, LauncherRole::ranks},
    {"-n", Takes::one, LauncherRole::ranks},
    {"--np", Takes::one, LauncherRole::ranks},
    {"-ppn", Takes::one, LauncherRole::ranks_per_node},
    {"-npernode", Takes::one, LauncherRole::ranks_per_node},
    {"--npernode", Takes::one, LauncherRole::ranks_per_node},
    {"-hosts", Takes::one, LauncherRole::hosts},
    {"-host", Takes::one, LauncherRole::hosts},
    {"--host", Takes::one, LauncherRole::hosts},
    {"-f"},
    {"-hostfile"},
    {"--hostfile"},
    {"-wdir"},
    {"-x"},
    {"-genvlist"},
    {"-genv", Takes::two},
    {"-env", Takes::two},
    {"-genvall", Takes::nothing},
    {"-launcher"},
    {"-iface"},
    {"-bind-to"},
    {"--bind-to"},
    {"-map-by"},
    {"--map-by"},
    {"--mca", Takes::two},
    {"--oversubscribe", Takes::nothing},
    {"--allow-run-as-root", Takes::nothing},
    {"-l", Takes::nothing},
    {"-verbose", Takes::nothing},
};

const std::vector<Option> k_slurm = {
    {"-n", Takes::one, LauncherRole::ranks},
    {"--ntasks", Takes::one, LauncherRole::ranks},
    {"-N", Takes::one, LauncherRole::nodes},
    {"--nodes", Takes::one, LauncherRole::nodes},
    {"--ntasks-per-node", Takes::one, LauncherRole::ranks_per_node},
    {"--tasks-per-node", Takes::one, LauncherRole::ranks_per_node},
    {"-w", Takes::one, LauncherRole::hosts},
    {"--nodelist", Takes::one, LauncherRole::hosts},
    {"--wrap", Takes::one, LauncherRole::wrapped_command},
    {"--mpi"},
    {"--gres"},
    {"-c"},
    {"--cpus-per-task"},
    {"-p"},
    {"--partition"},
    {"-A"},
    {"--account"},
    {"-q"},
    {"--qos"},
    {"-t"},
    {"--time"},
    {"-J"},
    {"--job-name"},
    {"-o"},
    {"--output"},
    {"-e"},
    {"--error"},
    {"-d"},
    {"--dependency"},
    {"-x"},
    {"--exclude"},
    {"-C"},
    {"--constraint"},
    {"--mem"},
    {"--export"},
    {"--chdir"},
    {"-D"},
    {"--distribution"},
    {"-m"},
    {"--cpu-bind"},
    {"--gpus"},
    {"--exclusive", Takes::nothing},
    {"--pty", Takes::nothing},
    {"--overlap", Takes::nothing},
    {"--requeue", Takes::nothing},
    {"--label", Takes::nothing},
    {"-l", Takes::nothing},
    {"--wait", Takes::nothing},
    {"-W", Takes::nothing},
    {"--unbuffered", Takes::nothing},
    {"-u", Takes::nothing},
    {"-v", Takes::nothing},
    {"--verbose", Takes::nothing},
    {"--quiet", Takes::nothing},
    {"-Q", Takes::nothing},
};

const std::vector<Option> k_sambatune = {{"--modes", Takes::several, LauncherRole::modes}};
const std::vector<Option> k_helper = {};

const std::vector<Option>& options_of(LauncherKind kind) {
  switch (kind) {
    case LauncherKind::mpirun:
      return k_mpirun;
    case LauncherKind::srun:
    case LauncherKind::sbatch:
      return k_slurm;
    case LauncherKind::sambatune:
      return k_sambatune;
    case LauncherKind::helper:
      return k_helper;
  }
  return k_helper;
}

bool is_option(const Word& word) {
  return word.text.size() > 1 && word.text[0] == '-';
}

// Whether a word can only be a program, never the value of an option.
bool is_program(const Word& word) {
  const std::string name = word.text.substr(word.text.rfind('/') + 1);
  return name.starts_with("python") || name.ends_with(".py") || name.ends_with(".sh") || launcher_kind(word.text);
}

class Reader {
 public:
  Reader(const std::vector<Word>& words, LauncherCall& call, Diagnostics& diagnostics)
      : words_(words), call_(call), diagnostics_(diagnostics) {}

  std::size_t read(std::size_t at) {
    while (at < words_.size() && is_option(words_[at])) {
      if (words_[at].text == "--") return at + 1;
      at = option(at);
    }
    return at;
  }

 private:
  const Option* known(std::string_view name) const {
    const std::vector<Option>& options = options_of(call_.kind);
    const auto it = std::find_if(options.begin(), options.end(), [&](const Option& o) { return name == o.name; });
    return it == options.end() ? nullptr : &*it;
  }

  // "-n2": a one-letter option with its value behind it, as Slurm's options take it.
  const Option* glued(const std::string& text) const {
    const bool slurm = call_.kind == LauncherKind::srun || call_.kind == LauncherKind::sbatch;
    if (!slurm || text.size() < 3 || text[1] == '-') return nullptr;
    const Option* option = known(text.substr(0, 2));
    return option != nullptr && option->takes == Takes::one ? option : nullptr;
  }

  std::size_t option(std::size_t at) {
    const Word& word = words_[at];
    const std::size_t sign = word.text.find('=');
    LauncherOption found{LauncherRole::none, word.text.substr(0, sign), {}, word.place};
    const Option* option = known(found.name);
    if (option == nullptr) option = glued(word.text);
    if (option != nullptr && found.name != option->name) {
      found.name = option->name;
      found.values.push_back(word.part(2));
      return add(std::move(found), option->role, at + 1);
    }
    if (sign != std::string::npos) found.values.push_back(word.part(sign + 1));
    if (option == nullptr) return unknown(std::move(found), at + 1);
    std::size_t missing = count(option->takes);
    std::size_t next = at + 1;
    if (sign != std::string::npos) missing = 0;
    if (option->takes == Takes::several) {
      while (next < words_.size() && !is_option(words_[next])) found.values.push_back(words_[next++]);
    }
    for (; missing > 0; --missing) {
      if (next == words_.size()) {
        diagnostics_.error(word.place, found.name, "has no value", "a value behind it");
        return next;
      }
      found.values.push_back(words_[next++]);
    }
    return add(std::move(found), option->role, next);
  }

  static std::size_t count(Takes takes) {
    if (takes == Takes::one) return 1;
    return takes == Takes::two ? 2 : 0;
  }

  std::size_t add(LauncherOption option, LauncherRole role, std::size_t next) {
    option.role = role;
    call_.options.push_back(std::move(option));
    return next;
  }

  std::size_t unknown(LauncherOption option, std::size_t next) {
    diagnostics_.warning(option.place, option.name,
                         fmt::format("unknown option of {}; it is not looked at", to_text(call_.kind)));
    const bool has_value = option.values.empty() && next < words_.size() && !is_option(words_[next]) &&
                           !is_program(words_[next]) && !is_assignment(words_[next].text);
    if (has_value) option.values.push_back(words_[next++]);
    return add(std::move(option), LauncherRole::none, next);
  }

  const std::vector<Word>& words_;
  LauncherCall& call_;
  Diagnostics& diagnostics_;
};

}  // namespace

const LauncherOption* LauncherCall::find(LauncherRole role) const {
  const auto it =
      std::find_if(options.rbegin(), options.rend(), [&](const LauncherOption& option) { return option.role == role; });
  return it == options.rend() ? nullptr : &*it;
}

std::optional<LauncherKind> launcher_kind(const std::string& program) {
  const std::string name = program.substr(program.rfind('/') + 1);
  static constexpr std::array<std::pair<std::string_view, LauncherKind>, 11> k_names{{
      {"mpirun", LauncherKind::mpirun},
      {"mpiexec", LauncherKind::mpirun},
      {"mpiexec.hydra", LauncherKind::mpirun},
      {"srun", LauncherKind::srun},
      {"sbatch", LauncherKind::sbatch},
      {"sambatune", LauncherKind::sambatune},
      {"env", LauncherKind::helper},
      {"time", LauncherKind::helper},
      {"nohup", LauncherKind::helper},
      {"exec", LauncherKind::helper},
      {"sudo", LauncherKind::helper},
  }};
  const auto it = std::find_if(k_names.begin(), k_names.end(), [&](const auto& entry) { return entry.first == name; });
  return it == k_names.end() ? std::nullopt : std::optional(it->second);
}

std::string to_text(LauncherKind kind) {
  switch (kind) {
    case LauncherKind::mpirun:
      return "mpirun";
    case LauncherKind::srun:
      return "srun";
    case LauncherKind::sbatch:
      return "sbatch";
    case LauncherKind::sambatune:
      return "sambatune";
    case LauncherKind::helper:
      return "the shell";
  }
  return {};
}

std::size_t read_launcher(const std::vector<Word>& words, std::size_t at, LauncherCall& call,
                          Diagnostics& diagnostics) {
  call.word = words[at];
  return Reader(words, call, diagnostics).read(at + 1);
}

}  // namespace podsim::rdu
