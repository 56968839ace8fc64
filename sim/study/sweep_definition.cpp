#include "sim/study/sweep_definition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "sim/config/key_spec.hpp"
#include "sim/core/sha256.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/settings_reader.hpp"
#include "sim/plan/workload_settings.hpp"

namespace podsim {
namespace {

using Kind = Value::Kind;

Value without_sweep(const Value& document) {
  Value rest = Value::table(document.place());
  for (const Value::Member& member : document.members()) {
    if (member.key != "sweep") rest.add(member.key, member.key_place, member.value);
  }
  return rest;
}

// Sets every leaf of `table` in the experiment.
void put_over(Experiment& experiment, const Value& table, const std::string& prefix, Diagnostics& diagnostics) {
  for (const Value::Member& member : table.members()) {
    const std::string path = prefix.empty() ? member.key : prefix + "." + member.key;
    if (member.value.is(Kind::table))
      put_over(experiment, member.value, path, diagnostics);
    else
      apply_value(experiment, path, member.value, diagnostics);
  }
}

// The experiment that a sweep's file names, with what stands beside it in the file.
Experiment base_of(const Experiment& written, const ConfigFiles& configs, Diagnostics& diagnostics) {
  Experiment own = written;
  own.document = without_sweep(written.document);
  const Value* named = written.document.find("sweep.experiment");
  if (named == nullptr || !named->is(Kind::string)) return own;
  const std::string& name = named->as_string();
  const bool shipped = configs.text("experiments/" + name + ".toml").has_value();
  Experiment base = read_experiment(shipped ? name : path_from(*named), configs, diagnostics);
  base.document = without_sweep(base.document);
  base.overlays = written.overlays;
  base.source_text += written.source_text;
  put_over(base, own.document, "", diagnostics);
  return base;
}

void check_section(const Value& document, Diagnostics& diagnostics) {
  const Value* section = document.find("sweep");
  if (section == nullptr) return;
  std::vector<KeySpec> keys;
  for (const KeySpec& key : shared_keys()) {
    if (!key.path.starts_with("sweep.")) continue;
    keys.push_back(key);
    keys.back().path.erase(0, 6);
  }
  check_keys(*section, "sweep", keys, diagnostics);
}

SamplingPlan sampling_of(const Value& document, Diagnostics& diagnostics) {
  SamplingPlan plan;
  const std::string kind = read_text(document, "sweep.sampling").value_or("grid");
  const bool is_known = kind == "grid" || kind == "random" || kind == "latin-hypercube";
  if (kind == "random") plan.kind = Sampling::random;
  if (kind == "latin-hypercube") plan.kind = Sampling::latin_hypercube;
  plan.points = read_integer(document, "sweep.points").value_or(0);
  plan.seed = static_cast<std::uint64_t>(read_integer(document, "sweep.seed").value_or(1));
  if (plan.kind != Sampling::grid || !is_known) return plan;
  for (const char* key : {"sweep.points", "sweep.seed"}) {
    if (const Value* value = document.find(key)) {
      diagnostics.error(value->place(), key, "has no effect: a grid takes every point",
                        "sampling = \"random\" or \"latin-hypercube\", or no such key");
    }
  }
  return plan;
}

std::vector<SweepCondition> conditions_of(const Value& document, Diagnostics& diagnostics) {
  std::vector<SweepCondition> conditions;
  const Value* written = document.find("sweep.exclude");
  if (written == nullptr || !written->is(Kind::array)) return conditions;
  for (const Value& text : written->elements()) {
    if (!text.is(Kind::string)) continue;
    try {
      conditions.emplace_back(text);
    } catch (const ConfigError& error) {
      diagnostics.append(error.diagnostics());
    }
  }
  return conditions;
}

// What no value of an axis mends. Where the machine varies, what is known varies with it.
bool is_beyond_axes(const Diagnostic& problem, const std::vector<std::string>& keys) {
  if (problem.severity != Severity::error) return false;
  if (problem.problem == "is missing") return true;
  const bool machine_varies = std::any_of(keys.begin(), keys.end(), [](const std::string& key) {
    return key == "system" || key == "system.name" || key == "software" || key == "software.name";
  });
  if (machine_varies) return false;
  return problem.problem.starts_with("unknown ") || problem.problem.starts_with("no ");
}

// An axis that no document knows is a slip of the pen, not a grid of invalid points, and so is a base that no point
// can mend. An axis without effect is told.
void try_axes(SweepDefinition& sweep, const Catalog& catalog, const ConfigFiles& configs, Diagnostics& diagnostics) {
  const std::vector<std::string>& keys = sweep.space.keys();
  const std::vector<Value> values = sweep.space.values(0);
  Experiment first = sweep.base;
  Diagnostics unusable;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (is_dotted_path(keys[k]))
      apply_value(first, keys[k], values[k], unusable);
    else
      diagnostics.error(values[k].place(), "sweep.axes", fmt::format("\"{}\" is not a key", keys[k]));
  }
  if (unusable.has_errors()) return;
  const PlanResult made = make_plan(first, catalog, configs);
  for (const Diagnostic& problem : made.diagnostics.all()) {
    const bool of_axis = std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
      return key == problem.key || key.starts_with(problem.key + ".");
    });
    if (of_axis && problem.severity == Severity::warning) {
      sweep.warnings.warning(problem.place, problem.key, problem.problem, problem.expected, problem.suggestion);
    }
    const bool unknown_axis = of_axis && problem.problem.starts_with("unknown ");
    if (!unknown_axis && (of_axis || !is_beyond_axes(problem, keys))) continue;
    diagnostics.error(problem.place, problem.key, problem.problem, problem.expected, problem.suggestion);
  }
}

