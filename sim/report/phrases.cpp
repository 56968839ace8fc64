#include "sim/report/phrases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/report/human.hpp"
#include "sim/report/loss_scale_text.hpp"
#include "sim/report/uncertainty_format.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

std::string amount(double value, const std::string& unit) {
  if (unit == "byte") return format_bytes(Bytes(static_cast<std::int64_t>(value)));
  return human_number(value) + (unit.empty() ? "" : " " + unit);
}

// What a sample is: several sequences may be packed into one.
const char* sample_word(const Report& report) {
  return report.batch.sequences_per_sample != 1.0 ? "pack" : "sample";
}

std::string throughput_text(const Throughput& t) {
  std::string text;
  const auto add = [&](const std::optional<double>& rate, const char* unit) {
    if (rate) text += (text.empty() ? "" : ", ") + human_number(*rate) + " " + unit + "/s";
  };
  add(t.sequences_per_s, "sequences");
  add(t.packs_per_s, "packs");
  add(t.images_per_s, "images");
  add(t.tokens_per_s, "tokens");
  if (text.empty()) add(t.samples_per_s, "samples");
  return text + "; " + human_number(t.samples_per_s_per_device) + (t.packs_per_s ? " packs/s" : " samples/s") +
         " per device";
}

const char* step_meaning(RunMode mode) {
  switch (mode) {
    case RunMode::training:
      return "one weight update";
    case RunMode::inference:
      return "one host call";
    case RunMode::generation:
      return "one request";
  }
  return "";
}

std::string limit_text(const BrokenLimit& broken) {
  return fmt::format("{} on {} needs {}, has {}", broken.limit, broken.device, amount(broken.need, broken.unit),
                     amount(broken.have, broken.unit));
}

std::string verdict_text(const Report& report) {
  if (!report.verdict.fits()) {
    const std::vector<BrokenLimit>& broken = report.verdict.broken;
    std::string text = "DOES NOT FIT: " + limit_text(broken.front());
    if (broken.size() > 1) text += fmt::format(" (and {} more, below)", broken.size() - 1);
    if (!broken.front().remedy.empty()) text += "; try " + broken.front().remedy;
    return text;
  }
  const MemoryReport* fullest = fullest_memory(report);
  if (fullest == nullptr) return "fits";
  return fmt::format("fits; the fullest memory, {}, is at {} of its limit", fullest->name,
                     human_percent(percent_of(fullest->peak, fullest->limit)));
}

// Whether a run replaced what is shipped: by a value, or by an overlay that says it was fitted (its source ends in the
// overlay's name).
bool is_replaced(const Constant& constant) {
  return constant.confidence == "user" ||
         (constant.confidence == "fitted" && constant.source.ends_with("; " + constant.place.file));
}

// Empty: nothing was replaced.
std::string replaced_line(const Report& report) {
  constexpr std::size_t k_listed = 3;
  std::string line;
  std::size_t count = 0;
  for (const Constant& constant : report.provenance) {
    if (!is_replaced(constant) || ++count > k_listed) continue;
    line += fmt::format("{}{} = {} ({})", line.empty() ? "" : ", ", constant.name, constant.text, constant.confidence);
  }
  if (count > k_listed) line += fmt::format(" and {} more", count - k_listed);
  return line.empty() ? line : line + "; the evidence is without " + (count == 1 ? "it" : "them");
}

}  // namespace

std::string evidence_text(const EvidenceReport& evidence) {
  std::string text = "not compared with published measurements";
  if (!evidence.nearest_case.empty()) {
    text = "nearest published measurement: " + evidence.nearest_case;
    if (evidence.its_error_pct) text += fmt::format(" (error {:+.1f} %)", *evidence.its_error_pct);
  }
  for (std::size_t i = 0; i < evidence.outside.size(); ++i) {
    text += (i == 0 ? "; outside of it: " : ", ") + evidence.outside[i];
  }
  return text;
}

