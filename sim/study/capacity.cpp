#include "sim/study/capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/engine/engine.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/human.hpp"
#include "sim/report/phrases.hpp"
#include "sim/study/evaluate.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

const Place k_moving{"capacity", 0, 0};        // of what this study sets
constexpr Duration k_endless = seconds(1e12);  // 30,000 years

std::string first_error(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity == Severity::error) return to_text(diagnostic);
  }
  return "invalid";
}

void set(Experiment& experiment, const std::string& key, std::int64_t value, Diagnostics& diagnostics) {
  apply_value(experiment, key, Value::integer(value, k_moving), diagnostics);
}

// Makes rows of candidates.
class Planner {
 public:
  Planner(const CapacityGoal& goal, const CapacityCosts& costs, const Catalog& catalog, const ConfigFiles& configs)
      : goal_(goal), costs_(costs), catalog_(catalog), configs_(configs), engine_(make_engine("native")) {}

  CapacityRow row(const CapacityCandidate& candidate) {
    CapacityRow row;
    row.name = candidate.system;
    try {
      fill(candidate, row);
    } catch (const ConfigError& error) {
      if (is_slip(error.diagnostics())) throw;
      row.misses = {first_error(error.diagnostics())};
      if (!is_of_the_move(error.diagnostics())) refused_.append(error.diagnostics());
    } catch (const std::range_error& error) {
      row.misses = {beyond_simulated_time(error)};
    }
    return row;
  }

  CapacityRow typed(const TypedRow& typed, std::optional<double> target) const {
    CapacityRow row;
    row.name = typed.name;
    row.devices = typed.devices;
    row.hosts = typed.hosts;
    row.samples_per_s = typed.samples_per_s;
    if (target) row.training = seconds(*target / typed.samples_per_s);
    row.work.global_batch = static_cast<double>(typed.global_batch.value_or(0));
    row.work.precision = typed.precision.value_or("");
    row.work.sequence_length = typed.sequence_length.value_or(0);
    row.work.packing_factor = typed.packing_factor.value_or(0);
    row.work.mode = "training";
    add_costs(typed.costs, row);
    judge(row);
    return row;
  }

  // What was wrong with rows that are invalid.
  const Diagnostics& refused() const { return refused_; }

 private:
  // The experiment is sound, but not on this machine.
  static bool is_of_the_move(const Diagnostics& diagnostics) {
    return std::ranges::all_of(diagnostics.all(), [](const Diagnostic& diagnostic) {
      return diagnostic.severity != Severity::error || diagnostic.place.file == k_moving.file;
    });
  }

  // A name that no system has is no machine that cannot do the job.
  static bool is_slip(const Diagnostics& diagnostics) {
    return std::ranges::any_of(diagnostics.all(), [](const Diagnostic& diagnostic) {
      return diagnostic.severity == Severity::error && diagnostic.key == "system" &&
             diagnostic.problem.starts_with("no system is called");
    });
  }

  Plan planned(const Experiment& experiment) const {
    PlanResult made = make_plan(experiment, catalog_, configs_);
    if (!made.plan) throw ConfigError(made.diagnostics);
    return std::move(*made.plan);
  }

  // The experiment on the candidate's system, with as many copies per device as it was written with and the same batch.
  Experiment moved(const CapacityCandidate& candidate, CapacityRow& row) {
    Experiment experiment = candidate.experiment;
    Diagnostics diagnostics;
    if (candidate.system.empty() && candidate.nodes == 0) return experiment;
    const Plan written = planned(candidate.experiment);
    if (!candidate.system.empty()) {
      apply_value(experiment, "system", Value::string(candidate.system, {"command line", 0, 0}), diagnostics);
    }
    if (candidate.nodes != 0) {
      apply_value(experiment, "system.nodes", Value::integer(candidate.nodes, {"command line", 0, 0}), diagnostics);
    }
    if (diagnostics.has_errors()) throw ConfigError(diagnostics);
    const std::optional<CopyFacts> copies = written.family->copy_facts(written);
    if (!copies) return experiment;
    const std::int64_t before = written.family->machine_facts(written).devices;
    const std::int64_t after = devices_of(experiment, *copies);
    if (before <= 0 || after <= 0 || before == after) return experiment;
    scale(*copies, before, after, experiment, row);
    return experiment;
  }

