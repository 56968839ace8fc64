#include "models/rdu/search/rdu_space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "models/rdu/command/compile_command.hpp"
#include "models/rdu/command/launch_command.hpp"
#include "models/rdu/search/command_edit.hpp"

namespace podsim::rdu {
namespace {

constexpr const char* k_default_compile = "python app.py compile";

// What the search says to the compiler and to the launcher.
struct Choice {
  OptimizationLevel level = OptimizationLevel::o3;
  std::int64_t tiles = 1;
  std::int64_t chips = 1;
  TensorParallel mode = TensorParallel::none;
  std::int64_t copies = 1;
  std::int64_t batch = 1;  // of a copy
};

std::string text_of(const RduPlan& plan, const std::string& key) {
  const auto found = std::ranges::find(plan.resolved_keys, "rdu." + key, &ResolvedKey::path);
  if (found == plan.resolved_keys.end()) return "";
  const Value value = parse_override_value(found->toml_value, {"search", 0, 0});
  return value.is(Value::Kind::string) ? value.as_string() : "";
}

Defines defines_of(const RduPlan& plan) {
  constexpr std::string_view k_define = "rdu.define.";
  Defines defines;
  for (const ResolvedKey& key : plan.resolved_keys) {
    if (!key.path.starts_with(k_define)) continue;
    const std::string name = key.path.substr(k_define.size());
    defines[name] = text_of(plan, "define." + name);
  }
  return defines;
}

std::vector<std::int64_t> powers_of_two(std::int64_t most) {
  std::vector<std::int64_t> powers;
  for (std::int64_t power = 1; power <= most; power *= 2) powers.push_back(power);
  return powers;
}

void add_own(std::vector<std::int64_t>& values, std::int64_t own) {
  if (std::ranges::count(values, own) == 0) values.push_back(own);
  std::ranges::sort(values);
}

class RduSpace : public std::enable_shared_from_this<RduSpace> {
 public:
  RduSpace(std::shared_ptr<const Plan> plan, const RduPlan& rdu_plan, SearchRequest request)
      : plan_(std::move(plan)), rdu_plan_(rdu_plan), setup_(rdu_plan.setup), request_(std::move(request)) {
    std::string compile = text_of(rdu_plan, "compile");
    if (compile.empty()) compile = k_default_compile;
    // On a numbered line every word has a place of its own.
    Diagnostics told_before;
    const Defines defines = defines_of(rdu_plan);
    compile_ = read_compile_command(compile, {"search", 1, 1}, defines, told_before);
    const std::string launch = text_of(rdu_plan, "launch");
    if (!launch.empty()) launch_ = read_launch_command(launch, {"search", 1, 1}, defines, told_before);
  }

  SearchSpace space() {
    SearchSpace space;
    if (!compile_) return space;
    for (const OptimizationLevel level : levels()) {
      for (const std::int64_t chips : chip_counts()) {
        for (const std::int64_t tiles : tile_counts()) {
          for (const TensorParallel mode : modes(chips, tiles)) {
            add_layout({level, tiles, chips, mode, 1, 1}, space);
          }
        }
      }
    }
    fill_words(space);
    return space;
  }

 private:
  bool training() const { return setup_.training(); }
  // A mapping made by hand is one of a layout, and rules are those of a level.
  bool keeps_layout() const { return setup_.human_decision || request_.fixes("rdu.compile"); }
  bool keeps(const char* flag_path) const {
    return keeps_layout() || request_.fixes(std::string("rdu.compile.") + flag_path);
  }
  std::int64_t own_chips() const {
    return setup_.tensor_parallel == TensorParallel::batch && halves() ? setup_.parts / rdu_plan_.constants.chip.dies
                                                                       : setup_.parts;
  }
  // Two halves of an RDU share the batch of a copy.
  bool halves() const { return setup_.tiles_per_part < rdu_plan_.constants.chip.tiles && setup_.parts > 1; }
  std::int64_t own_tiles() const {
    return halves() ? setup_.tiles_per_part * rdu_plan_.constants.chip.dies : setup_.tiles_per_part;
  }

  std::vector<OptimizationLevel> levels() const {
    const bool one = keeps("level") || setup_.fused_generation || !compile_->optimization_rules.value.empty();
    if (one) return {setup_.level};
    return {OptimizationLevel::o0, OptimizationLevel::o1, OptimizationLevel::o3};
  }

  std::vector<std::int64_t> chip_counts() const {
    if (keeps("n-chips") || rdu_plan_.isolated) return {own_chips()};
    std::vector<std::int64_t> counts = powers_of_two(rdu_plan_.constants.system.rdus);
    add_own(counts, own_chips());
    return counts;
  }

