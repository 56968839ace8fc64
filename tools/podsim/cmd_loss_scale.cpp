// podsim loss-scale: what the loss scale does over training, and which constant one is recommended.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/catalog.hpp"
#include "models/loss_scaling/analysis.hpp"
#include "models/loss_scaling/outlook.hpp"
#include "models/loss_scaling/published.hpp"
#include "sim/core/json_writer.hpp"
#include "sim/report/human.hpp"
#include "sim/report/text_table.hpp"
#include "sim/units/text.hpp"
#include "tools/podsim/experiment_input.hpp"
#include "tools/podsim/loss_scale_page.hpp"
#include "tools/podsim/output.hpp"
#include "tools/podsim/verbs.hpp"

namespace podsim {
namespace {

using namespace loss_scaling;

constexpr std::size_t k_width = 100;
constexpr std::size_t k_label = 23;  // with the blanks around it

std::string share(double value) {
  if (value == 0) return "0";
  return value < 1e-12 ? "< 1e-12" : fmt::format("{:.2g}", value);
}

// JSON has no infinities.
void number(JsonWriter& json, std::string_view name, double value) {
  json.key(name);
  std::isfinite(value) ? json.value(value) : json.null();
}

void range(JsonWriter& json, std::string_view name, const Range& range) {
  json.key(name);
  json.begin_object();
  json.member("min", range.lowest);
  json.member("median", range.median);
  json.member("max", range.highest);
  json.end_object();
}

// The updates at which the scale differs from the one before, the first included; at most so many.
constexpr std::size_t k_most_changes = 200;
std::vector<std::size_t> changes_of(const std::vector<float>& scales) {
  std::vector<std::size_t> changes;
  for (std::size_t i = 0; i < scales.size() && changes.size() < k_most_changes; ++i) {
    if (i == 0 || scales[i] != scales[i - 1]) changes.push_back(i);
  }
  return changes;
}

void write_window(JsonWriter& json, const Analysis& analysis) {
  const Window& window = analysis.window;
  json.key("recommended_window");
  if (!analysis.needs_scale()) return json.null();
  json.begin_object();
  json.member("feasible", window.feasible());
  json.member("low_log2", window.low);
  json.member("high_log2", window.high);
  json.member("low_tensor", window.low_tensor);
  json.member("high_tensor", window.high_tensor);
  json.end_object();
}

void write_trajectory(JsonWriter& json, const Trajectory& t) {
  json.key("trajectory");
  json.begin_array();
  for (const std::size_t change : changes_of(t.scales)) {
    json.begin_object();
    json.member("update", static_cast<std::int64_t>(change) + 1);
    number(json, "scale", static_cast<double>(t.scales[change]));
    json.end_object();
  }
  json.end_array();
  json.member("updates", t.scales.size());
  number(json, "final_scale", static_cast<double>(t.scales.back()));
  json.key("first_overflow_update");
  t.first_overflow ? json.value(*t.first_overflow) : json.null();
  json.member("overflowed_updates", t.overflowed_updates);
  json.member("expected_overflows", t.expected_overflows);
  json.member("skipped_updates", t.skipped_updates);
  json.member("saturated_updates", t.saturated_updates);
  json.member("ramp_updates", t.ramp_updates);
  json.member("rises", t.rises);
  json.member("falls", t.falls);
  json.member("runaway", t.runaway);
  json.member("failure", t.failure);
  json.member("limiting_tensor", t.limiting_tensor);
  json.member("update_loss", t.update_loss);
}

void write_tensors(JsonWriter& json, const Trajectory& t) {
  json.key("tensors");
  json.begin_array();
  for (const TensorHistory& tensor : t.tensors) {
    json.begin_object();
    json.member("name", tensor.name);
    json.member("layer", tensor.layer);
    json.member("values", tensor.values);
    range(json, "flushed", tensor.flushed);
    range(json, "subnormal", tensor.subnormal);
    range(json, "at_edge", tensor.at_edge);
    range(json, "overflowed", tensor.overflowed);
    json.end_object();
  }
  json.end_array();
}

std::string to_json(const Plan& plan, const Analysis& analysis) {
  JsonWriter json;
  json.begin_object();
  json.member("name", plan.name);
  json.member("mode", analysis.mode);
  json.member("verdict", name(verdict_of(analysis)));
  json.member("format", analysis.format);
  json.member("overflow", analysis.overflow);
  json.member("half_partials", analysis.half_partials);
  json.member("random_sum_error", analysis.random_sum_error);
  json.member("coherent_sum_error", analysis.coherent_sum_error);
  json.member("seed", analysis.settings.seed);
  json.member("statistics", analysis.settings.statistics == Statistics::expected ? "expected" : "sampled");
  json.member("targets", analysis.loss.targets);
  json.member("classes", analysis.loss.classes);
  json.member("micro_batches_per_update", analysis.micro_batches);
  write_window(json, analysis);
  json.key("balance_log2");
  analysis.balance ? json.value(*analysis.balance) : json.null();
  write_trajectory(json, analysis.trajectory);
  json.key("limit_cycle");
  if (analysis.limit_cycle) {
    json.begin_object();
    number(json, "low", analysis.limit_cycle->first);
    number(json, "high", analysis.limit_cycle->second);
    json.end_object();
  } else {
    json.null();
  }
  write_tensors(json, analysis.trajectory);
  json.key("notes");
  json.begin_array();
  for (const std::string& note : analysis.notes) json.value(note);
  json.end_array();
  json.key("settings");
  json.begin_array();
  for (const ResolvedKey& key : analysis.resolved) {
    json.begin_object();
    json.member("key", key.path);
    json.member("value", key.toml_value);
    json.member("origin", key.origin);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.text();
}

std::string window_text(const Window& window) {
  if (!window.feasible()) {
    return fmt::format("none: {} needs at least 2^{}, {} at most 2^{}", window.low_tensor, window.low,
                       window.high_tensor, window.high);
  }
  const std::string below = window.low_tensor.empty() ? "nothing" : window.low_tensor;
  const std::string above = window.high_tensor.empty() ? "nothing" : window.high_tensor;
  return fmt::format("2^{} ({} flushes below) to 2^{} ({} overflows above)", window.low, below, window.high, above);
}

std::string verdict_text(const Analysis& analysis) {
  const ScaleVerdict verdict = verdict_of(analysis);
  const Window& w = analysis.window;
  const ScaleWindow window{w.low, w.high, {}, {}};
  const bool outside = analysis.needs_scale() && verdict == ScaleVerdict::holds && w.feasible() &&
                       !window.contains(static_cast<double>(analysis.trajectory.scales.back()));
  if (!outside) return std::string(name(verdict));
  return fmt::format("holds, outside the recommended window (2^{} to 2^{})", w.low, w.high);
}

// Around which the scale would swing if nothing else stopped it.
std::string balance_text(const Analysis& analysis) {
  return fmt::format("2^{:.1f}{}where as many values are large as the mode accepts", *analysis.balance,
                     analysis.reaches_balance() ? ", " : ", not reached: ");
}

std::string scales_text(const std::vector<float>& scales) {
  std::string text;
  const std::vector<std::size_t> changes = changes_of(scales);
  constexpr std::size_t k_shown = 6;
  for (std::size_t i = 0; i < changes.size() && i < k_shown; ++i) {
    text += fmt::format("{}{} from update {}", i == 0 ? "" : ", ", human_power(static_cast<double>(scales[changes[i]])),
                        changes[i] + 1);
  }
  if (changes.size() > k_shown) text += ", …";
  return text;
}

std::string events_text(const Trajectory& t) {
  std::string text = t.first_overflow ? fmt::format("first in update {}; {} of {} updates", *t.first_overflow,
                                                    t.overflowed_updates, t.scales.size())
                                      : fmt::format("in none of {} updates", t.scales.size());
  if (t.skipped_updates > 0) text += fmt::format("; {} skipped", t.skipped_updates);
  if (t.saturated_updates > 0) text += fmt::format("; {} applied with clipped values", t.saturated_updates);
  return text;
}

// One row for all layers' tensors of a name: the worst of them.
std::string tensor_table(const std::vector<TensorHistory>& tensors) {
  TextTable table;
  table.column("gradient, worst layer", Align::left);
  for (const char* heading : {"flushed", "most", "subnormal", "at edge", "overflowed"}) {
    table.column(heading, Align::right);
  }
  for (const TensorHistory& t : worst_of_each(tensors)) {
    table.row({t.name + (t.layer < 0 ? "" : fmt::format(" {}", t.layer)), share(t.flushed.median),
               share(t.flushed.highest), share(t.subnormal.median), share(t.at_edge.median),
               share(t.overflowed.highest)});
  }
  return table.text();
}

std::vector<PageFact> facts_of(const Analysis& analysis) {
  const Trajectory& t = analysis.trajectory;
  std::vector<PageFact> facts;
  const auto line = [&facts](const std::string& name, const std::string& content) { facts.push_back({name, content}); };
  line("mode", analysis.mode);
  line("verdict", verdict_text(analysis));
  line("numbers", fmt::format("{}, overflow: {}, partial sums: {}", analysis.format, analysis.overflow,
                              analysis.half_partials ? "float16" : "float32"));
  line("partial sums", fmt::format("relative error {:.2g} over the tokens, {:.2g} of one sign",
                                   analysis.random_sum_error, analysis.coherent_sum_error));
  line("recommended", analysis.needs_scale() ? window_text(analysis.window)
                                             : fmt::format("none needed: {} gradients", analysis.format));
  if (analysis.balance) line("balance", balance_text(analysis));
  line("scale", scales_text(t.scales));
  line("reached", fmt::format("{} in update {}, the last followed", human_power(static_cast<double>(t.scales.back())),
                              t.scales.size()));
  if (analysis.limit_cycle) {
    line("limit cycle",
         fmt::format("{} and {}{}", human_power(analysis.limit_cycle->first), human_power(analysis.limit_cycle->second),
                     t.cycle ? "" : ", without noise and spikes"));
  }
  line("overflow", events_text(t));
  line("limiting tensor", t.limiting_tensor.empty() ? "none reaches the edge" : t.limiting_tensor);
  line("update loss",
       t.skipped_updates > 0 ? share(t.update_loss) + " of the updates" : "1 - cos = " + share(t.update_loss));
  if (!analysis.cost.empty()) line("cost", analysis.cost);
  for (const std::string& note : analysis.notes) line("note", note);
  return facts;
}

std::string to_text(const Plan& plan, const Analysis& analysis) {
  const Trajectory& t = analysis.trajectory;
  std::string text = plan.name + "\n";
  for (const PageFact& fact : facts_of(analysis)) {
    text += fmt::format("  {:<20} {}\n", fact.label, wrapped(fact.value, k_width - k_label, k_label));
  }
  text += "\nshares of non-zero values over the updates: median, most for flushed and overflowed\n";
  text += tensor_table(t.tensors);
  return text;
}

std::string published_text(const std::vector<PublishedScale>& scales) {
  TextTable table;
  table.column("published constant", Align::left);
  for (const char* heading : {"scale", "low", "high"}) table.column(heading, Align::right);
  table.column("verdict", Align::left);
  table.column("source", Align::left);
  for (const PublishedScale& scale : scales) {
    table.row({scale.id, format_number(scale.scale), fmt::format("2^{}", scale.window.low),
               fmt::format("2^{}", scale.window.high), scale.inside() ? "inside" : "outside", scale.source});
  }
  const PublishedSummary summary = summary_of(scales);
  std::string text = table.text();
  text += fmt::format("\n{} of {} inside; median width {} octaves", summary.inside, summary.count,
                      format_number(summary.median_width));
  if (summary.rank_correlation) text += fmt::format("; rank correlation {:.2f}", *summary.rank_correlation);
  return text + "\n";
}

std::string published_json(const std::vector<PublishedScale>& scales) {
  JsonWriter json;
  json.begin_object();
  json.key("cases");
  json.begin_array();
  for (const PublishedScale& scale : scales) {
    json.begin_object();
    json.member("id", scale.id);
    json.member("scale", scale.scale);
    json.member("low_log2", scale.window.low);
    json.member("high_log2", scale.window.high);
    json.member("verdict", scale.inside() ? "inside" : "outside");
    json.member("source", scale.source);
    json.end_object();
  }
  json.end_array();
  const PublishedSummary summary = summary_of(scales);
  json.member("count", summary.count);
  json.member("inside", summary.inside);
  json.member("median_width_octaves", summary.median_width);
  number(json, "spearman", summary.rank_correlation.value_or(NAN));
  json.end_object();
  return json.text();
}

}  // namespace

const VerbSpec& loss_scale_spec() {
  static const VerbSpec k_spec{
      "loss-scale",
      "loss-scale [EXPERIMENT] [options]",
      "Follow the loss scale over training and recommend a constant one.",
      "The section [loss_scaling] chooses the controller; see `podsim explain loss_scaling.mode`. What PopART's costs "
      "in\n"
      "time and memory tells `podsim run` with --set ipu.auto_loss_scaling=true.",
      joined(experiment_options(), {{"published", "", "list constant scales known to train, inside or outside"},
                                    {"seed", "N", "seed of everything drawn; as loss_scaling.seed"},
                                    {"format", "NAME", "", false, {"text", "json", "html", "markdown"}},
                                    {"quiet", "", "no warnings on standard error"}}),
      {"podsim loss-scale bert-large-bow-pod16 --set loss_scaling.mode=popart_als",
       "podsim loss-scale experiment.toml --set loss_scaling.initial=4096 --format json"},
      1,
      "experiments"};
  return k_spec;
}

ExitCode cmd_loss_scale(const Arguments& arguments) {
  const std::string format = choice_option(arguments, "format", {"text", "json", "html", "markdown"});
  const ConfigFiles configs = configs_from(arguments);
  const Catalog catalog = make_catalog();
  if (arguments.has("published")) {
    if (!arguments.words().empty()) throw UsageError("--published lists all: it takes no experiment");
    const std::vector<PublishedScale> scales = published_scales(catalog, configs);
    print(format == "json"   ? published_json(scales)
          : format == "text" ? published_text(scales)
                             : formatted(published_scales_page(scales), "", format));
    return ExitCode::done;
  }
  Experiment experiment = experiment_from(arguments, arguments.words().empty() ? "" : arguments.words().front());
  if (const auto seed = integer_option(arguments, "seed")) set_seed(experiment, *seed);
  const Plan plan = plan_from(experiment, catalog, configs);
  const Analysis analysis = analyse(plan, experiment.document, catalog, configs);
  if (!arguments.has("quiet") && !analysis.warnings.all().empty()) print_error(analysis.warnings.to_text());
  if (format == "text") {
    print_report(within_width(to_text(plan, analysis)));
  } else if (format == "json") {
    print(to_json(plan, analysis));
  } else {
    print(formatted(loss_scale_page(plan, analysis, facts_of(analysis)), plan.inputs_sha256, format));
  }
  return ExitCode::done;
}

}  // namespace podsim
