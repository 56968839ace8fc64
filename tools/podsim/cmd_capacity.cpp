// podsim capacity: which machine does a job by a deadline.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "models/catalog.hpp"
#include "sim/core/sha256.hpp"
#include "sim/study/capacity_page.hpp"
#include "sim/study/sweep_axes.hpp"
#include "sim/units/text.hpp"
#include "tools/podsim/candidates_input.hpp"
#include "tools/podsim/experiment_input.hpp"
#include "tools/podsim/page_output.hpp"
#include "tools/podsim/verbs.hpp"

namespace podsim {
namespace {

std::optional<double> number_option(const Arguments& arguments, std::string_view option) {
  const std::optional<std::string> text = arguments.value(option);
  if (!text) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size() || !std::isfinite(number) || number <= 0) {
    throw UsageError(fmt::format("option --{}: \"{}\" is no number above 0", option, *text));
  }
  return number;
}

template <class T>
std::optional<T> quantity_option(const Arguments& arguments, std::string_view option, std::string_view dimension) {
  const std::optional<std::string> text = arguments.value(option);
  if (!text) return std::nullopt;
  const auto parsed = parse_quantity_of(*text, dimension);
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    throw UsageError(fmt::format("option --{}: {}", option, *problem));
  }
  if (std::get<double>(parsed) <= 0) throw UsageError(fmt::format("option --{}: \"{}\" is not above 0", option, *text));
  return T::base(std::get<double>(parsed));
}

std::optional<std::int64_t> count_option(const Arguments& arguments, std::string_view option) {
  const std::optional<std::int64_t> count = integer_option(arguments, option);
  if (count && *count < 1) throw UsageError(fmt::format("option --{}: {} is not above 0", option, *count));
  return count;
}

CapacityGoal goal_from(const Arguments& arguments) {
  CapacityGoal goal;
  goal.deadline = quantity_option<Duration>(arguments, "deadline", "time");
  goal.budget = number_option(arguments, "budget");
  goal.power_cap = quantity_option<Power>(arguments, "power-cap", "power");
  goal.users = count_option(arguments, "users");
  goal.tokens_per_s = number_option(arguments, "tokens-per-s");
  return goal;
}

// One target of those on the command line in place of the experiment's own.
void set_target(const Arguments& arguments, Experiment& experiment) {
  Diagnostics diagnostics;
  const Place place{"command line", 0, 0};
  const auto samples = count_option(arguments, "target-samples");
  const auto tokens = count_option(arguments, "target-tokens");
  const auto epochs = number_option(arguments, "epochs");
  if (int{samples.has_value()} + int{tokens.has_value()} + int{epochs.has_value()} > 1) {
    throw UsageError("give one of --target-samples, --target-tokens, --epochs");
  }
  // Null stands for absent: what the file says of targets gives way, but for the size of the data of epochs.
  std::vector<std::string> replaced{"workload.target_samples", "workload.target_tokens", "workload.epochs"};
  if (!epochs) replaced.emplace_back("workload.dataset_samples");
  for (const std::string& key : replaced) {
    const bool given = samples || tokens || epochs;
    if (given && experiment.document.find(key) != nullptr)
      apply_value(experiment, key, Value::null(place), diagnostics);
  }
  if (samples) apply_value(experiment, "workload.target_samples", Value::integer(*samples, place), diagnostics);
  if (tokens) apply_value(experiment, "workload.target_tokens", Value::integer(*tokens, place), diagnostics);
  if (epochs) apply_value(experiment, "workload.epochs", Value::floating(*epochs, place), diagnostics);
  if (diagnostics.has_errors()) throw ConfigError(diagnostics);
}

std::vector<std::int64_t> nodes_from(const Arguments& arguments) {
  const std::optional<std::string> numbers = arguments.value("nodes");
  if (!numbers) return {0};
  std::vector<std::int64_t> nodes;
  for (const std::string& number : split_at_commas(*numbers)) {
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), count);
    if (error != std::errc() || end != number.data() + number.size() || count < 1) {
      throw UsageError(fmt::format("option --nodes: \"{}\" is no number above 0", number));
    }
    nodes.push_back(count);
  }
  return nodes;
}