// Conditions that no point meets, or all points, are told, as far as points can be looked through at once.
void try_conditions(SweepDefinition& sweep, Diagnostics& diagnostics) {
  constexpr std::int64_t k_looked_through = 100'000;
  const bool all = sweep.space.size() <= k_looked_through;
  for (const SweepCondition& condition : sweep.excluded) {
    try {
      const auto is_met = [&](std::int64_t point) {
        const std::vector<Value> values = sweep.space.values(point);
        return condition.holds(sweep.lookup(values));
      };
      bool met = is_met(0);
      for (std::int64_t p = 1; all && !met && p < sweep.space.size(); ++p) met = is_met(p);
      if (met || !all) continue;
      sweep.warnings.warning(condition.place(), "sweep.exclude",
                             fmt::format("condition '{}': excludes no point", condition.text()));
    } catch (const ConfigError& error) {
      diagnostics.append(error.diagnostics());
    }
  }
  if (!all || sweep.excluded.empty() || diagnostics.has_errors()) return;
  for (std::int64_t p = 0; p < sweep.space.size(); ++p) {
    if (!sweep.leaves_out(sweep.space.values(p))) return;
  }
  diagnostics.error(sweep.excluded.front().place(), "sweep.exclude", "excludes every point",
                    "conditions that leave points to run");
}

void tell_repeated(SweepDefinition& sweep, const Value& document) {
  const SamplingPlan& plan = sweep.space.plan();
  const std::int64_t left = sweep.space.size();
  if (plan.kind == Sampling::grid || left >= plan.points) return;
  sweep.warnings.warning(document.find("sweep.points")->place(), "sweep.points",
                         fmt::format("{} points were drawn, {} of them equal to another: {} are run", plan.points,
                                     plan.points - left, left),
                         "ranges, or fewer points than the lists have combinations");
}

// An axis of the experiment, whose values are no two the same.
void check_axes(const SweepGroup& group, Diagnostics& diagnostics) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < group.axes.front().values.size(); ++i) {
    std::string text;
    for (const SweepAxis& axis : group.axes) text += (text.empty() ? "" : " with ") + toml_text(axis.values[i]);
    if (seen.insert(text).second) continue;
    diagnostics.error(group.axes.front().values[i].place(), "sweep.axes." + group.name, text + " stands twice",
                      "each point once");
  }
  for (const SweepAxis& axis : group.axes) {
    if (!axis.key.starts_with("sweep.")) continue;
    const Place place = axis.range ? axis.range->place : axis.values.front().place();
    diagnostics.error(place, "sweep.axes." + axis.key, "is a setting of the sweep itself", "a key of the experiment");
  }
}

// Empty when the axes or the sampling are not sound.
std::optional<SweepSpace> space_of(const Value& document, std::vector<SweepGroup> axes, Diagnostics& diagnostics) {
  Diagnostics of_section;
  check_section(document, of_section);
  diagnostics.append(of_section);
  // A fault in one of these is told once, not again as its absence.
  const bool countable = std::ranges::none_of(of_section.all(), [](const Diagnostic& problem) {
    return problem.key == "sweep.points" || problem.key == "sweep.axes" || problem.key == "sweep.zip";
  });
  Diagnostics found;
  if (axes.empty()) axes = document_axes(document, found);
  for (const SweepGroup& group : axes) check_axes(group, found);
  const SamplingPlan plan = sampling_of(document, found);
  if (axes.empty() && countable && !found.has_errors()) {
    found.error(document.place(), "sweep.axes", "there is no axis", "--axis KEY=V1,V2,… or a [sweep.axes] table");
  }
  std::optional<SweepSpace> space;
  const Value* section = document.find("sweep");
  try {
    if (!found.has_errors() && countable)
      space.emplace(std::move(axes), plan, section ? section->place() : document.place());
  } catch (const ConfigError& error) {
    found.append(error.diagnostics());
  }
  diagnostics.append(found);
  return space;
}

