#include <doctest/doctest.h>

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "models/ipu/cost/estimate.hpp"
#include "models/ipu/cost/network_cost.hpp"
#include "models/ipu/ipu_plan.hpp"
#include "models/ipu/lowering/norm_exchange.hpp"
#include "models/ipu/lowering/stage_work.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

const ipu::IpuPlan& ipu_plan(const Plan& plan) {
  return dynamic_cast<const ipu::IpuPlan&>(*plan.family_plan);
}

// ResNet-50 on one GC200, half a dozen micro-batches of 16.
const std::string k_one = R"(
system = "pod4"
software = "poplar-tensorflow1"
[model]
config = "resnet50"
[workload]
micro_batch_size = 16
optimizer = "sgd-momentum"
first_moment_format = "float16"
[ipu]
gradient_accumulation_steps = 6
matmul_proportion = 0.15
optimizer_state_offchip = false
recompute_segments = 7
)";

ipu::StepEstimate estimate_of(const Plan& plan) {
  const ipu::IpuPlan& own = ipu_plan(plan);
  const ipu::Pipeline pipeline = ipu::make_pipeline(plan.graph, own.setup.placement);
  return ipu::estimate_step({plan.graph, plan.settings, own.setup, pipeline, own.constants}, *own.costs);
}

bool same(double a, double b) {
  return std::abs(a - b) <= 1e-9 * b;
}

double memory_of(const Ran& ran, const std::string& category) {
  const MemoryAccount account = ran.plan.family->memory_account(ran.plan);
  for (const MemoryAccountEntry& entry : account.memories.front().entries) {
    if (entry.category == category) return static_cast<double>(entry.bytes.count());
  }
  return 0;
}

}  // namespace

