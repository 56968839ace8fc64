// The report for people: first what matters, in at most twelve lines, then tables. At most 100 columns wide, except for
// words that are longer. It holds no wall time, so that two equal runs print equal bytes.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/report/human.hpp"
#include "sim/report/report.hpp"
#include "sim/report/text_table.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

constexpr std::size_t k_width = 100;
constexpr std::size_t k_label = 13;      // width of the labels in the head
constexpr std::size_t k_most_rows = 16;  // of a table; what is beyond is counted

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

// A bar of up to twenty columns.
std::string bar(double percent) {
  const double clamped = std::clamp(percent, 0.0, 100.0);
  const auto halves = static_cast<std::size_t>(clamped * 0.4 + 0.5);
  std::string text;
  for (std::size_t i = 0; i < halves / 2; ++i) text += "█";
  return text + (halves % 2 != 0 ? "▌" : "");
}

std::string line_of_head(std::string_view label, const std::string& content) {
  std::string text = "  " + std::string(label);
  text.resize(k_label + 2, ' ');
  return text + wrapped(content, k_width - k_label - 2, k_label + 2) + '\n';
}

std::string heading(const std::string& text) {
  return '\n' + fit_width(text, k_width) + '\n';
}

std::string with_rest(std::size_t left_out, std::string_view of_what) {
  return left_out == 0 ? "" : fmt::format("  … and {} more {}\n", left_out, of_what);
}

std::string amount(double value, const std::string& unit) {
  if (unit == "byte") return format_bytes(Bytes(static_cast<std::int64_t>(value)));
  return human_number(value) + (unit.empty() ? "" : " " + unit);
}

