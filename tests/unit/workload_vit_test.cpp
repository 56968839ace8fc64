#include <doctest/doctest.h>

#include <cmath>

#include "models/ipu/cost/operator_cost.hpp"
#include "models/workloads/vit.hpp"
#include "tests/support/ipu_constants.hpp"
#include "tests/support/model_shapes.hpp"
#include "tests/support/operator_constants.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

ModelGraph base_graph(std::int64_t micro_batch, bool attention_dropout) {
  const Vit vit;
  WorkloadSettings settings = settings_for("image-classification", 197);
  settings.image_size = 224;
  settings.micro_batch_size = micro_batch;
  settings.split_qkv = true;
  settings.attention_dropout = attention_dropout;
  settings.ffn_dropout = true;
  return vit.build(shipped_shape(vit, "vit-base-patch16-224"), settings);
}

long cycles_of(const std::vector<Operator>& operators) {
  const ipu::OperatorCostModel costs(gc200_chip(), transformer_cost(), operator_scene("gc200").constants.passes);
  return std::lround(costs.cost(operators, {ipu::AmpMode::half_half, 0.3, 1}).total().in_base());
}

const std::string k_experiment = R"(
system = "bow-pod16"
[model]
config = "vit-base-patch16-224"
[ipu]
layers_per_ipu = [3, 3, 3, 3]
gradient_accumulation_steps = 16
)";

}  // namespace

TEST_CASE("vit: the base model with 1000 classes has the published parameters") {
  const ModelGraph graph = base_graph(1, true);
  CHECK(graph.parameter_count() == 86'567'656);
  std::int64_t embedding = 0;
  for (const ParameterTensor& tensor : graph.blocks[0].parameters) embedding += tensor.elements;
  CHECK(graph.blocks[0].parameters.size() == 4);
  CHECK(embedding == 966 * 768 + 768);  // 768 values of a patch, 197 positions, the class token; and a bias
}

TEST_CASE("vit: dropout of attention is a pass over scores whose rows of 197 start off the 8-byte boundary") {
  const ModelGraph without = base_graph(8, false);
  const ModelGraph with = base_graph(8, true);
  const double scores = 8.0 * 12 * 197 * 197;
  const double dropout = scores / 1472 * (1.91 + 9.4) + 608;
  const auto more = [](const std::vector<Operator>& a, const std::vector<Operator>& b) {
    return static_cast<double>(cycles_of(a) - cycles_of(b));
  };
  CHECK(more(with.blocks[1].forward, without.blocks[1].forward) == doctest::Approx(dropout).epsilon(1e-4));
  CHECK(more(with.blocks[1].backward, without.blocks[1].backward) == doctest::Approx(dropout).epsilon(1e-4));
  CHECK(cycles_of(with.blocks[2].forward) == cycles_of(without.blocks[2].forward));
}

TEST_CASE("vit: the patch embedding is one product over patches, seven launches each way") {
  const Block block = base_graph(8, true).blocks.front();
  const auto launches = [](const std::vector<Operator>& operators) {
    int sum = 0;
    for (const Operator& op : operators) sum += op.launches;
    return sum;
  };
  const std::int64_t th = 8 * 197 * 768;
  CHECK(operator_named(block.forward, "patch_projection").matmul == MatmulShape{1, 196 * 8, 768, 768});
  CHECK(operator_named(block.backward, "patch_weight_gradient").matmul == MatmulShape{1, 768, 196 * 8, 768});
  const Operator& layout = operator_named(block.forward, "patch_layout");
  CHECK(layout.elements * layout.passes == 2 * 150'528 * 8);
  const Operator& sum = operator_named(block.forward, "bias_and_position_sum");
  CHECK(sum.elements * sum.passes == 2 * th);
  const Operator& gradient = operator_named(block.backward, "bias_and_position_gradient");
  CHECK(gradient.elements * gradient.passes == th);
  CHECK(launches(block.forward) == 7);
  CHECK(launches(block.backward) == 7);
}

TEST_CASE("vit: the host sends the pixels of the micro-batch, in bytes per element as told") {
  const Vit vit;
  WorkloadSettings settings = settings_for("image-classification", 197);
  settings.micro_batch_size = 8;
  const ModelShape shape = shipped_shape(vit, "vit-base-patch16-224");
  CHECK(vit.build(shape, settings).host_input == Bytes(2 * 150'528 * 8));
  settings.input_bytes_per_element = 1;
  CHECK(vit.build(shape, settings).host_input == Bytes(150'528 * 8));
}

TEST_CASE("vit: tokens follow from the image, and its defaults are those of the published program") {
  const Plan plan = plan_of(k_experiment);
  CHECK(plan.settings.image_size == 224);
  CHECK(plan.settings.sequence_length == 197);
  CHECK(plan.settings.split_qkv);
  CHECK(plan.settings.ffn_dropout);
  CHECK(plan.settings.input_bytes_per_element == 2.0);
  CHECK(plan.graph.head_placement == HeadPlacement::last_device);
  CHECK(plan_of(k_experiment, {"workload.image_size=384"}).settings.sequence_length == 24 * 24 + 1);
}

TEST_CASE("vit: an image smaller than a patch is refused, a sequence length has no effect") {
  CHECK(problems_of(k_experiment, {"workload.image_size=15"})
            .find("workload.image_size: images of 15 × 15 are too small for the patches or strides of the model") !=
        std::string::npos);
  CHECK(problems_of(k_experiment, {"workload.sequence_length=128"})
            .find("workload.sequence_length: has no effect: the model's tokens follow from workload.image_size") !=
        std::string::npos);
}

// Worked values of the cost model for this run: 7931 images/s, full cycle 4.012 ms, pipeline 8.229 s.
TEST_CASE("published: ViT-Base with PyTorch on a Bow Pod16 takes the worked cycle and pipeline times") {
  const Ran ran = run_of(experiment("vit-base-bow-pod16"));
  const StepFacts facts = ran.plan.family->step_facts(ran.plan);
  CHECK(facts.images);
  CHECK(facts.global_batch == 65'536);
  SimTime full_cycle;
  for (const SegmentId segment : ran.lowered.program.marks.at("full cycle")) {
    full_cycle += ran.result.segment_duration[segment.index()];
  }
  const double images_per_s = static_cast<double>(facts.global_batch) / ran.step_s();
  CHECK(full_cycle.duration().in_base() == doctest::Approx(4.012e-3).epsilon(0.001));
  CHECK(images_per_s == doctest::Approx(7931).epsilon(0.005));
  CHECK(images_per_s == doctest::Approx(7615).epsilon(0.05));
  const double pipeline = ran.step_s() - ran.part_s(CostCategory::collective) - ran.part_s(CostCategory::weight_update);
  CHECK(pipeline == doctest::Approx(8.229).epsilon(0.002));
}
