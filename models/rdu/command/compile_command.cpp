#include "models/rdu/command/compile_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/rdu/command/script.hpp"

namespace podsim::rdu {
namespace {

const char* const k_default_folder = "out";

// The same argument with its text read as one of an enumeration's words.
template <class T>
Argument<T> as_choice(const Argument<std::string>& word, std::vector<std::pair<std::string_view, T>> choices) {
  Argument<T> choice{choices.front().second, word.origin, word.place, word.name, word.given, word.known, word.valid};
  for (const auto& [text, value] : choices) {
    if (word.value == text) choice.value = value;
  }
  return choice;
}

void read_level(const CommandLine& line, const ArgumentReader& read, CompileCommand& command) {
  for (const FlagOccurrence& used : line.flags) {
    const std::string& path = used.flag->key.path;
    if (path == "o0" || path == "o1" || path == "o3") command.levels.push_back(used);
  }
  Argument<std::string> level = read.word("optim-level", "o3");
  if (!command.levels.empty()) {
    const FlagOccurrence& last = command.levels.back();
    level.value = last.flag->key.path;
    level.place = last.place;
    level.name = last.name;
    level.given = level.known = true;
    level.origin = origin_text(last.place);
  }
  command.optimization_level = as_choice<OptimizationLevel>(
      level, {{"o3", OptimizationLevel::o3}, {"o0", OptimizationLevel::o0}, {"o1", OptimizationLevel::o1}});
}

void read_layout(const ArgumentReader& read, CompileCommand& command) {
  command.batch_size = read.integer("batch-size", 1);
  command.microbatch_size = read.integer("microbatch-size", command.batch_size.value);
  command.num_spatial_batches = read.integer("num-spatial-batches", 1);
  command.grad_accumulation_steps = read.integer("grad-accumulation-steps", 1);
  command.num_tiles = read.integer("num-tiles", k_tiles_by_compiler);
  command.n_chips = read.integer("n-chips", 1);
  command.tensor_parallel = as_choice<TensorParallel>(
      read.word("tensor-parallel", "none"),
      {{"none", TensorParallel::none}, {"batch", TensorParallel::batch}, {"weight", TensorParallel::weight}});
  command.mapping = as_choice<Mapping>(read.word("mapping", "section"),
                                       {{"section", Mapping::section}, {"spatial", Mapping::spatial}});
  command.model_parallel = read.boolean("model-parallel");
  command.data_parallel = read.boolean("data-parallel");
  command.world_size = read.integer("world-size", 1);
  command.inference = read.boolean("inference");
  command.resources_scaling_factors = read.numbers("resources-scaling-factors");
}

// A list of operators: "[gemm, softmax]" as shipped; "[]", null or "false": none.
Argument<bool> read_mixed_precision(const CommandLine& line, const ArgumentReader& read, Diagnostics& diagnostics) {
  const std::string path = "enable-mixed-precision-ops";
  const Argument<std::string> list = read.word(path, "");
  Argument<bool> mixed{true, list.origin, list.place, list.name, list.given, list.known, list.valid && !list.unset};
  for (const FlagOccurrence& null : line.nulls) {
    if (null.flag->key.path != path || list.given) continue;
    mixed = {false, origin_text(null.place), null.place, null.name, true, true, true};
  }
  if (!list.given || !mixed.valid) return mixed;
  std::string operators = list.value;
  std::erase_if(operators, [](char c) { return c == ' ' || c == '[' || c == ']'; });
  mixed.value = !operators.empty() && operators != "false" && operators != "False";
  if (mixed.value && operators != "gemm,softmax" && operators != "softmax,gemm") {
    diagnostics.warning(list.place, list.name,
                        "is taken as [gemm, softmax]: no published measurement has another list");
  }
  return mixed;
}

void read_compiler(const ArgumentReader& read, CompileCommand& command) {
  command.enable_hypersection = read.boolean("enable-hypersection");
  command.o1_experimental_opts = read.boolean("o1-experimental-opts");
  command.use_o1_default_rules = read.boolean("use-o1-default-rules");
  command.optimization_rules = read.word("optimization-rules", "");
  if (!command.use_o1_default_rules.known) command.use_o1_default_rules.value = !command.optimization_rules.known;
  command.human_decision = read.word("mac-human-decision", "");
  command.compiler_configs_file = read.word("compiler-configs-file", "");
  command.compiler_mode = read.word("compiler-mode", "");
  command.arch = read.word("arch", "native");
  command.graphamp_preset = read.word("graphamp-preset", "");
  command.tiling_accum = read.word("tiling-accum", "");
  command.weight_grad_reduce = read.word("weight-grad-reduce", "");
  command.target_version = read.word("target-sambaflow-version", "");
  command.mac_v1 = read.boolean("mac-v1");
  command.mac_v2 = read.boolean("mac-v2");
  command.stochastic_rounding = read.boolean("enable-stochastic-rounding");
  command.verbose = read.boolean("verbose");
}

void read_application(const ArgumentReader& read, CompileCommand& command) {
  command.shapes = read.shapes();
  command.model_name = read.word("model-name-or-path", "");
  command.config_name = read.word("config-name", "");
}

// Values that stand for "the compiler decides", or that no chip has.
void check_values(CompileCommand& command, Diagnostics& diagnostics) {
  Argument<std::int64_t>& tiles = command.num_tiles;
  const bool possible = tiles.value == k_tiles_by_compiler || tiles.value == 1 || tiles.value == 2 ||
                        tiles.value == 4 || tiles.value == 8;
  if (tiles.known && tiles.valid && !possible) {
    tiles.valid = false;
    diagnostics.error(tiles.place, tiles.name, fmt::format("{} is no number of tiles", tiles.value), "1, 2, 4 or 8");
  }
  Argument<std::vector<double>>& factors = command.resources_scaling_factors;
  if (!factors.known || !factors.valid) return;
  const std::size_t count = factors.value.size();
  if (count != 3 && count != 4) {
    factors.valid = false;
    diagnostics.error(factors.place, factors.name, fmt::format("has {} factor{}", count, count == 1 ? "" : "s"),
                      "3 (forward, backward, optimizer) or 4 (forward, backward, gradient norm, optimizer)");
    return;
  }
  const bool automatic =
      std::all_of(factors.value.begin(), factors.value.end(), [](double factor) { return factor == -1.0; });
  if (automatic) return factors.value.clear();
  if (std::any_of(factors.value.begin(), factors.value.end(), [](double factor) { return factor <= 0; })) {
    factors.valid = false;
    diagnostics.error(factors.place, factors.name, "has a factor that is not above 0",
                      "shares above 0, 1 for all resources; or -1 for each, to let the compiler decide");
  }
}

CompileCommand typed(CommandLine line, Diagnostics& diagnostics) {
  CompileCommand command;
  const ArgumentReader read(line, diagnostics);
  read_level(line, read, command);
  read_layout(read, command);
  read_compiler(read, command);
  command.mixed_precision = read_mixed_precision(line, read, diagnostics);
  read_application(read, command);
  const bool zoo = line.spelling == Spelling::overrides;
  command.pef_name = read.word("pef-name", "");
  command.output_folder = read.word("output-folder", zoo ? "." : k_default_folder);
  if (zoo && !command.output_folder.known) command.output_folder.origin = "default: Model Zoo, the current folder";
  check_values(command, diagnostics);
  report_without_effect(line, diagnostics);
  command.line = std::move(line);
  return command;
}

}  // namespace

std::string_view to_text(OptimizationLevel level) {
  switch (level) {
    case OptimizationLevel::o0:
      return "o0";
    case OptimizationLevel::o1:
      return "o1";
    case OptimizationLevel::o3:
      return "o3";
  }
  return {};
}

std::string_view to_text(TensorParallel mode) {
  switch (mode) {
    case TensorParallel::none:
      return "none";
    case TensorParallel::batch:
      return "batch";
    case TensorParallel::weight:
      return "weight";
  }
  return {};
}

const Argument<std::int64_t>* CompileCommand::shape(const std::string& flag_path) const {
  const auto it = shapes.find(flag_path);
  return it == shapes.end() ? nullptr : &it->second;
}

const FlagOccurrence* CompileCommand::application_flag(std::string_view name) const {
  const auto it = std::find_if(line.application.begin(), line.application.end(),
                               [&](const FlagOccurrence& used) { return used.name == name; });
  return it == line.application.end() ? nullptr : &*it;
}

PefPath expected_pef(const CompileCommand& command) {
  PefPath path;
  path.name_is_default = command.pef_name.value.empty();
  const std::string name = path.name_is_default ? "<time and process id>" : command.pef_name.value;
  std::string folder = command.output_folder.value;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  path.folder = folder + "/" + name;
  path.file = name + ".pef";
  path.unset = command.pef_name.unset || command.output_folder.unset;
  return path;
}

std::optional<CompileCommand> read_compile_command(std::string_view text, const Place& begin, const Defines& defines,
                                                   Diagnostics& diagnostics) {
  Script script = read_script(text, begin, defines, diagnostics);
  std::vector<CommandLine>& lines = script.lines;
  const std::optional<std::size_t> index = the_command(lines, true, begin, diagnostics);
  if (!index) return std::nullopt;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i != *index) report_passed_over(lines[i], diagnostics);
  }
  CommandLine& line = lines[*index];
  for (const LauncherCall& launcher : line.launchers) {
    const LauncherOption* ranks = launcher.find(LauncherRole::ranks);
    if (ranks == nullptr || ranks->values.empty() || ranks->values.front().text == "1") continue;
    diagnostics.warning(ranks->values.front().place, ranks->name,
                        "a compile runs once; ranks belong to the launch command");
  }
  CompileCommand command = typed(std::move(line), diagnostics);
  command.defines = std::move(script.defines);
  return command;
}

}  // namespace podsim::rdu
