// podsim explain: what a key, a flag of a command, a metric or a constant is, where it comes from and what it moves;
// how one operator runs.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

#include "models/catalog.hpp"
#include "sim/plan/operator_estimate.hpp"
#include "sim/report/column_meanings.hpp"
#include "sim/report/human.hpp"
#include "sim/report/metrics.hpp"
#include "sim/report/report.hpp"
#include "sim/report/text_table.hpp"
#include "sim/units/text.hpp"
#include "tools/podsim/experiment_input.hpp"
#include "tools/podsim/output.hpp"
#include "tools/podsim/reference.hpp"
#include "tools/podsim/verbs.hpp"

namespace podsim {
namespace {

constexpr std::size_t k_width = 100;

std::string line(std::string_view name, std::string_view text) {
  constexpr std::size_t k_label = 15;
  return text.empty() ? std::string() : fmt::format("  {:<12} {}\n", name, wrapped(text, k_width - k_label, k_label));
}

std::string explain_key(const ReferenceKey& key) {
  const KeySpec& spec = key.spec;
  return fmt::format("{}: {}\n", key.path, spec.summary) + line("type", type_text(spec)) +
         line("default", spec.default_text) + line("range", range_text(spec)) + line("versions", spec.versions) +
         line("time", spec.time_effect) + line("memory", spec.memory_effect) + line("no effect", key.without_effect) +
         line("source", spec.source);
}

std::string explain_flag(const CommandFlag& flag) {
  const KeySpec& spec = flag.spec;
  const std::string names = fmt::format("{}", fmt::join(flag.names, ", "));
  return fmt::format("{}: {}\n", flag.names.front(), spec.summary) + line("written", names) +
         line("type", type_text(spec)) + line("default", spec.default_text) + line("range", range_text(spec)) +
         line("versions", spec.versions) + line("time", spec.time_effect) + line("memory", spec.memory_effect) +
         line("no effect", flag.without_effect) + line("source", spec.source);
}

std::string explain_meaning(const ReportedMeaning& meaning) {
  return fmt::format("{}: {}\n", meaning.name, meaning.meaning) + line("formula", meaning.formula);
}

std::string explain_metric(const MetricSpec& metric) {
  return fmt::format("{}: {}\n", metric.name, metric.meaning) + line("unit", metric.unit) +
         line("formula", metric.formula.empty() ? "read off the simulation or the plan" : metric.formula);
}

std::string explain_constant(const ReferenceConstant& entry) {
  const Constant& constant = entry.constant;
  return fmt::format("{} = {}\n", constant.name, constant.text) + line("file", entry.file) +
         line("confidence", constant.confidence) + line("spread", constant.spread) + line("source", constant.source);
}

// Everything of one of the kinds that has this name, or ends in it.
class Finder {
 public:
  explicit Finder(std::string name) : name_(std::move(name)), as_key_(name_) {
    std::transform(as_key_.begin(), as_key_.end(), as_key_.begin(), [](char c) {
      return c == ' ' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
  }

  bool matches(std::string_view candidate) {
    candidates_.emplace(candidate);
    const auto is = [&](std::string_view name) {
      return candidate == name || candidate.ends_with("." + std::string(name)) ||
             candidate.ends_with(":_" + std::string(name));
    };
    return is(name_) || is(as_key_) || is(as_key_ + "_pct") || is(as_key_ + "_bytes");
  }
  const std::string& name() const { return name_; }
  // Whole names, and their last parts, which find them too.
  std::vector<std::string> candidates() const {
    std::set<std::string> all = candidates_;
    for (const std::string& candidate : candidates_) all.insert(candidate.substr(candidate.rfind('.') + 1));
    return {all.begin(), all.end()};
  }

 private:
  std::string name_;
  std::string as_key_;  // as words of the report are named in its JSON: "MFU" is "mfu", "host io" is "host_io"
  std::set<std::string> candidates_;
};

std::string describe(const LossScalingScheme& scheme) {
  return fmt::format("{}{}", scheme.summary(), scheme.experimental() ? " (experimental)" : "");
}

std::string find_keys(Finder& finder) {
  std::string text;
  for (const ReferenceKey& key : all_keys(make_catalog())) {
    if (!finder.matches(key.path)) continue;
    text += explain_key(key);
    if (key.path != "loss_scaling.mode") continue;
    for (const auto& scheme : make_catalog().loss_scaling_schemes) text += line(scheme->name(), describe(*scheme));
  }
  return text;
}

// The controllers, by the words of loss_scaling.mode.
std::string find_schemes(Finder& finder) {
  std::string text;
  for (const auto& scheme : make_catalog().loss_scaling_schemes) {
    if (!finder.matches(scheme->name())) continue;
    std::vector<std::string> reads;
    for (const std::string_view key : scheme->reads()) reads.push_back("loss_scaling." + std::string(key));
    text += fmt::format("loss_scaling.mode = \"{}\": {}\n", scheme->name(), describe(*scheme)) +
            line("reads", fmt::format("{}", fmt::join(reads, ", ")));
  }
  return text;
}

// By any of its names, or the name without its dashes.
std::string find_flags(Finder& finder) {
  std::string text;
  for (const auto& family : make_catalog().families) {
    for (const CommandFlag& flag : family->command_flags()) {
      bool found = false;
      for (const std::string& name : flag.names) found = finder.matches(name) || found;
      if (found || finder.name() == flag.spec.path) text += explain_flag(flag);
    }
  }
  return text;
}

// Values of the report, then what families add to them, then columns of other tables.
std::string find_metrics(Finder& finder) {
  std::string text;
  for (const MetricSpec& metric : metrics()) {
    if (finder.matches(metric.name)) text += explain_metric(metric);
  }
  for (const auto& family : make_catalog().families) {
    for (const ReportedMeaning& meaning : family->meanings()) {
      if (finder.matches(meaning.name)) text += explain_meaning(meaning);
    }
  }
  for (const MetricSpec& column : column_meanings()) {
    if (finder.matches(column.name)) text += explain_metric(column);
  }
  return text;
}

std::string find_constants(Finder& finder, const ConfigFiles& configs) {
  std::string text;
  for (const ReferenceConstant& constant : all_constants(configs)) {
    if (finder.matches(constant.constant.name)) text += explain_constant(constant);
  }
  return text;
}

// What can be asked for, with an example of each.
std::string kinds_text(const ConfigFiles& configs) {
  const Catalog catalog = make_catalog();
  std::size_t flags = 0;
  std::size_t values = metrics().size() + column_meanings().size();
  for (const auto& family : catalog.families) {
    flags += family->command_flags().size();
    values += family->meanings().size();
  }
  TextTable table;
  table.column("kind", Align::left);
  table.column("names", Align::right);
  table.column("is", Align::left);
  table.column("for example", Align::left);
  const auto row = [&](const char* kind, std::size_t names, const char* is, const char* example) {
    table.row({kind, names > 0 ? std::to_string(names) : "", is, fmt::format("podsim explain {}", example)});
  };
  row("key", all_keys(catalog).size(), "what an experiment may say", "ipu.matmul_proportion");
  row("flag", flags, "an option of a compile or launch command", "--num-tiles");
  row("metric", values, "a value, a column or a word of a report", "mfu_pct");
  row("constant", all_constants(configs).size(), "a figure of a machine or a model", "system.ring.bandwidth");
  row("op", 0, "how one operator runs", "op \"dense 384x1024x4096\"");
  return table.text(SIZE_MAX) + "\n`podsim list keys|metrics|constants` names them.\n";
}

constexpr const char* k_usual_system = "pod4";

std::string explain_operator(const OperatorEstimate& estimate) {
  std::string text = estimate.operation + "\n" + line("on", estimate.machine) +
                     line("time", fmt::format("{}, {} cycles", format_time(estimate.time),
                                              format_significant(std::round(estimate.cycles.in_base()))));
  if (estimate.peak_share) text += line("peak", fmt::format("{:.1f} % of its FLOP/s", 100 * *estimate.peak_share));
  text += line("memory", fmt::format("{}, temporaries at their peak", format_bytes(estimate.bytes)));
  for (const std::string& note : estimate.notes) text += line("note", note);
  for (const Table& table : estimate.tables) text += to_text(table, SIZE_MAX);
  return text;
}

ExitCode explain_op(const Arguments& arguments, const ConfigFiles& configs) {
  const std::vector<std::string>& words = arguments.words();
  if (words.size() == 1) {
    throw UsageError("no operator is named, such as \"conv 4x64x56x56 -> 64 k3\" or \"dense 384x1024x4096\"");
  }
  Experiment machine = experiment_from(arguments, "", true);
  if (machine.document.find("system") == nullptr) {
    Diagnostics none;
    apply_override(machine, fmt::format("system=\"{}\"", k_usual_system), none);
  }
  const std::string operation = fmt::format("{}", fmt::join(words.begin() + 1, words.end(), " "));
  const OperatorResult result = estimate_operator(machine, operation, {"operator", 1, 1}, make_catalog(), configs);
  if (!result.estimate) throw ConfigError(result.diagnostics);
  print_report(within_width(explain_operator(*result.estimate)));
  if (!result.diagnostics.all().empty()) print_error(result.diagnostics.to_text());
  return ExitCode::done;
}

// An option of operators that says nothing about a name.
void refuse_machine_options(const Arguments& arguments) {
  for (const char* option : {"system", "set", "overlay"}) {
    if (!arguments.has(option)) continue;
    throw UsageError(fmt::format("option --{} belongs to `explain op`", option));
  }
}

}  // namespace

const VerbSpec& explain_spec() {
  static const VerbSpec k_spec{
      "explain",
      "explain [key|flag|metric|constant] NAME [options], explain op OPERATOR [options]",
      "Tell what a key, flag, constant or value of the report means, or how one operator runs.",
      "NAME may be the last part alone, or a word of a report; without one the kinds are listed. `podsim explain\n"
      "reference` prints every key and constant as Markdown.\n"
      "OPERATOR names a kind and its sizes, as in\n"
      "  conv 4x64x56x56 -> 64 k3 s1 p1 g1    batch x channels x height x width -> channels; kernel, stride, …\n"
      "  dense 384x1024x4096                  rows x inputs x outputs; attention and matmul likewise\n"
      "  embedding 100000x200 n1440           lstm 16x1024 -> 1024 t25      pool 1x64x147x147 k3 s2 p0\n"
      "  reduce 4x3136x8 over1 add            norm 4x64x56x56               elementwise 4x64x56x56\n"
      "followed by training (the default), inference, or first (of a convolution: no input gradient). Precision and "
      "proportion are set "
      "by\n"
      "--set workload.precision=fp16.32 and --set ipu.matmul_proportion=0.3.",
      {{"system", "NAME|FILE", "of an operator: the machine (default: pod4)"},
       {"set", "KEY=VALUE", "of an operator: set a key or constant", true},
       {"overlay", "FILE", "of an operator: constants that replace shipped ones", true},
       {"configs", "DIR", "use this folder in place of the shipped configs"}},
      {"podsim explain gradient_accumulation_steps",
       "podsim explain op \"conv 4x64x56x56 -> 64 k3\" --system bow-pod16"},
      100,
      "keys metrics constants",
      true};
  return k_spec;
}

ExitCode cmd_explain(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.words();
  const ConfigFiles configs = configs_from(arguments);
  if (words.empty()) {
    print(kinds_text(configs));
    return ExitCode::done;
  }
  if (words[0] == "op" || words[0] == "operator") return explain_op(arguments, configs);
  refuse_machine_options(arguments);
  if (words.size() > 2) throw UsageError(fmt::format("unexpected argument \"{}\"", words[2]));
  if (words.size() == 1 && words[0] == "reference") {
    print(reference_markdown(make_catalog(), configs));
    return ExitCode::done;
  }
  const std::vector<std::string> kinds = {"key", "flag", "metric", "constant"};
  const std::string kind = words.size() == 2 ? words[0] : "";
  if (!kind.empty() && std::ranges::count(kinds, kind) == 0) {
    throw UsageError(fmt::format("unknown kind \"{}\"; expected key, flag, metric, constant or op{}", kind,
                                 suggestion_for(kind, {"key", "flag", "metric", "constant", "op"})));
  }
  Finder finder(words.back());
  std::string text;
  if (kind.empty() || kind == "key") text += find_keys(finder);
  if (kind.empty() || kind == "key") text += find_schemes(finder);
  if (kind.empty() || kind == "flag") text += find_flags(finder);
  if (kind.empty() || kind == "metric") text += find_metrics(finder);
  if (kind.empty() || kind == "constant") text += find_constants(finder, configs);
  if (text.empty()) {
    throw UsageError(fmt::format("no {} is called \"{}\"{}", kind.empty() ? "key, flag, metric or constant" : kind,
                                 finder.name(), suggestion_for(finder.name(), finder.candidates())));
  }
  print_report(within_width(text));
  return ExitCode::done;
}

}  // namespace podsim
