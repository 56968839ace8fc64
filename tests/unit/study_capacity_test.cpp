#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "models/catalog.hpp"
#include "sim/study/capacity.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;

namespace {

CapacityCosts costs_of(const std::string& toml) {
  Diagnostics diagnostics;
  const auto document = parse_toml(toml, "c.toml", diagnostics);
  REQUIRE(document.has_value());
  CapacityCosts costs = read_capacity_costs(*document, diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.to_text());
  return costs;
}

std::string told(const std::string& toml) {
  Diagnostics diagnostics;
  const auto document = parse_toml(toml, "c.toml", diagnostics);
  REQUIRE(document.has_value());
  read_capacity_costs(*document, diagnostics);
  return diagnostics.to_text();
}

struct Scene {
  // BERT-Large phase 1, a thousand million samples.
  CapacityCandidate on(const std::string& system, std::int64_t nodes = 0,
                       const std::vector<std::string>& overrides = {}) const {
    Diagnostics diagnostics;
    Experiment experiment = read_experiment("bert-large-bow-pod16", configs, diagnostics);
    apply_override(experiment, "workload.target_samples=1000000000", diagnostics);
    for (const std::string& assignment : overrides) apply_override(experiment, assignment, diagnostics);
    REQUIRE(!diagnostics.has_errors());
    return {experiment, system, nodes};
  }
  Capacity plan(const std::vector<CapacityCandidate>& candidates, const CapacityGoal& goal = {},
                const CapacityCosts& costs = {}, bool mixed = false) const {
    return plan_capacity(candidates, goal, costs, mixed, catalog, configs);
  }
  std::string refused(const std::vector<CapacityCandidate>& candidates, const CapacityCosts& costs = {}) const {
    try {
      plan(candidates, {}, costs);
    } catch (const ConfigError& error) {
      return error.diagnostics().to_text();
    }
    return "";
  }
  Catalog catalog = make_catalog();
  ConfigFiles configs = ConfigFiles::embedded();
};

}  // namespace

TEST_CASE("capacity: checkpoints by the first-order interval when they are short") {
  // Young: sqrt(2 · 10 s · 10^6 s) = 4472 s; Daly's terms change it by less than 1 %.
  const CheckpointPlan plan = best_checkpoints({seconds(1e6), seconds(10), seconds(60)});
  CHECK(plan.interval.in_base() == doctest::Approx(std::sqrt(2 * 10 * 1e6)).epsilon(0.01));
  // Lost: a checkpoint per interval, half an interval per failure, the restart: 10/4472 + 4472/2e6 + 60/1e6 = 0.45 %.
  CHECK(1 - plan.goodput == doctest::Approx(10 / 4472.0 + 4472.0 / 2e6 + 60 / 1e6).epsilon(0.02));
}

