#include <doctest/doctest.h>

#include <memory>
#include <utility>

#include "sim/core/check.hpp"
#include "sim/report/make_report.hpp"

using namespace podsim;

namespace {

// A family that answers with fixed facts.
class FixedFamily final : public Family {
 public:
  StepFacts facts;
  ScheduleFacts schedule{"pipelined", 1, 2, 10, "cycle", 0};

  std::string_view name() const override { return "fixed"; }
  const std::vector<KeySpec>& keys() const override { return keys_; }
  std::vector<std::pair<std::string, std::string>> keys_without_effect() const override { return {}; }
  std::unique_ptr<FamilyPlan> resolve(FamilyContext&, Diagnostics&) const override { return nullptr; }
  StepFacts step_facts(const Plan&) const override { return facts; }
  ScheduleFacts schedule_facts(const Plan&) const override { return schedule; }
  MemoryAccount memory_account(const Plan&) const override { return {}; }
  Verdict verdict(const Plan&, bool) const override { return {}; }
  Lowered lower(const Plan&, const LowerOptions&) const override { return {}; }
  std::vector<Table> tables(const Plan&, const Lowered&, const RunResult&) const override {
    return {Table{"t", {}, {}}};
  }

 private:
  std::vector<KeySpec> keys_;
};

class FixedPlan final : public FamilyPlan {
 public:
  std::vector<ResolvedKey> resolved() const override { return {{"fixed.key", "1", "default: 1"}}; }
  const std::vector<ConstantId>& constants_read() const override { return read_; }

 private:
  std::vector<ConstantId> read_;
};

// Two steps of 50 ps on two devices that are busy for 60 and 80 of 100 ps.
struct Setup {
  FixedFamily family;
  Plan plan;
  Lowered lowered;
  RunResult result;

  Setup() {
    family.facts.micro_batch = 1;
    family.facts.global_batch = 8;
    family.facts.steps_per_run = 2;
    family.facts.tokens_per_sample = 4;
    family.facts.model_flop = flop(300);
    family.facts.hardware_flop = flop(400);
    family.facts.device_peak = flop_per_second(1e13);
    family.facts.devices = 2;
    plan.name = "run";
    plan.family = &family;
    plan.family_plan = std::make_unique<FixedPlan>();
    plan.resolved = {{"name", "\"run\"", "command line"}};
    lowered.platform.add(Device{"d0"});
    lowered.platform.add(Device{"d1"});
    lowered.platform.add(Memory{"m1", DeviceId(1), Bytes(100), Bytes(90)});
    lowered.platform.add(Link{"l0", bytes_per_second(1)});
    lowered.program.memory_categories = {"weights", "activations"};
    lowered.program.marks["cycle"] = {SegmentId(0), SegmentId(1)};
    result.total = SimTime(100);
    result.events = 9;
    result.folded = true;
    result.devices.resize(2);
    result.devices[0].busy = SimTime(60);
    result.devices[0].breakdown[CostCategory::compute] = SimTime(60);
    result.devices[0].breakdown[CostCategory::bubble] = SimTime(40);
    result.devices[1].busy = SimTime(80);
    result.devices[1].breakdown[CostCategory::compute] = SimTime(31);
    result.devices[1].breakdown[CostCategory::off_chip_memory] = SimTime(49);
    result.devices[1].breakdown[CostCategory::bubble] = SimTime(20);
    result.links = {{Bytes(640), SimTime(25)}};
    result.memories = {{Bytes(30), Bytes(70), SimTime(12), {Bytes(70), Bytes(0)}}};
    result.segment_duration = {SimTime(7), SimTime(5), SimTime(11)};
  }

  Report report() const {
    return make_report(plan, {}, {}, {lowered, result, {"native", 0.5, 0, {}, false, false, {}}});
  }
};

}  // namespace

TEST_CASE("make report: a step is the run's time over its steps") {
  const Report report = Setup().report();
  CHECK(report.step_time == SimTime(50));
  CHECK(report.engine->simulated == SimTime(100));
  CHECK(report.engine->events == 9);
  CHECK(report.engine->folded);
  CHECK_FALSE(report.engine->repeats);
  CHECK(report.engine->wall_s == 0.5);
}

