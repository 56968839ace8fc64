#include "sim/study/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "sim/engine/engine.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/plan_cache.hpp"
#include "sim/study/evaluate.hpp"
#include "sim/study/evidence.hpp"
#include "sim/study/search_costs.hpp"

namespace podsim {
namespace {

const Diagnostic* first_error(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity == Severity::error) return &diagnostic;
  }
  return nullptr;
}

std::string problem_of(const Diagnostics& diagnostics) {
  const Diagnostic* error = first_error(diagnostics);
  return error != nullptr ? to_text(*error) : "invalid";
}

Experiment with(Experiment experiment, const std::vector<SearchSetting>& settings) {
  Diagnostics diagnostics;
  for (const SearchSetting& setting : settings) {
    const bool absent = setting.value.is(Value::Kind::null) && experiment.document.find(setting.key) == nullptr;
    if (!absent) apply_value(experiment, setting.key, setting.value, diagnostics);
  }
  if (diagnostics.has_errors()) throw ConfigError(diagnostics);
  return experiment;
}

[[noreturn]] void refuse(const std::string& key, const std::string& problem, const std::string& expected) {
  Diagnostics diagnostics;
  diagnostics.error({"command line", 0, 0}, key, problem, expected);
  throw ConfigError(diagnostics);
}

// Norms over a batch see the samples of one micro-batch.
bool has_batch_norms(const ModelGraph& graph) {
  return std::ranges::any_of(graph.blocks, [](const Block& block) {
    return std::ranges::any_of(block.forward, [](const Operator& op) { return op.channels > 0; });
  });
}

class Search {
 public:
  Search(const SearchTask& task, const Catalog& catalog, const ConfigFiles& configs)
      : task_(task), catalog_(catalog), configs_(configs), engine_(make_engine("native")) {
    result_.objective = task.objective;
    result_.currency = task.costs.currency;
  }

  SearchResult run() {
    choose_batch();
    make_scenarios();
    SearchForest forest;
    for (std::size_t s = 0; s < result_.scenarios.size(); ++s) forest.scenarios.push_back(branches_of(s));
    check_costs();
    forest.value = [this](std::size_t s, double rate, std::int64_t devices) { return value(s, rate, devices); };
    forest.judge = [this](std::size_t s, const std::vector<SearchSetting>& settings) { return judge(s, settings); };
    result_.tree = explore(forest, effort());
    tell_alike_once();
    warn_of_idle_fixes();
    if (!result_.tree.best.empty()) fill_winner(result_.tree.best.front());
    return std::move(result_);
  }

 private:
  PlanResult planned(const Experiment& experiment) { return make_plan(experiment, catalog_, configs_, cache_); }

  // ---- what is searched

  // The batch of the experiment as it is written, on its own system, unless another is asked for.
  void choose_batch() {
    PlanResult made = planned(task_.experiment);
    const bool trains = made.plan ? made.plan->settings.mode == RunMode::training : trains_at_start();
    if (!trains) {
      if (task_.limits.batch) result_.warnings.emplace_back("--global-batch has no effect: nothing is trained");
      return;
    }
    result_.batch = task_.limits.batch;
    if (result_.batch) return;
    if (!made.plan) {
      Diagnostics told = made.diagnostics;
      const bool of_a_fix = std::ranges::any_of(told.all(), [this](const Diagnostic& d) {
        return d.severity == Severity::error && task_.fixed.contains(d.key);
      });
      if (of_a_fix) throw ConfigError(told);
      told.error({"command line", 0, 0}, "--global-batch",
                 "is needed: the experiment as written does not run, so that its global batch is not known",
                 "--global-batch N, or a sound experiment");
      throw ConfigError(told);
    }
    const std::int64_t own = made.plan->family->step_facts(*made.plan).global_batch;
    if (own == 1) {
      refuse("--global-batch", "is needed: the experiment says nothing of its batch, which is 1 by default",
             "--global-batch N, or 1 to keep it");
    }
    result_.batch = BatchRange{own, own};
    result_.batch_kept = true;
  }

