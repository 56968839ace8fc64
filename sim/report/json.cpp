// The report as JSON: base units, units in the names of keys. Sections that a run does not have are null.

#include <cmath>

#include "sim/config/value.hpp"
#include "sim/core/json_writer.hpp"
#include "sim/report/human.hpp"
#include "sim/report/report.hpp"
#include "sim/report/uncertainty_format.hpp"

namespace podsim {
namespace {

// A value that is there, or null.
template <class T>
void member_or_null(JsonWriter& json, std::string_view key, const std::optional<T>& content) {
  json.key(key);
  if (content)
    json.value(*content);
  else
    json.null();
}

// A member that is left out where it has no meaning.
template <class T>
void member_if(JsonWriter& json, std::string_view key, const std::optional<T>& content) {
  if (content) json.member(key, *content);
}

void write_strings(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key);
  json.begin_array();
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

void write_value(JsonWriter& json, const Value& value) {
  switch (value.kind()) {
    case Value::Kind::null:
      return json.null();
    case Value::Kind::boolean:
      return json.value(value.as_boolean());
    case Value::Kind::integer:
      return json.value(value.as_integer());
    case Value::Kind::floating:
      return json.value(value.as_number());
    case Value::Kind::string:
      return json.value(value.as_string());
    case Value::Kind::array:
      json.begin_array();
      for (const Value& element : value.elements()) write_value(json, element);
      return json.end_array();
    case Value::Kind::table:
      json.begin_object();
      for (const Value::Member& member : value.members()) {
        json.key(member.key);
        write_value(json, member.value);
      }
      return json.end_object();
  }
}

void write_inputs(JsonWriter& json, const Report& report) {
  json.key("inputs");
  json.begin_object();
  json.member("sha256", report.inputs_sha256);
  json.member("name", report.name);
  json.member("system", report.system);
  json.member("software", report.software);
  json.member("model", report.model);
  json.member("mode", name(report.mode));
  Value plan = Value::table({});
  for (const ResolvedKey& key : report.plan) plan.set(key.path, parse_override_value(key.toml_value, {}));
  json.key("plan");
  write_value(json, plan);
  json.key("origins");
  json.begin_object();
  for (const ResolvedKey& key : report.plan) json.member(key.path, key.origin);
  json.end_object();
  json.end_object();
}

void write_engine(JsonWriter& json, const std::optional<EngineFacts>& engine) {
  json.key("engine");
  if (!engine) return json.null();
  json.begin_object();
  json.member("name", engine->name);
  json.member("events", engine->events);
  json.member("wall_s", engine->wall_s);
  json.member("simulated_s", in_seconds(engine->simulated));
  json.member("folded", engine->folded);
  json.member("repeats", engine->repeats);
  write_strings(json, "not_folded", engine->not_folded);
  json.end_object();
}

void write_verdict(JsonWriter& json, const Report& report) {
  json.key("verdict");
  json.begin_object();
  json.member("fits", report.verdict.fits());
  json.key("why_not");
  json.begin_array();
  for (const BrokenLimit& broken : report.verdict.broken) {
    json.begin_object();
    json.member("device", broken.device);
    json.member("limit", broken.limit);
    json.member("need", broken.need);
    json.member("have", broken.have);
    json.member("unit", broken.unit);
    json.member("remedy", broken.remedy);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  json.key("evidence");
  json.begin_object();
  json.member("nearest_case", report.evidence.nearest_case);
  member_or_null(json, "its_error_pct", report.evidence.its_error_pct);
  write_strings(json, "outside", report.evidence.outside);
  json.end_object();
}

void write_throughput(JsonWriter& json, const Report& report) {
  json.key("batch");
  json.begin_object();
  json.member("micro", report.batch.micro_batch);
  json.member("global", report.batch.global_batch);
  json.member("samples_per_call", report.batch.samples_per_call);
  json.member("assumption", report.batch.assumption);
  json.member("condition", report.batch.condition);
  json.end_object();
  json.key("throughput");
  if (!report.throughput) return json.null();
  const Throughput& throughput = *report.throughput;
  json.begin_object();
  json.member("samples_per_s", throughput.samples_per_s);
  member_if(json, "sequences_per_s", throughput.sequences_per_s);
  member_if(json, "packs_per_s", throughput.packs_per_s);
  member_if(json, "tokens_per_s", throughput.tokens_per_s);
  member_if(json, "images_per_s", throughput.images_per_s);
  member_if(json, "effective_samples_per_s", throughput.effective_samples_per_s);
  json.member("samples_per_s_per_device", throughput.samples_per_s_per_device);
  json.member("mfu_pct", throughput.mfu_pct);
  json.member("hfu_pct", throughput.hfu_pct);
  json.end_object();
}

void write_latency(JsonWriter& json, const std::optional<Latency>& latency) {
  json.key("latency");
  if (!latency) return json.null();
  json.begin_object();
  member_if(json, "request_s", latency->request_s);
  member_if(json, "time_to_first_token_s", latency->time_to_first_token_s);
  member_if(json, "time_per_output_token_s", latency->time_per_output_token_s);
  json.end_object();
}

void write_breakdown(JsonWriter& json, const CostVector& breakdown) {
  json.key("breakdown_s");
  json.begin_object();
  for (std::size_t c = 0; c < k_cost_categories; ++c) {
    json.member(name(static_cast<CostCategory>(c)), in_seconds(breakdown.part[c]));
  }
  json.end_object();
}

void write_step(JsonWriter& json, const Report& report) {
  json.key("step");
  if (!report.engine) return json.null();
  json.begin_object();
  json.member("time_s", in_seconds(report.step_time));
  json.member("time_ps", report.step_time.picoseconds());
  json.member("samples", report.batch.global_batch);
  json.member("device", report.busiest_device);
  write_breakdown(json, report.breakdown);
  json.end_object();
}

void write_schedule(JsonWriter& json, const Report& report) {
  const ScheduleFacts& schedule = report.schedule;
  json.key("schedule");
  json.begin_object();
  json.member("kind", schedule.kind);
  json.member("forward_stages", schedule.forward_stages);
  json.member("stages", schedule.stages);
  json.member("cycles_per_update", schedule.cycles_per_update);
  json.key("cycle_time_s");
  if (report.cycle_time)
    json.value(in_seconds(*report.cycle_time));
  else
    json.null();
  json.member("sections", schedule.sections);
  json.end_object();
}

void write_training(JsonWriter& json, const std::optional<TimeToTrain>& training) {
  json.key("training");
  if (!training) return json.null();
  json.begin_object();
  json.member("target_samples", training->target_samples);
  json.member("updates", training->updates);
  json.member("time_s", training->time_s);
  write_strings(json, "excluded", training->excluded);
  json.end_object();
}

void write_compile(JsonWriter& json, const std::optional<CompileEstimate>& compile) {
  json.key("compile");
  if (!compile) return json.null();
  json.begin_object();
  json.member("estimate_s", compile->estimate.in_base());
  json.member("low_s", compile->low.in_base());
  json.member("high_s", compile->high.in_base());
  json.member("sections", compile->sections);
  json.member("unique_sections", compile->unique_sections);
  json.member("cached", compile->cached);
  json.end_object();
}

void write_window(JsonWriter& json, const std::optional<ScaleWindow>& window) {
  json.key("recommended_window");
  if (!window) return json.null();
  json.begin_object();
  json.member("feasible", window->feasible());
  json.member("low_log2", window->low_log2);
  json.member("high_log2", window->high_log2);
  json.member("low_tensor", window->low_tensor);
  json.member("high_tensor", window->high_tensor);
  json.end_object();
}

void write_loss_scaling(JsonWriter& json, const std::optional<LossScaleOutlook>& outlook) {
  json.key("loss_scaling");
  if (!outlook) return json.null();
  json.begin_object();
  json.member("scheme", outlook->scheme);
  json.member("experimental", outlook->experimental);
  json.member("verdict", name(outlook->verdict));
  json.member("number_format", outlook->number_format);
  json.member("overflow", outlook->overflow);
  json.member("initial_scale", outlook->initial_scale);
  json.member("initial_origin", outlook->initial_origin);
  member_or_null(json, "reached_scale", outlook->reached_scale);
  json.key("limit_cycle");
  if (outlook->limit_cycle) {
    json.begin_object();
    json.member("low_scale", outlook->limit_cycle->first);
    json.member("high_scale", outlook->limit_cycle->second);
    json.end_object();
  } else {
    json.null();
  }
  json.member("updates", outlook->updates);
  json.member("ramp_updates", outlook->ramp_updates);
  member_or_null(json, "first_overflow_update", outlook->first_overflow_update);
  member_or_null(json, "ended_update", outlook->ended_update);
  json.member("last_updates", outlook->last_updates);
  json.member("skipped_updates_pct", 100 * outlook->skipped_share);
  json.member("saturated_updates_pct", 100 * outlook->saturated_share);
  json.member("flushed_values_pct", 100 * outlook->flushed_share);
  json.member("subnormal_values_pct", 100 * outlook->subnormal_share);
  write_window(json, outlook->window);
  json.member("limiting_tensor", outlook->limiting_tensor);
  write_strings(json, "notes", outlook->notes);
  json.end_object();
}

void write_memory(JsonWriter& json, const MemoryReport& memory) {
  json.begin_object();
  json.member("name", memory.name);
  json.member("capacity_bytes", memory.capacity.count());
  json.member("limit_bytes", memory.limit.count());
  json.member("peak_bytes", memory.peak.count());
  json.member("peak_time_s", in_seconds(memory.peak_time));
  json.member("always_live_bytes", memory.always_live.count());
  json.key("categories");
  json.begin_object();
  for (const auto& [category, bytes] : memory.categories) json.member(category, bytes.count());
  json.end_object();
  json.end_object();
}

void write_devices(JsonWriter& json, const Report& report) {
  json.key("devices");
  json.begin_array();
  for (const DeviceReport& device : report.devices) {
    json.begin_object();
    json.member("id", device.id);
    if (report.engine) {
      json.member("utilisation_pct", device.utilisation_pct);
      write_breakdown(json, device.breakdown);
    }
    json.key("memories");
    json.begin_array();
    for (const MemoryReport& memory : device.memories) write_memory(json, memory);
    json.end_array();
    json.end_object();
  }
  json.end_array();
}

void write_links(JsonWriter& json, const Report& report) {
  json.key("links");
  json.begin_array();
  for (const LinkReport& link : report.links) {
    json.begin_object();
    json.member("name", link.name);
    json.member("bytes", link.bytes.count());
    json.member("busy_pct", link.busy_pct);
    json.end_object();
  }
  json.end_array();
  json.key("bottleneck");
  if (!report.engine) return json.null();
  json.begin_object();
  json.member("resource", report.bottleneck);
  json.member("share_pct", report.bottleneck_pct);
  json.end_object();
}

void write_account(JsonWriter& json, const Report& report) {
  json.key("memory_account");
  json.begin_array();
  for (const auto& [memory, entries] : report.account) {
    json.begin_object();
    json.member("memory", memory);
    json.key("entries");
    json.begin_array();
    for (const MemoryAccountEntry& entry : entries) {
      json.begin_object();
      json.member("category", entry.category);
      json.member("bytes", entry.bytes.count());
      json.member("always_live", entry.always_live);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
}

void write_provenance(JsonWriter& json, const Report& report) {
  json.key("provenance");
  json.begin_array();
  for (const Constant& constant : report.provenance) {
    json.begin_object();
    json.member("constant", constant.name);
    if (constant.dimension == "text")
      json.member("value", constant.text);
    else
      json.member("value", constant.base_value);
    json.member("unit", base_unit(constant.dimension));
    json.member("written", constant.text);
    json.member("source", constant.source);
    json.member("confidence", constant.confidence);
    json.end_object();
  }
  json.end_array();
}

void write_cell(JsonWriter& json, const Cell& cell) {
  if (const auto* truth = std::get_if<bool>(&cell))
    json.value(*truth);
  else if (const auto* integer = std::get_if<std::int64_t>(&cell))
    json.value(*integer);
  else if (const auto* number = std::get_if<double>(&cell); number && std::isfinite(*number))
    json.value(*number);
  else if (const auto* text = std::get_if<std::string>(&cell))
    json.value(*text);
  else
    json.null();
}

void write_table(JsonWriter& json, const Table& table) {
  json.begin_object();
  json.member("name", table.name);
  json.key("columns");
  json.begin_array();
  for (const Column& column : table.columns) {
    json.begin_object();
    json.member("name", column.name);
    json.member("unit", column.unit);
    json.end_object();
  }
  json.end_array();
  json.key("rows");
  json.begin_array();
  for (const std::vector<Cell>& row : table.rows) {
    json.begin_array();
    for (const Cell& cell : row) write_cell(json, cell);
    json.end_array();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string to_json(const Report& report) {
  JsonWriter json;
  json.begin_object();
  json.key("tool");
  json.begin_object();
  json.member("name", "podsim");
  json.member("version", report.tool_version);
  json.member("commit", report.tool_commit);
  json.end_object();
  write_inputs(json, report);
  write_engine(json, report.engine);
  write_verdict(json, report);
  write_throughput(json, report);
  write_latency(json, report.latency);
  json.key("values");
  json.begin_object();
  for (const ReportedValue& value : report.values) json.member(value.name, value.value);
  json.end_object();
  write_step(json, report);
  write_schedule(json, report);
  write_training(json, report.training);
  write_compile(json, report.compile);
  write_devices(json, report);
  write_links(json, report);
  write_loss_scaling(json, report.loss_scaling);
  write_uncertainty(json, report);
  json.key("energy");
  json.null();
  write_account(json, report);
  write_provenance(json, report);
  json.key("tables");
  json.begin_array();
  for (const Table& table : report.tables) write_table(json, table);
  json.end_array();
  write_strings(json, "warnings", report.warnings);
  json.end_object();
  return json.text();
}

}  // namespace podsim