namespace {

// What decides the run beside the machine's own keys; "(default)" marks what the user did not write.
std::string settings_line(const Report& report) {
  constexpr std::pair<const char*, const char*> k_settings[] = {{"model.head", "head "},
                                                                {"workload.sequence_length", "sequence length "},
                                                                {"workload.precision", ""},
                                                                {"workload.optimizer", "optimizer "}};
  std::string line;
  for (const auto& [path, word] : k_settings) {
    if (std::string_view(path) == "workload.optimizer" && report.mode != RunMode::training) continue;
    for (const ResolvedKey& key : report.plan) {
      if (key.path != path) continue;
      std::string value = key.toml_value;
      if (value.size() > 1 && value.front() == '"') value = value.substr(1, value.size() - 2);
      line += (line.empty() ? "" : ", ") + std::string(word) + value;
      if (key.origin.starts_with("default")) line += " (default)";
    }
  }
  return line;
}

std::string compile_line(const CompileEstimate& compile) {
  return fmt::format("compile about {} (between {} and {}), {} of {} sections unique{}",
                     human_long_time(compile.estimate.in_base()), human_long_time(compile.low.in_base()),
                     human_long_time(compile.high.in_base()), grouped(compile.unique_sections),
                     grouped(compile.sections), compile.cached ? ", with what an earlier compile left" : "");
}

bool is_default(const Report& report, std::string_view path) {
  return std::any_of(report.plan.begin(), report.plan.end(),
                     [&](const ResolvedKey& key) { return key.path == path && key.origin.starts_with("default"); });
}

}  // namespace

std::string spoken(CostCategory category) {
  std::string text(name(category));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

double percent_of(double part, double whole) {
  return whole > 0 ? 100.0 * part / whole : 0.0;
}

double percent_of(SimTime part, SimTime whole) {
  return percent_of(static_cast<double>(part.picoseconds()), static_cast<double>(whole.picoseconds()));
}

double percent_of(Bytes part, Bytes whole) {
  return percent_of(static_cast<double>(part.count()), static_cast<double>(whole.count()));
}

const MemoryReport* fullest_memory(const Report& report) {
  const MemoryReport* fullest = nullptr;
  for (const DeviceReport& device : report.devices) {
    for (const MemoryReport& memory : device.memories) {
      const bool fuller =
          fullest == nullptr || percent_of(memory.peak, memory.limit) > percent_of(fullest->peak, fullest->limit);
      if (memory.limit > Bytes() && fuller) fullest = &memory;
    }
  }
  return fullest;
}

std::vector<HeadLine> head_lines(const Report& report) {
  std::vector<HeadLine> lines;
  if (report.throughput) {
    const std::string& condition = report.batch.condition;
    lines.push_back(
        {"Throughput", throughput_text(*report.throughput) + (condition.empty() ? "" : "; only with " + condition)});
  }
  if (report.interval) lines.push_back({"Interval", interval_headline(report)});
  if (const std::string assumed = assumed_line(report); !assumed.empty()) lines.push_back({"Assumed", assumed});
  if (report.engine) {
    lines.push_back(
        {"Step", fmt::format("{} for {} ({})", format_time(report.step_time),
                             counted(report.batch.global_batch, sample_word(report)), step_meaning(report.mode))});
  }
  if (report.throughput) {
    lines.push_back({"Efficiency",
                     fmt::format("MFU {}, HFU {} of {}", human_percent(report.throughput->mfu_pct),
                                 human_percent(report.throughput->hfu_pct), counted(report.batch.devices, "device"))});
  }
  lines.push_back({"Verdict", verdict_text(report)});
  if (!report.bottleneck.empty()) {
    lines.push_back(
        {"Bottleneck", fmt::format("{}, {} of the step", report.bottleneck, human_percent(report.bottleneck_pct))});
  }
  if (report.loss_scaling) lines.push_back({"Loss scale", loss_scale_headline(report.loss_scaling)});
  if (const std::string replaced = replaced_line(report); !replaced.empty()) lines.push_back({"Replaced", replaced});
  lines.push_back({"Evidence", evidence_text(report.evidence)});
  return lines;
}

std::string subtitle_text(const Report& report) {
  std::string what;
  for (const std::string& part : {report.system, report.software, report.model, std::string(name(report.mode))}) {
    if (!part.empty()) what += (what.empty() ? "" : ", ") + part;
  }
  return what;
}

std::string broken_limit_text(const BrokenLimit& broken) {
  return limit_text(broken) + (broken.remedy.empty() ? "" : "; try " + broken.remedy);
}

std::string shared_remedy(const Verdict& verdict) {
  if (verdict.broken.size() < 2) return {};
  const std::string& remedy = verdict.broken.front().remedy;
  const bool shared = std::ranges::all_of(verdict.broken, [&](const BrokenLimit& b) { return b.remedy == remedy; });
  return shared ? remedy : std::string();
}

std::vector<std::string> broken_limit_lines(const Verdict& verdict) {
  std::vector<std::string> lines;
  std::vector<std::string> remedies;
  for (const BrokenLimit& broken : verdict.broken) {
    const auto same = [&](const BrokenLimit& other) {
      return other.limit == broken.limit && other.need == broken.need && other.have == broken.have;
    };
    const auto first = std::find_if(verdict.broken.begin(), verdict.broken.end(), same);
    if (&*first != &broken) continue;  // told with the first of its kind
    const auto alike = std::count_if(verdict.broken.begin(), verdict.broken.end(), same) - 1;
    lines.push_back(limit_text(broken) + (alike > 0 ? fmt::format(" ({} more alike)", alike) : ""));
    remedies.push_back(broken.remedy);
  }
  const std::string shared = lines.size() > 1 ? shared_remedy(verdict) : std::string();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (shared.empty() && !remedies[i].empty()) lines[i] += "; try " + remedies[i];
  }
  return lines;
}