  bool trains_at_start() {
    const PlanResult made = planned(with(task_.experiment, start()));
    return !made.plan || made.plan->settings.mode == RunMode::training;
  }

  void make_scenarios() {
    std::vector<std::vector<SearchSetting>> systems;
    for (const std::string& system : task_.systems) {
      systems.push_back({{"system", Value::string(system, {"command line", 0, 0})}});
    }
    if (systems.empty()) systems.emplace_back();
    std::vector<std::vector<SearchSetting>> varied{{}};
    for (const SweepGroup& group : task_.varied) varied = crossed(varied, group);
    for (const std::vector<SearchSetting>& system : systems) {
      for (const std::vector<SearchSetting>& values : varied) {
        std::vector<SearchSetting> settings = system;
        settings.insert(settings.end(), values.begin(), values.end());
        SearchScenario scenario;
        scenario.experiment = with(task_.experiment, settings);
        for (const SearchSetting& setting : settings) {
          const std::string text =
              setting.key == "system" ? setting.value.as_string() : setting.key + " = " + toml_text(setting.value);
          scenario.label += (scenario.label.empty() ? "" : ", ") + text;
        }
        result_.scenarios.push_back(std::move(scenario));
      }
    }
  }

  static std::vector<std::vector<SearchSetting>> crossed(const std::vector<std::vector<SearchSetting>>& before,
                                                         const SweepGroup& group) {
    std::vector<std::vector<SearchSetting>> all;
    for (const std::vector<SearchSetting>& settings : before) {
      for (std::size_t v = 0; v < group.axes.front().values.size(); ++v) {
        std::vector<SearchSetting> more = settings;
        for (const SweepAxis& axis : group.axes) more.push_back({axis.key, axis.values[v]});
        all.push_back(std::move(more));
      }
    }
    return all;
  }

  SearchRequest request() const {
    SearchRequest request{result_.batch, task_.fixed, 1 - task_.limits.memory_headroom};
    for (const SweepGroup& group : task_.varied) {
      for (const SweepAxis& axis : group.axes) request.fixed.insert(axis.key);
    }
    return request;
  }

  // The experiment itself, then what its family offers.
  std::vector<SearchBranch> branches_of(std::size_t s) {
    SearchScenario& scenario = result_.scenarios[s];
    std::vector<SearchBranch> branches;
    PlanResult made = planned(scenario.experiment);
    const Diagnostics problems = made.diagnostics;
    if (made.plan) {
      judge_written(scenario, s);
      SearchBranch own;
      own.devices = made.plan->family->step_facts(*made.plan).devices;
      branches.push_back(std::move(own));
    } else {
      scenario.written_problem = problem_of(problems);
      made = planned(with(scenario.experiment, start()));
    }
    if (!made.plan) {
      // What no value of another setting mends.
      const bool misnamed = std::ranges::any_of(problems.all(), [](const Diagnostic& d) {
        return d.severity == Severity::error && (d.key == "system" || d.problem.starts_with("unknown "));
      });
      if (misnamed || result_.scenarios.size() == 1) throw ConfigError(problems);
      scenario.problem = scenario.written_problem;
      return {};
    }
    const auto plan = std::make_shared<const Plan>(std::move(*made.plan));
    scenario.system = plan->system;
    scenario.sequences_per_sample = plan->family->step_facts(*plan).sequences_per_sample;
    add_costs(*plan, task_.costs, scenario);
    std::optional<SearchSpace> space = plan->family->search_space(plan, request());
    if (!space) {
      refuse("search", fmt::format("systems of family \"{}\" offer nothing to search", plan->family->name()),
             "a system of another family");
    }
    scenario.dimensions = std::move(space->dimensions);
    scenario.notes = std::move(space->notes);
    branches.insert(branches.end(), std::make_move_iterator(space->branches.begin()),
                    std::make_move_iterator(space->branches.end()));
    return branches;
  }

  std::vector<SearchSetting> start() const {
    std::vector<SearchSetting> settings;
    for (const auto& family : catalog_.families) {
      for (SearchSetting& setting : family->search_start()) {
        if (!request().fixes(setting.key)) settings.push_back(std::move(setting));
      }
    }
    return settings;
  }

