#include "models/rdu/command/launch_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "models/rdu/command/script.hpp"

namespace podsim::rdu {
namespace {

constexpr std::int64_t k_most_ranks = 1'000'000;

// A count that an option of a launcher gives; "2-4" nodes count as the first.
void read_count(const LauncherOption& option, Argument<std::int64_t>& count, Diagnostics& diagnostics) {
  if (option.values.empty()) return;
  const Word& word = option.values.front();
  count.given = count.known = true;
  count.place = word.place;
  count.name = option.name;
  count.origin = origin_text(word.place);
  count.value = 1;
  if (!word.unset.empty()) {
    count.valid = false;
    for (const UnsetVariable& variable : word.unset) report_unset(variable, option.name, diagnostics);
    return;
  }
  std::int64_t value = 0;
  const std::string& text = word.text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool range = option.role == LauncherRole::nodes && error == std::errc() && *end == '-';
  const bool whole = error == std::errc() && (end == text.data() + text.size() || range);
  if (!whole || value < 1 || value > k_most_ranks) {
    count.valid = false;
    diagnostics.error(word.place, option.name, fmt::format("\"{}\" is no count", text), "1 to 1000000");
    return;
  }
  count.value = value;
}

// The hosts of "sm-01,sm-02"; a list in Slurm's short form ("sm-[01-04]") tells no count.
std::int64_t hosts_in(const LauncherOption& option) {
  if (option.values.empty() || !option.values.front().unset.empty()) return 0;
  const std::string& text = option.values.front().text;
  if (text.find('[') != std::string::npos) return 0;
  return 1 + std::count(text.begin(), text.end(), ',');
}

class Reader {
 public:
  Reader(LaunchCommand& command, Diagnostics& diagnostics) : command_(command), diagnostics_(diagnostics) {
    for (Argument<std::int64_t>* count : {&command.ranks, &command.nodes, &command.ranks_per_node}) {
      count->place = command.line.place;
      count->name = "command";
      count->origin = "default: not told";
    }
  }

  // From the outermost launcher in: what an inner one says replaces what it inherits.
  void read() {
    for (const CommandLine& allocation : command_.allocations) read_launchers(allocation);
    read_launchers(command_.line);
    settle();
  }

 private:
  void read_launchers(const CommandLine& line) {
    for (const LauncherCall& call : line.launchers) {
      // One that says how many ranks there are replaces how they were spread.
      if (call.find(LauncherRole::ranks) != nullptr && command_.ranks.known) command_.ranks_per_node = {};
      for (const LauncherOption& option : call.options) read_option(option);
    }
  }

  void read_option(const LauncherOption& option) {
    if (option.role == LauncherRole::ranks) return read_count(option, command_.ranks, diagnostics_);
    if (option.role == LauncherRole::nodes) return read_count(option, command_.nodes, diagnostics_);
    if (option.role == LauncherRole::ranks_per_node) return read_count(option, command_.ranks_per_node, diagnostics_);
    if (option.role == LauncherRole::modes) {
      for (const Word& mode : option.values) command_.sambatune_modes.push_back(mode.text);
    }
    const std::int64_t hosts = option.role == LauncherRole::hosts ? hosts_in(option) : 0;
    if (hosts > 0 && !command_.nodes.known) {
      command_.nodes.value = hosts;
      command_.nodes.known = true;
      command_.nodes.name = option.name;
      command_.nodes.place = option.place;
      command_.nodes.origin = "hosts of " + option.name;
    }
  }

  void settle() {
    Argument<std::int64_t>& ranks = command_.ranks;
    const Argument<std::int64_t>& nodes = command_.nodes;
    const Argument<std::int64_t>& per_node = command_.ranks_per_node;
    if (!ranks.known) {
      ranks.valid = nodes.valid && per_node.valid;
      ranks.value = std::max<std::int64_t>(1, nodes.value) * std::max<std::int64_t>(1, per_node.value);
      ranks.known = nodes.known || per_node.known;
      ranks.name = per_node.known ? per_node.name : nodes.name;
      if (ranks.known) ranks.place = per_node.known ? per_node.place : nodes.place;
      ranks.origin = ranks.known ? "nodes × ranks per node" : "default: one process";
      return;
    }
    const bool all_told = ranks.valid && nodes.valid && per_node.valid && nodes.known && per_node.known;
    if (!all_told || ranks.value <= nodes.value * per_node.value) return;
    ranks.valid = false;
    diagnostics_.error(ranks.place, ranks.name,
                       fmt::format("{} ranks do not fit {} node{} with {} each", ranks.value, nodes.value,
                                   nodes.value == 1 ? "" : "s", per_node.value),
                       fmt::format("at most {}", nodes.value * per_node.value));
  }

