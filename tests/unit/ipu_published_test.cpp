// Published measurements and the worked examples of the cost model, end to end.

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "models/ipu/cost/estimate.hpp"
#include "models/ipu/ipu_plan.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

double sequences_per_s(const Ran& ran) {
  const StepFacts facts = ran.plan.family->step_facts(ran.plan);
  return static_cast<double>(facts.global_batch) * facts.sequences_per_sample / ran.step_s();
}

bool near(double value, double expected, double relative) {
  return std::abs(value / expected - 1) <= relative;
}

}  // namespace

TEST_CASE("published: BERT-Large packed, MLPerf v1.0 on a POD16, within 5 %") {
  const Ran ran = run_of(experiment("bert-large-mlperf-v1.0-pod16"));
  CAPTURE(sequences_per_s(ran));
  CHECK(near(sequences_per_s(ran), 1418.8, 0.05));
}

TEST_CASE("published: BERT-Large phase 1 with PopART on a Bow Pod16, within 5 %") {
  const Ran ran = run_of(experiment("bert-large-bow-pod16"));
  CAPTURE(sequences_per_s(ran));
  CHECK(near(sequences_per_s(ran), 5179, 0.05));
}

TEST_CASE("published: BERT-Large SQuAD with PyTorch on a Bow Pod16, within 5 %") {
  const Ran ran = run_of(experiment("bert-large-squad-bow-pod16"));
  CAPTURE(sequences_per_s(ran));
  CHECK(near(sequences_per_s(ran), 1009, 0.05));
}

// Worked values of the cost model for this run: pipeline 12.67 s, full cycle 6.179 ms, reduction 111 ms, streaming 99
// ms.
TEST_CASE("published: the parts of a BERT-Large step are those of the worked example, within 1 %") {
  const Ran ran = run_of(experiment("bert-large-bow-pod16"));
  const auto& plan = dynamic_cast<const ipu::IpuPlan&>(*ran.plan.family_plan);
  SimTime full_cycle;
  for (const SegmentId segment : ran.lowered.program.marks.at("full cycle")) {
    full_cycle += ran.result.segment_duration[segment.index()];
  }
  CHECK(near(full_cycle.duration().in_base(), 6.179e-3, 0.01));
  CHECK(near(ran.part_s(CostCategory::collective), 0.1106, 0.01));
  CHECK(near(ran.part_s(CostCategory::off_chip_memory), 0.0991, 0.01));
  const double update = ran.part_s(CostCategory::collective) + ran.part_s(CostCategory::off_chip_memory) +
                        ran.part_s(CostCategory::weight_update);
  const double call = plan.constants.software.call_overhead.in_base();
  CHECK(near(ran.step_s() - update - call, 12.67, 0.01));
}

// Worked predictions of the cost model, and the published throughputs they stand for.
TEST_CASE("published: runs on POD64 and two Bow Pod64 are those of the worked examples, within 1 %") {
  struct Expected {
    const char* name;
    double predicted;
    double measured;
    double reduction_s;
  };
  for (const Expected& expected : {Expected{"bert-large-mlperf-v1.1-pod64", 4916, 4802.7, 0.129},
                                   Expected{"bert-large-mlperf-v2.0-bow-pod128", 12914, 12906.3, 0.141},
                                   Expected{"bert-large-bow-pod64", 19543, 19353, 0.138}}) {
    CAPTURE(expected.name);
    const Ran ran = run_of(experiment(expected.name));
    CHECK(near(sequences_per_s(ran), expected.predicted, 0.01));
    CHECK(near(sequences_per_s(ran), expected.measured, 0.05));
    CHECK(near(ran.part_s(CostCategory::collective), expected.reduction_s, 0.01));
    CHECK(ran.plan.family->verdict(ran.plan, false).fits());
  }
}

