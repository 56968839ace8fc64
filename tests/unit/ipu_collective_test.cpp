// The reduction between replicas comes out of shared hops and must take what the formula says.

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "models/ipu/lowering/collective.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

constexpr double k_ring = 9.12e9;
constexpr double k_gateway = k_ring * 25 / 32;
constexpr double k_message = 1.6e-6;
constexpr double k_gateway_message = 5e-6;

struct Case {
  const char* experiment;
  std::vector<std::string> changes;
  double in_pod;  // replicas
  double pods;
};

const std::vector<Case>& cases() {
  static const std::vector<std::string> pod256 = {"system.name=\"bow-pod256\"", "ipu.replication_factor=64",
                                                  "ipu.gradient_accumulation_steps=16"};
  static const std::vector<Case> all = [] {
    std::vector<std::string> unsharded = pod256;
    unsharded.emplace_back("ipu.replicated_tensor_sharding=false");
    return std::vector<Case>{
        {"bert-large-mlperf-v1.1-pod64", {}, 8, 1},
        {"bert-large-mlperf-v2.0-bow-pod128", {}, 8, 2},
        {"bert-large-bow-pod64", pod256, 16, 4},
        {"bert-large-bow-pod64", unsharded, 16, 4},
        // Pods of one replica each: all of it goes over GW-Links.
        {"bert-large-bow-pod16", {"system.ipus_per_pod=4", "ipu.gradient_accumulation_steps=16"}, 1, 4},
    };
  }();
  return all;
}

// Half-precision gradients of a replica, by IPU.
std::vector<double> gradients(const Ran& ran) {
  const auto& plan = dynamic_cast<const ipu::IpuPlan&>(*ran.plan.family_plan);
  std::vector<double> bytes;
  for (const ipu::PlacedParameters& placed : ipu::place_parameters(ran.plan.graph, plan.setup, plan.constants)) {
    bytes.push_back(2 * static_cast<double>(placed.elements));
  }
  return bytes;
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

double between_pods_s(double gradients, const Case& c, double gateway) {
  return 2 * (c.pods - 1) / c.pods * (gradients / c.in_pod) / gateway + 2 * (c.pods - 1) * k_gateway_message;
}

bool near(double value, double expected) {
  return std::abs(value - expected) <= 1e-5 * expected;  // chunks are whole elements
}

}  // namespace

TEST_CASE("collective: reductions inside and between pods take what the formula of the rings says") {
  for (const Case& c : cases()) {
    CAPTURE(c.experiment);
    CAPTURE(c.pods);
    const Ran ran = run_of(experiment(c.experiment), c.changes);
    const double bytes = sum(gradients(ran));
    const double in_pod = 2 * (c.in_pod - 1) / c.in_pod * bytes / k_ring + 2 * (c.in_pod - 1) * k_message;
    CHECK(near(ran.part_s(CostCategory::collective), in_pod + between_pods_s(bytes, c, k_gateway)));
  }
}

TEST_CASE("collective: half the GW-Link bandwidth adds the between-pod term once more, to the collectives alone") {
  const Case c = cases()[1];
  const Ran base = run_of(experiment(c.experiment), c.changes);
  const Ran slow = run_of(experiment(c.experiment), {"system.gateway.factor=0.390625"});
  const double added =
      between_pods_s(sum(gradients(base)), c, k_gateway / 2) - between_pods_s(sum(gradients(base)), c, k_gateway);
  CHECK(added > 1e-3);
  CHECK(near(slow.step_s() - base.step_s(), added));
  CHECK(near(slow.part_s(CostCategory::collective) - base.part_s(CostCategory::collective), added));
}

TEST_CASE("collective: the latency of a GW-Link counts once for each step between pods") {
  const Case c = cases()[1];
  const Ran base = run_of(experiment(c.experiment), c.changes);
  const Ran slow = run_of(experiment(c.experiment), {"system.gateway.latency=\"1 ms\""});
  CHECK(near(slow.step_s() - base.step_s(), 2 * (c.pods - 1) * (1e-3 - k_gateway_message)));
}

TEST_CASE("collective: GW-Links change nothing inside one pod") {
  const Case c = cases()[0];
  const Ran base = run_of(experiment(c.experiment), c.changes);
  const Ran slow = run_of(experiment(c.experiment), {"system.gateway.factor=0.1"});
  CHECK(slow.result.total == base.result.total);
}

TEST_CASE("collective: every rank of a pod has a GW-Link hop of its own that carries its shard") {
  const Case c = cases()[1];
  const Ran ran = run_of(experiment(c.experiment), c.changes);
  double shard = 0;  // in a step
  for (const double bytes : gradients(ran)) shard += 2 * std::ceil(std::ceil(bytes / 2 / c.in_pod) / c.pods);
  int hops = 0;
  const std::vector<Link>& links = ran.lowered.platform.links();
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (!links[i].name.starts_with("gateway.")) continue;
    ++hops;
    CHECK(static_cast<double>(ran.result.links[i].bytes.count()) == 2 * (c.pods - 1) * shard);
  }
  CHECK(hops == 16);
}

TEST_CASE("collective: replicas of two pods are folded, and unfolded, exact and reference runs take as long") {
  const Case c = cases()[1];
  const std::vector<std::string> changes = {"ipu.gradient_accumulation_steps=17"};
  const Ran folded = run_of(experiment(c.experiment), changes);
  CHECK(folded.result.folded);
  CHECK(run_of(experiment(c.experiment), changes, {.exact = true, .fold = false}).result.total == folded.result.total);
  const std::int64_t reference =
      run_of(experiment(c.experiment), changes, {.engine = "simgrid"}).result.total.picoseconds();
  const std::int64_t native = folded.result.total.picoseconds();
  CHECK(std::abs(reference - native) <= std::max<std::int64_t>(16, native / 1'000'000'000));
}
