#include "sim/study/change_attribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "sim/config/key_spec.hpp"
#include "sim/engine/engine.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/human.hpp"
#include "sim/study/comparison.hpp"
#include "sim/study/evaluate.hpp"
#include "sim/study/sweep_axes.hpp"

namespace podsim {
namespace {

// Inputs that change together.
struct Change {
  std::vector<std::pair<std::string, Value>> inputs;  // null: to be taken out
  std::vector<std::string> removed, added, replaced;
};

struct Rate {
  double samples_per_s = 0;
  double cycle_s = 0;  // 0: none
};

std::string section_of(const std::string& path) {
  return path.substr(0, path.find('.'));
}

std::vector<Change> changes_of(const Value& before, const Value& after) {
  std::map<std::string, Value> rest;
  for (auto& [path, value] : leaves_of(after)) rest.emplace(path, std::move(value));
  std::vector<Change> changes;
  std::map<std::string, Change> structural;  // by section
  for (const auto& [path, value] : leaves_of(before)) {
    if (path == "name") continue;
    const auto other = rest.find(path);
    if (other == rest.end()) {
      Change& change = structural[section_of(path)];
      change.inputs.emplace_back(path, Value::null({}));
      change.removed.push_back(path);
    } else if (toml_text(value) != toml_text(other->second)) {
      changes.push_back({{{path, other->second}}, {}, {}, {path}});
    }
    if (other != rest.end()) rest.erase(other);
  }
  for (const auto& [path, value] : leaves_of(after)) {
    if (!rest.contains(path) || path == "name") continue;
    Change& change = structural[section_of(path)];
    change.inputs.emplace_back(path, value);
    change.added.push_back(path);
  }
  for (auto& [section, change] : structural) changes.push_back(std::move(change));
  return changes;
}

class Trial {
 public:
  Trial(const Value& plan, const Catalog& catalog, const ConfigFiles& configs)
      : plan_(plan), catalog_(catalog), configs_(configs), engine_(make_engine("native")) {}

  // Empty: invalid, or it does not fit.
  std::optional<Rate> rate(const std::vector<const Change*>& changes) {
    Experiment experiment;
    experiment.document = changed(changes);
    try {
      const PlanResult made = make_plan(experiment, catalog_, configs_);
      if (!made.plan) return std::nullopt;
      const Report report = simulate_plan(*made.plan, engine_, {false, true, true, false, false});
      if (!report.throughput) return std::nullopt;
      return Rate{report.throughput->samples_per_s, report.cycle_time ? in_seconds(*report.cycle_time) : 0};
    } catch (const ConfigError&) {
      return std::nullopt;
    } catch (const std::range_error&) {
      return std::nullopt;
    }
  }

 private:
  Value changed(const std::vector<const Change*>& changes) const {
    std::vector<std::pair<std::string, Value>> leaves = leaves_of(plan_);
    for (const Change* change : changes) {
      for (const auto& [path, value] : change->inputs) {
        std::erase_if(leaves, [&path = path](const auto& leaf) { return leaf.first == path; });
        if (!value.is(Value::Kind::null)) leaves.emplace_back(path, value);
      }
    }
    Value document = Value::table(plan_.place());
    for (auto& [path, value] : leaves) document.set(path, std::move(value));
    return document;
  }

