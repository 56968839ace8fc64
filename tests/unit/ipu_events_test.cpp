// It is events, not a formula: each change of the machine moves the result by an amount that is written down here, and
// the change lands in the right part of the breakdown.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "models/ipu/cost/estimate.hpp"
#include "models/ipu/cost/update_cost.hpp"
#include "models/ipu/ipu_plan.hpp"
#include "models/ipu/lowering/stage_work.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

constexpr double k_accumulation = 16;
constexpr double k_cycles = 16 + 8;  // 9 stages: 8 cycles of fill and drain each, 16 - 8 full ones

const std::vector<std::string> k_short = {"ipu.gradient_accumulation_steps=16"};

std::vector<std::string> with(std::vector<std::string> changes) {
  changes.insert(changes.begin(), k_short.begin(), k_short.end());
  return changes;
}

Ran run(const std::vector<std::string>& changes = {}) {
  return run_of(experiment("bert-large-bow-pod16"), with(changes));
}

const ipu::IpuPlan& own(const Ran& ran) {
  return dynamic_cast<const ipu::IpuPlan&>(*ran.plan.family_plan);
}

// The sum over cycles of the fullest IPU, written down a second time: stage s works in cycle c when s <= c < s + GA.
// `slowdown` by IPU of the replica; host input in front of stage 0.
double pipeline_compute_s(const Ran& ran, const std::vector<double>& slowdown, double host_input_s) {
  const ipu::IpuPlan& plan = own(ran);
  const ipu::Pipeline pipeline = ipu::make_pipeline(ran.plan.graph, plan.setup.placement);
  const ipu::OperatorCostModel& costs = *plan.costs;
  const ipu::MemoryInputs inputs{ran.plan.graph, ran.plan.settings, plan.setup, pipeline, plan.constants};
  const std::vector<ipu::BlockWork> works = ipu::prepare_work(inputs, costs);
  const int stages = pipeline.training_stages();
  const auto sum = [&](const std::vector<ipu::WorkOp>& ops) {
    double total = 0;
    for (const ipu::WorkOp& op : ops) total += op.cost.total().duration().in_base();
    return total;
  };
  double total = 0;
  for (int cycle = 0; cycle < static_cast<int>(k_cycles); ++cycle) {
    std::vector<double> busy(slowdown.size());
    for (int stage = 0; stage < stages; ++stage) {
      if (stage > cycle || cycle >= stage + static_cast<int>(k_accumulation)) continue;
      const int forward = std::min(stage, stages - 1 - stage);
      const ipu::ForwardStage& placed = pipeline.forward()[static_cast<std::size_t>(forward)];
      double work = 0;
      for (const std::size_t block : placed.blocks) {
        const bool last = forward == pipeline.forward_stages() - 1;
        if (stage <= forward) work += sum(works[block].forward);
        if (stage >= stages - 1 - forward)
          work += sum(works[block].backward) + (last ? 0 : sum(works[block].recompute));
      }
      const auto ipu = static_cast<std::size_t>(placed.ipu);
      busy[ipu] += work * slowdown[ipu] + (stage == 0 ? host_input_s : 0);
    }
    total += *std::max_element(busy.begin(), busy.end());
  }
  return total;
}

double host_input_s(const Ran& ran) {
  return ran.plan.graph.host_input.size() / own(ran).constants.system.links.host_bandwidth / seconds(1);
}

// Rounding of every op to a picosecond bounds what two ways of adding may differ by.
bool same(double a, double b) {
  return std::abs(a - b) < 1e-7;
}

}  // namespace