  // How many devices the system has, whatever of the experiment does not suit it: one copy suits every system.
  std::int64_t devices_of(Experiment experiment, const CopyFacts& copies) const {
    Diagnostics ignored;
    set(experiment, copies.copies_key, 1, ignored);
    const Plan plan = planned(experiment);
    return plan.family->machine_facts(plan).devices;
  }

  static void scale(const CopyFacts& facts, std::int64_t before, std::int64_t after, Experiment& experiment,
                    CapacityRow& row) {
    const std::int64_t copies = facts.copies * after / before;
    const std::int64_t micro_batches = facts.copies * facts.accumulation;
    Diagnostics diagnostics;
    if (copies < 1 || micro_batches % copies != 0) {
      diagnostics.error(k_moving, row.name,
                        fmt::format("{} micro-batches of an update cannot be shared by {} copies", micro_batches,
                                    std::max<std::int64_t>(copies, 1)),
                        "an experiment of this system with the same global batch, as a further argument");
      throw ConfigError(diagnostics);
    }
    set(experiment, facts.copies_key, copies, diagnostics);
    set(experiment, facts.accumulation_key, micro_batches / copies, diagnostics);
    row.changed =
        fmt::format("{} = {}, {} = {}", facts.copies_key, copies, facts.accumulation_key, micro_batches / copies);
    if (diagnostics.has_errors()) throw ConfigError(diagnostics);
  }

  void fill(const CapacityCandidate& candidate, CapacityRow& row) {
    const Plan plan = planned(moved(candidate, row));
    if (row.name.empty()) row.name = plan.system;
    const MachineFacts machine = plan.family->machine_facts(plan);
    row.family = std::string(plan.family->name());
    row.report = simulate_plan(plan, engine_, {.merge = true, .remedies = true});
    const Report& report = *row.report;
    row.systems = plan.nodes;
    row.devices = machine.devices;
    row.hosts = machine.hosts;
    row.idle_devices = std::max<std::int64_t>(machine.devices - report.batch.devices, 0);
    row.compile = report.compile;
    row.work = {plan.shape,
                plan.graph.parameter_count(),
                plan.settings.head,
                static_cast<double>(report.batch.global_batch) * report.batch.sequences_per_sample,
                plan.settings.precision,
                plan.settings.sequence_length,
                plan.settings.packing_factor,
                std::string(name(report.mode))};
    row.power = machine.power;
    row.power_source = machine.power_source;
    if (!report.verdict.fits()) {
      row.status = CapacityStatus::does_not_fit;
      row.misses = {broken_limit_text(report.verdict.broken.front())};
      return;
    }
    row.samples_per_s = report.throughput->sequences_per_s.value_or(report.throughput->samples_per_s);
    if (report.training) row.training = seconds(report.training->time_s);
    add_users(report, row);
    const auto known = costs_.systems.find(row.name);
    add_costs(known != costs_.systems.end() ? known->second : SystemCosts{}, row);
    judge(row);
  }

  // As many systems as the users need at the batch that the experiment serves at once.
  void add_users(const Report& report, CapacityRow& row) const {
    if (report.mode != RunMode::generation || !report.latency || !report.latency->time_per_output_token_s) return;
    row.tokens_per_s_per_user = 1 / *report.latency->time_per_output_token_s;
    if (!goal_.users || report.batch.global_batch < 1) return;
    const std::int64_t needed = (*goal_.users + report.batch.global_batch - 1) / report.batch.global_batch;
    row.systems *= needed;
    row.devices *= needed;
    row.idle_devices *= needed;
    row.hosts *= needed;
    row.samples_per_s *= static_cast<double>(needed);
    if (row.power) row.power = *row.power * static_cast<double>(needed);
  }