// "1 stage", "2 stages".
std::string counted(std::int64_t number, const std::string& word) {
  return grouped(number) + " " + word + (number == 1 ? "" : "s");
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

std::string head(const Report& report) {
  std::string text = fit_width(report.name.empty() ? "podsim" : printable(report.name), k_width) + '\n';
  std::string what;
  for (const std::string& part : {report.system, report.software, report.model, std::string(name(report.mode))}) {
    if (!part.empty()) what += (what.empty() ? "" : ", ") + part;
  }
  text += fit_width(what, k_width) + "\n\n";
  if (report.throughput) {
    const std::string& condition = report.batch.condition;
    text += line_of_head("Throughput",
                         throughput_text(*report.throughput) + (condition.empty() ? "" : "; only with " + condition));
  }
  if (report.engine) {
    text += line_of_head(
        "Step", fmt::format("{} for {} ({})", format_time(report.step_time),
                            counted(report.batch.global_batch, sample_word(report)), step_meaning(report.mode)));
  }
  if (report.throughput) {
    text += line_of_head(
        "Efficiency", fmt::format("MFU {}, HFU {} of {}", human_percent(report.throughput->mfu_pct),
                                  human_percent(report.throughput->hfu_pct), counted(report.batch.devices, "device")));
  }
  text += line_of_head("Verdict", verdict_text(report));
  if (!report.bottleneck.empty()) {
    text += line_of_head("Bottleneck",
                         fmt::format("{}, {} of the step", report.bottleneck, human_percent(report.bottleneck_pct)));
  }
  return text + line_of_head("Evidence", evidence_text(report.evidence));
}

std::string broken_limits(const Verdict& verdict) {
  if (verdict.broken.size() < 2) return "";
  std::string text = heading("Why it does not fit");
  for (const BrokenLimit& broken : verdict.broken) {
    const auto same = [&](const BrokenLimit& other) {
      return other.limit == broken.limit && other.need == broken.need && other.have == broken.have;
    };
    const auto first = std::find_if(verdict.broken.begin(), verdict.broken.end(), same);
    if (&*first != &broken) continue;  // told with the first of its kind
    const auto alike = std::count_if(verdict.broken.begin(), verdict.broken.end(), same) - 1;
    text += "  " +
            wrapped(limit_text(broken) + (alike > 0 ? fmt::format(" ({} more alike)", alike) : "") +
                        (broken.remedy.empty() ? "" : "; try " + broken.remedy),
                    k_width - 2, 4) +
            '\n';
  }
  return text;
}

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

std::string batch_text(const Report& report) {
  const ScheduleFacts& schedule = report.schedule;
  std::string text = heading("Batch and schedule");
  text += "  " +
          wrapped(fmt::format("micro-batch {}{}, global batch {}, {} per host call", grouped(report.batch.micro_batch),
                              is_default(report, "workload.micro_batch_size") ? " (default)" : "",
                              grouped(report.batch.global_batch),
                              counted(report.batch.samples_per_call, sample_word(report))),
                  k_width - 2, 4) +
          '\n';
  if (!report.batch.call_factors.empty()) {
    text += "  " + wrapped("per host call " + report.batch.call_factors, k_width - 2, 4) + '\n';
  }
  text += "  " + wrapped(settings_line(report), k_width - 2, 4) + '\n';
  if (!report.batch.assumption.empty()) text += "  " + wrapped(report.batch.assumption, k_width - 2, 4) + '\n';
  if (schedule.kind.empty()) return text;
  std::string line = schedule.kind;
  if (schedule.forward_stages > 0) line += ", " + counted(schedule.forward_stages, "forward stage");
  if (schedule.stages > schedule.forward_stages) line += fmt::format(", {} stages in all", schedule.stages);
  if (schedule.sections > 0) line += ", " + counted(schedule.sections, "section");
  if (schedule.cycles_per_update > 0) {
    line += ", " + counted(schedule.cycles_per_update, "cycle") +
            (report.mode == RunMode::training ? " per update" : " per host call");
  }
  if (report.cycle_time) line += fmt::format(" of {} each", format_time(*report.cycle_time));
  text += "  " + wrapped(line, k_width - 2, 4) + '\n';
  if (report.compile) text += "  " + wrapped(compile_line(*report.compile), k_width - 2, 4) + '\n';
  return text;
}

std::string breakdown_text(const Report& report) {
  if (!report.engine || report.step_time == SimTime()) return "";
  TextTable table;
  table.column("", Align::left);
  table.column("", Align::right);
  table.column("", Align::right);
  table.column("", Align::left);
  for (std::size_t c = 0; c < k_cost_categories; ++c) {
    const SimTime part = report.breakdown.part[c];
    if (part == SimTime()) continue;
    const double share = percent_of(part, report.step_time);
    table.row({spoken(static_cast<CostCategory>(c)), format_time(part), human_percent(share), bar(share)});
  }
  return heading("Where the time goes (" + report.busiest_device + ", one step)") + table.text();
}

// Rows that show the same for several things are printed once, with their number.
struct Grouped {
  std::string first;
  std::size_t members = 0;
  std::vector<std::string> cells;
};

void add_to_groups(std::vector<Grouped>& groups, const std::string& first, std::vector<std::string> cells) {
  for (Grouped& group : groups) {
    if (group.cells != cells) continue;
    ++group.members;
    return;
  }
  groups.push_back({first, 1, std::move(cells)});
}

std::string group_name(const Grouped& group) {
  if (group.members == 1) return fit_width(group.first, 40);
  return fmt::format("{} and {} alike", fit_width(group.first, 40), group.members - 1);
}

std::string table_of_groups(TextTable table, const std::vector<Grouped>& groups, std::string_view of_what) {
  const std::size_t shown = std::min(groups.size(), k_most_rows);
  std::size_t left_out = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (g >= shown) {
      left_out += groups[g].members;
      continue;
    }
    std::vector<std::string> cells{group_name(groups[g])};
    cells.insert(cells.end(), groups[g].cells.begin(), groups[g].cells.end());
    table.row(std::move(cells));
  }
  return table.text(k_width) + with_rest(left_out, of_what);
}

