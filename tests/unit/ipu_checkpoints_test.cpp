// Where one IPU cuts a network into the parts that it runs forward again, by the names of published programs.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/ipu/ipu_plan.hpp"
#include "models/ipu/lowering/stage_work.hpp"
#include "models/ipu/resolve/recompute_checkpoints.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

// graphcore/examples vision/cnns/tensorflow1/training/configs.yml, resnet50_mlperf_pod16_bs20: one IPU in seven parts.
const std::string k_published = R"(
system = "pod4"
software = "poplar-tensorflow1"
[model]
config = "resnet50"
[workload]
micro_batch_size = 20
optimizer = "sgd-momentum"
first_moment_format = "float16"
[ipu]
gradient_accumulation_steps = 6
matmul_proportion = 0.15
)";

const std::string k_splits = R"(recompute_checkpoints = ["stage1/unit1/relu", "stage1/unit3/relu", "stage2/unit1/relu",
  "stage2/unit3/relu", "stage3/unit1/relu", "stage3/unit4/relu"]
)";

std::vector<std::string> first_blocks(const Plan& plan) {
  const auto& own = dynamic_cast<const ipu::IpuPlan&>(*plan.family_plan);
  const ipu::Pipeline pipeline = ipu::make_pipeline(plan.graph, own.setup.placement);
  std::vector<std::string> names;
  for (const auto& segment : ipu::recompute_segments(plan.graph, own.setup, pipeline.forward().front())) {
    names.push_back(plan.graph.blocks[segment.front()].name);
  }
  return names;
}

Bytes bytes_of(const Plan& plan, const std::string& category) {
  const MemoryAccount account = plan.family->memory_account(plan);
  for (const MemoryAccountEntry& entry : account.memories.front().entries) {
    if (entry.category == category) return entry.bytes;
  }
  return Bytes();
}

}  // namespace

TEST_CASE("ipu checkpoints: splits of TensorFlow 1 and 2 and blocks of a report name the same parts") {
  const std::vector<std::string> parts = {"stem",           "stage 1 unit 2", "stage 2 unit 1", "stage 2 unit 2",
                                          "stage 2 unit 4", "stage 3 unit 2", "stage 3 unit 5"};
  CHECK(first_blocks(plan_of(k_published + k_splits)) == parts);
  CHECK(first_blocks(plan_of(k_published + R"(recompute_checkpoints = ["conv2_block1_out", "conv2_block3_out",
  "conv3_block1_out", "conv3_block3_out", "conv4_block1_out", "conv4_block4_out"])")) == parts);
  CHECK(first_blocks(plan_of(k_published + R"(recompute_checkpoints = ["stage 3 unit 4", "stage 1 unit 1",
  "stage 1 unit 3", "stage 2 unit 1", "stage 2 unit 3", "stage 3 unit 1"])")) == parts);
}

TEST_CASE(
    "ipu checkpoints: what enters each part is kept, and the first of the published parts holds more than equal parts "
    "do") {
  const Plan published = plan_of(k_published + k_splits);
  // Halves of 20 images: the stem reads a byte a value; the units behind the cuts what those before them write.
  const std::int64_t image = 20 * 3 * 224 * 224;
  const std::int64_t fields = 56 * 56 * 256 * 2 + 28 * 28 * 512 * 2 + 14 * 14 * 1024 * 2;
  CHECK(bytes_of(published, ipu::k_stash) == Bytes(image + 2 * 20 * fields));
  const std::string equal_parts = k_published + "recompute_segments = 7\n";
  CHECK(bytes_of(published, ipu::k_activations) > bytes_of(plan_of(equal_parts), ipu::k_activations));
  CHECK(published.family->schedule_facts(published).kind == "one IPU, recomputed in 7 segments");
  const Ran named = run_of(k_published + k_splits);
  const Ran equal = run_of(equal_parts);
  CHECK(named.step_s() == equal.step_s());  // the forward runs twice wherever the cuts are
}

TEST_CASE("ipu checkpoints: a plan says them again, and names that are no blocks are refused") {
  CHECK(to_toml(plan_of(k_published + "recompute_checkpoints = [\"stage2/unit1/relu\"]\n"))
            .find("recompute_checkpoints = [\"stage2/unit1/relu\"]") != std::string::npos);
  const auto tells = [](const std::string& list, const std::string& problem, const std::string& more = "") {
    const std::string told = problems_of(k_published + "recompute_checkpoints = " + list + "\n" + more);
    CHECK_MESSAGE(told.find(problem) != std::string::npos, told);
  };
  tells("[\"stage9/unit1/relu\"]",
        "ipu.recompute_checkpoints: \"stage9/unit1/relu\" is no block of the model; expected blocks but the last, such "
        "as \"stem\"");
  tells("[\"classifier\"]", "nothing stands behind \"classifier\"");
  tells("[\"stem\", \"stem\"]", "\"stem\" is named twice");
  tells("[\"stage99999999999/unit1/relu\"]", "is no block of the model");
  tells("[\"stem\"]", "says in another way what ipu.recompute_segments says; expected one of the two",
        "recompute_segments = 7\n");
  tells("[\"stem\"]", "no effect: a pipeline recomputes stage by stage", "layers_per_ipu = [8, 8]\n");
}