  void add_costs(const SystemCosts& known, CapacityRow& row) const {
    const double systems = static_cast<double>(row.systems);
    if (known.power) {
      row.power = *known.power * systems;
      row.power_source = "given";
    }
    if (row.power && known.host_power) *row.power += *known.host_power * static_cast<double>(row.hosts);
    if (row.power && costs_.pue) row.power = *row.power * *costs_.pue;
    row.time = row.training;
    if (row.training && known.mtbf && costs_.checkpoint_size && costs_.checkpoint_bandwidth) {
      row.checkpoints = best_checkpoints({*known.mtbf / systems, *costs_.checkpoint_size / *costs_.checkpoint_bandwidth,
                                          costs_.restart.value_or(Duration())});
      row.time = *row.training / row.checkpoints->goodput;
      if (*row.time > k_endless) row.time.reset();
    }
    constexpr double k_hour = 3600;
    if (row.training && !row.time) return;                             // it never ends
    const double hours = row.time ? row.time->in_base() / k_hour : 1;  // without a target: of an hour
    if (row.power) row.energy = *row.power * seconds(hours * k_hour);
    row.cost = cost_of(known, row, hours);
  }

  // Half a cost would make a row look cheap.
  std::optional<double> cost_of(const SystemCosts& known, const CapacityRow& row, double hours) const {
    const bool priced = costs_.has_prices_of_machines();
    if ((priced && !known.price_per_hour) || (costs_.electricity_price_per_kwh && !row.energy)) return std::nullopt;
    if (!priced && !costs_.electricity_price_per_kwh) return std::nullopt;
    constexpr double k_kilowatt_hour = 3.6e6;
    double cost = known.price_per_hour.value_or(0) * static_cast<double>(row.systems) * hours;
    if (row.energy) cost += costs_.electricity_price_per_kwh.value_or(0) * row.energy->in_base() / k_kilowatt_hour;
    return cost;
  }

  void judge(CapacityRow& row) const {
    if (goal_.deadline && row.time && *row.time > *goal_.deadline) {
      row.misses.push_back(fmt::format("too slow: {}", plain_time(*row.time)));
    }
    const bool endless = row.training && !row.time;
    if (endless) row.misses.push_back("never ends: failures come faster than checkpoints are written");
    if (goal_.deadline && !row.training) row.misses.push_back("no target of training");
    if (goal_.tokens_per_s && row.tokens_per_s_per_user && *row.tokens_per_s_per_user < *goal_.tokens_per_s) {
      row.misses.push_back(fmt::format("too slow: {} tokens/s per user", human_number(*row.tokens_per_s_per_user)));
    }
    if (goal_.budget && !row.cost) row.misses.push_back("price not known");
    if (goal_.budget && row.cost && *row.cost > *goal_.budget) {
      row.misses.push_back(fmt::format("over budget: {} {}", human_number(*row.cost), costs_.currency));
    }
    if (goal_.power_cap && !row.power) row.misses.push_back("power not known");
    if (goal_.power_cap && row.power && *row.power > *goal_.power_cap) {
      row.misses.push_back(fmt::format("over the power cap: {}", plain_power(*row.power)));
    }
    row.status = row.misses.empty() ? CapacityStatus::meets : CapacityStatus::misses;
  }

  const CapacityGoal& goal_;
  const CapacityCosts& costs_;
  const Catalog& catalog_;
  const ConfigFiles& configs_;
  Engine engine_;
  Diagnostics refused_;
};

bool has_rate(const CapacityRow& row) {
  return row.status == CapacityStatus::meets || row.status == CapacityStatus::misses;
}

std::string model_text(const WorkFacts& work) {
  return fmt::format("{} ({} parameters)", work.shape.name, grouped(work.parameters));
}