TEST_CASE("capacity: no other interval leaves more than the best one, within what Daly's approximation is worth") {
  const Failures failures{seconds(20'000), seconds(120), seconds(600)};
  const auto goodput = [&](double interval) {
    const double m = failures.between.in_base();
    return interval / (m * std::exp(failures.restart.in_base() / m) *
                       (std::exp((interval + failures.checkpoint.in_base()) / m) - 1));
  };
  const CheckpointPlan plan = best_checkpoints(failures);
  CHECK(plan.goodput == doctest::Approx(goodput(plan.interval.in_base())).epsilon(1e-12));
  for (double interval = 200; interval < 20'000; interval *= 1.05) CHECK(goodput(interval) <= plan.goodput * 1.0005);
}

TEST_CASE("capacity: failures more frequent than checkpoints leave little") {
  const CheckpointPlan plan = best_checkpoints({seconds(10), seconds(60), seconds(5)});
  CHECK(plan.interval.in_base() == 10);
  CHECK(plan.goodput < 0.01);
}

TEST_CASE("capacity: costs are read with their units and have no defaults") {
  const CapacityCosts costs = costs_of(
      "currency = \"EUR\"\nelectricity_price_per_kwh = 0.2\npue = 1.2\n[systems.a]\nprice_per_hour = 3\n"
      "power = \"2 kW\"\nhost_power = \"500 W\"\nmtbf = \"100 h\"\n[checkpoint]\nsize = \"4 GB\"\n"
      "bandwidth = \"1 GB/s\"\nrestart = \"10 min\"\n[[rows]]\nname = \"x\"\nsamples_per_s = 5\ndevices = 2\n");
  CHECK(costs.currency == "EUR");
  CHECK(costs.systems.at("a").power->in_base() == 2000);
  CHECK(costs.systems.at("a").mtbf->in_base() == 360'000);
  CHECK(costs.restart->in_base() == 600);
  REQUIRE(costs.rows.size() == 1);
  CHECK_FALSE(costs.rows[0].costs.power.has_value());
  CHECK_FALSE(costs_of("").pue.has_value());
}

TEST_CASE("capacity: faults in costs are told") {
  CHECK(told("curency = \"EUR\"\n") == "c.toml:1:1: curency: unknown key; did you mean \"currency\"?\n");
  CHECK(told("pue = 0.5\n") == "c.toml:1:7: pue: 0.5 is out of range; expected from 1 to 1000000000000\n");
  CHECK(told("[systems.a]\npower = 3\n").find("c.toml:2:9: systems.a.power: 3 has no unit") == 0);
  CHECK(told("rows = 3\n") == "c.toml:1:8: rows: is an integer; expected tables, each under [[rows]]\n");
  CHECK(told("[[rows]]\nname = \"x\"\ndevices = 2\n")
            .find("rows.samples_per_s: is missing; expected name, samples_per_s and devices\n") != std::string::npos);
}

TEST_CASE("capacity: a larger system keeps the batch, and the smallest that meets the deadline is chosen") {
  const Scene scene;
  const Capacity capacity = scene.plan({scene.on("bow-pod16"), scene.on("bow-pod64"), scene.on("bow-pod128")},
                                       {seconds(24 * 3600), {}, {}, {}, {}});
  REQUIRE(capacity.rows.size() == 3);
  CHECK(capacity.rows[0].status == CapacityStatus::misses);
  CHECK(capacity.rows[0].training->in_base() / 3600 == doctest::Approx(54).epsilon(0.03));
  CHECK(capacity.rows[1].training->in_base() / 3600 == doctest::Approx(14).epsilon(0.05));
  CHECK(capacity.rows[1].changed == "ipu.replication_factor = 16, ipu.gradient_accumulation_steps = 512");
  CHECK(capacity.rows[1].work.global_batch == 65536);
  CHECK(capacity.rows[2].status == CapacityStatus::meets);
  REQUIRE(capacity.chosen.has_value());
  CHECK(*capacity.chosen == 1);
  REQUIRE(capacity.reasons.size() == 4);
  CHECK(capacity.reasons[0].starts_with("bow-pod64 has 4 times the devices of bow-pod16 and 3."));
  CHECK(capacity.reasons[1].find("beyond a share of 0.25 of the smaller one's step: ") != std::string::npos);
  CHECK(capacity.reasons[2] == "each update still fills and drains 9 stages: 8 of 520 cycles instead of 8 of 2056");
}

TEST_CASE("capacity: the settings it derives are those of the published run") {
  const Scene scene;
  Diagnostics diagnostics;
  Experiment published = read_experiment("bert-large-bow-pod64", scene.configs, diagnostics);
  apply_override(published, "workload.target_samples=1000000000", diagnostics);
  const Capacity capacity = scene.plan({scene.on("bow-pod64"), {published, "", 0}});
  CHECK(capacity.rows[0].samples_per_s == capacity.rows[1].samples_per_s);
}

TEST_CASE("capacity: idle devices are counted, and a batch that cannot be shared is told") {
  const Scene scene;
  const Capacity idle = scene.plan({scene.on("", 0, {"system=bow-pod64"})});
  CHECK(idle.rows[0].devices == 64);
  CHECK(idle.rows[0].idle_devices == 48);
  const Capacity odd = scene.plan({scene.on("bow-pod64", 0, {"ipu.gradient_accumulation_steps=2047"})});
  CHECK(odd.rows[0].status == CapacityStatus::invalid);
  CHECK(odd.rows[0].misses.front() ==
        "capacity: bow-pod64: 8188 micro-batches of an update cannot be shared by 16 copies; expected an experiment of "
        "this system with the same global batch, as a further argument");
  CHECK_FALSE(odd.chosen.has_value());
}

TEST_CASE("capacity: different work is not compared silently") {
  const Scene scene;
  const std::vector<CapacityCandidate> batches{scene.on("bow-pod16"),
                                               scene.on("", 0, {"ipu.gradient_accumulation_steps=1024"})};
  CHECK(
      scene.refused(batches) ==
      "command line: bow-pod16: is not of the same work: global batch of 65,536 on bow-pod16, of 32,768 on bow-pod16; "
      "expected equal settings, or --mixed\n");
  CHECK(scene.refused({scene.on(""), scene.on("", 0, {"workload.precision=fp16.32"})})
            .find("precision of fp16.16 on bow-pod16, of fp16.32 on") != std::string::npos);
  CHECK(scene.refused({scene.on(""), scene.on("", 0, {"workload.packing_factor=1.5"})}).find("packing of 1 ") !=
        std::string::npos);
  CHECK(scene.refused({scene.on(""), scene.on("", 0, {"model.head=none"})})
            .find("head of pretraining on bow-pod16, of none on bow-pod16; expected equal settings, or --mixed") !=
        std::string::npos);
  const Capacity mixed = scene.plan(batches, {}, {}, true);
  REQUIRE(mixed.warnings.size() == 1);
  CHECK(mixed.warnings[0].starts_with("not of the same work: global batch of 65,536"));
}

TEST_CASE("capacity: energy, cost and failures follow from what was given") {
  const Scene scene;
  const CapacityCosts costs = costs_of(
      "currency = \"EUR\"\nelectricity_price_per_kwh = 0.5\npue = 1.5\n[systems.bow-pod16]\nprice_per_hour = 10\n"
      "power = \"4 kW\"\nhost_power = \"1 kW\"\nmtbf = \"1000 h\"\n[checkpoint]\nsize = \"10 GB\"\nbandwidth = \"1 "
      "GB/s\"\n"
      "restart = \"5 min\"\n");
  const Capacity capacity = scene.plan({scene.on("bow-pod16")}, {}, costs);
  const CapacityRow& row = capacity.rows[0];
  REQUIRE(row.checkpoints.has_value());
  const double hours = row.training->in_base() / row.checkpoints->goodput / 3600;
  CHECK(row.time->in_base() / 3600 == doctest::Approx(hours));
  CHECK(row.power->in_base() == doctest::Approx((4000 + 1000) * 1.5));  // one host
  CHECK(row.energy->in_base() == doctest::Approx(7500 * hours * 3600));
  CHECK(*row.cost == doctest::Approx(10 * hours + 0.5 * 7.5 * hours));
  const CheckpointPlan expected = best_checkpoints({seconds(3.6e6), seconds(10), seconds(300)});
  CHECK(row.checkpoints->goodput == expected.goodput);
  // Without prices nothing is invented; the power of the machines is published.
  const Capacity bare = scene.plan({scene.on("bow-pod16")});
  CHECK_FALSE(bare.rows[0].cost.has_value());
  CHECK_FALSE(bare.rows[0].checkpoints.has_value());
  CHECK(bare.rows[0].power->in_base() == 4 * 1250);
}

TEST_CASE("capacity: budget and power cap rule rows out, the cheapest of the others is chosen") {
  const Scene scene;
  const CapacityCosts costs = costs_of(
      "currency = \"EUR\"\n[systems.bow-pod16]\nprice_per_hour = 10\n[systems.bow-pod64]\nprice_per_hour = 30\n");
  const std::vector<CapacityCandidate> both{scene.on("bow-pod16"), scene.on("bow-pod64")};
  CHECK(*scene.plan(both, {}, costs).chosen == 1);  // 30 EUR for 14 h, 10 EUR for 55 h
  CapacityGoal cheap;
  cheap.budget = 500;
  const Capacity limited = scene.plan(both, cheap, costs);
  CHECK(limited.rows[0].misses.front().starts_with("over budget: 5"));
  CapacityGoal dim;
  dim.power_cap = watts(6000);
  const Capacity capped = scene.plan(both, dim, costs);
  CHECK(*capped.chosen == 0);
  CHECK(capped.rows[1].misses.front() == "over the power cap: 20 kW");
}

TEST_CASE("capacity: a cost is told whole or not at all") {
  const Scene scene;
  const CapacityCosts costs = costs_of(
      "electricity_price_per_kwh = 0.2\n[systems.bow-pod16]\nprice_per_hour = 10\n"
      "[[rows]]\nname = \"elsewhere\"\nsamples_per_s = 100\ndevices = 999\nprice_per_hour = 0.001\n");
  const Capacity capacity = scene.plan({scene.on("bow-pod16"), scene.on("bow-pod64")}, {}, costs);
  CHECK(capacity.rows[0].cost.has_value());
  CHECK_FALSE(capacity.rows[1].cost.has_value());  // no price
  CHECK_FALSE(capacity.rows[2].cost.has_value());  // no power
  CHECK(*capacity.chosen == 0);
  CHECK(std::find(capacity.warnings.begin(), capacity.warnings.end(),
                  "bow-pod64: price or power is not given, so the choice is by devices and not by cost") !=
        capacity.warnings.end());
}

TEST_CASE("capacity: several systems of a kind share the batch") {
  const Scene scene;
  const Capacity capacity = scene.plan({scene.on("bow-pod16", 2)});
  CHECK(capacity.rows[0].systems == 2);
  CHECK(capacity.rows[0].devices == 32);
  CHECK(capacity.rows[0].hosts == 2);
  CHECK(capacity.rows[0].changed == "ipu.replication_factor = 8, ipu.gradient_accumulation_steps = 1024");
}

TEST_CASE("capacity: rows typed in stand beside the simulated ones") {
  const Scene scene;
  const CapacityCosts costs = costs_of(
      "[[rows]]\nname = \"elsewhere\"\nsamples_per_s = 20000\ndevices = 8\nglobal_batch = 65536\n"
      "sequence_length = 128\npacking_factor = 1\n");
  const Capacity capacity = scene.plan({scene.on("bow-pod16")}, {seconds(24 * 3600), {}, {}, {}, {}}, costs);
  REQUIRE(capacity.rows.size() == 2);
  CHECK(capacity.rows[1].training->in_base() == 50'000);
  CHECK(*capacity.chosen == 1);
  CHECK(capacity.warnings == std::vector<std::string>{"elsewhere: precision is not stated, assumed equal"});
  const CapacityCosts other = costs_of(
      "[[rows]]\nname = \"elsewhere\"\nsamples_per_s = 20000\ndevices = 8\nglobal_batch = 1024\n"
      "sequence_length = 128\npacking_factor = 1\nprecision = \"fp16.16\"\n");
  CHECK(scene.refused({scene.on("bow-pod16")}, other)
            .find("global batch of 65,536 on bow-pod16, of 1,024 on elsewhere") != std::string::npos);
}

TEST_CASE("capacity: users of generation need as many systems as their requests fill") {
  const Scene scene;
  Diagnostics diagnostics;
  const Experiment serving = read_experiment("llama-3-70b-sn40l-8", scene.configs, diagnostics);
  CapacityGoal goal;
  goal.users = 5;
  goal.tokens_per_s = 20;
  const Capacity capacity = scene.plan({{serving, "", 0}}, goal);
  REQUIRE(capacity.chosen.has_value());
  CHECK(capacity.rows[0].systems == 5);  // one request at once each
  CHECK(capacity.rows[0].devices == 40);
  CHECK(*capacity.rows[0].tokens_per_s_per_user == doctest::Approx(82.3).epsilon(0.01));
  goal.tokens_per_s = 200;
  CHECK(scene.plan({{serving, "", 0}}, goal).rows[0].misses.front().starts_with("too slow: 8"));
}
