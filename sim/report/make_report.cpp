#include "sim/report/make_report.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "sim/core/check.hpp"
#include "sim/report/human.hpp"

namespace podsim {
namespace {

double share_pct(SimTime part, SimTime whole) {
  if (whole <= SimTime()) return 0;
  return 100.0 * static_cast<double>(part.picoseconds()) / static_cast<double>(whole.picoseconds());
}

std::string spoken(CostCategory category) {
  std::string text(name(category));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

void add_account_devices(const MemoryAccount& account, Report& report) {
  for (const DeviceMemoryAccount& memory : account.memories) {
    auto device = std::find_if(report.devices.begin(), report.devices.end(),
                               [&](const DeviceReport& known) { return known.id == memory.device; });
    if (device == report.devices.end()) {
      report.devices.push_back({memory.device, 0, {}, {}});
      device = std::prev(report.devices.end());
    }
    MemoryReport entry{memory.memory, memory.capacity, memory.limit, memory.total(), memory.always_live(), {}, {}};
    for (const MemoryAccountEntry& part : memory.entries) entry.categories.emplace_back(part.category, part.bytes);
    device->memories.push_back(std::move(entry));
  }
}

// The memory that is fullest; of equals the first of the device that comes first.
FullestMemory fullest_of(const MemoryAccount& account) {
  const std::vector<DeviceMemoryAccount>& memories = account.memories;
  FullestMemory fullest;
  const DeviceMemoryAccount* holder = nullptr;
  for (const DeviceMemoryAccount& memory : memories) {
    if (memory.limit.count() <= 0) continue;
    const double fill = fill_pct(memory.total(), memory.limit);
    bool ahead = fill > fullest.fill_pct;
    if (!ahead && fill == fullest.fill_pct && holder != nullptr && memory.device != holder->device) {
      const auto first = std::ranges::find_if(memories, [&](const DeviceMemoryAccount& other) {
        return other.device == holder->device || other.device == memory.device;
      });
      ahead = first->device == memory.device;
    }
    if (!ahead) continue;
    fullest = {memory.memory, fill};
    holder = &memory;
  }
  return fullest;
}

// What a run is of.
Report report_of(const Plan& plan) {
  Report report;
  report.name = plan.name;
  report.system = plan.nodes > 1 ? std::to_string(plan.nodes) + " x " + plan.system : plan.system;
  report.software = plan.software;
  report.model = plan.shape.name;
  report.mode = plan.settings.mode;
  report.batch = plan.family->step_facts(plan);
  report.schedule = plan.family->schedule_facts(plan);
  report.compile = plan.family->compile_estimate(plan);
  return report;
}

Report common_report(const Plan& plan, const Verdict& verdict, const MemoryAccount& account) {
  Report report = report_of(plan);
  report.inputs_sha256 = plan.inputs_sha256;
  report.plan = plan.resolved;
  const std::vector<ResolvedKey> family_keys = plan.family_plan->resolved();
  report.plan.insert(report.plan.end(), family_keys.begin(), family_keys.end());
  report.verdict = verdict;
  for (const ConstantId id : plan.family_plan->constants_read()) report.provenance.push_back(plan.constants[id]);
  for (const Diagnostic& warning : plan.warnings.all()) report.warnings.push_back(to_text(warning));
  for (std::string& note : plan.family->notes(plan)) report.warnings.push_back(std::move(note));
  for (const DeviceMemoryAccount& memory : account.memories)
    report.account.emplace_back(memory.memory, memory.entries.get());
  return report;
}

MemoryReport memory_report(const Memory& memory, const MemoryUse& use, const std::vector<std::string>& categories) {
  MemoryReport report{memory.name, memory.capacity, memory.limit, use.peak, use.always_live, use.peak_time, {}};
  for (std::size_t c = 0; c < use.categories_at_peak.size(); ++c) {
    if (use.categories_at_peak[c] != Bytes()) report.categories.emplace_back(categories[c], use.categories_at_peak[c]);
  }
  return report;
}

void add_machine(const SimulatedRun& run, std::int64_t steps, Report& report) {
  const Platform& platform = run.lowered.platform;
  const RunResult& result = run.result;
  for (std::size_t d = 0; d < platform.devices().size(); ++d) {
    const DeviceUse& use = result.devices[d];
    report.devices.push_back(
        {platform.devices()[d].name, share_pct(use.busy, result.total), breakdown_of_step(use.breakdown, steps), {}});
  }
  std::vector<DeviceReport> owners;  // of memories that belong to no device: "host0" of "host0.memory"
  for (std::size_t m = 0; m < platform.memories().size(); ++m) {
    const Memory& memory = platform.memories()[m];
    MemoryReport reported = memory_report(memory, result.memories[m], run.lowered.program.memory_categories);
    if (memory.device.valid()) {
      report.devices[memory.device.index()].memories.push_back(std::move(reported));
      continue;
    }
    const std::string name = memory.name.substr(0, memory.name.rfind('.'));
    if (owners.empty() || owners.back().id != name) owners.push_back({name, 0, {}, {}});
    owners.back().memories.push_back(std::move(reported));
  }
  for (DeviceReport& owner : owners) report.devices.push_back(std::move(owner));
  for (std::size_t l = 0; l < platform.links().size(); ++l) {
    report.links.push_back(
        {platform.links()[l].name, result.links[l].bytes, share_pct(result.links[l].busy, result.total)});
  }
}

// What a device does itself, waiting aside.
SimTime own_work(const CostVector& breakdown) {
  SimTime work;
  for (const CostCategory category : {CostCategory::compute, CostCategory::recompute, CostCategory::exchange,
                                      CostCategory::sync, CostCategory::weight_update, CostCategory::launch}) {
    work += breakdown[category];
  }
  return work;
}

// A link that is busy for longer than the device works hides behind that work only in part: it limits more than the
// largest category, in which its waits alone are counted.
void prefer_link(const SimulatedRun& run, const CostVector& breakdown, Report& report) {
  const auto& links = run.result.links;
  const auto busiest =
      std::max_element(links.begin(), links.end(), [](const LinkUse& a, const LinkUse& b) { return a.busy < b.busy; });
  if (busiest == links.end() || busiest->busy <= own_work(breakdown)) return;
  if (busiest->busy <= *std::max_element(breakdown.part.begin(), breakdown.part.end())) return;
  report.bottleneck = run.lowered.platform.links()[static_cast<std::size_t>(busiest - links.begin())].name;
  report.bottleneck_pct = share_pct(busiest->busy, run.result.total);
}

void add_bottleneck(const SimulatedRun& run, std::int64_t steps, Report& report) {
  const auto& devices = run.result.devices;
  if (devices.empty()) return;
  const auto busiest = std::max_element(devices.begin(), devices.end(),
                                        [](const DeviceUse& a, const DeviceUse& b) { return a.busy < b.busy; });
  report.busiest_device = run.lowered.platform.devices()[static_cast<std::size_t>(busiest - devices.begin())].name;
  report.breakdown = breakdown_of_step(busiest->breakdown, steps);
  PODSIM_CHECK(report.breakdown.total() == report.step_time,
               report.busiest_device + ": a breakdown that does not sum to the run's time");
  const auto& parts = report.breakdown.part;
  const auto largest = std::max_element(parts.begin(), parts.end());
  report.bottleneck = spoken(static_cast<CostCategory>(largest - parts.begin())) + " on " + report.busiest_device;
  report.bottleneck_pct = share_pct(*largest, report.step_time);
  prefer_link(run, busiest->breakdown, report);
}

// By link: whether transfers from or to the host use it.
std::vector<bool> host_links(const Lowered& lowered) {
  std::vector<bool> used(lowered.platform.links().size());
  for (const Segment& segment : lowered.program.segments) {
    for (const Op& op : segment.ops) {
      if (op.kind != OpKind::transfer || op.category != CostCategory::host_io) continue;
      for (const LinkId link : lowered.platform[op.route].links) used[link.index()] = true;
    }
  }
  return used;
}

// Waiting for the host is what limits a run where it is the largest part of some device's time, or where a link to
// the host is busier than every other link and every device.
void add_host_bound(const SimulatedRun& run, Report& report) {
  const SimTime total = run.result.total;
  std::string what;
  SimTime most;
  for (std::size_t d = 0; d < run.result.devices.size(); ++d) {
    const DeviceUse& use = run.result.devices[d];
    const SimTime host = use.breakdown[CostCategory::host_io];
    const auto& parts = use.breakdown.part;
    if (use.busy == SimTime() || host <= most || host != *std::max_element(parts.begin(), parts.end())) continue;
    most = host;
    what = spoken(CostCategory::host_io) + " on " + run.lowered.platform.devices()[d].name;
  }
  if (what.empty()) {
    for (const DeviceUse& use : run.result.devices) most = std::max(most, use.busy);
    const std::vector<bool> to_host = host_links(run.lowered);
    for (std::size_t l = 0; l < to_host.size(); ++l) {
      if (run.result.links[l].busy <= most) continue;
      most = run.result.links[l].busy;
      what = to_host[l] ? run.lowered.platform.links()[l].name : "";
    }
  }
  if (what.empty()) return;
  report.bottleneck = what;
  report.bottleneck_pct = share_pct(most, total);
  report.warnings.push_back("host-bound: " + what + " takes " + human_percent(report.bottleneck_pct) +
                            " of the step; a faster machine would wait for the host");
}

std::optional<SimTime> cycle_time_of(const ScheduleFacts& schedule, const SimulatedRun& run) {
  const auto mark = run.lowered.program.marks.find(schedule.cycle_mark);
  if (schedule.cycle_mark.empty() || mark == run.lowered.program.marks.end()) return std::nullopt;
  SimTime time;
  for (const SegmentId segment : mark->second) time += run.result.segment_duration[segment.index()];
  return time;
}

std::optional<double> value_called(const Report& report, std::string_view name) {
  const auto found = std::ranges::find(report.values, name, &ReportedValue::name);
  if (found == report.values.end()) return std::nullopt;
  return found->value;
}

Latency latency_of(const Report& report) {
  Latency latency;
  const std::int64_t cycles = report.schedule.request_cycles;
  latency.request_s = in_seconds(cycles > 0 && report.cycle_time ? cycles * *report.cycle_time : report.step_time);
  const std::int64_t tokens = report.batch.output_tokens;
  if (tokens == 0) return latency;
  const double evenly = in_seconds(step_time_of(report.step_time, tokens));
  latency.time_per_output_token_s = value_called(report, "time_per_output_token_s").value_or(evenly);
  latency.time_to_first_token_s = value_called(report, "time_to_first_token_s").value_or(evenly);
  return latency;
}

// value / steps, rounded to the nearest, halves up; steps above 0, value not negative.
std::int64_t divided(std::int64_t value, std::int64_t steps) {
  return value / steps + (value % steps >= steps - value % steps ? 1 : 0);
}

}  // namespace

SimTime step_time_of(SimTime total, std::int64_t steps) {
  PODSIM_CHECK(steps > 0, "a run has at least one step");
  return SimTime(divided(total.picoseconds(), steps));
}

CostVector breakdown_of_step(const CostVector& whole, std::int64_t steps) {
  CostVector step;
  SimTime sum;
  SimTime told;
  for (std::size_t c = 0; c < k_cost_categories; ++c) {
    sum += whole.part[c];
    step.part[c] = step_time_of(sum, steps) - told;
    told += step.part[c];
  }
  return step;
}

Throughput throughput_of(const StepFacts& facts, SimTime step_time) {
  Throughput result;
  const double time = in_seconds(step_time);
  if (!(time > 0)) return result;
  result.samples_per_s = static_cast<double>(facts.global_batch) / time;
  if (facts.images) result.images_per_s = result.samples_per_s;
  if (facts.tokens_per_sample > 0) {
    result.sequences_per_s = result.samples_per_s * facts.sequences_per_sample;
    result.tokens_per_s = result.samples_per_s * static_cast<double>(facts.tokens_per_sample);
  }
  if (facts.sequences_per_sample != 1.0) result.packs_per_s = result.samples_per_s;
  const double devices = static_cast<double>(facts.devices);
  if (devices > 0) result.samples_per_s_per_device = result.samples_per_s / devices;
  const double possible = devices * facts.device_peak.in_base() * time;
  if (possible > 0) {
    result.mfu_pct = 100.0 * facts.model_flop.in_base() / possible;
    result.hfu_pct = 100.0 * facts.hardware_flop.in_base() / possible;
  }
  return result;
}

// Possible only when constants contradict each other: those of the cost model and the chip's peak are given apart.
void warn_beyond_peak(Report& report) {
  if (!report.throughput || report.throughput->hfu_pct <= 100.0) return;
  report.warnings.push_back("more FLOP/s than the chip's peak: the constants of cost and chip do not belong together");
}

std::optional<TimeToTrain> time_to_train(const WorkloadSettings& settings, const StepFacts& facts, SimTime step_time) {
  if (settings.mode != RunMode::training || facts.global_batch <= 0) return std::nullopt;
  TimeToTrain result;
  if (settings.target_samples) {
    result.target_samples = static_cast<double>(*settings.target_samples);
  } else if (settings.target_tokens && facts.tokens_per_sample > 0) {
    result.target_samples = static_cast<double>(*settings.target_tokens) /
                            static_cast<double>(facts.tokens_per_sample) * facts.sequences_per_sample;
  } else if (settings.dataset_samples) {
    result.target_samples = static_cast<double>(*settings.dataset_samples) * settings.epochs.value_or(1.0);
  } else {
    return std::nullopt;
  }
  // Targets count sequences, the batch counts packs of them.
  const double sequences_per_update = static_cast<double>(facts.global_batch) * facts.sequences_per_sample;
  result.updates = std::ceil(result.target_samples / sequences_per_update);
  result.time_s = result.updates * in_seconds(step_time);
  result.excluded = {"evaluation", "checkpoints", "data loading", "compile"};
  return result;
}

Report make_report(const Plan& plan, const Verdict& verdict, const MemoryAccount& account) {
  Report report = common_report(plan, verdict, account);
  add_account_devices(account, report);
  return report;
}

namespace {

// The memories of devices first, in their order, then those of nobody; of equals the first.
FullestMemory fullest_of(const SimulatedRun& run) {
  const std::vector<Memory>& memories = run.lowered.platform.memories();
  FullestMemory fullest;
  std::uint32_t owner = 0;
  for (std::size_t m = 0; m < memories.size(); ++m) {
    if (memories[m].limit.count() <= 0) continue;
    const double fill = fill_pct(run.result.memories[m].peak, memories[m].limit);
    const bool earlier = fill == fullest.fill_pct && memories[m].device.value() < owner;
    if (!(fill > fullest.fill_pct) && !earlier) continue;
    fullest = {memories[m].name, fill};
    owner = memories[m].device.value();
  }
  return fullest;
}

void add_values(const Plan& plan, const SimulatedRun& run, Report& report) {
  const std::int64_t steps = report.batch.steps_per_run;
  report.engine = run.engine;
  report.engine->events = run.result.events;
  report.engine->simulated = run.result.total;
  report.engine->folded = run.result.folded;
  report.engine->repeats = run.result.repeats;
  report.engine->not_folded = run.lowered.not_folded;
  report.step_time = step_time_of(run.result.total, steps);
  report.throughput = throughput_of(report.batch, report.step_time);
  warn_beyond_peak(report);
  report.training = time_to_train(plan.settings, report.batch, report.step_time);
  report.cycle_time = cycle_time_of(report.schedule, run);
  report.values = plan.family->values(plan, run.lowered, run.result);
  if (report.mode != RunMode::training) report.latency = latency_of(report);
  add_bottleneck(run, steps, report);
  if (report.mode != RunMode::training) add_host_bound(run, report);
}

}  // namespace

double fill_pct(Bytes used, Bytes limit) {
  return 100.0 * static_cast<double>(used.count()) / static_cast<double>(limit.count());
}

Report make_values(const Plan& plan, const SimulatedRun& run) {
  Report report = report_of(plan);
  add_values(plan, run, report);
  report.fullest_memory = fullest_of(run);
  return report;
}

Report make_values(const Plan& plan, const Verdict& verdict, const MemoryAccount& account) {
  Report report = report_of(plan);
  report.verdict = verdict;
  report.fullest_memory = fullest_of(account);
  return report;
}

Report make_report(const Plan& plan, const Verdict& verdict, const MemoryAccount& account, const SimulatedRun& run) {
  Report report = common_report(plan, verdict, account);
  add_values(plan, run, report);
  add_machine(run, report.batch.steps_per_run, report);
  report.tables = plan.family->tables(plan, run.lowered, run.result);
  return report;
}

void add_loss_scale(LossScaleOutlook outlook, Report& report) {
  if (report.throughput) {
    report.throughput->effective_samples_per_s = report.throughput->samples_per_s * outlook.effective_share();
  }
  report.loss_scaling = std::move(outlook);
}

std::string_view name(RunMode mode) {
  switch (mode) {
    case RunMode::training:
      return "training";
    case RunMode::inference:
      return "inference";
    case RunMode::generation:
      return "generation";
  }
  return "";
}

}  // namespace podsim