// In what two rows are not of the same work; a typed row may leave things unsaid.
std::vector<std::string> work_differences(const CapacityRow& a, const CapacityRow& b,
                                          std::vector<std::string>& unsaid) {
  std::vector<std::string> found;
  const auto compare = [&](const std::string& what, const std::string& first, const std::string& second, bool said) {
    if (!said)
      unsaid.push_back(fmt::format("{}: {} is not stated, assumed equal", b.name, what));
    else if (first != second)
      found.push_back(fmt::format("{} of {} on {}, of {} on {}", what, first, a.name, second, b.name));
  };
  // A model by its dimensions: files of other names may hold the same one.
  const bool same_model = b.work.shape.type.empty() || (a.work.shape.type == b.work.shape.type &&
                                                        a.work.shape.dimensions == b.work.shape.dimensions);
  if (!same_model) compare("model", model_text(a.work), model_text(b.work), true);
  if (!b.work.shape.type.empty()) compare("head", a.work.head, b.work.head, true);
  compare("global batch", human_number(a.work.global_batch), human_number(b.work.global_batch),
          b.work.global_batch > 0);
  compare("precision", a.work.precision, b.work.precision, !b.work.precision.empty());
  compare("sequence length", std::to_string(a.work.sequence_length), std::to_string(b.work.sequence_length),
          b.work.sequence_length > 0 || a.work.sequence_length == 0);
  compare("packing", format_number(a.work.packing_factor), format_number(b.work.packing_factor),
          b.work.packing_factor > 0);
  compare("mode", a.work.mode, b.work.mode, true);
  return found;
}

void compare_work(Capacity& capacity, bool mixed) {
  const auto first = std::ranges::find_if(capacity.rows, has_rate);
  if (first == capacity.rows.end()) return;
  Diagnostics refused;
  for (auto row = first + 1; row != capacity.rows.end(); ++row) {
    if (!has_rate(*row)) continue;
    for (const std::string& difference : work_differences(*first, *row, capacity.warnings)) {
      capacity.warnings.push_back("not of the same work: " + difference);
      refused.error({"command line", 0, 0}, row->name, "is not of the same work: " + difference,
                    "equal settings, or --mixed");
    }
  }
  if (!mixed && refused.has_errors()) throw ConfigError(refused);
}

// Devices of two kinds are not alike, so that fewer of one are no less than more of another.
void warn_of_unlike_devices(const std::vector<CapacityRow>& rows, std::vector<std::string>& warnings) {
  std::vector<std::string> kinds;
  for (const CapacityRow& row : rows) {
    if (row.status != CapacityStatus::meets || !row.report) continue;
    if (std::ranges::find(kinds, row.family) == kinds.end()) kinds.push_back(row.family);
  }
  if (kinds.size() < 2) return;
  warnings.push_back(
      "the choice is by the number of devices, which are of different kinds: give prices in --costs for one by cost");
}

// By cost where that of every row that meets the goals is known, else by devices.
void choose(Capacity& capacity) {
  const std::vector<CapacityRow>& rows = capacity.rows;
  const auto meets = [](const CapacityRow& row) { return row.status == CapacityStatus::meets; };
  capacity.by_cost =
      std::ranges::all_of(rows, [&](const CapacityRow& row) { return !meets(row) || row.cost.has_value(); });
  for (const CapacityRow& row : rows) {
    const bool others = std::ranges::any_of(rows, [](const CapacityRow& other) { return other.cost.has_value(); });
    if (!capacity.by_cost && meets(row) && !row.cost && others) {
      capacity.warnings.push_back(row.name +
                                  ": price or power is not given, so the choice is by devices and not by cost");
    }
  }
  if (!capacity.by_cost) warn_of_unlike_devices(rows, capacity.warnings);
  const auto price = [&](const CapacityRow& row) {
    const double first = capacity.by_cost ? *row.cost : static_cast<double>(row.devices);
    return std::pair(first, -row.samples_per_s);
  };
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (!meets(rows[r])) continue;
    if (!capacity.chosen || price(rows[r]) < price(rows[*capacity.chosen])) capacity.chosen = r;
  }
}