TEST_CASE("ipu networks: a norm costs a third of its start and 2/7 or 3/7 of its elements in each phase") {
  const Plan plan = plan_of(k_one);
  const ipu::OperatorConstants& constants = *ipu_plan(plan).constants.operators;
  const ipu::NetworkCostModel model(ipu_plan(plan).constants.chip, constants);
  Operator norm;
  norm.kind = OperatorKind::normalisation;
  norm.elements = 1472 * 700;
  CHECK(model.cost(norm, {}).total().in_base() == doctest::Approx(21'500 / 3.0 + 200 * 6.15));
  norm.gradient = true;
  CHECK(model.cost(norm, {}).total().in_base() == doctest::Approx(21'500 / 3.0 + 300 * 6.15));
}

TEST_CASE("ipu networks: poolings are planned, and the average before the classifier is a reduction") {
  const Plan plan = plan_of(k_one);
  const ipu::OperatorConstants& constants = *ipu_plan(plan).constants.operators;
  const ipu::NetworkCostModel model(ipu_plan(plan).constants.chip, constants);
  const ipu::PoolingPlanner poolings(ipu_plan(plan).constants.chip, constants);
  Operator pool = plan.graph.blocks.front().forward.back();
  REQUIRE(pool.kind == OperatorKind::pooling);
  CHECK(model.cost(pool, {}).total() == poolings.plan(ipu::pooling_forward(pool.convolution, 2)).cost.total());
  pool.gradient = true;
  CHECK(model.cost(pool, {}).total() == poolings.plan(ipu::pooling_gradient(pool.convolution, 2)).cost.total());
  Operator average;
  for (const Block& block : plan.graph.blocks) {
    for (const Operator& op : block.forward) {
      if (op.kind == OperatorKind::pooling) average = op;
    }
  }
  CHECK(model.cost(average, {}).total().in_base() == doctest::Approx(1050 + 3.25 * 16 * 2048 * 49 / 1472));
}

TEST_CASE("ipu networks: an image of three channels is read as one of four") {
  const Plan plan = plan_of(k_one);
  const ipu::NetworkCostModel model(ipu_plan(plan).constants.chip, *ipu_plan(plan).constants.operators);
  Operator first = plan.graph.blocks.front().forward.front();
  const Cycles three = model.cost(first, {ipu::AmpMode::half_half, 0.15}).total();
  first.convolution.in_channels = 4;
  CHECK(model.cost(first, {ipu::AmpMode::half_half, 0.15}).total() == three);
}

TEST_CASE("ipu networks: temporaries of a convolution are its plan's, within the proportion") {
  const Plan plan = plan_of(k_one);
  const Operator& first = plan.graph.blocks.front().forward.front();
  const ipu::OperatorCostModel& costs = *ipu_plan(plan).costs;
  const Bytes narrow = costs.temporary({&first, 1}, {ipu::AmpMode::half_half, 0.001, 1}, 0);
  CHECK(narrow == Bytes(639) * 1472);  // no plan is so small: 0.001 of 638 976 bytes is what it may take
  const Bytes wide = costs.temporary({&first, 1}, {ipu::AmpMode::half_half, 0.9, 1}, 0);
  CHECK(wide > narrow);
  CHECK(wide <= Bytes(575'079) * 1472);
}

TEST_CASE("ipu networks: a segment holds an equal share of the activations and runs forward twice") {
  const Plan plan = plan_of(k_one);
  const ipu::IpuPlan& own = ipu_plan(plan);
  const ipu::Pipeline pipeline = ipu::make_pipeline(plan.graph, own.setup.placement);
  const auto segments = ipu::recompute_segments(plan.graph, own.setup, pipeline.forward().front());
  REQUIRE(segments.size() == 7);
  std::vector<std::string> first;
  for (const auto& segment : segments) first.push_back(plan.graph.blocks[segment.front()].name);
  CHECK(first == std::vector<std::string>{"stem", "stage 1 unit 1", "stage 1 unit 2", "stage 2 unit 1",
                                          "stage 2 unit 2", "stage 2 unit 4", "stage 3 unit 4"});
  const ipu::MemoryInputs inputs{plan.graph, plan.settings, own.setup, pipeline, own.constants};
  std::vector<int> forwards(plan.graph.blocks.size());
  std::vector<int> backwards(plan.graph.blocks.size());
  for (const ipu::StageStep& step : ipu::stage_steps(inputs, 0)) {
    (step.phase == ipu::WorkPhase::backward ? backwards : forwards)[step.block] += 1;
  }
  CHECK(forwards == std::vector<int>(plan.graph.blocks.size(), 2));
  CHECK(backwards == std::vector<int>(plan.graph.blocks.size(), 1));
  const StepFacts facts = plan.family->step_facts(plan);
  CHECK(facts.hardware_flop.in_base() ==
        doctest::Approx(facts.model_flop.in_base() + 6 * plan.graph.forward_flop().in_base()));
  CHECK(plan.family->schedule_facts(plan).kind == "one IPU, recomputed in 7 segments");
}

TEST_CASE("ipu networks: what enters each segment is kept, and the activations of the largest") {
  const Ran ran = run_of(k_one);
  const double image = 16.0 * 224 * 224 * 3;  // bytes, as it arrives
  const double plane = 16.0 * 56 * 56 * 2;    // of a channel
  // The image; what stands behind the stem, units 1 and 3 of stage 1, units 1 and 3 of stage 2, unit 3 of stage 3.
  const double entering = image + plane * 64 + 2 * plane * 256 + 2 * plane / 4 * 512 + plane / 16 * 1024;
  CHECK(memory_of(ran, "Variables: activation stash") == entering);
  const double unit = 2 * plane * (64 + 64 + 256);  // convolutions and norms of a unit
  CHECK(memory_of(ran, "Variables: activations") == 2 * unit);
  const Ran whole = run_of(k_one, {"ipu.recompute_segments=0"});
  CHECK(memory_of(whole, "Variables: activation stash") == 0);
  CHECK(whole.part_s(CostCategory::recompute) == 0);
  // Without recomputation the backward pass reads all that the forward pass wrote, however that is said.
  Bytes written;
  for (const Block& block : whole.plan.graph.blocks) written += block.live_forward;
  CHECK(memory_of(whole, "Variables: activations") == static_cast<double>(written.count()));
  const Ran unasked = run_of(k_one, {"workload.recompute=false", "ipu.recompute_segments=0"});
  CHECK(memory_of(unasked, "Variables: activations") == static_cast<double>(written.count()));
  const Ran each = run_of(k_one, {"ipu.recompute_segments=-1"});
  CHECK(memory_of(each, "Variables: activation stash") > entering);
  CHECK(each.step_s() == doctest::Approx(ran.step_s()));
}

TEST_CASE("ipu networks: the simulated step is that of the formula, with replicas, shared norms and pods") {
  for (const auto& overrides : std::vector<std::vector<std::string>>{
           {},
           {"ipu.recompute_segments=0"},
           {"ipu.replication_factor=4", "ipu.distributed_batch_norm_replicas=2"},
           {"ipu.replication_factor=4", "ipu.distributed_batch_norm_replicas=4", "workload.optimizer=lars"},
           {"system=pod128", "ipu.replication_factor=128"}}) {
    const Ran ran = run_of(k_one, overrides);
    CHECK(same(ran.step_s(), estimate_of(ran.plan).total().duration().in_base()));
  }
}

TEST_CASE("ipu networks: shared norms cost two steps of 2.5 us and half of the sums, 53 norms in three phases") {
  const double alone = run_of(k_one, {"ipu.replication_factor=2"}).step_s();
  const Ran shared = run_of(k_one, {"ipu.replication_factor=2", "ipu.distributed_batch_norm_replicas=2"});
  double channels = 0;
  for (const Block& block : shared.plan.graph.blocks) {
    for (const Operator& op : block.forward) channels += static_cast<double>(op.channels);
  }
  CHECK(channels == 26'560);
  const double exchange = 3 * (53 * 2 * 2.5e-6 + 8 * channels / 75e9);
  CHECK(shared.step_s() - alone == doctest::Approx(6 * exchange).epsilon(1e-6));
  // A slow replica holds up the other one at each norm, and not only at the end.
  const Ran slow = run_of(
      k_one, {"ipu.replication_factor=2", "ipu.distributed_batch_norm_replicas=2", "system.slowdown={ipu1=2.0}"});
  CHECK(slow.step_s() > 1.9 * alone);
}

TEST_CASE("ipu networks: replicas of one IPU reduce in one ring over all pods, at the pace of its slowest hop") {
  const Ran ran = run_of(k_one, {"system=pod128", "ipu.replication_factor=128"});
  const double chunk = std::ceil(25'557'032 / 128.0) * 2;
  CHECK(ran.part_s(CostCategory::collective) == doctest::Approx(2 * 127 * (9.1e-6 + chunk / 25e9)).epsilon(1e-6));
  const Ran pod = run_of(k_one, {"system=pod16", "ipu.replication_factor=16"});
  const double inside = std::ceil(25'557'032 / 16.0) * 2;
  CHECK(pod.part_s(CostCategory::collective) == doctest::Approx(2 * 15 * (9.1e-6 + inside / 75e9)).epsilon(1e-6));
}

TEST_CASE("ipu networks: images arrive while others are worked on, until the link is too slow") {
  const double usual = run_of(k_one).step_s();
  CHECK(run_of(k_one, {"system.host.bandwidth=\"3 GB/s\""}).step_s() == usual);
  const double image = 224 * 224 * 3;
  CHECK(run_of(k_one, {"system.host.bandwidth=\"0.1 GB/s\""}).step_s() > 6 * 16 * image / 0.1e9);
}

TEST_CASE("ipu networks: host processes that are stated limit the rate at 128 us an image") {
  const std::vector<std::string> published = {"system=bow-pod16",
                                              "software=poplar-pytorch",
                                              "ipu.replication_factor=16",
                                              "ipu.recompute_segments=-1",
                                              "ipu.gradient_accumulation_steps=57",
                                              "workload.micro_batch_size=18"};
  std::vector<std::string> one = published;
  one.emplace_back("ipu.instances=1");
  const Ran bound = run_of(k_one, one);
  CHECK(bound.step_s() > 57 * 18 * 16 * 128e-6);
  CHECK(bound.step_s() < 1.03 * 57 * 18 * 16 * 128e-6);
  std::vector<std::string> sixteen = published;
  sixteen.emplace_back("ipu.instances=16");
  CHECK(run_of(k_one, sixteen).step_s() == run_of(k_one, published).step_s());
}

TEST_CASE("ipu networks: a network cut over two IPUs hands on what its blocks write") {
  const std::vector<std::string> cut = {"ipu.layers_per_ipu=[7, 9]", "ipu.ipus_per_replica=2",
                                        "ipu.recompute_segments=0"};
  const Ran ran = run_of(k_one, cut);
  CHECK(ran.plan.family->schedule_facts(ran.plan).forward_stages == 2);
  const double boundary = 16.0 * 28 * 28 * 512 * 2;  // behind stage 2
  CHECK(ran.part_s(CostCategory::inter_device) == doctest::Approx(8 * 2 * (1.6e-6 + boundary / 75e9)).epsilon(1e-6));
  CHECK(same(ran.step_s(), estimate_of(ran.plan).total().duration().in_base()));
  // The first stage keeps what enters it for three micro-batches, here images.
  CHECK(memory_of(ran, "Variables: activation stash") == 3 * 16.0 * 224 * 224 * 3);
}

TEST_CASE("ipu networks: inference runs forward alone, with half of the code") {
  const std::string text = R"(
system = "pod4"
software = "poplar-tensorflow1"
[model]
config = "resnet50"
[workload]
mode = "inference"
micro_batch_size = 4
)";
  const Ran ran = run_of(text);
  CHECK(memory_of(ran, "Vertex code, vertex instance state, control code, internal exchange code") == 127.5e6);
  CHECK(memory_of(ran, "Variables: gradient accumulators") == 0);
  CHECK(ran.part_s(CostCategory::recompute) == 0);
}

TEST_CASE("ipu networks: keys that these networks do not heed are told, wrong ones refused") {
  const auto tells = [](const std::vector<std::string>& overrides, const std::string& text) {
    const std::string problems = problems_of(k_one, overrides);
    INFO(problems);
    CHECK(problems.find(text) != std::string::npos);
  };
  tells({"ipu.recompute_segments=19"},
        "ipu.recompute_segments: 19 segments of 18 blocks; expected 1 to 18, or -1 for "
        "one each");
  tells({"ipu.recompute_segments=-2"}, "ipu.recompute_segments: -2 is out of range; expected at least -1");
  tells({"ipu.layers_per_ipu=[7, 9]", "ipu.ipus_per_replica=2"},
        "ipu.recompute_segments: no effect: a pipeline recomputes stage by stage; expected 0");
  tells({"workload.recompute=false"}, "ipu.recompute_segments: no effect: workload.recompute is false; expected 0");
  tells({"workload.mode=inference"}, "ipu.recompute_segments: no effect: there is no training; expected 0");
  tells({"model.config=vit-base-patch16-224"},
        "ipu.recompute_segments: no effect: the model is no network of convolutions; expected 0");
  tells({"model.config=vit-base-patch16-224", "ipu.distributed_batch_norm_replicas=2"},
        "ipu.distributed_batch_norm_replicas: no effect: the model is no network of convolutions; expected 1");
  tells({"ipu.replication_factor=4", "ipu.distributed_batch_norm_replicas=3"},
        "ipu.distributed_batch_norm_replicas: 4 replicas cannot share their norms in groups of 3; expected a divisor "
        "of replication_factor");
  tells({"ipu.instances=1"},
        "ipu.instances: no effect on the time: this software has no software.convolution.instance_sample_time");
  tells({"workload.split_qkv=true"},
        "workload.split_qkv: has no effect: the model has no attention and no feed-forward layers");
  tells({"workload.activation_checkpoint_format=float8"},
        "workload.activation_checkpoint_format: no effect: what enters a segment of a network is kept as it is");
  tells({"workload.image_size=8"},
        "workload.image_size: images of 8 × 8 are too small for the patches or strides of the model; expected at least "
        "32");
}

TEST_CASE("ipu networks: both engines tell the same step of a network with shared norms") {
  const std::vector<std::string> shared = {"ipu.replication_factor=4", "ipu.distributed_batch_norm_replicas=2"};
  const Ran folded = run_of(k_one, shared);
  RunOptions all;
  all.fold = false;
  all.exact = true;
  CHECK(run_of(k_one, shared, all).step_s() == folded.step_s());
  RunOptions reference;
  reference.engine = "simgrid";
  CHECK(same(run_of(k_one, shared, reference).step_s(), folded.step_s()));
  RunOptions merged;
  merged.merged = true;
  CHECK(run_of(k_one, shared, merged).step_s() == folded.step_s());
}

TEST_CASE("ipu networks: ResNet-50 on one GC200 is within 2 % of what was measured for each micro-batch") {
  for (const auto& [micro_batch, images] : {std::pair{2, 786.0}, {8, 1608.0}, {16, 2030.0}, {20, 2130.0}}) {
    const Ran ran =
        run_of(k_one, {fmt::format("workload.micro_batch_size={}", micro_batch), "ipu.gradient_accumulation_steps=24"});
    INFO(micro_batch);
    CHECK(24 * micro_batch / ran.step_s() == doctest::Approx(images).epsilon(0.02));
  }
}

TEST_CASE("ipu networks: ResNeXt-50 in single precision, case 28, fits with a proportion of 0.35 and not of 0.8") {
  const std::string text = R"(
system = "pod4"
[model]
config = "resnext50-32x4d"
[workload]
mode = "inference"
precision = "fp32"
micro_batch_size = 20
)";
  for (const auto& [proportion, fits] : {std::pair{"0.35", true}, {"0.8", false}}) {
    const Plan plan = plan_of(text, {std::string("ipu.inference_matmul_proportion=") + proportion});
    INFO(proportion);
    CHECK(plan.family->verdict(plan, false).fits() == fits);
  }
}

TEST_CASE("ipu networks: activations of a training grow with the images, case 30: 2 fit one IPU, 64 do not") {
  for (const auto& [images, fits] : {std::pair{2, true}, {20, true}, {21, false}, {64, false}}) {
    const Plan plan = plan_of(k_one, {fmt::format("workload.micro_batch_size={}", images)});
    INFO(images);
    CHECK(plan.family->verdict(plan, false).fits() == fits);
  }
}

// The U-Net of graphcore/examples vision/unet_medical/tensorflow2, as its benchmark is run.
const std::string k_unet = R"(
system = "bow-pod4"
software = "poplar-tensorflow2"
[model]
config = "unet-medical"
[workload]
optimizer = "sgd-momentum"
[ipu]
ipus_per_replica = 4
layers_per_ipu = [2, 3, 2, 2]
replication_factor = 1
gradient_accumulation_steps = 24
device_iterations = 10
matmul_proportion = [0.7, 0.3, 0.45, 0.7]
)";

TEST_CASE("ipu networks: a U-Net trains on four IPUs, with state on the chip and maps that pass over IPUs between") {
  const Plan plan = plan_of(k_unet);
  const ipu::IpuPlan& own = ipu_plan(plan);
  CHECK_FALSE(own.setup.optimizer_state_offchip);
  CHECK_FALSE(own.setup.replicated_tensor_sharding);
  const ipu::Pipeline pipeline = ipu::make_pipeline(plan.graph, own.setup.placement);
  const auto stash = [&](std::size_t stage) {
    return ipu::stash_of_stage(plan.graph, plan.settings, own.setup, pipeline.forward()[stage]);
  };
  // IPU 1 reads what IPU 0 pooled; the two maps go on to IPU 3, which reads them beside its input. IPU 2 reads two
  // more.
  CHECK(stash(1) == Bytes(2 * 140 * 140 * 128));
  CHECK(stash(2) == Bytes(2 * (56 * 56 * 512 + 56 * 56 * 512 + 104 * 104 * 256)));
  CHECK(stash(3) == Bytes(2 * (200 * 200 * 128 + 200 * 200 * 128 + 392 * 392 * 64)));
  // Two maps are held while they pass.
  const MemoryAccount account = plan.family->memory_account(plan);
  const Bytes passing(2 * (392 * 392 * 64 + 200 * 200 * 128));
  for (const MemoryAccountEntry& entry : account.memories[1].entries) {
    if (entry.category == ipu::k_stash) CHECK(entry.bytes == 5 * stash(1) + passing);
  }
  const Ran ran = run_of(k_unet, {"memory.usable_fraction=1"});
  CHECK(same(ran.step_s(), estimate_of(ran.plan).total().duration().in_base()));
}

TEST_CASE("ipu networks: a U-Net runs forward on one IPU, a micro-batch of two in less than twice the time") {
  const std::string one = R"(
system = "bow-pod4"
software = "poplar-tensorflow2"
[model]
config = "unet-medical"
[workload]
mode = "inference"
[ipu]
inference_ipus_per_replica = 1
inference_replication_factor = 4
inference_device_iterations = 400
inference_matmul_proportion = 0.4
)";
  const Ran single = run_of(one);
  const Ran pair = run_of(one, {"workload.micro_batch_size=2"});
  CHECK(single.plan.family->verdict(single.plan, false).fits());
  CHECK(pair.plan.family->verdict(pair.plan, false).fits());
  CHECK(pair.step_s() > single.step_s());
  CHECK(pair.step_s() < 2 * single.step_s());
}

TEST_CASE("ipu networks: code grows with the different convolutions on an IPU, that of ResNet-50 being the measure") {
  const auto code = [](const std::string& toml, std::size_t ipu) {
    const Plan plan = plan_of(toml);
    const MemoryAccount account = plan.family->memory_account(plan);
    for (const MemoryAccountEntry& entry : account.memories[ipu].entries) {
      if (entry.category == ipu::k_code) return entry.bytes;
    }
    return Bytes();
  };
  CHECK(code(k_one, 0) == Bytes(255'000'000));
  // Two levels are four convolutions, of the 24 of ResNet-50 that differ; Keras has 317 MB for these.
  CHECK(code(k_unet, 0) == round_up_bytes(Bytes(40'000'000).size() + Bytes(277'000'000).size() * (4.0 / 24)));
}
