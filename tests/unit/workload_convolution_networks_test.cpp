#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "models/workloads/efficientnet.hpp"
#include "models/workloads/mobilenet_v3.hpp"
#include "models/workloads/resnet.hpp"
#include "tests/support/model_shapes.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

ModelGraph graph_of(const ModelKind& kind, const std::string& shipped, std::int64_t micro_batch,
                    RunMode mode = RunMode::training) {
  const ModelShape shape = shipped_shape(kind, shipped);
  WorkloadSettings settings = settings_for("image-classification", kind.maximum_sequence_length(shape));
  settings.micro_batch_size = micro_batch;
  settings.mode = mode;
  return kind.build(shape, settings);
}

const Block& block_of(const ModelGraph& graph, const std::string& name) {
  for (const Block& block : graph.blocks) {
    if (block.name == name) return block;
  }
  FAIL("no block " << name);
  return graph.blocks.front();
}

std::vector<std::string> names_of(const std::vector<Operator>& operators) {
  std::vector<std::string> names;
  for (const Operator& op : operators) names.push_back(op.name);
  return names;
}

}  // namespace

TEST_CASE("convolution networks: parameters are the published ones") {
  CHECK(graph_of(ResNet(), "resnet50", 1).parameter_count() == 25'557'032);
  CHECK(graph_of(ResNet(), "resnet101", 1).parameter_count() == 44'549'160);
  CHECK(graph_of(ResNext(), "resnext50-32x4d", 1).parameter_count() == 25'028'904);
  CHECK(graph_of(ResNext(), "resnext101-32x4d", 1).parameter_count() == 44'177'704);
  CHECK(graph_of(EfficientNet(), "efficientnet-b0", 1).parameter_count() == 5'288'548);
  CHECK(graph_of(EfficientNet(), "efficientnet-b4", 1).parameter_count() == 19'341'616);
  CHECK(graph_of(MobileNetV3(), "mobilenet-v3-large", 1).parameter_count() == 5'483'032);
  CHECK(graph_of(MobileNetV3(), "mobilenet-v3-small", 1).parameter_count() == 2'542'856);
}

TEST_CASE("convolution networks: the basic layer type gives the small ResNet") {
  const ModelShape shape = shape_from(ResNet(), R"({"model_type": "resnet", "hidden_sizes": [64, 128, 256, 512],
      "depths": [2, 2, 2, 2], "layer_type": "basic", "num_labels": 1000})");
  CHECK(shape.name == "ResNet-18");
  CHECK(ResNet().build(shape, settings_for("image-classification", 49)).parameter_count() == 11'689'512);
}