// Where a larger machine loses against a smaller one with the same batch: each part of its step beyond its share.
std::vector<std::string> scaling_reasons(const CapacityRow& small, const CapacityRow& large) {
  const double factor = static_cast<double>(large.devices) / static_cast<double>(small.devices);
  const double faster = large.samples_per_s / small.samples_per_s;
  std::vector<std::string> reasons{fmt::format("{} has {:.4g} times the devices of {} and {:.3g} times the rate",
                                               large.name, factor, small.name, faster)};
  const bool alike = small.report && large.report && small.family == large.family;
  const bool comparable = alike && small.work.global_batch == large.work.global_batch;
  if (!comparable || faster >= factor) return reasons;
  std::vector<std::pair<double, std::string>> losses;
  for (std::size_t c = 0; c < k_cost_categories; ++c) {
    const double share = in_seconds(small.report->breakdown.part[c]) / factor;
    const double loss = in_seconds(large.report->breakdown.part[c]) - share;
    constexpr double k_worth_telling = 0.01;
    if (loss < k_worth_telling * in_seconds(large.report->step_time) / factor) continue;
    std::string part(name(static_cast<CostCategory>(c)));
    std::replace(part.begin(), part.end(), '_', ' ');
    losses.emplace_back(loss, fmt::format("{} +{}", part, format_time(seconds(loss))));
  }
  std::sort(losses.rbegin(), losses.rend());
  std::vector<std::string> texts;
  for (const auto& [loss, text] : losses) texts.push_back(text);
  reasons.push_back(fmt::format("its step takes {}, not {}; beyond a share of {:.3g} of the smaller one's step: {}",
                                format_time(large.report->step_time),
                                format_time(seconds(in_seconds(small.report->step_time) / factor)), 1 / factor,
                                texts.empty() ? "small parts" : fmt::format("{}", fmt::join(texts, ", "))));
  const ScheduleFacts& few = small.report->schedule;
  const ScheduleFacts& many = large.report->schedule;
  if (few.stages > 1 && few.stages == many.stages && few.cycles_per_update != many.cycles_per_update) {
    reasons.push_back(fmt::format("each update still fills and drains {} stages: {} of {} cycles instead of {} of {}",
                                  many.stages, many.stages - 1, many.cycles_per_update, few.stages - 1,
                                  few.cycles_per_update));
  }
  reasons.push_back("what comes once per update (state, reduction, fixed time) does not shrink with the copies' share");
  return reasons;
}

void add_reasons(Capacity& capacity) {
  if (!capacity.chosen) return;
  const CapacityRow& chosen = capacity.rows[*capacity.chosen];
  const CapacityRow* smaller = nullptr;
  for (const CapacityRow& row : capacity.rows) {
    const bool is_smaller = has_rate(row) && row.devices < chosen.devices && row.report.has_value();
    if (is_smaller && (smaller == nullptr || row.devices > smaller->devices)) smaller = &row;
  }
  if (smaller != nullptr && chosen.report) capacity.reasons = scaling_reasons(*smaller, chosen);
}

// A goal that the work cannot have would be met by every machine.
void refuse_goals_of_another_mode(const std::vector<CapacityCandidate>& candidates, const CapacityGoal& goal,
                                  const std::vector<CapacityRow>& rows) {
  const Place place{"command line", 0, 0};
  Diagnostics refused;
  for (std::size_t r = 0; r < rows.size() && !refused.has_errors(); ++r) {
    if (!rows[r].report) continue;
    const RunMode mode = rows[r].report->mode;
    const auto refuse = [&](const std::string& option, const std::string& expected) {
      refused.error(place, option, fmt::format("is no goal of {}", name(mode)), expected);
    };
    if (mode != RunMode::generation && goal.users) refuse("--users", "an experiment in mode generation");
    if (mode != RunMode::generation && goal.tokens_per_s) refuse("--tokens-per-s", "an experiment in mode generation");
    if (mode == RunMode::training) {
      const bool fits = rows[r].report->verdict.fits();
      if (goal.deadline && fits && !rows[r].report->training) {
        refused.error(place, "--deadline", "there is no target that is to be reached by then",
                      "--target-samples, --target-tokens or --epochs");
      }
      continue;
    }
    if (goal.deadline) refuse("--deadline", "an experiment in mode training");
    for (const char* target : {"target_samples", "target_tokens", "epochs"}) {
      const Value* written = candidates[r].experiment.document.find(std::string("workload.") + target);
      if (written != nullptr && !written->is(Value::Kind::null))
        refuse(std::string("workload.") + target, "an experiment in mode training");
    }
  }
  if (refused.has_errors()) throw ConfigError(refused);
}