std::vector<std::string> batch_lines(const Report& report) {
  const ScheduleFacts& schedule = report.schedule;
  std::vector<std::string> lines{
      fmt::format("micro-batch {}{}, global batch {}, {} per host call", grouped(report.batch.micro_batch),
                  is_default(report, "workload.micro_batch_size") ? " (default)" : "",
                  grouped(report.batch.global_batch), counted(report.batch.samples_per_call, sample_word(report)))};
  if (!report.batch.call_factors.empty()) lines.push_back("per host call " + report.batch.call_factors);
  lines.push_back(settings_line(report));
  if (!report.batch.assumption.empty()) lines.push_back(report.batch.assumption);
  if (schedule.kind.empty()) return lines;
  std::string line = schedule.kind;
  if (schedule.forward_stages > 0) line += ", " + counted(schedule.forward_stages, "forward stage");
  if (schedule.stages > schedule.forward_stages) line += fmt::format(", {} stages in all", schedule.stages);
  if (schedule.sections > 0) line += ", " + counted(schedule.sections, "section");
  if (schedule.cycles_per_update > 0) {
    line += ", " + counted(schedule.cycles_per_update, "cycle") +
            (report.mode == RunMode::training ? " per update" : " per host call");
  }
  if (report.cycle_time) line += fmt::format(" of {} each", format_time(*report.cycle_time));
  lines.push_back(line);
  if (report.compile) lines.push_back(compile_line(*report.compile));
  return lines;
}

std::string training_line(const TimeToTrain& training) {
  std::string line =
      fmt::format("{}: {} update{} for {} samples", human_long_time(training.time_s), human_number(training.updates),
                  training.updates == 1 ? "" : "s", human_number(training.target_samples));
  for (std::size_t i = 0; i < training.excluded.size(); ++i) {
    line += (i == 0 ? "; without " : ", ") + training.excluded[i];
  }
  return line;
}

std::vector<std::string> latency_lines(const Report& report) {
  if (!report.latency) return {};
  const Latency& latency = *report.latency;
  std::string line;
  const auto add = [&](const std::optional<double>& seconds, const char* what) {
    if (!seconds) return;
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", what, format_time(to_sim_time(podsim::seconds(*seconds))));
  };
  add(latency.request_s, "request");
  add(latency.time_to_first_token_s, "first token");
  add(latency.time_per_output_token_s, "each further token");
  std::vector<std::string> lines{line};
  if (report.mode == RunMode::inference) {
    lines.push_back(fmt::format(
        "from a request's first cycle to its last; the host has the results when the host call ends, after {}",
        format_time(report.step_time)));
  }
  return lines;
}

std::string engine_line(const EngineFacts& engine) {
  std::string line = fmt::format("Engine {}: {} events, {} simulated", engine.name, grouped(engine.events),
                                 format_time(engine.simulated));
  if (engine.folded) line += ", equal replicas once";
  if (engine.repeats) line += ", one iteration of each repeat";
  for (std::size_t i = 0; i < engine.not_folded.size(); ++i) {
    line += (i == 0 ? "; not folded: " : ", ") + engine.not_folded[i];
  }
  return line;
}

}  // namespace podsim
