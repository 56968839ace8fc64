// Published measurements and the worked examples of the cost model, end to end.

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "models/ipu/estimate.hpp"
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

// Worked values of the cost model for this run: pipeline 12.682 s, full cycle 6.185 ms, reduction 108 ms, streaming 98
// ms.
TEST_CASE("published: the parts of a BERT-Large step are those of the worked example, within 1 %") {
  const Ran ran = run_of(experiment("bert-large-bow-pod16"));
  const auto& plan = dynamic_cast<const ipu::IpuPlan&>(*ran.plan.family_plan);
  SimTime full_cycle;
  for (const SegmentId segment : ran.lowered.program.marks.at("full cycle")) {
    full_cycle += ran.result.segment_duration[segment.index()];
  }
  CHECK(near(full_cycle.duration().in_base(), 6.185e-3, 0.01));
  CHECK(near(ran.part_s(CostCategory::collective), 0.108, 0.01));
  CHECK(near(ran.part_s(CostCategory::off_chip_memory), 0.098, 0.01));
  const double update = ran.part_s(CostCategory::collective) + ran.part_s(CostCategory::off_chip_memory) +
                        ran.part_s(CostCategory::weight_update);
  const double call = plan.constants.software.call_overhead.in_base();
  CHECK(near(ran.step_s() - update - call, 12.682, 0.01));
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
  CHECK(near(slope, 5.134e-3, 0.05));
  CHECK(near(intercept, 0.164, 0.05));
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
  CHECK(near(pipeline_s(squad), 0.1735, 0.001));
  CHECK(near(pipeline_s(gpt2), 0.0937, 0.001));
}