  void judge_written(SearchScenario& scenario, std::size_t s) {
    const std::optional<BatchRange> asked = std::exchange(result_.batch, std::nullopt);
    const SearchLimits limits = std::exchange(limits_, SearchLimits());
    SearchJudgement own = judge(s, {});
    result_.batch = asked;
    limits_ = limits;
    if (own.point) scenario.written = std::move(own.point);
    if (own.broken)
      scenario.written_problem = fmt::format("does not fit: {} on {}", own.broken->limit, own.broken->device);
    if (!own.invalid.empty()) scenario.written_problem = own.reason;
  }

  void check_costs() const {
    for (const SearchScenario& scenario : result_.scenarios) {
      if (!scenario.problem.empty()) continue;
      if (task_.objective == SearchObjective::samples_per_joule && scenario.power_w <= 0) {
        refuse("--objective", fmt::format("the power of {} is not known", scenario.system),
               fmt::format("power in [systems.{}] of --costs", scenario.system));
      }
      if (task_.objective == SearchObjective::cost_per_sample && scenario.price_per_hour <= 0) {
        refuse("--objective", fmt::format("what an hour of {} costs is not known", scenario.system),
               fmt::format("price_per_hour in [systems.{}] of --costs, and its power where electricity has a price",
                           scenario.system));
      }
    }
  }

  // More than are told: some are hardly different.
  SearchEffort effort() const {
    constexpr std::size_t k_more = 3;
    SearchEffort effort = task_.effort;
    effort.keep *= k_more;
    return effort;
  }

  void tell_alike_once() {
    std::vector<SearchPoint> told;
    for (SearchPoint& point : result_.tree.best) {
      const bool known = std::ranges::any_of(told, [&](const SearchPoint& other) {
        return other.scenario == point.scenario && other.devices == point.devices &&
               other.micro_batch == point.micro_batch &&
               std::fabs(other.samples_per_s / point.samples_per_s - 1) < k_alike;
      });
      if (!known && told.size() < task_.effort.keep) told.push_back(std::move(point));
    }
    result_.tree.best = std::move(told);
  }

  // A key that is fixed without a value and that nobody would have varied.
  void warn_of_idle_fixes() {
    for (const std::string& key : task_.fixed) {
      const auto searched = [&](const SearchScenario& scenario) {
        return std::ranges::any_of(scenario.dimensions, [&](const SearchDimension& d) { return d.key == key; });
      };
      if (std::ranges::any_of(result_.scenarios, searched)) continue;
      const bool written = task_.experiment.document.find(key) != nullptr;
      if (!written) result_.warnings.push_back(fmt::format("--fix {} has no effect: the search does not vary it", key));
    }
  }

  // ---- one configuration

  SearchValue value(std::size_t s, double rate, std::int64_t devices) const {
    const SearchScenario& scenario = result_.scenarios[s];
    constexpr double k_hour = 3600;
    switch (task_.objective) {
      case SearchObjective::throughput:
        return {rate, 0};
      case SearchObjective::samples_per_joule:
        return {rate / scenario.power_w, 0};
      case SearchObjective::cost_per_sample:
        return {-scenario.price_per_hour / (k_hour * rate), 0};
      case SearchObjective::smallest_system:
        return {-static_cast<double>(devices), rate};
    }
    return {};
  }

  SearchJudgement judge(std::size_t s, const std::vector<SearchSetting>& settings) {
    SearchJudgement judgement;
    try {
      PlanResult made = planned(with(result_.scenarios[s].experiment, settings));
      if (made.plan) return judged(*made.plan, s);
      judgement.invalid = first_error(made.diagnostics)->key;
      judgement.reason = problem_of(made.diagnostics);
    } catch (const ConfigError& error) {
      judgement.invalid = first_error(error.diagnostics())->key;
      judgement.reason = problem_of(error.diagnostics());
    } catch (const std::range_error& error) {
      judgement.invalid = "too large";
      judgement.reason = beyond_simulated_time(error);
    }
    if (judgement.invalid.empty()) judgement.invalid = "experiment";
    return judgement;
  }