// Rate of an IPU relative to the run on sixteen, as the cost model was worked out.
TEST_CASE("published: scale-out keeps the share of the rate that the worked examples keep, within 3 points") {
  struct Pair {
    const char* large;
    std::vector<std::string> large_changes;
    std::vector<std::string> small_changes;  // of the large run
    double size;                             // large over small
    double kept;
  };
  const std::vector<std::string> tensorflow = {
      "software.name=\"poplar-tensorflow2\"", "ipu.optimizer_state_offchip=false",
      "ipu.replicated_tensor_sharding=false", "ipu.embedding_serialization_factor=1", "workload.split_qkv=false"};
  const std::vector<std::string> packed = {"workload.packing_factor=1.17", "workload.masked_tokens=22"};
  const auto joined = [](std::vector<std::string> a, const std::vector<std::string>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  const std::vector<std::string> sixteen = {"system.name=\"bow-pod16\"", "ipu.replication_factor=4"};
  const std::vector<Pair> pairs = {
      {"bert-large-mlperf-v1.1-pod64",
       {},
       {"system.name=\"pod16\"", "ipu.replication_factor=4", "ipu.gradient_accumulation_steps=192",
        "ipu.ipus_per_replica=4", "ipu.attention_layers_per_ipu=[4, 7, 6, 7]", "ipu.ffn_layers_per_ipu=[5, 6, 7, 6]",
        "ipu.matmul_proportion=[0.23, 0.23, 0.23, 0.23]", "workload.split_qkv=true", "ipu.optimizer_state_offchip=true",
        "workload.first_moment_format=\"float16\""},
       4,
       0.802},
      {"bert-large-mlperf-v2.0-bow-pod128",
       {},
       {"system.name=\"bow-pod16\"", "ipu.replication_factor=2", "ipu.gradient_accumulation_steps=256",
        "ipu.attention_layers_per_ipu=[0, 3, 4, 3, 3, 4, 3, 4]", "ipu.ffn_layers_per_ipu=[1, 3, 3, 3, 4, 3, 4, 3]",
        "ipu.matmul_proportion=[0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3]", "ipu.embedding_serialization_factor=1",
        "workload.activation_checkpoint_format=\"float8\""},
       8,
       0.696},
      {"bert-large-bow-pod64", {}, joined(sixteen, {"ipu.gradient_accumulation_steps=2048"}), 4, 0.962},
      {"bert-large-bow-pod64", joined(packed, {"ipu.gradient_accumulation_steps=428"}),
       joined(joined(sixteen, packed), {"ipu.gradient_accumulation_steps=1712"}), 4, 0.955},
      {"bert-large-bow-pod64",
       joined(tensorflow, {"ipu.gradient_accumulation_steps=520", "ipu.matmul_proportion=[0.1, 0.19, 0.2, 0.2]"}),
       joined(joined(sixteen, tensorflow),
              {"ipu.gradient_accumulation_steps=2040", "ipu.matmul_proportion=[0.1, 0.19, 0.2, 0.25]"}),
       4, 0.965},
  };
  for (const Pair& pair : pairs) {
    const double large = sequences_per_s(run_of(experiment(pair.large), pair.large_changes));
    const double small = sequences_per_s(run_of(experiment(pair.large), pair.small_changes));
    CAPTURE(pair.large);
    CAPTURE(pair.kept);
    CAPTURE(large / small / pair.size);
    CHECK(std::abs(large / small / pair.size - pair.kept) <= 0.03);
  }
}

// 5.134 ms per micro-batch and 0.164 s per update were measured over these accumulations.
TEST_CASE("published: GPT-2 on one machine is affine in the accumulation with the measured slope and intercept") {
  const std::vector<double> accumulation = {16, 64, 256, 1024, 4096};
  std::vector<double> step;
  for (const double steps : accumulation) {
    const std::string change = "ipu.gradient_accumulation_steps=" + std::to_string(static_cast<int>(steps));
    step.push_back(run_of(experiment("gpt2-caraml-pod4"), {change}).step_s());
  }
  const double slope = (step.back() - step.front()) / (accumulation.back() - accumulation.front());
  const double intercept = step.front() - slope * accumulation.front();
  CAPTURE(slope);
  CAPTURE(intercept);
  CHECK(near(slope, 5.134e-3, 0.03));
  CHECK(near(intercept, 0.164, 0.03));
  for (std::size_t i = 0; i < step.size(); ++i) CHECK(near(step[i], slope * accumulation[i] + intercept, 1e-9));
}

// Worked pipeline times of the cost model, in seconds.
TEST_CASE("published: pipeline times of SQuAD and GPT-2 are those of the worked examples") {
  const Ran squad = run_of(experiment("bert-large-squad-bow-pod16"));
  const Ran gpt2 = run_of(experiment("gpt2-caraml-pod4"), {"ipu.gradient_accumulation_steps=16"});
  const auto pipeline_s = [](const Ran& ran) {
    const auto& plan = dynamic_cast<const ipu::IpuPlan&>(*ran.plan.family_plan);
    const ipu::Pipeline pipeline = ipu::make_pipeline(ran.plan.graph, plan.setup.placement);
    const ipu::OperatorCostModel& costs = *plan.costs;
    const ipu::MemoryInputs inputs{ran.plan.graph, ran.plan.settings, plan.setup, pipeline, plan.constants};
    return ipu::estimate_step(inputs, costs).pipeline.duration().in_base();
  };
  const Ran pod64 = run_of(experiment("bert-large-mlperf-v1.1-pod64"));
  CHECK(near(pipeline_s(pod64), 0.4848, 0.001));
  CHECK(near(pipeline_s(squad), 0.1746, 0.001));
  CHECK(near(pipeline_s(gpt2), 0.0924, 0.001));
}