TEST_CASE("events: a step takes the sum over cycles of the fullest IPU, the copies and the update") {
  const Ran ran = run();
  const ipu::LinkConstants& links = own(ran).constants.system.links;
  const double copies =
      k_cycles * 2 *
      ((ran.plan.graph.boundary.size() / links.neighbour_bandwidth) / seconds(1) + links.message_latency / seconds(1));
  const double compute = pipeline_compute_s(ran, {1, 1, 1, 1}, host_input_s(ran));
  const double update = ran.part_s(CostCategory::collective) + ran.part_s(CostCategory::off_chip_memory) +
                        ran.part_s(CostCategory::weight_update) +
                        own(ran).constants.software.call_overhead / seconds(1);
  // The busiest IPU may wait for another one in the optimizer, by at most the difference of their updates.
  const double optimizer_wait = ran.step_s() - compute - copies - update;
  CHECK(optimizer_wait > -1e-7);
  CHECK(optimizer_wait < 1e-3);
  CHECK(same(ran.part_s(CostCategory::inter_device), copies));
}

TEST_CASE("events: the closed form of the step agrees with the simulation") {
  for (const char* name : {"bert-large-bow-pod16", "bert-large-squad-bow-pod16", "gpt2-caraml-pod4",
                           "bert-large-mlperf-v1.1-pod64", "bert-large-mlperf-v2.0-bow-pod128"}) {
    CAPTURE(name);
    const Ran ran = run_of(experiment(name));
    const ipu::IpuPlan& plan = own(ran);
    const ipu::Pipeline pipeline = ipu::make_pipeline(ran.plan.graph, plan.setup.placement);
    const ipu::OperatorCostModel& costs = *plan.costs;
    const ipu::MemoryInputs inputs{ran.plan.graph, ran.plan.settings, plan.setup, pipeline, plan.constants};
    CHECK(same(ran.step_s(), ipu::estimate_step(inputs, costs).total().duration().in_base()));
  }
}

TEST_CASE("events: half the neighbour bandwidth doubles the copies and nothing else") {
  const Ran base = run();
  const Ran slow = run({"system.ipu_link.bandwidth=\"37.5 GB/s\""});
  const double added = k_cycles * 2 * base.plan.graph.boundary.size().in_base() * (1 / 37.5e9 - 1 / 75e9);
  CHECK(same(slow.step_s() - base.step_s(), added));
  CHECK(same(slow.part_s(CostCategory::inter_device) - base.part_s(CostCategory::inter_device), added));
}

TEST_CASE("events: half the reduction hop doubles its bytes' time and nothing else") {
  const Ran base = run();
  const Ran slow = run({"system.ring.bandwidth=\"4.56 GB/s\""});
  double chunks = 0;  // bytes through a hop per ring step: every pipeline position sends a fourth of its gradients
  for (const ipu::PlacedParameters& placed :
       ipu::place_parameters(base.plan.graph, own(base).setup, own(base).constants)) {
    chunks += 2 * std::ceil(static_cast<double>(placed.elements) / 4);
  }
  const double added = 2 * (4 - 1) * chunks * (1 / 4.56e9 - 1 / 9.12e9);
  CHECK(same(slow.step_s() - base.step_s(), added));
  CHECK(same(slow.part_s(CostCategory::collective) - base.part_s(CostCategory::collective), added));
}

TEST_CASE("events: one IPU 10 % slower lengthens the cycles in which it becomes the fullest") {
  const Ran base = run();
  const Ran slow = run({"system.slowdown.ipu2=1.1"});
  const double host = host_input_s(base);
  const double pipeline = pipeline_compute_s(base, {1, 1, 1.1, 1}, host) - pipeline_compute_s(base, {1, 1, 1, 1}, host);
  const auto parameters = ipu::place_parameters(base.plan.graph, own(base).setup, own(base).constants);
  double optimizer = 0;
  double slow_optimizer = 0;
  for (std::size_t ipu = 0; ipu < parameters.size(); ++ipu) {
    const double time = ipu::optimizer_time(parameters[ipu], "lamb", own(base).constants) / seconds(1);
    optimizer = std::max(optimizer, time);
    slow_optimizer = std::max(slow_optimizer, time * (ipu == 2 ? 1.1 : 1));
  }
  CHECK(pipeline > 0.05 * pipeline_compute_s(base, {1, 1, 1, 1}, host));
  CHECK(same(slow.step_s() - base.step_s(), pipeline + slow_optimizer - optimizer));
  CHECK(slow.part_s(CostCategory::compute) > base.part_s(CostCategory::compute));
  CHECK(slow.lowered.not_folded == std::vector<std::string>{"replicas: ipu6 has another speed"});
}