  std::vector<std::int64_t> tile_counts() const {
    if (keeps("num-tiles") || setup_.fused_generation) return {own_tiles()};
    std::vector<std::int64_t> counts = powers_of_two(rdu_plan_.constants.chip.tiles);
    add_own(counts, own_tiles());
    return counts;
  }

  // One RDU of two dies may share weights between its halves' work or split the batch between them.
  std::vector<TensorParallel> modes(std::int64_t chips, std::int64_t tiles) const {
    if (keeps("tensor-parallel")) return {compile_->tensor_parallel.value};
    if (setup_.fused_generation) return {chips > 1 ? TensorParallel::weight : TensorParallel::none};
    if (chips > 1) return {TensorParallel::batch, TensorParallel::weight};
    const ChipConstants& chip = rdu_plan_.constants.chip;
    if (chip.dies > 1 && tiles == chip.tiles) return {TensorParallel::none, TensorParallel::weight};
    return {TensorParallel::none};
  }

  std::int64_t most_copies(const Choice& choice) const {
    const std::int64_t beside = rdu_plan_.constants.chip.tiles / choice.tiles;
    return std::max<std::int64_t>(1, rdu_plan_.constants.system.rdus / choice.chips) * beside * rdu_plan_.nodes;
  }

  std::vector<std::int64_t> copy_counts(const Choice& choice) const {
    if (request_.fixes("rdu.replicas") || request_.fixes("rdu.launch")) return {setup_.replicas};
    const std::int64_t most = most_copies(choice);
    std::vector<std::int64_t> counts = powers_of_two(most);
    if (setup_.replicas <= most) add_own(counts, setup_.replicas);
    add_own(counts, most);
    return counts;
  }

  // Of a copy, so that the batch of an update is kept to.
  std::vector<std::int64_t> batches(std::int64_t copies) const {
    if (request_.fixes("workload.micro_batch_size")) return {setup_.batch};
    constexpr std::int64_t k_most = 1024;
    std::vector<std::int64_t> sizes = powers_of_two(k_most);
    add_own(sizes, setup_.batch);
    if (!training() || !request_.batch) {
      std::erase_if(sizes, [&](std::int64_t size) { return size > std::max<std::int64_t>(64, 4 * setup_.batch); });
      return sizes;
    }
    const std::int64_t micro_batches = copies * setup_.gradient_accumulation_steps;
    for (const std::int64_t end : {request_.batch->least, request_.batch->most}) {
      if (end % micro_batches == 0) add_own(sizes, end / micro_batches);
    }
    std::erase_if(sizes, [&](std::int64_t size) { return !request_.batch->has(size * micro_batches); });
    return sizes;
  }

  void add_layout(const Choice& layout, SearchSpace& space) {
    SearchBranch branch;
    branch.devices = layout.chips;
    branch.configurations = 0;
    for (const std::int64_t copies : copy_counts(layout)) {
      branch.configurations += static_cast<std::int64_t>(batches(copies).size());
    }
    if (branch.configurations == 0) return;
    branch.open = [self = shared_from_this(), layout] { return self->configurations(layout); };
    space.branches.push_back(std::move(branch));
  }

  std::vector<SearchBranch> configurations(const Choice& layout) {
    std::vector<SearchBranch> branches;
    for (const std::int64_t copies : copy_counts(layout)) {
      for (const std::int64_t batch : batches(copies)) {
        Choice choice = layout;
        choice.copies = copies;
        choice.batch = batch;
        SearchBranch branch;
        branch.devices = layout.chips;
        branch.settings = settings_of(choice);
        branches.push_back(std::move(branch));
      }
    }
    return branches;
  }

  // ---- as commands

  std::vector<SearchSetting> settings_of(const Choice& choice) const {
    const Place place{"search", 0, 0};
    std::vector<SearchSetting> settings;
    const auto add = [&](const char* key, Value value) {
      if (!request_.fixes(key)) settings.push_back({key, std::move(value)});
    };
    add("workload.micro_batch_size", Value::integer(choice.batch, place));
    add("rdu.compile", Value::string(compile_text(choice), place));
    if (launch_) add("rdu.launch", Value::string(launch_text(choice), place));
    add("rdu.replicas", Value::integer(choice.copies, place));
    return settings;
  }

  std::string compile_text(const Choice& choice) const {
    CommandEdit edit(compile_->line);
    if (!keeps("level")) set_level(choice.level, edit);
    if (!keeps("num-tiles") && !setup_.fused_generation) edit.set("num-tiles", std::to_string(choice.tiles));
    if (!keeps("n-chips")) {
      edit.remove("n-chips");
      // Where it is not said, generation on high-bandwidth memory takes all of a node.
      const bool said = choice.chips > 1 || setup_.fused_generation;
      if (said) edit.set("n-chips", std::to_string(choice.chips));
    }
    if (!keeps("tensor-parallel")) {
      edit.remove("tensor-parallel");
      if (choice.mode != TensorParallel::none) edit.set("tensor-parallel", std::string(to_text(choice.mode)));
    }
    if (!request_.fixes("rdu.replicas") && training()) share_gradients(choice.copies > 1, edit);
    set_batch(choice.batch, compile_->line, edit);
    return edit.text();
  }