TEST_CASE("make report: the breakdown is that of the busiest device and sums to the step") {
  const Report report = Setup().report();
  CHECK(report.busiest_device == "d1");
  CHECK(report.breakdown.total() == SimTime(50));
  // Boundaries at 31/2, 80/2 and 100/2, halves up: 16, 40, 50.
  CHECK(report.breakdown[CostCategory::compute] == SimTime(16));
  CHECK(report.breakdown[CostCategory::off_chip_memory] == SimTime(24));
  CHECK(report.breakdown[CostCategory::bubble] == SimTime(10));
  CHECK(report.bottleneck == "off chip memory on d1");
  CHECK(report.bottleneck_pct == doctest::Approx(48));
}

TEST_CASE("make report: a link busier than the device works, and than any part of its time, is the bottleneck") {
  Setup setup;
  setup.result.links[0].busy = SimTime(49);  // no more than the waits for it
  CHECK(setup.report().bottleneck == "off chip memory on d1");
  setup.result.links[0].busy = SimTime(70);
  CHECK(setup.report().bottleneck == "l0");
  CHECK(setup.report().bottleneck_pct == doctest::Approx(70));
  setup.result.devices[1].breakdown[CostCategory::exchange] = SimTime(40);
  setup.result.devices[1].breakdown[CostCategory::off_chip_memory] = SimTime(9);
  CHECK(setup.report().bottleneck == "exchange on d1");  // the device works for 71 of 100 ps
}

TEST_CASE("make report: of equally busy devices the first is shown") {
  Setup setup;
  setup.result.devices[0].busy = SimTime(80);
  CHECK(setup.report().busiest_device == "d0");
}

TEST_CASE("make report: a breakdown that does not sum to the time is our fault") {
  Setup setup;
  setup.result.devices[1].breakdown[CostCategory::bubble] = SimTime(2);
  CHECK_THROWS_AS(setup.report(), InternalError);
}

TEST_CASE("make report: devices, memories and links carry what was measured") {
  const Report report = Setup().report();
  REQUIRE(report.devices.size() == 2);
  CHECK(report.devices[0].utilisation_pct == doctest::Approx(60));
  REQUIRE(report.devices[1].memories.size() == 1);
  const MemoryReport& memory = report.devices[1].memories[0];
  CHECK(memory.limit == Bytes(90));
  CHECK(memory.peak == Bytes(70));
  CHECK(memory.peak_time == SimTime(12));
  REQUIRE(memory.categories.size() == 1);
  CHECK(memory.categories[0].first == "weights");
  CHECK(report.links[0].bytes == Bytes(640));
  CHECK(report.links[0].busy_pct == doctest::Approx(25));
}

TEST_CASE("make report: the cycle time is the sum over the segments of its mark") {
  Setup setup;
  CHECK(setup.report().cycle_time == SimTime(12));
  setup.family.schedule.cycle_mark = "";
  CHECK_FALSE(setup.report().cycle_time.has_value());
}

TEST_CASE("make report: the plan lists shared keys and then the family's") {
  const Report report = Setup().report();
  REQUIRE(report.plan.size() == 2);
  CHECK(report.plan[0].path == "name");
  CHECK(report.plan[1].path == "fixed.key");
  CHECK(report.tables.size() == 1);
}

TEST_CASE("make report: a check shows the memories of the account and no times") {
  const Setup setup;
  MemoryAccount account;
  account.memories = {{"m0", "d0", Bytes(100), Bytes(90), {{"weights", Bytes(40), true}, {"stash", Bytes(20), false}}},
                      {"s0", "d0", Bytes(200), Bytes(200), {{"optimizer", Bytes(150), true}}}};
  const Report report = make_report(setup.plan, {}, account);
  CHECK_FALSE(report.engine.has_value());
  CHECK_FALSE(report.throughput.has_value());
  REQUIRE(report.devices.size() == 1);
  REQUIRE(report.devices[0].memories.size() == 2);
  CHECK(report.devices[0].memories[0].peak == Bytes(60));
  CHECK(report.devices[0].memories[0].always_live == Bytes(40));
  CHECK(report.account.size() == 2);
}

TEST_CASE("throughput: rates follow from the batch, the step time and the FLOP") {
  const Setup setup;
  // 8 samples of 4 tokens in 50 ps; 300 and 400 FLOP of 2 devices x 1e13 FLOP/s x 50 ps = 1000 FLOP.
  const Throughput throughput = throughput_of(setup.family.facts, SimTime(50));
  CHECK(throughput.samples_per_s == doctest::Approx(8 / 50e-12));
  CHECK(*throughput.tokens_per_s == doctest::Approx(32 / 50e-12));
  CHECK(*throughput.sequences_per_s == doctest::Approx(8 / 50e-12));
  CHECK(throughput.samples_per_s_per_device == doctest::Approx(4 / 50e-12));
  CHECK(throughput.mfu_pct == doctest::Approx(30));
  CHECK(throughput.hfu_pct == doctest::Approx(40));
  CHECK_FALSE(throughput.packs_per_s.has_value());
  CHECK_FALSE(throughput.images_per_s.has_value());
}