  SearchJudgement judged(const Plan& plan, std::size_t s) {
    const auto broken = [](BrokenLimit limit) {
      SearchJudgement judgement;
      judgement.broken = std::move(limit);
      return judgement;
    };
    const Verdict verdict = plan.family->verdict(plan, false);
    if (!verdict.fits()) return broken(verdict.broken.front());
    const MemoryAccount account = plan.family->memory_account(plan);
    double fill = 0;
    for (const DeviceMemoryAccount& memory : account.memories) {
      const double own = memory.limit > Bytes() ? fill_pct(memory.total(), memory.limit) / 100 : 0;
      if (own > 1 - limits_.memory_headroom && limits_.memory_headroom > 0) {
        const double have = (1 - limits_.memory_headroom) * static_cast<double>(memory.limit.count());
        return broken(
            {memory.device, "memory headroom", static_cast<double>(memory.total().count()), have, "byte", ""});
      }
      fill = std::max(fill, own);
    }
    const Report report = evaluate_point(plan, engine_, storage_);
    SearchPoint point = point_of(report, s);
    point.headroom_pct = 100 * (1 - fill);
    if (std::optional<BrokenLimit> limit = broken_limit(plan, point)) return broken(std::move(*limit));
    SearchJudgement judgement;
    judgement.point = std::move(point);
    return judgement;
  }

  SearchPoint point_of(const Report& report, std::size_t s) const {
    const SearchScenario& scenario = result_.scenarios[s];
    constexpr double k_hour = 3600;
    SearchPoint point;
    point.scenario = s;
    point.samples_per_s = report.throughput->samples_per_s * report.batch.sequences_per_sample;
    point.devices = report.batch.devices;
    point.micro_batch = report.batch.micro_batch;
    point.global_batch = report.batch.global_batch;
    point.step_s = report.step_time.duration().in_base();
    point.mfu_pct = report.throughput->mfu_pct;
    if (report.latency) point.latency_s = report.latency->request_s;
    if (scenario.power_w > 0) point.joules_per_sample = scenario.power_w / point.samples_per_s;
    if (scenario.price_per_hour > 0) point.cost_per_sample = scenario.price_per_hour / (k_hour * point.samples_per_s);
    return point;
  }

  // Of those that the user set.
  std::optional<BrokenLimit> broken_limit(const Plan& plan, const SearchPoint& point) const {
    if (result_.batch && plan.settings.mode == RunMode::training && !result_.batch->has(point.global_batch)) {
      const bool more = point.global_batch > result_.batch->most;
      const double have = static_cast<double>(more ? result_.batch->most : point.global_batch);
      const double need = static_cast<double>(more ? point.global_batch : result_.batch->least);
      return BrokenLimit{"", "global batch", need, have, "", ""};
    }
    if (limits_.latency && point.latency_s && *point.latency_s > limits_.latency->in_base()) {
      return BrokenLimit{"", "latency", *point.latency_s, limits_.latency->in_base(), "s", ""};
    }
    if (point.samples_per_s < limits_.least_samples_per_s) {
      return BrokenLimit{"", "throughput", limits_.least_samples_per_s, point.samples_per_s, "1/s", ""};
    }
    return std::nullopt;
  }

  // ---- the best one

  void fill_winner(const SearchPoint& point) {
    const SearchScenario& scenario = result_.scenarios[point.scenario];
    const Experiment experiment = with(scenario.experiment, point.settings);
    // Without the cache, for the hash of its inputs.
    PlanResult made = make_plan(experiment, catalog_, configs_);
    if (!made.plan) throw ConfigError(made.diagnostics);
    const Plan& plan = *made.plan;
    SearchWinner winner;
    winner.report = simulate_plan(plan, engine_, {.merge = true});
    winner.report.evidence = evidence_for(plan, catalog_, configs_);
    winner.deployment = plan.family->deployment(plan);
    winner.plan_toml = to_toml(plan, task_.folder);
    winner.settings = settings_of(plan);
    winner.changes = changes_of(point, plan);
    if (winner.report.engine) winner.native_ps = winner.report.engine->simulated.picoseconds();
    if (task_.audit) {
      Engine reference = make_engine("simgrid");
      const Report again = simulate_plan(plan, reference, {.merge = true});
      if (again.engine) winner.reference_ps = again.engine->simulated.picoseconds();
    }
    warn_of_accuracy(scenario, point, plan);
    for (const std::string& note : plan.family->notes(plan)) result_.warnings.push_back(note);
    for (const Diagnostic& warning : plan.warnings.all()) result_.warnings.push_back(to_text(warning));
    result_.winner = std::move(winner);
  }