  const Value& plan_;
  const Catalog& catalog_;
  const ConfigFiles& configs_;
  Engine engine_;
};

std::string words(const Change& change) {
  if (!change.replaced.empty()) return change.replaced.front();
  if (change.removed.empty()) return fmt::format("{} added", fmt::join(change.added, ", "));
  if (change.added.empty()) return fmt::format("{} removed", fmt::join(change.removed, ", "));
  return fmt::format("{} in place of {}", fmt::join(change.added, ", "), fmt::join(change.removed, ", "));
}

// What the first of the inputs says, as its description tells.
std::string meaning(const Change& change, const Catalog& catalog) {
  const std::string& path = change.added.empty() ? change.inputs.front().first : change.added.front();
  const Family* family = catalog.family(section_of(path));
  if (family == nullptr) return "";
  for (const KeySpec& key : family->keys()) {
    if (path == section_of(path) + "." + key.path) return key.summary;
  }
  return "";
}

void set_effect(const Rate& from, const Rate& to, InputEffect& effect) {
  effect.rate_change = to.samples_per_s / from.samples_per_s - 1;
  if (from.cycle_s > 0 && to.cycle_s > 0 && from.cycle_s != to.cycle_s) {
    effect.cycle_change = to.cycle_s / from.cycle_s - 1;
  }
}

double size_of(const InputEffect& effect) {
  return std::fabs(std::log1p(effect.rate_change.value_or(0)));
}

std::vector<const Change*> all_but(const std::vector<Change>& changes, const Change& one) {
  std::vector<const Change*> others;
  for (const Change& change : changes) {
    if (&change != &one) others.push_back(&change);
  }
  return others;
}

bool is_table(const Value* value) {
  return value != nullptr && value->is(Value::Kind::table);
}

}  // namespace

ChangeAttribution attribute_change(const Value& before, const Value& after, const Catalog& catalog,
                                   const ConfigFiles& configs) {
  const Value* first = before.find("inputs.plan");
  const Value* second = after.find("inputs.plan");
  const std::optional<double> known = read_number(before, "throughput.samples_per_s");
  const std::optional<double> reached = read_number(after, "throughput.samples_per_s");
  if (!is_table(first) || !is_table(second) || !known || !reached) return {};
  const std::vector<Change> changes = changes_of(*first, *second);
  if (changes.empty()) return {};
  constexpr double k_same = 1e-6;  // the reports may be of another engine
  Trial trial(*first, catalog, configs);
  const std::optional<Rate> base = trial.rate({});
  if (!base || std::fabs(base->samples_per_s / *known - 1) > k_same) {
    return {{}, {"no single input is blamed: from the plan in A this program gets another result than A"}};
  }
  const Rate target{*reached, read_number(after, "schedule.cycle_time_s").value_or(0)};
  ChangeAttribution attribution;
  double product = 1;
  bool all_alone = true;
  for (const Change& change : changes) {
    InputEffect effect{words(change), std::nullopt, std::nullopt, true, meaning(change, catalog)};
    const std::optional<Rate> alone = trial.rate({&change});
    const std::optional<Rate> others = alone ? std::nullopt : trial.rate(all_but(changes, change));
    effect.alone = alone.has_value();
    if (alone) {
      set_effect(*base, *alone, effect);
    } else if (others) {
      set_effect(*others, target, effect);
    }
    if (alone) product *= alone->samples_per_s / base->samples_per_s;
    all_alone = all_alone && alone;
    attribution.effects.push_back(std::move(effect));
  }
  std::stable_sort(attribution.effects.begin(), attribution.effects.end(),
                   [](const InputEffect& a, const InputEffect& b) { return size_of(a) > size_of(b); });
  constexpr double k_worth_telling = 0.001;
  const double beyond = all_alone ? *reached / *known / product - 1 : 0;
  if (changes.size() > 1 && std::fabs(beyond) > k_worth_telling) {
    attribution.beyond.push_back(fmt::format("together they give {:+.1f} % beyond the product of these", 100 * beyond));
  }
  return attribution;
}

std::string sentence_of(const InputEffect& effect) {
  if (!effect.rate_change) return fmt::format("effect of {}: cannot be had without the others", effect.inputs);
  std::string text =
      fmt::format("effect of {}: {:+.1f} % samples per second", effect.inputs, 100 * *effect.rate_change);
  if (effect.cycle_change) text += fmt::format(", cycle {:+.1f} %", 100 * *effect.cycle_change);
  text += effect.alone ? ", alone from A" : ", last before B";
  return effect.meaning.empty() ? text : text + " (" + effect.meaning + ")";
}

}  // namespace podsim