TEST_CASE("throughput: packs and the sequences in them are told apart") {
  StepFacts facts = Setup().family.facts;
  facts.sequences_per_sample = 2.5;
  const Throughput throughput = throughput_of(facts, SimTime(50));
  CHECK(*throughput.packs_per_s == doctest::Approx(8 / 50e-12));
  CHECK(*throughput.sequences_per_s == doctest::Approx(20 / 50e-12));
}

TEST_CASE("throughput: an image model has images and neither tokens nor sequences") {
  StepFacts facts = Setup().family.facts;
  facts.images = true;
  facts.tokens_per_sample = 0;
  const Throughput throughput = throughput_of(facts, SimTime(50));
  CHECK(*throughput.images_per_s == doctest::Approx(8 / 50e-12));
  CHECK_FALSE(throughput.tokens_per_s.has_value());
  CHECK_FALSE(throughput.sequences_per_s.has_value());
}

TEST_CASE("breakdown of a step: parts sum to the rounded step whatever the remainders") {
  CostVector whole;
  for (std::size_t c = 0; c < k_cost_categories; ++c) whole.part[c] = SimTime(static_cast<std::int64_t>(7 * c + 3));
  for (const std::int64_t steps : {1, 2, 3, 7, 1000}) {
    CHECK(breakdown_of_step(whole, steps).total() == step_time_of(whole.total(), steps));
  }
  CHECK(breakdown_of_step(whole, 1) == whole);
}

TEST_CASE("step time: is rounded to the nearest picosecond, halves up") {
  CHECK(step_time_of(SimTime(7), 2) == SimTime(4));
  CHECK(step_time_of(SimTime(7), 3) == SimTime(2));
  CHECK(step_time_of(SimTime(8), 3) == SimTime(3));
}

TEST_CASE("time to train: updates are rounded up and other work is named as excluded") {
  StepFacts facts;
  facts.global_batch = 100;
  facts.tokens_per_sample = 10;
  WorkloadSettings settings;
  CHECK_FALSE(time_to_train(settings, facts, SimTime(1)).has_value());
  settings.target_samples = 1001;
  const auto samples = time_to_train(settings, facts, SimTime(2'000'000'000'000));
  REQUIRE(samples.has_value());
  CHECK(samples->updates == 11);
  CHECK(samples->time_s == doctest::Approx(22));
  CHECK(samples->excluded == std::vector<std::string>{"evaluation", "checkpoints", "data loading", "compile"});
  settings.target_samples.reset();
  settings.target_tokens = 5000;
  CHECK(time_to_train(settings, facts, SimTime(1))->updates == 5);
  settings.target_tokens.reset();
  settings.dataset_samples = 300;
  settings.epochs = 1.5;
  CHECK(time_to_train(settings, facts, SimTime(1))->target_samples == 450);
  settings.mode = RunMode::inference;
  CHECK_FALSE(time_to_train(settings, facts, SimTime(1)).has_value());
}

// Targets are sequences. 100 packs of 2 in an update: 2000 sequences take 10 updates, as do 1000 packs of 16 tokens.
TEST_CASE("time to train: with packing a target counts sequences, not packs") {
  StepFacts facts;
  facts.global_batch = 100;
  facts.sequences_per_sample = 2.0;
  facts.tokens_per_sample = 16;
  WorkloadSettings settings;
  settings.target_samples = 2000;
  CHECK(time_to_train(settings, facts, SimTime(1))->updates == 10);
  CHECK(time_to_train(settings, facts, SimTime(1))->target_samples == 2000);
  settings.target_samples.reset();
  settings.target_tokens = 16'000;
  CHECK(time_to_train(settings, facts, SimTime(1))->updates == 10);
  CHECK(time_to_train(settings, facts, SimTime(1))->target_samples == 2000);
  settings.target_tokens.reset();
  settings.dataset_samples = 1000;
  settings.epochs = 3;
  CHECK(time_to_train(settings, facts, SimTime(1))->updates == 15);
}