// What of the file or of --set the axes of the command line leave without effect.
void tell_replaced(SweepDefinition& sweep, const Value& document, bool from_command_line) {
  for (const char* section : {"sweep.axes", "sweep.zip"}) {
    const Value* written = from_command_line ? document.find(section) : nullptr;
    if (written == nullptr) continue;
    sweep.warnings.warning(written->place(), section, "has no effect: --axis stands in its place",
                           "all axes in one of the two");
  }
  for (const std::string& key : sweep.space.keys()) {
    const Value* set = is_dotted_path(key) ? sweep.base.document.find(key) : nullptr;
    if (set == nullptr || set->place().file != "command line") continue;
    sweep.warnings.warning(set->place(), key, "has no effect: it is an axis", "one of --set and the axis");
  }
}

void hash_named_files(const Value& value, Sha256& hash) {
  if (value.is(Kind::array)) {
    for (const Value& element : value.elements()) hash_named_files(element, hash);
  } else if (value.is(Kind::table)) {
    for (const Value::Member& member : value.members()) hash_named_files(member.value, hash);
  } else if (value.is(Kind::string)) {
    const std::string& text = value.as_string();
    if (text.find_first_of("/.@") == std::string::npos || text.find('\n') != std::string::npos) return;
    const std::string path = path_from(Value::string(text.substr(text.starts_with('@') ? 1 : 0), value.place()));
    std::error_code code;
    if (!std::filesystem::is_regular_file(path, code)) return;
    Diagnostics ignored;
    hash.update(text + "\n" + read_text_file(path, {}, "", ignored).value_or(""));
  }
}

std::string text_of(const SweepDefinition& sweep, const Value& written) {
  std::string text = "base = " + toml_text(sweep.base.document) + "\n";
  for (const SweepGroup& group : sweep.space.groups()) {
    for (const SweepAxis& axis : group.axes) {
      text += fmt::format("axis {} of {} = ", axis.key, group.name);
      if (axis.range) {
        const SweepRange& range = *axis.range;
        text += fmt::format("{} to {}{}", toml_text(value_in(range, 0)), toml_text(value_in(range, 1)),
                            range.logarithmic ? ", log" : "");
      }
      for (const Value& value : axis.values) text += toml_text(value) + " ";
      text += "\n";
    }
  }
  if (const Value* excluded = written.find("sweep.exclude")) text += "exclude = " + toml_text(*excluded) + "\n";
  const SamplingPlan& plan = sweep.space.plan();
  if (plan.kind != Sampling::grid) {
    text += fmt::format("{} points, {}, seed {}\n", plan.points,
                        plan.kind == Sampling::random ? "random" : "latin-hypercube", plan.seed);
  }
  return text;
}

std::string hash_of(const SweepDefinition& sweep, const ConfigFiles& configs) {
  Sha256 hash;
  hash.update(sweep.text);
  for (const std::string& path : configs.list("")) hash.update(path + "\n" + configs.text(path).value_or(""));
  Diagnostics ignored;
  for (const std::string& overlay : sweep.base.overlays) {
    hash.update("\n" + read_text_file(overlay, {}, "", ignored).value_or(""));
  }
  hash_named_files(sweep.base.document, hash);
  for (const SweepGroup& group : sweep.space.groups()) {
    for (const SweepAxis& axis : group.axes) {
      for (const Value& value : axis.values) hash_named_files(value, hash);
    }
  }
  return hash.finish();
}

}  // namespace

KeyLookup SweepDefinition::lookup(const std::vector<Value>& values) const {
  return [this, &values](std::string_view key) -> const Value* {
    const std::vector<std::string>& keys = space.keys();
    const auto axis = std::find(keys.begin(), keys.end(), key);
    if (axis != keys.end()) return &values[static_cast<std::size_t>(axis - keys.begin())];
    return base.document.find(key);
  };
}

bool SweepDefinition::leaves_out(const std::vector<Value>& values) const {
  if (excluded.empty()) return false;
  const KeyLookup found = lookup(values);
  return std::any_of(excluded.begin(), excluded.end(),
                     [&](const SweepCondition& condition) { return condition.holds(found); });
}

SweepDefinition read_sweep(const Experiment& written, std::vector<SweepGroup> axes, const Catalog& catalog,
                           const ConfigFiles& configs) {
  Diagnostics diagnostics;
  const Value& document = written.document;
  Diagnostics of_base;
  Experiment base = base_of(written, configs, of_base);
  diagnostics.append(of_base);
  std::vector<SweepCondition> conditions = conditions_of(document, diagnostics);
  const bool from_command_line = !axes.empty();
  std::optional<SweepSpace> space = space_of(document, std::move(axes), diagnostics);
  if (!space || of_base.has_errors()) throw ConfigError(diagnostics);
  SweepDefinition sweep{std::move(base), std::move(*space), std::move(conditions), {}, "", ""};
  try_axes(sweep, catalog, configs, diagnostics);
  try_conditions(sweep, diagnostics);
  if (diagnostics.has_errors()) throw ConfigError(diagnostics);
  tell_repeated(sweep, document);
  tell_replaced(sweep, document, from_command_line);
  sweep.text = text_of(sweep, document);
  sweep.input_sha256 = hash_of(sweep, configs);
  return sweep;
}

}  // namespace podsim