TEST_CASE("events: one layer moved makes its new IPU the fullest") {
  const Ran base = run();
  const Ran moved = run({"ipu.layers_per_ipu=[3, 6, 8, 7]"});
  const double host = host_input_s(base);
  const double added = pipeline_compute_s(moved, {1, 1, 1, 1}, host) - pipeline_compute_s(base, {1, 1, 1, 1}, host);
  CHECK(added > 0);
  // The update differs by the optimizer of the fuller IPU and the rounding of chunks; both are in weight_update and
  // collective.
  const auto update = [](const Ran& ran) {
    return ran.part_s(CostCategory::collective) + ran.part_s(CostCategory::off_chip_memory) +
           ran.part_s(CostCategory::weight_update);
  };
  CHECK(same(moved.step_s() - base.step_s(), added + update(moved) - update(base)));
}

TEST_CASE("events: half the Streaming Memory bandwidth doubles the state traffic and nothing else") {
  const Ran base = run();
  const Ran slow = run({"system.streaming.bandwidth=\"6.8 GB/s\""});
  double state = 0;  // of the four IPUs of a machine, which share its port; 4 + 4 bytes a parameter, a fourth each
  for (const ipu::PlacedParameters& placed :
       ipu::place_parameters(base.plan.graph, own(base).setup, own(base).constants)) {
    state += 8 * static_cast<double>(placed.sharded_elements);
  }
  const double added = 2 * state * (1 / 6.8e9 - 1 / 13.6e9);
  CHECK(same(slow.step_s() - base.step_s(), added));
  CHECK(same(slow.part_s(CostCategory::off_chip_memory) - base.part_s(CostCategory::off_chip_memory), added));
}

// 300 cycles of each launch; the plans stay the same since their own synchronisations are left alone.
TEST_CASE("events: doubled synchronisation of launches lengthens each cycle by the launches of its fullest IPU") {
  const Ran base = run();
  const Ran slow = run({"cost.launch=\"908 cycles\"", "cost.launch_sync=\"600 cycles\""});
  const double host = host_input_s(base);
  const double pipeline = pipeline_compute_s(slow, {1, 1, 1, 1}, host) - pipeline_compute_s(base, {1, 1, 1, 1}, host);
  const double update = slow.part_s(CostCategory::weight_update) - base.part_s(CostCategory::weight_update);
  CHECK(pipeline > 0);
  CHECK(same(slow.step_s() - base.step_s(), pipeline + update));
  CHECK(same(slow.part_s(CostCategory::sync) - base.part_s(CostCategory::sync) + slow.part_s(CostCategory::bubble) -
                 base.part_s(CostCategory::bubble),
             pipeline));
  CHECK(slow.part_s(CostCategory::sync) - base.part_s(CostCategory::sync) > 0.8 * pipeline);
  CHECK(same(slow.part_s(CostCategory::launch), base.part_s(CostCategory::launch)));
}

TEST_CASE("events: replicas behind one host link share it") {
  // IPU 0 is the fullest of every full cycle here, so that its input is not hidden behind another IPU.
  const std::vector<std::string> alone = {"ipu.layers_per_ipu=[7, 6, 6, 5]", "system.host_link.bandwidth=\"6 GB/s\""};
  std::vector<std::string> shared = alone;
  shared.emplace_back("system.host_link.machines=2");
  const Ran base = run(alone);
  const Ran slow = run(shared);
  const double host = host_input_s(base);
  const double added = pipeline_compute_s(base, {1, 1, 1, 1}, 2 * host) - pipeline_compute_s(base, {1, 1, 1, 1}, host);
  CHECK(added > 0.5 * k_accumulation * host);
  CHECK(same(slow.step_s() - base.step_s(), added));
  // Where IPU 0 is not the fullest of a fill cycle, the longer input takes from its waiting.
  const double input = slow.part_s(CostCategory::host_io) - base.part_s(CostCategory::host_io);
  const double waiting = slow.part_s(CostCategory::bubble) - base.part_s(CostCategory::bubble);
  CHECK(same(input, k_accumulation * host));
  CHECK(same(input + waiting, added));
  CHECK(slow.result.folded);  // pairs of replicas stand for pairs
}

