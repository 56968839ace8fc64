// podsim search: the best configuration of an experiment for an objective.

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>

#include "models/catalog.hpp"
#include "sim/report/human.hpp"
#include "sim/study/search.hpp"
#include "sim/units/text.hpp"
#include "tools/podsim/candidates_input.hpp"
#include "tools/podsim/experiment_input.hpp"
#include "tools/podsim/interrupt.hpp"
#include "tools/podsim/output.hpp"
#include "tools/podsim/progress.hpp"
#include "tools/podsim/verbs.hpp"

namespace podsim {
namespace {

constexpr std::int64_t k_most_runners_up = 1000;

SearchObjective objective_from(const Arguments& arguments) {
  const std::vector<SearchObjective> objectives{SearchObjective::throughput, SearchObjective::samples_per_joule,
                                                SearchObjective::cost_per_sample, SearchObjective::smallest_system};
  std::vector<std::string> names;
  for (const SearchObjective objective : objectives) names.emplace_back(name(objective));
  const std::string chosen = choice_option(arguments, "objective", names);
  for (const SearchObjective objective : objectives) {
    if (name(objective) == chosen) return objective;
  }
  return SearchObjective::throughput;
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "N" or "A..B"; empty: that of the experiment.
std::optional<BatchRange> batch_from(const Arguments& arguments) {
  const std::string text = arguments.value("global-batch").value_or("keep");
  if (text == "keep") return std::nullopt;
  const std::size_t dots = text.find("..");
  const std::optional<std::int64_t> least = whole(std::string_view(text).substr(0, dots));
  const std::optional<std::int64_t> most =
      dots == std::string::npos ? least : whole(std::string_view(text).substr(dots + 2));
  constexpr std::int64_t k_most = 1'000'000'000;
  if (!least || !most || *least < 1 || *least > *most || *most > k_most) {
    throw UsageError(fmt::format("option --global-batch: \"{}\" is no batch; expected keep, N or A..B, from 1 to {}",
                                 text, grouped(k_most)));
  }
  return BatchRange{*least, *most};
}

// "5%" or "0.05".
double headroom_from(const Arguments& arguments) {
  const std::optional<std::string> text = arguments.value("memory-headroom");
  if (!text) return 0;
  const bool percent = text->ends_with('%');
  const std::string_view digits = std::string_view(*text).substr(0, text->size() - (percent ? 1 : 0));
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (percent) number /= 100;
  const bool sound = error == std::errc() && end == digits.data() + digits.size() && number >= 0 && number < 1;
  if (!sound) throw UsageError(fmt::format("option --memory-headroom: \"{}\" is no share; expected 5% or 0.05", *text));
  return number;
}

std::optional<Duration> latency_from(const Arguments& arguments) {
  const std::optional<std::string> text = arguments.value("latency");
  if (!text) return std::nullopt;
  const auto parsed = parse_quantity_of(*text, "time");
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    throw UsageError(fmt::format("option --latency: {}", *problem));
  }
  if (std::get<double>(parsed) <= 0) throw UsageError("option --latency: must be above 0");
  return seconds(std::get<double>(parsed));
}

double least_rate_from(const Arguments& arguments) {
  const std::optional<std::string> text = arguments.value("least-throughput");
  if (!text) return 0;
  double number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size() || !std::isfinite(number) || number <= 0) {
    throw UsageError(fmt::format("option --least-throughput: \"{}\" is no number above 0", *text));
  }
  return number;
}

std::int64_t count_from(const Arguments& arguments, std::string_view option, std::int64_t fallback, std::int64_t least,
                        std::int64_t most) {
  const std::int64_t count = integer_option(arguments, option).value_or(fallback);
  if (count < least || count > most) {
    throw UsageError(fmt::format("option --{}: {} is not from {} to {}", option, count, least, most));
  }
  return count;
}

// KEY=VALUE sets a key, too.
void fix_keys(const Arguments& arguments, SearchTask& task) {
  Diagnostics diagnostics;
  for (const std::string& text : arguments.values("fix")) {
    const std::string key = text.substr(0, text.find('='));
    if (!is_dotted_path(key)) throw UsageError(fmt::format("option --fix: \"{}\" is not a key", key));
    task.fixed.insert(key);
    if (key != text) apply_override(task.experiment, text, diagnostics);
  }
  task.varied = parse_axes(arguments.values("vary"), diagnostics, "--vary");
  for (const SweepGroup& group : task.varied) {
    for (const SweepAxis& axis : group.axes) {
      if (axis.values.empty()) {
        diagnostics.error({"command line", 0, 0}, "--vary", axis.key + " has a range without steps",
                          "values, or a range with step, count or factor");
      }
      if (task.fixed.contains(axis.key)) {
        diagnostics.error({"command line", 0, 0}, "--vary", axis.key + " is fixed, too", "--fix or --vary");
      }
    }
  }
  if (diagnostics.has_errors()) throw ConfigError(diagnostics);
}

SearchTask task_from(const Arguments& arguments) {
  SearchTask task;
  task.objective = objective_from(arguments);
  task.limits = {batch_from(arguments), headroom_from(arguments), latency_from(arguments), least_rate_from(arguments)};
  task.effort.keep = 1 + static_cast<std::size_t>(count_from(arguments, "runners-up", 5, 0, k_most_runners_up));
  task.effort.most_judged = count_from(arguments, "max-points", task.effort.most_judged, 1, 1'000'000'000);
  task.costs = costs_from(arguments);
  task.systems = systems_from(arguments);
  task.experiment =
      experiment_from(arguments, arguments.words().empty() ? "" : arguments.words().front(), !task.systems.empty());
  // A system to begin with, where only --systems names one.
  if (task.experiment.document.find("system") == nullptr && !task.systems.empty()) {
    Diagnostics none;
    apply_value(task.experiment, "system", Value::string(task.systems.front(), {"command line", 0, 0}), none);
  }
  fix_keys(arguments, task);
  return task;
}

// The files of the best configuration, the plan that reproduces it, and the result itself.
std::vector<std::pair<std::string, std::string>> files_of(const SearchResult& result, const std::string& text,
                                                          const std::string& format) {
  std::vector<std::pair<std::string, std::string>> files;
  files.emplace_back(format == "json" ? "search.json" : "search.txt", text);
  if (!result.winner) return files;
  for (const Deployment& file : result.winner->deployment) files.emplace_back(file.name, file.text);
  files.emplace_back("plan.toml", result.winner->plan_toml);
  return files;
}

void write_files(const Arguments& arguments, const std::string& folder,
                 const std::vector<std::pair<std::string, std::string>>& files) {
  for (const auto& [file, text] : files) {
    refuse_input(folder + "/" + file, input_files(arguments));
    refuse_overwrite(folder + "/" + file, arguments.has("force"));
  }
  make_folder(folder);
  for (const auto& [file, text] : files) write_file(folder + "/" + file, text);
}

}  // namespace

const VerbSpec& search_spec() {
  static const VerbSpec k_spec{
      "search",
      "search [EXPERIMENT] [options]",
      "Find the best configuration of an experiment for an objective.",
      "What the machine can be told is tried: placement, replicas, batch, recomputation, memory; for RDUs the flags "
      "of\n"
      "the compile command. Prints the best as a ready ipu_config.json or compile command. The global batch stays the\n"
      "experiment's unless --global-batch says otherwise. Exit code 3 when nothing fits.",
      joined(
          {{"objective", "NAME", "", false, {"throughput", "samples-per-joule", "cost-per-sample", "smallest-system"}},
           {"global-batch", "keep|N|A..B", "samples of an update (default: keep)"},
           {"memory-headroom", "5%", "share of each memory's limit that stays free"},
           {"latency", "20ms", "longest, of a request"},
           {"least-throughput", "R", "samples/s at least"},
           {"systems", "A,B,…", "the systems to try (default: the experiment's own)"},
           {"fix", "KEY[=VALUE]", "keep a key as it is, or as given here", true, {}, "keys"},
           {"vary", "KEY=V1,V2,…", "try these values of a key, whichever it is", true, {}, "keys"},
           {"costs", "FILE.toml", "prices and power, as for capacity"},
           {"runners-up", "N", "how many to tell (default: 5)"},
           {"max-points", "N", "end after so many judged configurations"},
           {"format", "NAME", "", false, {"text", "json"}},
           {"out", "DIR", "also write the result, the best configuration and its plan.toml there"},
           {"force", "", "let --out replace files"},
           {"quiet", "", "no progress, no summary"}},
          experiment_options()),
      {"podsim search bert-large-bow-pod16 --memory-headroom 5%",
       "podsim search --system bow-pod16 --model gpt2 --global-batch 1024 --fix workload.sequence_length=512"},
      1,
      "experiments"};
  return k_spec;
}

ExitCode cmd_search(const Arguments& arguments) {
  const std::string format = choice_option(arguments, "format", {"text", "json"});
  const std::string folder = arguments.value("out").value_or("");
  const bool quiet = arguments.has("quiet");
  const ConfigFiles configs = configs_from(arguments);
  const Catalog catalog = make_catalog();
  SearchTask task = task_from(arguments);
  if (!folder.empty()) {
    refuse_overwrite(folder + (format == "json" ? "/search.json" : "/search.txt"), arguments.has("force"));
    task.folder = folder;
  }
  const auto begin = std::chrono::steady_clock::now();
  const InterruptGuard guard;
  SearchResult result;
  {
    Progress progress(0, 0, quiet);
    task.effort.stop = InterruptGuard::asked;
    task.effort.progress = [&progress](const SearchCounts& counts) {
      progress.show(counts.closed, counts.configurations);
    };
    result = search(task, catalog, configs);
  }
  const std::string text = format == "json" ? to_json(result) : to_text(result);
  if (!folder.empty()) write_files(arguments, folder, files_of(result, text, format));
  format == "json" ? print(text) : print_report(text);
  if (!quiet) {
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    print_error(fmt::format("{} of {} configurations looked at in {:.1f} s", grouped(result.tree.counts.closed),
                            grouped(result.tree.counts.configurations), wall));
  }
  if (InterruptGuard::asked()) return ExitCode::interrupted;
  if (!result.winner) return ExitCode::does_not_fit;
  if (engines_agree(*result.winner)) return ExitCode::done;
  print_error("podsim: the engines differ on the best configuration; please report this with its input files");
  return ExitCode::internal;
}

}  // namespace podsim
