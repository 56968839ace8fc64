#include "sim/study/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "sim/engine/engine.hpp"
#include "sim/plan/catalog.hpp"
#include "sim/program/builder.hpp"
#include "sim/program/program.hpp"

namespace podsim {
namespace {

constexpr double k_more = 1.1;

struct Resource {
  const char* name;
  std::array<CostCategory, 2> categories;  // the same twice: one
};

constexpr std::array<Resource, 9> k_resources = {
    {{"arithmetic", {CostCategory::compute, CostCategory::recompute}},
     {"exchange on a device", {CostCategory::exchange, CostCategory::exchange}},
     {"synchronisation", {CostCategory::sync, CostCategory::sync}},
     {"links between devices", {CostCategory::inter_device, CostCategory::inter_device}},
     {"host link and host work", {CostCategory::host_io, CostCategory::host_io}},
     {"off-chip memory", {CostCategory::off_chip_memory, CostCategory::off_chip_memory}},
     {"collectives", {CostCategory::collective, CostCategory::collective}},
     {"weight update", {CostCategory::weight_update, CostCategory::weight_update}},
     {"launches", {CostCategory::launch, CostCategory::launch}}}};

bool has(const Resource& resource, CostCategory category) {
  return std::ranges::find(resource.categories, category) != resource.categories.end();
}

SimTime faster(SimTime time) {
  return SimTime(std::llround(static_cast<double>(time.picoseconds()) / k_more));
}

// The program with all time and traffic of a resource a tenth faster; empty: it has none.
std::optional<Program> with_more(const Program& program, const Resource& resource) {
  Program changed = program;
  bool any = false;
  for (CostVector& cost : changed.costs) {
    for (std::size_t c = 0; c < k_cost_categories; ++c) {
      if (!has(resource, static_cast<CostCategory>(c)) || cost.part[c] == SimTime()) continue;
      cost.part[c] = faster(cost.part[c]);
      any = true;
    }
  }
  for (Segment& segment : changed.segments) {
    for (Op& op : segment.ops) {
      if (op.kind == OpKind::local) op.duration = changed.costs[op.cost.index()].total();
      if (op.kind != OpKind::transfer || !has(resource, op.category)) continue;
      op.bytes = Bytes(std::llround(static_cast<double>(op.bytes.count()) / k_more));
      any = true;
    }
  }
  if (!any) return std::nullopt;
  return changed;
}

std::optional<double> rate_of(const VariedRun& run) {
  if (!run.report || !run.report->throughput) return std::nullopt;
  return run.report->throughput->samples_per_s;
}

// What changing keys or constants does, against the experiment as it is.
class Trials {
 public:
  Trials(const Experiment& experiment, VariedRuns& runs) : experiment_(experiment), runs_(runs) {
    base_ = rate_of(runs_.run(experiment_));
  }

  // Empty: the same values, or not legal.
  std::optional<Lever> setting(const std::string& key, const std::string& change,
                               const std::vector<std::pair<std::string, Value>>& values) {
    Experiment changed = experiment_;
    Diagnostics unusable;
    for (const auto& [path, value] : values) apply_value(changed, path, value, unusable);
    if (unusable.has_errors()) return std::nullopt;
    return lever(Lever::Kind::setting, key, change, changed);
  }

  std::optional<Lever> constant(const Constant& constant) {
    Experiment changed = experiment_;
    changed.varied.push_back({constant.name, constant.base_value * k_more});
    return lever(Lever::Kind::constant, constant.name, "+10 %", changed);
  }

 private:
  std::optional<Lever> lever(Lever::Kind kind, const std::string& name, const std::string& change,
                             const Experiment& changed) {
    const VariedRun run = runs_.run(changed);
    if (!run.report) return std::nullopt;
    Lever lever{kind, name, change, std::nullopt, ""};
    const std::optional<double> rate = rate_of(run);
    if (rate && base_) lever.throughput_pct = 100 * (*rate / *base_ - 1);
    if (run.fits && !base_) lever.verdict = "then fits";
    if (!run.fits && base_) {
      const BrokenLimit& broken = run.report->verdict.broken.front();
      lever.verdict = fmt::format("then does not fit: {} on {}", broken.limit, broken.device);
    }
    return lever;
  }