// The categories worth a column: those with time on any device, at most six, the largest first chosen.
std::vector<CostCategory> shown_categories(const Report& report) {
  CostVector sum;
  for (const DeviceReport& device : report.devices) sum += device.breakdown;
  std::vector<std::size_t> order(k_cost_categories);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sum.part[a] > sum.part[b]; });
  std::erase_if(order, [&](std::size_t c) { return sum.part[c] == SimTime(); });
  if (order.size() > 6) order.resize(6);
  std::sort(order.begin(), order.end());
  std::vector<CostCategory> categories;
  for (const std::size_t c : order) categories.push_back(static_cast<CostCategory>(c));
  return categories;
}

std::string devices_text(const Report& report) {
  if (!report.engine || report.devices.empty()) return "";
  const std::vector<CostCategory> categories = shown_categories(report);
  TextTable table;
  table.column("", Align::left);
  table.column("busy", Align::right);
  for (const CostCategory category : categories) table.column(spoken(category), Align::right);
  std::vector<Grouped> groups;
  for (const DeviceReport& device : report.devices) {
    if (device.breakdown.total() == SimTime()) continue;
    std::vector<std::string> cells{human_percent(device.utilisation_pct)};
    for (const CostCategory category : categories) {
      cells.push_back(human_percent(percent_of(device.breakdown[category], report.step_time)));
    }
    add_to_groups(groups, device.id, std::move(cells));
  }
  if (groups.empty()) return "";
  return heading("Devices (share of the step)") + table_of_groups(std::move(table), groups, "devices");
}

std::string memories_text(const Report& report) {
  TextTable table;
  table.column("", Align::left);
  table.column("always live", Align::right);
  table.column("need", Align::right);
  table.column("limit", Align::right);
  table.column("fill", Align::right);
  table.column("", Align::left);
  std::vector<Grouped> groups;
  for (const DeviceReport& device : report.devices) {
    for (const MemoryReport& memory : device.memories) {
      const double fill = percent_of(memory.peak, memory.limit);
      add_to_groups(groups, memory.name,
                    {format_bytes(memory.always_live), format_bytes(memory.peak), format_bytes(memory.limit),
                     human_percent(fill), bar(fill) + (memory.peak > memory.limit ? " over" : "")});
    }
  }
  if (groups.empty()) return "";
  std::string text = heading("Memory") + table_of_groups(std::move(table), groups, "memories");
  const MemoryReport* fullest = fullest_memory(report);
  if (fullest == nullptr || fullest->categories.empty()) return text;
  auto parts = fullest->categories;
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string line = fmt::format("In {}{}:", fullest->name, report.engine ? " at its peak" : "");
  for (std::size_t i = 0; i < parts.size() && i < 8; ++i) {
    line += fmt::format("{} {} {}", i == 0 ? "" : ",", parts[i].first, format_bytes(parts[i].second));
  }
  return text + "  " + wrapped(line, k_width - 2, 4) + '\n';
}

std::string links_text(const Report& report) {
  std::vector<LinkReport> links;
  for (const LinkReport& link : report.links) {
    if (link.bytes > Bytes() || link.busy_pct > 0) links.push_back(link);
  }
  if (links.empty()) return "";
  std::stable_sort(links.begin(), links.end(), [](const auto& a, const auto& b) { return a.busy_pct > b.busy_pct; });
  TextTable table;
  table.column("", Align::left);
  table.column("carried", Align::right);
  table.column("busy", Align::right);
  table.column("", Align::left);
  std::vector<Grouped> groups;
  for (const LinkReport& link : links) {
    add_to_groups(groups, link.name, {format_bytes(link.bytes), human_percent(link.busy_pct), bar(link.busy_pct)});
  }
  return heading("Links (one program run)") + table_of_groups(std::move(table), groups, "links");
}

std::string training_text(const std::optional<TimeToTrain>& training) {
  if (!training) return "";
  std::string line =
      fmt::format("{}: {} update{} for {} samples", human_long_time(training->time_s), human_number(training->updates),
                  training->updates == 1 ? "" : "s", human_number(training->target_samples));
  for (std::size_t i = 0; i < training->excluded.size(); ++i) {
    line += (i == 0 ? "; without " : ", ") + training->excluded[i];
  }
  return heading("Time to train") + "  " + wrapped(line, k_width - 2, 4) + '\n';
}

