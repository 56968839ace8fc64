// Every shipped system: what it is built of, its peak, and what it refuses.

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "models/ipu/ipu_plan.hpp"
#include "sim/study/evaluate.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

// BERT-Base with a pipeline of `layers`.
std::string bert_base(const std::string& system, const std::string& layers, std::int64_t replicas,
                      const std::string& more = "") {
  return fmt::format(R"(
system = "{}"
software = "poplar-popart"
[model]
config = "bert-base-uncased"
head = "pretraining"
[workload]
sequence_length = 128
optimizer = "lamb"
[ipu]
layers_per_ipu = {}
replication_factor = {}
gradient_accumulation_steps = 32
{})",
                     system, layers, replicas, more);
}

const ipu::SystemConstants& system_of(const Plan& plan) {
  return dynamic_cast<const ipu::IpuPlan&>(*plan.family_plan).constants.system;
}

double peak_pflops(const Plan& plan) {
  const StepFacts facts = plan.family->step_facts(plan);
  return facts.device_peak.in_base() * static_cast<double>(facts.devices) / 1e15;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("systems: a pod full of replicas has the peak of its datasheet") {
  struct Expected {
    const char* name;
    std::int64_t ipus;
    std::int64_t hosts;
    double pflops;  // with half partials
  };
  const std::vector<Expected> pods = {{"pod4", 4, 1, 0.9986},
                                      {"pod8", 8, 1, 15.978 / 8},
                                      {"pod16", 16, 1, 3.994},
                                      {"pod32", 32, 1, 15.978 / 2},
                                      {"pod64", 64, 1, 15.978},
                                      {"pod128", 128, 2, 31.955},
                                      {"pod256", 256, 4, 63.9},
                                      {"bow-pod4", 4, 1, 1.394},
                                      {"bow-pod8", 8, 1, 89.23 / 32},
                                      {"bow-pod16", 16, 1, 5.58},
                                      {"bow-pod32", 32, 1, 89.23 / 8},
                                      {"bow-pod64", 64, 1, 22.31},
                                      {"bow-pod128", 128, 2, 89.23 / 2},
                                      {"bow-pod256", 256, 4, 89.23}};
  for (const Expected& pod : pods) {
    CAPTURE(pod.name);
    const Plan plan = plan_of(bert_base(pod.name, "[3, 3, 3, 3]", pod.ipus / 4));
    const ipu::SystemConstants& system = system_of(plan);
    CHECK(system.ipus == pod.ipus);
    CHECK(system.machines * 4 == pod.ipus);
    CHECK(system.ipus_per_machine == 4);
    CHECK(system.hosts == pod.hosts);
    CHECK(system.ipus_per_pod == std::min<std::int64_t>(64, pod.ipus));
    CHECK(system.has_streaming_memory);
    CHECK(plan.family->step_facts(plan).devices == pod.ipus);
    CHECK(peak_pflops(plan) == doctest::Approx(pod.pflops).epsilon(1e-3));
    CHECK_FALSE(contains(to_toml(plan), "instances = "));  // not stated: their pace is no limit
  }
}

TEST_CASE("systems: cards are linked as nodes and have no Streaming Memory") {
  const std::string on_chip = "optimizer_state_offchip = false\n";
  const Plan c600 = plan_of(bert_base("c600", "[12]", 1, on_chip));
  CHECK(peak_pflops(c600) == doctest::Approx(0.28));
  CHECK(dynamic_cast<const ipu::IpuPlan&>(*c600.family_plan).constants.chip.peak_fp8 == flop_per_second(560e12));
  const Plan eight = plan_of(bert_base("c600", "[12]", 8, on_chip), {"system.nodes=8"});
  CHECK(peak_pflops(eight) == doctest::Approx(8 * 0.28));
  const Lowered lowered = eight.family->lower(eight, {});
  CHECK(lowered.platform.devices().size() == 8);
  for (const Memory& memory : lowered.platform.memories()) CHECK_FALSE(contains(memory.name, "streaming"));
  for (const Link& link : lowered.platform.links()) CHECK_FALSE(contains(link.name, "gateway"));

  const Plan c2 = plan_of(bert_base("gc2-c2", "[6, 6]", 1, on_chip));
  CHECK(peak_pflops(c2) == doctest::Approx(2 * 0.1245));
  CHECK(c2.settings.precision == "fp16.32");
}

TEST_CASE("systems: the Mk1 multiplies single precision at a quarter of its half rate") {
  const Plan c2 =
      plan_of(bert_base("gc2-c2", "[6, 6]", 1, "optimizer_state_offchip = false\n"), {"workload.precision=\"fp32\""});
  const ipu::IpuConstants& constants = dynamic_cast<const ipu::IpuPlan&>(*c2.family_plan).constants;
  const ipu::PassMode& single = constants.passes.modes[2];
  const double per_cycle = static_cast<double>(single.input_grain * single.output_grain) / single.row_slots;
  CHECK(per_cycle == doctest::Approx(8));
  CHECK(constants.chip.peak[2].in_base() == doctest::Approx(2 * 8 * 1216 * 1.6e9).epsilon(1e-3));
  CHECK(problems_of(bert_base("gc2-c2", "[6, 6]", 1, "optimizer_state_offchip = false\n"),
                    {"workload.precision=\"fp16.16\""}) ==
        "command line: workload.precision: \"fp16.16\" is not a multiply mode of this chip; expected fp16.32 or "
        "fp32\n");
}

TEST_CASE("systems: optimizer state off the chip is refused where there is no Streaming Memory") {
  CHECK(problems_of(bert_base("c600", "[12]", 1)) ==
        "experiment.toml:10:1: ipu.optimizer_state_offchip: is true by default, but a C600 has no Streaming Memory to "
        "hold the optimizer state; expected false\n");
  CHECK(problems_of(bert_base("c600", "[12]", 1, "optimizer_state_offchip = true\n")) ==
        "experiment.toml:14:27: ipu.optimizer_state_offchip: is true, but a C600 has no Streaming Memory to hold the "
        "optimizer state; expected false\n");
  CHECK(problems_of(bert_base("c600", "[12]", 1), {"workload.optimizer=\"sgd\""}) == "");
}

TEST_CASE("systems: Streaming Memory is no remedy where there is none") {
  const auto remedy = [](const char* system) {
    // tensors too small to be sharded, so that more replicas are no remedy either
    const Plan plan =
        plan_of(bert_base(system, "[12]", 1, "optimizer_state_offchip = false\nmatmul_proportion = 0.2\n"),
                {"system.sharding.minimum_elements=1000000000"});
    const Verdict verdict = plan.family->verdict(plan, true);
    REQUIRE(verdict.broken.size() == 1);
    return verdict.broken[0].remedy;
  };
  CHECK(remedy("pod4") == "ipu.optimizer_state_offchip = true");
  CHECK(remedy("c600") ==
        "a smaller model or a system with more IPUs: none of the changes tried, alone or in pairs, makes it fit");
}

TEST_CASE("systems: a replica never straddles pods") {
  const std::string layers = "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]";
  CHECK(problems_of(bert_base("pod128", "[-1]", 1, "ipus_per_replica = 128\n")) ==
        "experiment.toml:14:20: ipu.ipus_per_replica: a pipeline of 128 IPUs does not fit into one pod: on a Pod128 "
        "IPU-Links join 64 IPUs at a time; expected at most 64\n");
  CHECK(problems_of(bert_base("pod128", layers, 8)) ==
        "experiment.toml:11:18: ipu.ipus_per_replica: replicas of 12 IPUs do not divide a pod of 64, and none may "
        "straddle two pods; expected a divisor of 64\n"
        "experiment.toml:11:18: warning: ipu.ipus_per_replica: 128 IPUs are reserved for the 96 in use, since device "
        "counts are powers of two: 32 IPUs idle\n");
  CHECK(contains(
      problems_of(bert_base("pod128", "[3, 3, 3, 3]", 24)),
      "ipu.replication_factor: 24 replicas do not fill pods of 16 alike: 8 in the last; expected a multiple of "
      "16\n"));
  CHECK(problems_of(bert_base("pod64", "[3, 3, 3, 3]", 48), {"system.nodes=3"}) ==
        "experiment.toml:12:22: ipu.replication_factor: 256 IPUs would be reserved for the 192 in use, since device "
        "counts are powers of two, but a Pod64 has 192\n");
}

TEST_CASE("systems: idle IPUs of a power of two are devices of the report") {
  const Ran ran = run_of(bert_base("pod64", "[4, 4, 4]", 5));
  CHECK(ran.plan.family->step_facts(ran.plan).devices == 16);
  CHECK(ran.result.devices.size() == 16);
  CHECK(ran.result.devices[15].busy == SimTime());
}

TEST_CASE("systems: a pod has one to four hosts") {
  const std::string toml = bert_base("pod64", "[3, 3, 3, 3]", 16);
  CHECK(problems_of(toml, {"system.hosts=4"}) == "");
  CHECK(
      problems_of(toml, {"system.hosts=5"}) ==
      "command line: system.hosts: 5 is no number of hosts for 16 machines in 1 pod; expected 1 to 4, at most 4 for a "
      "pod\n");
  CHECK(problems_of(bert_base("pod4", "[3, 3, 3, 3]", 1), {"system.hosts=2"}) ==
        "command line: system.hosts: 2 is no number of hosts for 1 machine in 1 pod; expected 1 to 1, at most 4 for a "
        "pod\n");
}

TEST_CASE("systems: the pace of host processes needs their number and what a sample takes") {
  const std::string stated = bert_base("pod16", "[3, 3, 3, 3]", 4, "instances = 2\n");
  CHECK(problems_of(stated) ==
        "experiment.toml:14:13: warning: ipu.instances: no effect on the time: this software has no "
        "software.instance_sample_time; only the limit of 64 IPUs per instance is checked; expected "
        "software.instance_sample_time, such as \"59 us\"\n");
  const std::string pace = "software.instance_sample_time=\"59 us\"";
  CHECK(problems_of(stated, {pace}) == "");
  CHECK(run_of(stated, {"software.instance_sample_time=\"1 s\""}).step_s() > run_of(stated, {pace}).step_s());
  CHECK(problems_of(bert_base("pod16", "[3, 3, 3, 3]", 4), {pace}) ==
        "command line: warning: software.instance_sample_time: no effect without ipu.instances, the number of host "
        "processes; expected ipu.instances\n");
  const std::string inference = problems_of(stated, {pace, "workload.mode=\"inference\""});
  CHECK(contains(inference,
                 "warning: software.instance_sample_time: no effect in inference: the pace of host processes limits "
                 "training only"));
  CHECK(
      contains(inference, "warning: ipu.instances: no effect on the time: the pace of host processes limits training"));
  CHECK(contains(problems_of(stated, {"software.instance_sample_time=\"3 GB\""}), "has dimension data; expected time"));
}

TEST_CASE("systems: where neither file nor key says where optimizer state stands the software does") {
  const auto off_chip = [](const std::string& software, const std::string& more) {
    const Plan plan = plan_of(bert_base("pod16", "[3, 3, 3, 3]", 4, more), {"software=\"" + software + "\""});
    return dynamic_cast<const ipu::IpuPlan&>(*plan.family_plan).setup.optimizer_state_offchip;
  };
  CHECK(off_chip("poplar-popart", ""));
  CHECK(off_chip("poplar-tensorflow2", ""));
  CHECK_FALSE(off_chip("poplar-tensorflow1", ""));
  CHECK(off_chip("poplar-tensorflow1", "optimizer_state_offchip = true\n"));
  CHECK(off_chip("poplar-tensorflow1", "version = \"0.5\"\n"));  // what a version of the library says goes first
  CHECK(contains(to_toml(plan_of(bert_base("pod16", "[3, 3, 3, 3]", 4))),
                 "optimizer_state_offchip = true  # default: software.optimizer_state"));
}

TEST_CASE("systems: Paddle and TensorFlow 2 divide optimizer state over the replicas unless told otherwise") {
  const auto plan = [](const std::string& software, int replicas, const std::string& more = "") {
    return plan_of(bert_base("pod16", "[3, 3, 3, 3]", replicas, more), {"software=\"" + software + "\""});
  };
  const auto sharded = [](const Plan& made) {
    return dynamic_cast<const ipu::IpuPlan&>(*made.family_plan).setup.replicated_tensor_sharding;
  };
  CHECK(sharded(plan("poplar-paddle", 4)));
  CHECK(sharded(plan("poplar-tensorflow2", 4)));
  CHECK_FALSE(sharded(plan("poplar-popart", 4)));
  CHECK_FALSE(sharded(plan("poplar-pytorch", 4)));
  CHECK_FALSE(sharded(plan("poplar-paddle", 4, "replicated_tensor_sharding = false\n")));
  CHECK_FALSE(sharded(plan("poplar-paddle", 4, "version = \"0.5\"\n")));
  CHECK(contains(to_toml(plan("poplar-paddle", 4)),
                 "replicated_tensor_sharding = true  # default: software.replicated_tensor_sharding"));
  // A default of one replica has no effect, and nobody is told so.
  CHECK_FALSE(sharded(plan("poplar-paddle", 1)));
  CHECK_FALSE(contains(problems_of(bert_base("pod16", "[3, 3, 3, 3]", 1), {"software=\"poplar-paddle\""}),
                       "replicated_tensor_sharding"));
  CHECK(contains(problems_of(bert_base("pod16", "[3, 3, 3, 3]", 4),
                             {"software.name=\"poplar-paddle\"", "software.replicated_tensor_sharding=\"maybe\""}),
                 "is neither on nor off; expected on or off"));
}

TEST_CASE("systems: a vocabulary is not serialised into more passes than it has rows") {
  CHECK(problems_of(bert_base("pod16", "[3, 3, 3, 3]", 4, "embedding_serialization_factor = 61044\n")) ==
        "experiment.toml:14:34: ipu.embedding_serialization_factor: 61044 passes over a vocabulary of 30522; expected "
        "at most 30522\n");
}

TEST_CASE("systems: memory that cannot be counted is refused") {
  CHECK(contains(problems_of(bert_base("pod16", "[3, 3, 3, 3]", 4), {"chip.tile_memory=\"1e16 B\""}),
                 "chip.tile_memory: \"1e16 B\" is more than any memory has; expected at most 1e15 bytes"));
  CHECK(contains(
      problems_of(bert_base("pod16", "[3, 3, 3, 3]", 4), {"chip.tile_memory=\"1e15 B\""}),
      "chip.tile_memory: times chip.tiles is more memory than can be counted; expected at most 1e15 bytes on all "
      "tiles"));
}

TEST_CASE("systems: counts are spoken of as one does") {
  CHECK(contains(problems_of(bert_base("pod16", "[2, 2, 2, 2, 1, 1, 1, 1]", 8)), "with an 8-IPU pipeline"));
  CHECK(contains(problems_of(bert_base("pod16", "[3, 3, 3, 3]", 1, "instances = 3\n")),
                 "1 replica does not share out among 3 instances"));
}

TEST_CASE("systems: what is expected can be given") {
  // no list can be empty, and no replica be of no IPU
  CHECK(contains(problems_of(bert_base("pod16", "[]", 1, "ipus_per_replica = 4\n")),
                 "[] has 0 entries, but ipus_per_replica is 4; expected 4 entries\n"));
  const std::string large = problems_of(bert_base("pod16", "[3, 3, 3, 3]", 1, "embedding_serialization_factor = 3\n"),
                                        {"model.vocab_size=10000000"});
  CHECK(contains(large, "a vocabulary of 10000000 is not divisible by 3; expected a divisor\n"));
  CHECK(contains(problems_of(bert_base("pod16", "[3, 3, 3, 3]", 4), {"sweep.axis=1"}),
                 "sweep.axis: unknown key; did you mean \"axes\"?"));
}

TEST_CASE("systems: a run and a check name the owner of Streaming Memory alike") {
  const Plan plan = plan_of(bert_base("pod16", "[3, 3, 3, 3]", 4));
  Engine engine = make_engine("native");
  const Report run = simulate_plan(plan, engine, {.merge = true, .unfit = true});
  for (const DeviceMemoryAccount& memory : plan.family->memory_account(plan).memories) {
    const auto device = std::ranges::find(run.devices, memory.device, &DeviceReport::id);
    REQUIRE_MESSAGE(device != run.devices.end(), memory.device);
    CHECK(std::ranges::count(device->memories, memory.memory, &MemoryReport::name) == 1);
  }
}