  const Experiment& experiment_;
  VariedRuns& runs_;
  std::optional<double> base_;
};

const Place k_study{"sensitivity", 0, 0};

void add(std::optional<Lever> lever, std::vector<Lever>& levers) {
  if (lever) levers.push_back(std::move(*lever));
}

std::string step_text(std::int64_t from, std::int64_t to) {
  return fmt::format("{} to {}", from, to);
}

// Twice the micro-batch, or half of it where twice does not run, with as many micro-batches fewer or more where the
// batch can stay as it is.
void add_micro_batches(const Plan& plan, const std::optional<CopyFacts>& copies, Trials& trials,
                       std::vector<Lever>& levers) {
  constexpr const char* k_key = "workload.micro_batch_size";
  const std::int64_t size = plan.settings.micro_batch_size;
  for (const std::int64_t other : {2 * size, size / 2}) {
    if (other < 1 || other == size) continue;
    const std::pair<std::string, Value> changed{k_key, Value::integer(other, k_study)};
    const std::string text = step_text(size, other);
    std::optional<Lever> lever;
    if (copies && !copies->accumulation_key.empty() && copies->accumulation * size % other == 0) {
      const std::int64_t accumulation = copies->accumulation * size / other;
      const std::string key = copies->accumulation_key.substr(copies->accumulation_key.find('.') + 1);
      lever = trials.setting(k_key, fmt::format("{}, {} {}", text, key, step_text(copies->accumulation, accumulation)),
                             {changed, {copies->accumulation_key, Value::integer(accumulation, k_study)}});
    }
    // Where the schedule does not allow so few micro-batches, or they cannot be shared.
    const bool trains = plan.settings.mode == RunMode::training;
    if (!lever) lever = trials.setting(k_key, text + (trains ? " (another global batch)" : ""), {changed});
    add(std::move(lever), levers);
    if (other > size && !levers.empty() && levers.back().throughput_pct) return;
  }
}

void add_copies(const CopyFacts& copies, Trials& trials, std::vector<Lever>& levers) {
  if (!copies.accumulation_key.empty()) {
    const std::int64_t more = 2 * copies.accumulation;
    add(trials.setting(copies.accumulation_key, step_text(copies.accumulation, more) + " (another global batch)",
                       {{copies.accumulation_key, Value::integer(more, k_study)}}),
        levers);
  }
}

// The value of a resolved key; empty: it is no switch or count.
std::optional<Value> resolved_value(const ResolvedKey& key) {
  const Value value = parse_override_value(key.toml_value, k_study);
  if (value.is(Value::Kind::boolean) || value.is(Value::Kind::integer)) return value;
  return std::nullopt;
}

const KeySpec* spec_of(const Plan& plan, const std::string& path) {
  const std::string prefix = std::string(plan.family->name()) + ".";
  if (!path.starts_with(prefix)) return nullptr;
  for (const KeySpec& key : plan.family->keys()) {
    if (key.path == path.substr(prefix.size())) return &key;
  }
  return nullptr;
}

bool is_constant_of_hardware(const Constant& constant) {
  const bool hardware = constant.name.starts_with("chip.") || constant.name.starts_with("system.");
  constexpr std::array<std::string_view, 4> k_dimensions = {"bandwidth", "flop_rate", "clock", "data"};
  return hardware && constant.base_value > 0 &&
         std::ranges::find(k_dimensions, constant.dimension) != k_dimensions.end();
}

}  // namespace

std::vector<Lever> resource_levers(const Plan& plan) {
  const Lowered lowered = plan.family->lower(plan, {.fold = true, .merge = true});
  return resource_levers(lowered.platform, lowered.merged ? lowered.program : merge(lowered.program));
}

std::vector<Lever> resource_levers(const Platform& platform, const Program& program) {
  Engine engine = make_engine("native");
  const auto seconds = [&](const Program& of) { return engine.time(platform, of).total.duration().in_base(); };
  const double base = seconds(program);
  std::vector<Lever> levers;
  for (const Resource& resource : k_resources) {
    const std::optional<Program> changed = with_more(program, resource);
    if (!changed || !(base > 0)) continue;
    const double gain = 100 * (base / seconds(*changed) - 1);
    levers.push_back({Lever::Kind::hardware, resource.name, "+10 %", gain, ""});
  }
  return levers;
}

std::vector<Lever> main_setting_levers(const Experiment& experiment, const Plan& plan, VariedRuns& runs) {
  Trials trials(experiment, runs);
  std::vector<Lever> levers;
  const std::optional<CopyFacts> copies = plan.family->copy_facts(plan);
  add_micro_batches(plan, copies, trials, levers);
  if (copies) add_copies(*copies, trials, levers);
  if (plan.settings.mode == RunMode::training) {
    const bool other = !plan.settings.recompute;
    add(trials.setting("workload.recompute", fmt::format("{} to {}", !other, other),
                       {{"workload.recompute", Value::boolean(other, k_study)}}),
        levers);
  }
  return levers;
}

std::vector<Lever> further_setting_levers(const Experiment& experiment, const Plan& plan, VariedRuns& runs) {
  Trials trials(experiment, runs);
  std::vector<Lever> levers;
  const std::optional<CopyFacts> copies = plan.family->copy_facts(plan);
  for (const ResolvedKey& key : plan.family_plan->resolved()) {
    const KeySpec* spec = spec_of(plan, key.path);
    if (spec == nullptr || (spec->time_effect.empty() && spec->memory_effect.empty())) continue;
    if (copies && key.path == copies->accumulation_key) continue;
    const std::optional<Value> value = resolved_value(key);
    if (!value) continue;
    if (value->is(Value::Kind::boolean)) {
      const bool other = !value->as_boolean();
      add(trials.setting(key.path, fmt::format("{} to {}", !other, other),
                         {{key.path, Value::boolean(other, k_study)}}),
          levers);
      continue;
    }
    const std::int64_t size = value->as_integer();
    for (const std::int64_t other : {2 * size, size / 2}) {
      if (size < 1 || other < 1 || other == size) continue;
      add(trials.setting(key.path, step_text(size, other), {{key.path, Value::integer(other, k_study)}}), levers);
    }
  }
  return levers;
}

std::vector<Lever> constant_levers(const Experiment& experiment, const Plan& plan, VariedRuns& runs) {
  Trials trials(experiment, runs);
  std::vector<Lever> levers;
  for (const ConstantId id : plan.family_plan->constants_read()) {
    const Constant& constant = plan.constants[id];
    if (is_constant_of_hardware(constant)) add(trials.constant(constant), levers);
  }
  return levers;
}

std::optional<double> assumed_share(const Experiment& experiment, const Plan& plan, VariedRuns& runs) {
  constexpr double k_little = 1.01;
  struct Kind {
    std::string_view dimension;
    bool slower;  // the more
    bool number;
  };
  constexpr std::array<Kind, 6> k_kinds = {{{"bandwidth", false, false},
                                            {"flop_rate", false, false},
                                            {"clock", false, false},
                                            {"time", true, false},
                                            {"cycles", true, false},
                                            {"number", true, true}}};
  const std::optional<double> base = rate_of(runs.run(experiment));
  if (!base) return std::nullopt;
  double share = 0;
  for (const bool numbers : {false, true}) {
    Experiment changed = experiment;
    for (const ConstantId id : plan.family_plan->constants_read()) {
      const Constant& constant = plan.constants[id];
      const bool varies = constant.confidence == "assumed" && !constant.whole && constant.base_value > 0;
      const auto* kind = std::ranges::find(k_kinds, constant.dimension, &Kind::dimension);
      if (!varies || kind == k_kinds.end() || kind->number != numbers) continue;
      const double factor = kind->slower ? k_little : 1 / k_little;
      changed.varied.push_back({constant.name, constant.base_value * factor});
    }
    if (changed.varied.empty()) continue;
    const std::optional<double> rate = rate_of(runs.run(changed));
    if (!rate) return std::nullopt;
    share += 100 * std::abs(std::log(*rate / *base)) / std::log(k_little);
  }
  return share;
}

void sort_by_strength(std::vector<Lever>& levers) {
  const auto strength = [](const Lever& lever) { return lever.throughput_pct.value_or(0); };
  std::ranges::stable_sort(levers, [&](const Lever& a, const Lever& b) { return strength(a) > strength(b); });
}

Table sensitivity_table(const std::vector<Lever>& levers) {
  Table table{std::string(k_sensitivity_view),
              {{"lever", ""}, {"kind", ""}, {"change", ""}, {"throughput_pct", "%"}, {"verdict", ""}},
              {},
              std::string(k_sensitivity_view)};
  constexpr std::array<const char*, 3> k_kinds = {"resource", "constant", "setting"};
  for (const Lever& lever : levers) {
    std::vector<Cell>& row = table.rows.emplace_back();
    row.emplace_back(lever.name);
    row.emplace_back(std::string(k_kinds[static_cast<std::size_t>(lever.kind)]));
    row.emplace_back(lever.change);
    row.emplace_back();
    if (lever.throughput_pct) row.back() = *lever.throughput_pct;
    row.emplace_back(lever.verdict);
  }
  return table;
}

}  // namespace podsim
