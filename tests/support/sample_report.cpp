#include "tests/support/sample_report.hpp"

namespace podsim::test {
namespace {

constexpr std::int64_t k_mebibyte = 1024 * 1024;

MemoryReport memory(const std::string& name, std::int64_t peak_mebibytes) {
  MemoryReport report{name,
                      Bytes(900 * k_mebibyte),
                      Bytes(800 * k_mebibyte),
                      Bytes(peak_mebibytes * k_mebibyte),
                      Bytes(300 * k_mebibyte),
                      SimTime(5'000'000'000),
                      {}};
  report.categories = {{"weights", Bytes(300 * k_mebibyte)},
                       {"activations", Bytes((peak_mebibytes - 300) * k_mebibyte)}};
  return report;
}

DeviceReport device(const std::string& id, std::int64_t compute_ms, std::int64_t peak_mebibytes) {
  DeviceReport report;
  report.id = id;
  report.utilisation_pct = static_cast<double>(compute_ms + 15) / 2;
  report.breakdown[CostCategory::compute] = SimTime(compute_ms * 1'000'000'000);
  report.breakdown[CostCategory::exchange] = SimTime(10'000'000'000);
  report.breakdown[CostCategory::weight_update] = SimTime(5'000'000'000);
  report.breakdown[CostCategory::bubble] = SimTime((185 - compute_ms) * 1'000'000'000);
  report.memories = {memory(id + ".memory", peak_mebibytes)};
  return report;
}

Report common() {
  Report report;
  report.tool_version = "1.2.3";
  report.tool_commit = "0123abcd";
  report.name = "sample";
  report.system = "duo";
  report.software = "stack-1";
  report.model = "tiny";
  report.inputs_sha256 = "00112233445566778899aabbccddeeff";
  report.plan = {{"workload.micro_batch_size", "2", "sample.toml:3:1"},
                 {"workload.optimizer", "\"lamb\"", "default: lamb"},
                 {"machine.layers", "[1, 2]", "command line"}};
  report.batch.micro_batch = 2;
  report.batch.global_batch = 1024;
  report.batch.samples_per_call = 2048;
  report.batch.steps_per_run = 2;
  report.batch.sequences_per_sample = 2.0;
  report.batch.tokens_per_sample = 512;
  report.batch.devices = 2;
  report.schedule = {"pipelined", 2, 4, 512, "cycle", 0};
  Constant constant;
  constant.name = "machine.link.bandwidth";
  constant.text = "64 GB/s";
  constant.base_value = 64e9;
  constant.dimension = "bandwidth";
  constant.source = "a data sheet";
  constant.confidence = "datasheet";
  report.provenance = {constant};
  report.warnings = {"sample.toml:9:1: warning: workload.x: has no effect"};
  report.account = {{"d0.memory", {{"weights", Bytes(300 * k_mebibyte), true}}}};
  return report;
}

void add_results(Report& report) {
  report.step_time = SimTime(200'000'000'000);
  report.throughput = Throughput{5120, 10240, 5120, 2621440, std::nullopt, 2560, 30.5, 40.25};
  report.devices = {device("d0", 100, 500), device("d1", 150, 700)};
  report.busiest_device = "d1";
  report.breakdown = report.devices[1].breakdown;
  report.bottleneck = "compute on d1";
  report.bottleneck_pct = 75;
  report.cycle_time = SimTime(380'000'000);
  report.training = TimeToTrain{1e6, 977, 195.4, {"evaluation", "compile"}};
  report.links = {{"d0 to d1", Bytes(64 * k_mebibyte), 12.5}, {"d1 to d0", Bytes(64 * k_mebibyte), 12.5}};
  Table table;
  table.name = "Stages";
  table.columns = {{"stage", ""}, {"time_s", "s"}, {"layers", ""}, {"note", ""}};
  table.rows = {{std::int64_t{0}, 0.125, std::int64_t{12}, std::string("embedding, first")},
                {std::int64_t{1}, 0.25, std::monostate{}, std::string()}};
  report.tables = {table};
}

}  // namespace

Report sample_report() {
  Report report = common();
  report.engine = EngineFacts{"native", 0.125, 1234, SimTime(400'000'000'000), true, true, {"ring: needs every link"}};
  report.evidence = {"case-7", 2.25, {"sequence length"}};
  add_results(report);
  return report;
}

LossScaleOutlook sample_loss_scale() {
  LossScaleOutlook outlook;
  outlook.scheme = "halving";
  outlook.experimental = true;
  outlook.number_format = "float16";
  outlook.overflow = "infinity";
  outlook.updates = 1000;
  outlook.last_updates = 500;
  outlook.initial_scale = 4;
  outlook.initial_origin = "sample.toml:8:1";
  outlook.reached_scale = 1024;
  outlook.limit_cycle = std::pair(1024.0, 2048.0);
  outlook.ramp_updates = 9;
  outlook.first_overflow_update = 10;
  outlook.skipped_share = 0.02;
  outlook.saturated_share = 0.03;
  outlook.flushed_share = 0.125;
  outlook.subnormal_share = 0.5;
  outlook.window = ScaleWindow{3, 12, "small", "large"};
  outlook.limiting_tensor = "large";
  outlook.notes = {"it is a sample"};
  return outlook;
}

Report sample_check_that_does_not_fit() {
  Report report = common();
  report.devices = {device("d0", 100, 500), device("d1", 150, 850)};
  for (DeviceReport& entry : report.devices) entry.breakdown = {};
  report.verdict.broken = {
      {"d1", "device memory", 850.0 * k_mebibyte, 800.0 * k_mebibyte, "byte", "micro_batch_size = 1"},
      {"d1", "open streams", 12, 8, "", ""}};
  return report;
}

}  // namespace podsim::test