std::string latency_text(const Report& report) {
  const std::optional<Latency>& latency = report.latency;
  if (!latency) return "";
  std::string line;
  const auto add = [&](const std::optional<double>& seconds, const char* what) {
    if (!seconds) return;
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", what, format_time(to_sim_time(podsim::seconds(*seconds))));
  };
  add(latency->request_s, "request");
  add(latency->time_to_first_token_s, "first token");
  add(latency->time_per_output_token_s, "each further token");
  std::string text = heading("Latency") + "  " + line + '\n';
  if (report.mode != RunMode::inference) return text;
  const std::string meaning = fmt::format(
      "from a request's first cycle to its last; the host has the results when the host call ends, after {}",
      format_time(report.step_time));
  return text + "  " + wrapped(meaning, k_width - 2, 4) + '\n';
}

std::string values_text(const std::vector<ReportedValue>& values) {
  if (values.empty()) return "";
  TextTable table;
  table.column("value", Align::left);
  table.column("", Align::right);
  for (const ReportedValue& value : values) {
    const bool time = value.unit == "s";
    table.row({value.name, time ? format_time(to_sim_time(seconds(value.value))) : human_number(value.value)});
  }
  return heading("Further values") + table.text(k_width);
}

std::string cell_text(const Cell& cell) {
  if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? "yes" : "no";
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return grouped(*integer);
  if (const auto* number = std::get_if<double>(&cell)) return human_number(*number);
  if (const auto* text = std::get_if<std::string>(&cell)) return fit_width(*text, 40);
  return "-";
}

std::string warnings_text(const std::vector<std::string>& warnings) {
  if (warnings.empty()) return "";
  std::string text = heading("Warnings");
  for (const std::string& warning : warnings) text += "  " + wrapped(warning, k_width - 2, 4) + '\n';
  return text;
}

std::string foot(const Report& report) {
  std::string text = "\n";
  if (report.engine) {
    std::string line = fmt::format("Engine {}: {} events, {} simulated", report.engine->name,
                                   grouped(report.engine->events), format_time(report.engine->simulated));
    if (report.engine->folded) line += ", equal replicas once";
    if (report.engine->repeats) line += ", one iteration of each repeat";
    for (std::size_t i = 0; i < report.engine->not_folded.size(); ++i) {
      line += (i == 0 ? "; not folded: " : ", ") + report.engine->not_folded[i];
    }
    text += wrapped(line, k_width, 2) + '\n';
  }
  text += fmt::format("podsim {}", report.tool_version);
  if (!report.tool_commit.empty()) text += " (" + report.tool_commit + ")";
  return text + ", inputs " + report.inputs_sha256.substr(0, 16) + '\n';
}

}  // namespace

std::string to_text(const Table& table, std::size_t width) {
  TextTable text;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const bool words = std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
      return std::holds_alternative<std::string>(row[c]) || std::holds_alternative<bool>(row[c]);
    });
    text.column(table.columns[c].name, words ? Align::left : Align::right);
  }
  const std::size_t shown = std::min(table.rows.size(), k_most_rows);
  for (std::size_t r = 0; r < shown; ++r) {
    std::vector<std::string> cells;
    for (const Cell& cell : table.rows[r]) cells.push_back(cell_text(cell));
    text.row(std::move(cells));
  }
  return heading(table.name) + text.text(width) + with_rest(table.rows.size() - shown, "rows in --format json") +
         with_rest(text.columns_beyond(width), "columns in --format json");
}

std::string to_text(const Report& report) {
  std::string text = head(report) + broken_limits(report.verdict) + batch_text(report) + breakdown_text(report) +
                     latency_text(report) + values_text(report.values) + devices_text(report) + memories_text(report) +
                     links_text(report) + training_text(report.training);
  for (const Table& table : report.tables) text += to_text(table);
  return text + warnings_text(report.warnings) + foot(report);
}

}  // namespace podsim