void warn_of_idle_costs(const CapacityCosts& costs, Capacity& capacity) {
  for (const auto& [system, known] : costs.systems) {
    const auto is_row = [&](const CapacityRow& row) { return row.name == system; };
    if (std::ranges::none_of(capacity.rows, is_row)) {
      capacity.warnings.push_back(fmt::format("systems.{} of --costs has no effect: no row is of it", system));
    }
  }
}

// Systems in number cost more than a larger batch does.
void add_hints(Capacity& capacity, const CapacityGoal& goal) {
  for (const CapacityRow& row : capacity.rows) {
    if (!goal.users || !row.tokens_per_s_per_user || !row.report) continue;
    const std::int64_t batch = row.report->batch.global_batch;
    if (batch >= *goal.users) continue;
    capacity.warnings.push_back(
        fmt::format("{0} serves {1} at once, {2} users take {3}: a larger batch (in the compile command, where the "
                    "experiment has one) takes fewer, at fewer tokens/s for each user",
                    row.name, counted(batch, "request"), grouped(*goal.users), counted(row.systems, "system")));
  }
}

void add_left_out(Capacity& capacity, const CapacityCosts& costs) {
  std::vector<std::string>& texts = capacity.left_out;
  const auto rated = [&](auto condition) {
    return std::ranges::any_of(capacity.rows, [&](const CapacityRow& row) { return has_rate(row) && condition(row); });
  };
  texts.emplace_back("evaluation, data loading");
  for (const CapacityRow& row : capacity.rows) {
    if (!row.compile) continue;
    texts.push_back(fmt::format("compiling: about {} on {} (between {} and {})", plain_time(row.compile->estimate),
                                row.name, plain_time(row.compile->low), plain_time(row.compile->high)));
  }
  if (rated([](const CapacityRow& row) { return !row.compile; }))
    texts.emplace_back("compiling where it is not modelled");
  if (rated([](const CapacityRow& row) { return row.training && !row.checkpoints; })) {
    texts.emplace_back("failures and checkpoints, without mtbf and [checkpoint] in --costs");
  }
  const bool host_power =
      std::ranges::any_of(costs.systems, [](const auto& s) { return s.second.host_power.has_value(); });
  if (!host_power && rated([](const CapacityRow& row) { return row.power.has_value(); })) {
    texts.emplace_back("power of hosts, without host_power in --costs");
  }
}

}  // namespace

Capacity plan_capacity(const std::vector<CapacityCandidate>& candidates, const CapacityGoal& goal,
                       const CapacityCosts& costs, bool mixed, const Catalog& catalog, const ConfigFiles& configs) {
  Planner planner(goal, costs, catalog, configs);
  Capacity capacity;
  std::optional<double> target;
  for (const CapacityCandidate& candidate : candidates) {
    capacity.rows.push_back(planner.row(candidate));
    const std::optional<Report>& report = capacity.rows.back().report;
    if (!target && report && report->training) target = report->training->target_samples;
  }
  const bool none =
      std::ranges::all_of(capacity.rows, [](const CapacityRow& row) { return row.status == CapacityStatus::invalid; });
  if (none && planner.refused().has_errors()) throw ConfigError(planner.refused());
  refuse_goals_of_another_mode(candidates, goal, capacity.rows);
  warn_of_idle_costs(costs, capacity);
  for (const TypedRow& typed : costs.rows) capacity.rows.push_back(planner.typed(typed, target));
  compare_work(capacity, mixed);
  choose(capacity);
  add_reasons(capacity);
  add_hints(capacity, goal);
  add_left_out(capacity, costs);
  return capacity;
}

}  // namespace podsim