  static std::optional<std::string> resolved_text(const Plan& plan, const std::string& key) {
    for (const auto& keys : {plan.resolved, plan.family_plan->resolved()}) {
      const auto known = std::ranges::find(keys, key, &ResolvedKey::path);
      if (known != keys.end()) return known->toml_value;
    }
    return std::nullopt;
  }

  // Of every key that the configurations told set.
  std::vector<SearchSetting> settings_of(const Plan& best) const {
    std::vector<SearchSetting> settings;
    for (const std::vector<SearchPoint>* points : {&result_.tree.best, &result_.tree.front}) {
      for (const SearchPoint& point : *points) {
        for (const SearchSetting& setting : point.settings) {
          const std::optional<std::string> text = resolved_text(best, setting.key);
          const bool known = std::ranges::count(settings, setting.key, &SearchSetting::key) > 0;
          if (text && !known) settings.push_back({setting.key, parse_override_value(*text, {"search", 0, 0})});
        }
      }
    }
    return settings;
  }

  // Settings that say something else than the experiment as it is written.
  std::vector<SearchSetting> changes_of(const SearchPoint& point, const Plan& best) {
    std::vector<SearchSetting> changes;
    const PlanResult written = planned(result_.scenarios[point.scenario].experiment);
    for (const SearchSetting& setting : point.settings) {
      const bool same = written.plan && resolved_text(best, setting.key) == resolved_text(*written.plan, setting.key);
      if (!same) changes.push_back(setting);
    }
    return changes;
  }

  void warn_of_accuracy(const SearchScenario& scenario, const SearchPoint& point, const Plan& plan) {
    if (plan.settings.mode != RunMode::training || !scenario.written) return;
    const SearchPoint& before = *scenario.written;
    if (before.global_batch != point.global_batch) {
      result_.warnings.push_back(
          fmt::format("the global batch changes from {} to {}: accuracy may change, and learning rate and warm-up with "
                      "it",
                      before.global_batch, point.global_batch));
    }
    if (before.micro_batch != point.micro_batch && has_batch_norms(plan.graph)) {
      result_.warnings.push_back(
          fmt::format("the micro-batch changes from {} to {}, over which batch norms take their statistics: accuracy "
                      "may change",
                      before.micro_batch, point.micro_batch));
    }
  }

  const SearchTask& task_;
  const Catalog& catalog_;
  const ConfigFiles& configs_;
  Engine engine_;
  PlanCache cache_;
  PointStorage storage_;
  SearchLimits limits_ = task_.limits;
  SearchResult result_;
};

}  // namespace

std::string_view name(SearchObjective objective) {
  switch (objective) {
    case SearchObjective::throughput:
      return "throughput";
    case SearchObjective::samples_per_joule:
      return "samples-per-joule";
    case SearchObjective::cost_per_sample:
      return "cost-per-sample";
    case SearchObjective::smallest_system:
      return "smallest-system";
  }
  return "";
}

SearchResult search(const SearchTask& task, const Catalog& catalog, const ConfigFiles& configs) {
  return Search(task, catalog, configs).run();
}

bool engines_agree(const SearchWinner& winner) {
  if (!winner.native_ps || !winner.reference_ps) return true;
  constexpr double k_relative = 1e-9;
  constexpr double k_absolute_ps = 16;
  const double difference = std::fabs(static_cast<double>(*winner.reference_ps - *winner.native_ps));
  return difference <= std::max(k_relative * static_cast<double>(*winner.native_ps), k_absolute_ps);
}

}  // namespace podsim
