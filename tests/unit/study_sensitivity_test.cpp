#include "sim/study/sensitivity.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "models/catalog.hpp"
#include "sim/program/builder.hpp"

using namespace podsim;

namespace {

CostVector cost_of(CostCategory category, std::int64_t time) {
  CostVector cost;
  cost[category] = SimTime(time);
  return cost;
}

double gain_of(const std::vector<Lever>& levers, const std::string& name) {
  const auto found = std::ranges::find(levers, name, &Lever::name);
  REQUIRE_MESSAGE(found != levers.end(), name);
  REQUIRE(found->throughput_pct.has_value());
  return *found->throughput_pct;
}

struct Scene {
  Catalog catalog = make_catalog();
  ConfigFiles configs = ConfigFiles::embedded();
  VariedRuns runs{catalog, configs, false};

  Experiment experiment(const std::string& name) {
    Diagnostics diagnostics;
    Experiment written = read_experiment(name, configs, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.to_text());
    return written;
  }
  Plan plan(const Experiment& written) {
    std::string problem;
    std::optional<Plan> made = runs.plan(written, problem);
    REQUIRE_MESSAGE(made.has_value(), problem);
    return std::move(*made);
  }
};

}  // namespace

TEST_CASE("sensitivity: a resource gains what its time loses, and nothing behind a longer one") {
  // Two devices at once: 6600 ps of arithmetic and 1100 ps of exchange; 4400 ps of synchronisation beside them.
  Platform platform;
  const DeviceId busy = platform.add(Device{"busy"});
  const DeviceId idle = platform.add(Device{"idle"});
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("s");
  segment.local(busy, cost_of(CostCategory::compute, 6600), "a");
  segment.local(busy, cost_of(CostCategory::exchange, 1100), "b");
  segment.local(idle, cost_of(CostCategory::sync, 4400), "c");
  builder.add(std::move(segment));
  const Program program = std::move(builder).build({SegmentId(0)});
  const std::vector<Lever> levers = resource_levers(platform, program);
  REQUIRE(levers.size() == 3);
  CHECK(gain_of(levers, "arithmetic") == doctest::Approx(100 * (7700.0 / 7100 - 1)));
  CHECK(gain_of(levers, "exchange on a device") == doctest::Approx(100 * (7700.0 / 7600 - 1)));
  CHECK(gain_of(levers, "synchronisation") == 0);
}

TEST_CASE("sensitivity: a tenth more bandwidth takes a tenth less time for the same bytes, latency aside") {
  // 11 000 bytes at 1 GB/s after 1 us: 12 us; with a tenth more 10 us of flow, 11 us.
  Platform platform;
  const DeviceId from = platform.add(Device{"from"});
  const LinkId link = platform.add(Link{"link", bytes_per_second(1e9)});
  const RouteId route = platform.add(Route{"route", {link}, SimTime(1'000'000)});
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("s");
  segment.transfer(from, DeviceId(), route, Bytes(11000), CostCategory::collective, "t");
  builder.add(std::move(segment));
  const std::vector<Lever> levers = resource_levers(platform, std::move(builder).build({SegmentId(0)}));
  REQUIRE(levers.size() == 1);
  CHECK(gain_of(levers, "collectives") == doctest::Approx(100 * (12.0 / 11 - 1)));
}

TEST_CASE("sensitivity: settings keep the global batch where they can, and say what does not fit") {
  Scene scene;
  const Experiment written = scene.experiment("bert-large-bow-pod16");
  const Plan plan = scene.plan(written);
  const std::vector<Lever> levers = main_setting_levers(written, plan, scene.runs);
  const auto change = [&](const std::string& text) {
    const auto found = std::ranges::find_if(levers, [&](const Lever& l) { return l.change.starts_with(text); });
    REQUIRE_MESSAGE(found != levers.end(), text);
    return *found;
  };
  const Lever twice = change("8 to 16");
  CHECK(twice.change == "8 to 16, gradient_accumulation_steps 2048 to 1024");
  CHECK_FALSE(twice.throughput_pct.has_value());
  CHECK(twice.verdict.starts_with("then does not fit: "));
  CHECK(*change("8 to 4").throughput_pct < 0);
  CHECK(*change("2048 to 4096 (another global batch)").throughput_pct > 0);
}

TEST_CASE("sensitivity: a micro-batch that the accumulation cannot make up for changes the global batch") {
  // Twice the micro-batch would leave half of the accumulation, fewer cycles than the pipeline has stages.
  Scene scene;
  Experiment written = scene.experiment("bert-large-bow-pod16");
  Diagnostics diagnostics;
  for (const char* change : {"ipu.gradient_accumulation_steps=10", "workload.micro_batch_size=2"}) {
    apply_override(written, change, diagnostics);
  }
  REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.to_text());
  const std::vector<Lever> levers = main_setting_levers(written, scene.plan(written), scene.runs);
  const auto micro_batch = std::ranges::find(levers, "workload.micro_batch_size", &Lever::name);
  REQUIRE(micro_batch != levers.end());
  CHECK(micro_batch->change == "2 to 4 (another global batch)");
}

TEST_CASE("sensitivity: constants of the hardware are planned anew, with their verdicts") {
  Scene scene;
  const Experiment written = scene.experiment("bert-large-bow-pod16");
  const std::vector<Lever> levers = constant_levers(written, scene.plan(written), scene.runs);
  CHECK(gain_of(levers, "chip.clock") > 1);
  CHECK(gain_of(levers, "system.ring.bandwidth") > 0);
  CHECK(gain_of(levers, "system.ring.bandwidth") < 1);  // 0.9 % of the step is collective
  CHECK(std::ranges::none_of(levers, [](const Lever& lever) { return lever.name.starts_with("cost."); }));
}

TEST_CASE("sensitivity: the strongest stand first") {
  std::vector<Lever> levers{{Lever::Kind::hardware, "a", "", 1.0, ""},
                            {Lever::Kind::hardware, "b", "", -2.0, ""},
                            {Lever::Kind::setting, "c", "", std::nullopt, "then does not fit"},
                            {Lever::Kind::hardware, "d", "", 3.0, ""}};
  sort_by_strength(levers);
  CHECK(levers[0].name == "d");
  CHECK(levers[1].name == "a");
  CHECK(levers[2].name == "c");
  const Table table = sensitivity_table(levers);
  CHECK(table.rows.size() == 4);
  CHECK(table.view == k_sensitivity_view);
}

TEST_CASE("sensitivity: what rests on assumed constants follows from them") {
  Scene scene;
  const auto share = [&](const std::string& software) {
    Experiment written = scene.experiment("bert-large-bow-pod16");
    Diagnostics diagnostics;
    apply_override(written, "software=" + software, diagnostics);
    const std::optional<double> pct = assumed_share(written, scene.plan(written), scene.runs);
    REQUIRE(pct.has_value());
    return *pct;
  };
  // The factor on all that devices do is assumed in one profile and fitted in the other.
  CHECK(share("poplar-tensorflow1") > 80);
  CHECK(share("poplar-pytorch") < 10);
}