TEST_CASE("events: machines share the link of their host, and several hosts share it less") {
  const auto with_hosts = [](int hosts) {
    return run_of(experiment("bert-large-bow-pod64"),
                  with({"ipu.layers_per_ipu=[7, 6, 6, 5]", "system.host_link.bandwidth=\"6 GB/s\"",
                        "system.host_link.machines=16", "system.hosts=" + std::to_string(hosts)}));
  };
  const Ran one = with_hosts(1);
  const Ran four = with_hosts(4);
  const double host = host_input_s(one);
  const double less =
      pipeline_compute_s(one, {1, 1, 1, 1}, 16 * host) - pipeline_compute_s(one, {1, 1, 1, 1}, 4 * host);
  CHECK(less > 0.5 * k_accumulation * 12 * host);
  CHECK(same(one.step_s() - four.step_s(), less));
  CHECK(one.lowered.not_folded == std::vector<std::string>{"replicas: all of them share links"});
  CHECK(four.result.folded);
}

TEST_CASE("events: a link that nothing uses changes nothing") {
  const Ran base = run({"ipu.optimizer_state_offchip=false"});
  const Ran other = run({"ipu.optimizer_state_offchip=false", "system.streaming.bandwidth=\"1 GB/s\""});
  CHECK(other.result.total == base.result.total);
}

TEST_CASE("events: host processes that are stated feed a cycle no faster than they make its samples") {
  const std::vector<std::string> pytorch = {"software.name=\"poplar-pytorch\""};
  const auto fed = [&](std::vector<std::string> changes) {
    changes.insert(changes.begin(), pytorch.begin(), pytorch.end());
    return run(changes);
  };
  const Ran base = fed({});
  const auto full_cycle_s = [](const Ran& ran) {
    SimTime time;
    for (const SegmentId segment : ran.lowered.program.marks.at("full cycle")) {
      time += ran.result.segment_duration[segment.index()];
    }
    return time.duration().in_base();
  };
  const double copies =
      2 * ((base.plan.graph.boundary.size() / own(base).constants.system.links.neighbour_bandwidth) / seconds(1) +
           own(base).constants.system.links.message_latency / seconds(1));
  const double samples = static_cast<double>(base.plan.settings.micro_batch_size * own(base).setup.replication_factor);
  const std::string slow = "software.instance_sample_time=\"1 ms\"";
  CHECK(same(full_cycle_s(fed({slow, "ipu.instances=1"})), samples * 1e-3 + copies));
  CHECK(same(full_cycle_s(fed({slow, "ipu.instances=2"})), samples / 2 * 1e-3 + copies));
  CHECK(fed({slow}).result.total == base.result.total);                 // not stated: no limit
  CHECK(full_cycle_s(fed({"ipu.instances=1"})) == full_cycle_s(base));  // quick enough for sixteen IPUs
  const Ran limited = fed({slow, "ipu.instances=1"});
  const double cycles = k_cycles - 8;  // no samples are needed while the pipeline drains
  CHECK(limited.part_s(CostCategory::host_io) - base.part_s(CostCategory::host_io) > 0.9 * cycles * samples * 0.5e-3);
  const ipu::IpuPlan& plan = own(limited);
  const ipu::Pipeline pipeline = ipu::make_pipeline(limited.plan.graph, plan.setup.placement);
  const ipu::MemoryInputs inputs{limited.plan.graph, limited.plan.settings, plan.setup, pipeline, plan.constants};
  CHECK(same(limited.step_s(), ipu::estimate_step(inputs, *plan.costs).total().duration().in_base()));
}