std::vector<CapacityCandidate> candidates_from(const Arguments& arguments) {
  std::vector<std::string> systems = systems_from(arguments);
  if (systems.empty()) systems = {""};
  const std::vector<std::int64_t> nodes = nodes_from(arguments);
  std::vector<std::string> files = arguments.words();
  if (files.empty()) files = {""};
  std::vector<CapacityCandidate> candidates;
  for (const std::string& file : files) {
    Experiment experiment = experiment_from(arguments, file);
    set_target(arguments, experiment);
    for (const std::string& system : systems) {
      for (const std::int64_t number : nodes) candidates.push_back({experiment, system, number});
    }
  }
  return candidates;
}

// What the plan is of, for a hash: the experiments as they are resolved by name, the candidates, goals and costs.
std::string hash_of(const Arguments& arguments, const std::vector<CapacityCandidate>& candidates) {
  Sha256 hash;
  for (const CapacityCandidate& candidate : candidates) {
    hash.update(
        fmt::format("{}\n{}\n{}\n", toml_text(candidate.experiment.document), candidate.system, candidate.nodes));
  }
  for (const char* option : {"deadline", "users", "tokens-per-s", "budget", "power-cap"}) {
    hash.update(fmt::format("{} = {}\n", option, arguments.value(option).value_or("")));
  }
  Diagnostics ignored;
  const std::optional<std::string> costs = arguments.value("costs");
  if (costs) hash.update(read_text_file(*costs, {}, "--costs", ignored).value_or(""));
  return hash.finish();
}

const OptionSpec& format_option() {
  static const OptionSpec k_option{"format", "NAME", "", false, {"text", "json", "html", "markdown"}};
  return k_option;
}

}  // namespace

const VerbSpec& capacity_spec() {
  static const VerbSpec k_spec{
      "capacity",
      "capacity EXPERIMENT … [options]",
      "Find the machine that does a job by a deadline, and what it takes.",
      "The experiment is moved to each system with as many copies per device and the same global batch; further\n"
      "experiments are rows as they are. Exit code 3 when no row meets the goals. Prices and power are yours to give:\n"
      "currency, pue, electricity_price_per_kwh; [systems.NAME] price_per_hour, power, host_power, mtbf; [checkpoint]\n"
      "size, bandwidth, restart; [[rows]] name, samples_per_s, devices, … of results measured elsewhere.",
      joined({{"systems", "A,B,…", "the systems to compare (default: the experiment's own)"},
              {"nodes", "1,2,…", "how many of each (default: as the experiment says)"},
              {"target-samples", "N", "train so many samples"},
              {"target-tokens", "N", "train so many tokens"},
              {"epochs", "E", "train the workload's dataset_samples so often"},
              {"deadline", "24h", "the training ends by then"},
              {"users", "N", "requests at once, in generation"},
              {"tokens-per-s", "R", "for each of them"},
              {"budget", "X", "in the currency of --costs"},
              {"power-cap", "50kW", "of all that has a known power"},
              {"costs", "FILE.toml", "prices, power, failures, results from elsewhere"},
              {"mixed", "", "compare also different global batches, precisions or padding"},
              format_option()},
             joined(page_output_options(), experiment_options())),
      {"podsim capacity bert-large-bow-pod16 --target-samples 1000000000 --deadline 24h --systems bow-pod16,bow-pod64",
       "podsim capacity llama-3-70b-sn40l-8 --users 100 --tokens-per-s 20 --costs costs.toml"},
      100};
  return k_spec;
}

ExitCode cmd_capacity(const Arguments& arguments) {
  const PageOutput output(arguments, format_option(), "capacity");
  const CapacityGoal goal = goal_from(arguments);
  const CapacityCosts costs = costs_from(arguments);
  if (goal.budget && !costs.has_prices())
    throw UsageError("option --budget: no price is known; give --costs FILE.toml");
  const ConfigFiles configs = configs_from(arguments);
  const Catalog catalog = make_catalog();
  const std::vector<CapacityCandidate> candidates = candidates_from(arguments);
  const Capacity capacity = plan_capacity(candidates, goal, costs, arguments.has("mixed"), catalog, configs);
  if (output.is_page()) {
    output.show(capacity_page(capacity, goal, costs), hash_of(arguments, candidates));
  } else {
    output.show(output.format() == "json" ? to_json(capacity, costs) : to_text(capacity, goal, costs));
  }
  return capacity.chosen ? ExitCode::done : ExitCode::does_not_fit;
}

}  // namespace podsim