  LaunchCommand& command_;
  Diagnostics& diagnostics_;
};

void read_arguments(LaunchCommand& command, Diagnostics& diagnostics) {
  const ArgumentReader read(command.line, diagnostics);
  command.pef = read.word("pef", "");
  command.batch_size = read.integer("batch-size", 1);
  command.microbatch_size = read.integer("microbatch-size", command.batch_size.value);
  command.num_spatial_batches = read.integer("num-spatial-batches", 1);
  command.inference = read.boolean("inference");
  command.data_parallel = read.boolean("data-parallel");
  command.reduce_on_rdu = read.boolean("reduce-on-rdu");
  command.world_size = read.integer("world-size", 1);
  command.num_iterations = read.integer("num-iterations", 100);
  command.shapes = read.shapes();
  command.model_name = read.word("model-name-or-path", "");
}

bool starts(const CommandLine& line, LauncherKind kind) {
  return std::any_of(line.launchers.begin(), line.launchers.end(),
                     [&](const LauncherCall& call) { return call.kind == kind; });
}

void report_sambatune(const LaunchCommand& command, Diagnostics& diagnostics) {
  diagnostics.warning(command.line.program.text.empty() ? command.line.place : command.line.program.place, "command",
                      "the file that sambatune reads is not looked at; its compile-args belong to the compile command");
}

}  // namespace

bool LaunchCommand::uses(LauncherKind kind) const {
  return starts(line, kind) ||
         std::any_of(allocations.begin(), allocations.end(), [&](const CommandLine& l) { return starts(l, kind); });
}

const EnvironmentVariable* LaunchCommand::environment(std::string_view name) const {
  const auto it = std::find_if(line.environment.begin(), line.environment.end(),
                               [&](const EnvironmentVariable& variable) { return variable.name == name; });
  return it == line.environment.end() ? nullptr : &*it;
}

std::optional<LaunchCommand> read_launch_command(std::string_view text, const Place& begin, const Defines& defines,
                                                 Diagnostics& diagnostics) {
  Script script = read_script(text, begin, defines, diagnostics);
  std::vector<CommandLine>& lines = script.lines;
  LaunchCommand command;
  command.defines = std::move(script.defines);
  const auto alone = [](const CommandLine& line) {
    return line.sub_command.text.empty() &&
           (starts(line, LauncherKind::sbatch) || starts(line, LauncherKind::sambatune));
  };
  const bool has_sub_command =
      std::any_of(lines.begin(), lines.end(), [](const CommandLine& line) { return !line.sub_command.text.empty(); });
  const auto first_alone = std::find_if(lines.begin(), lines.end(), alone);
  std::size_t index = static_cast<std::size_t>(first_alone - lines.begin());
  if (has_sub_command || first_alone == lines.end()) {
    const std::optional<std::size_t> run = the_command(lines, false, begin, diagnostics);
    if (!run) return std::nullopt;
    index = *run;
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == index) continue;
    if (i < index && starts(lines[i], LauncherKind::sbatch)) {
      command.allocations.push_back(std::move(lines[i]));
    } else {
      report_passed_over(lines[i], diagnostics);
    }
  }
  command.line = std::move(lines[index]);
  command.action = command.line.sub_command.text;
  Reader(command, diagnostics).read();
  read_arguments(command, diagnostics);
  report_without_effect(command.line, diagnostics);
  if (command.uses(LauncherKind::sambatune)) report_sambatune(command, diagnostics);
  return command;
}

}  // namespace podsim::rdu