  void set_level(OptimizationLevel level, CommandEdit& edit) const {
    for (const char* other : {"o0", "o1", "o3", "optim-level", "o1-experimental-opts"}) edit.remove(other);
    if (level != OptimizationLevel::o3) edit.remove("enable-hypersection");
    if (compile_->line.spelling == Spelling::overrides) {
      edit.set("optim-level", std::string(to_text(level)));
      return;
    }
    edit.set(to_text(level));
    // Releases before 1.18 take o1 only with it.
    if (level == OptimizationLevel::o1) edit.set("o1-experimental-opts");
  }

  static void share_gradients(bool shared, CommandEdit& edit) {
    edit.remove("data-parallel");
    edit.remove("world-size");
    if (!shared) return;
    edit.set("data-parallel");
    edit.set("world-size", "2");
  }

  static void set_batch(std::int64_t batch, const CommandLine& line, CommandEdit& edit) {
    edit.set("batch-size", std::to_string(batch));
    if (line.find("per-device-train-batch-size") == nullptr) return;
    edit.set("per-device-train-batch-size", std::to_string(batch));
  }

  std::string launch_text(const Choice& choice) const {
    CommandEdit edit(launch_->line);
    for (const LauncherCall& call : launch_->line.launchers) {
      const LauncherOption* ranks = call.find(LauncherRole::ranks);
      if (ranks != nullptr && !ranks->values.empty())
        edit.replace(ranks->values.front().place, std::to_string(choice.copies));
    }
    if (training()) {
      if (choice.copies > 1 && !launch_->data_parallel.value) edit.set("data-parallel");
      if (choice.copies == 1) {
        for (const char* shared : {"data-parallel", "world-size", "reduce-on-rdu"}) edit.remove(shared);
      }
    }
    if (launch_->batch_size.given) set_batch(choice.batch, launch_->line, edit);
    return edit.text();
  }

  // ---- for people

  void fill_words(SearchSpace& space) const {
    const auto add = [&](const char* key, const std::string& values, bool fixed) {
      space.dimensions.push_back({key, fixed ? "" : values});
    };
    std::vector<std::string_view> names;
    for (const OptimizationLevel level : levels()) names.push_back(to_text(level));
    add("rdu.compile.level", fmt::format("{}", fmt::join(names, ", ")), names.size() == 1);
    const std::vector<std::int64_t> tiles = tile_counts();
    add("rdu.compile.num-tiles", fmt::format("{}", fmt::join(tiles, ", ")), tiles.size() == 1);
    const std::vector<std::int64_t> chips = chip_counts();
    add("rdu.compile.n-chips", fmt::format("{}", fmt::join(chips, ", ")), chips.size() == 1);
    add("rdu.compile.tensor-parallel", "none on one RDU, batch and weight on several",
        keeps("tensor-parallel") || setup_.fused_generation);
    add("rdu.replicas", "powers of two up to all that fit",
        request_.fixes("rdu.replicas") || request_.fixes("rdu.launch"));
    add("workload.micro_batch_size", training() ? "what the global batch leaves for a copy" : "powers of two",
        request_.fixes("workload.micro_batch_size"));
    if (rdu_plan_.constants.chip.dies > 1 && !setup_.fused_generation) {
      space.notes.emplace_back("devices are counted as in reports: a part of an RDU that works by itself is one");
    }
    if (setup_.human_decision) {
      space.notes.emplace_back("the mapping made by hand is one of this layout: level, tiles, RDUs and mode stay");
    }
  }

  std::shared_ptr<const Plan> plan_;
  const RduPlan& rdu_plan_;
  const RduSetup& setup_;
  SearchRequest request_;
  std::optional<CompileCommand> compile_;
  std::optional<LaunchCommand> launch_;
};

}  // namespace

SearchSpace rdu_space(const std::shared_ptr<const Plan>& plan, const RduPlan& rdu_plan, const SearchRequest& request) {
  return std::make_shared<RduSpace>(plan, rdu_plan, request)->space();
}

std::vector<Deployment> commands_of(const RduPlan& plan) {
  std::vector<Deployment> files;
  for (const char* command : {"compile", "launch"}) {
    const std::string text = text_of(plan, command);
    if (text.empty()) continue;
    files.push_back({fmt::format("{}.sh", command), text + "\n", {fmt::format("rdu.{}", command)}});
    if (!plan.written.batch.name.empty()) files.back().keys.insert("workload.micro_batch_size");
  }
  return files;
}

}  // namespace podsim::rdu