TEST_CASE("convolution networks: ResNet-50 takes 4.09 billion multiply-adds for an image, and twice that backward") {
  const ModelGraph graph = graph_of(ResNet(), "resnet50", 2);
  CHECK(graph.forward_flop().in_base() == doctest::Approx(2 * 2 * 4'089'184'256.0));
  // The first convolution has no input gradient: 64 · 147 · 112² multiply-adds less.
  const double stem = 2.0 * 2 * 64 * 147 * 112 * 112;
  CHECK(graph.backward_flop().in_base() == doctest::Approx(2 * graph.forward_flop().in_base() - stem));
}

TEST_CASE("convolution networks: EfficientNet-B0 takes 0.386 billion multiply-adds for an image") {
  CHECK(graph_of(EfficientNet(), "efficientnet-b0", 1).forward_flop().in_base() / 2 ==
        doctest::Approx(385.9e6).epsilon(0.01));
}

TEST_CASE("convolution networks: a residual unit is a layer, with the operators of its gradients in reverse") {
  const ModelGraph graph = graph_of(ResNet(), "resnet50", 1);
  CHECK(graph.layers == 16);
  CHECK(graph.images);
  CHECK(graph.convolutional());
  const Block& unit = block_of(graph, "stage 2 unit 1");
  CHECK(unit.kind == BlockKind::whole_layer);
  CHECK(unit.layer == 3);
  CHECK(names_of(unit.forward) == std::vector<std::string>{"conv1", "conv1_norm", "conv2", "conv2_norm", "conv3",
                                                           "conv3_norm", "shortcut", "shortcut_norm"});
  CHECK(names_of(unit.backward) ==
        std::vector<std::string>{"shortcut_norm_gradient", "shortcut_input_gradient", "shortcut_weight_gradient",
                                 "conv3_norm_gradient", "conv3_input_gradient", "conv3_weight_gradient",
                                 "conv2_norm_gradient", "conv2_input_gradient", "conv2_weight_gradient",
                                 "conv1_norm_gradient", "conv1_input_gradient", "conv1_weight_gradient"});
  // Version 1.5: the stride stands in the 3 × 3 convolution.
  CHECK(unit.forward[0].convolution.output_height == 56);
  CHECK(unit.forward[2].convolution.stride == 2);
  CHECK(unit.output == Bytes(28 * 28 * 512 * 2));
  const ModelGraph old = ResNet().build(shape_from(ResNet(), R"({"downsample_in_bottleneck": true})"),
                                        settings_for("image-classification", 49));
  CHECK(block_of(old, "stage 2 unit 1").forward[0].convolution.output_height == 28);
}

TEST_CASE("convolution networks: the middle convolution of ResNeXt and of EfficientNet is grouped") {
  const ModelGraph next = graph_of(ResNext(), "resnext101-32x4d", 1);
  CHECK(next.layers == 33);
  const Operator& grouped = block_of(next, "stage 1 unit 1").forward[2];
  CHECK(grouped.convolution.groups == 32);
  CHECK(grouped.convolution.in_channels == 128);
  const ModelGraph g16 = graph_of(EfficientNet(), "efficientnet-b4-g16", 1);
  CHECK(g16.layers == 32);
  const Block& unit = block_of(g16, "stage 2 unit 1");
  CHECK(unit.forward[3].name == "depthwise");
  CHECK(unit.forward[3].convolution.in_channels == 96);
  CHECK(unit.forward[3].convolution.groups == 6);
  const ModelGraph depthwise = graph_of(EfficientNet(), "efficientnet-b0", 1);
  CHECK(block_of(depthwise, "stage 2 unit 1").forward[3].convolution.groups == 96);
}

TEST_CASE("convolution networks: training keeps what a convolution and its norm write, inference the widest moment") {
  const std::int64_t plane = 56 * 56;
  const Block training = block_of(graph_of(ResNet(), "resnet50", 3), "stage 1 unit 2");
  CHECK(training.live_forward == Bytes(3 * 2 * 2 * plane * (64 + 64 + 256)));
  const Block inference = block_of(graph_of(ResNet(), "resnet50", 3, RunMode::inference), "stage 1 unit 2");
  CHECK(inference.backward.empty());
  CHECK(inference.live_forward == Bytes(3 * 2 * plane * (256 + 64 + 256)));  // shortcut, input and output of conv3
}

TEST_CASE("convolution networks: the host sends a byte per value of an image unless told otherwise") {
  CHECK(graph_of(ResNet(), "resnet50", 2).host_input == Bytes(2 * 3 * 224 * 224));
  CHECK(ResNet().workload_defaults(shipped_shape(ResNet(), "resnet50")).input_bytes_per_element == 1);
  CHECK(EfficientNet().workload_defaults(shipped_shape(EfficientNet(), "efficientnet-b4")).image_size == 380);
}

TEST_CASE("convolution networks: bad fields are refused at their places") {
  CHECK(problems_from(ResNet(), R"({"layer_type": "wide"})")
            .find("config.json:1:16: layer_type: is \"wide\"; expected "
                  "one of basic, bottleneck") != std::string::npos);
  CHECK(problems_from(ResNet(), R"({"depths": [3, 4]})")
            .find("depths: has another length; expected a list of 4 "
                  "integers") != std::string::npos);
  CHECK(problems_from(ResNet(), R"({"hidden_sizes": [2, 4, 8, 16]})")
            .find("hidden_sizes: a stage of 2 channels has no channel in a bottleneck") != std::string::npos);
  CHECK(problems_from(ResNet(), R"({"depths": [3000, 1, 1, 1]})")
            .find("depths: 3003 units in all stages; expected at most 2000") != std::string::npos);
  CHECK(problems_from(MobileNetV3(), R"({"strides": [1, 2]})")
            .find("strides: has another length; expected a list of 15 "
                  "integers") != std::string::npos);
  CHECK(problems_from(EfficientNet(), R"({"width_coefficient": "wide"})")
            .find("width_coefficient: is a string; expected a number from 0.01 to 100") != std::string::npos);
  CHECK(problems_from(EfficientNet(), R"({"depth_coefficient": 1000})")
            .find("depth_coefficient: is 1000; expected a number from 0.01 to 100") != std::string::npos);
  CHECK(problems_from(EfficientNet(), R"({"group_dim": 36})").find("group_dim: 36 does not divide the") !=
        std::string::npos);
  CHECK(problems_from(EfficientNet(), R"({"in_channels": [32, 8, 24, 40, 80, 112, 192]})")
            .find("in_channels: stage 2 takes 16 channels, but gets 32; expected what the stage before gives") !=
        std::string::npos);
}
