// U-Net: its layers, weights and products against the published network and formulas.

#include <doctest/doctest.h>

#include "models/workloads/unet.hpp"
#include "tests/support/model_shapes.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

ModelGraph shipped_graph(RunMode mode) {
  const Unet unet;
  WorkloadSettings settings = settings_for("none", 65536);
  settings.image_size = 256;
  settings.mode = mode;
  return unet.build(shipped_shape(unet, "unet"), settings);
}

}  // namespace

TEST_CASE("unet: the shipped model has the published parameters") {
  // As brain-segmentation-pytorch counts them for 3 channels in, 1 out and 32 features.
  CHECK(shipped_graph(RunMode::training).parameter_count() == 7'763'041);
}

TEST_CASE("unet: an image takes 24.1 GFLOP forward, twice that backward but for the gradient of the image") {
  // Multiply-adds of a 3 x 3 convolution: 9 x pixels x channels in x channels out. Every level has a quarter of the
  // pixels and twice the channels of the one above, so that all blocks below the first cost the same.
  const double pixels = 256.0 * 256.0;
  const double first = 9 * pixels * (3 * 32 + 32 * 32);
  const double down = 9 * pixels / 4 * (32 * 64 + 64 * 64);
  const double up = 9 * pixels * (64 * 32 + 32 * 32);
  const double doubling = 4 * pixels / 4 * 64 * 32;
  const double output = pixels * 32;
  const double forward = 2 * (first + 4 * down + 4 * up + 4 * doubling + output);
  const ModelGraph graph = shipped_graph(RunMode::training);
  CHECK(graph.forward_flop().in_base() == doctest::Approx(forward).epsilon(1e-12));
  CHECK(forward == doctest::Approx(24.1e9).epsilon(0.002));
  CHECK(graph.backward_flop().in_base() == doctest::Approx(2 * forward - 2 * 9 * pixels * 3 * 32).epsilon(1e-12));
  CHECK(graph.images);
}

TEST_CASE("unet: layers go down, along the bottom and up") {
  UnetSizes sizes;
  sizes.image_size = 64;
  sizes.in_channels = 3;
  sizes.out_channels = 2;
  sizes.features = 8;
  sizes.depth = 2;
  const std::vector<UnetLayer> layers = unet_layers(sizes);
  REQUIRE(layers.size() == 2 * 2 + 2 + 2 * 3 + 1);
  CHECK(layers[3].name == "encoder 2 convolution 2");
  CHECK(layers[3].shape.out_channels == 16);
  CHECK(layers[3].shape.output_height == 32);
  CHECK(layers[6].name == "up 2");
  CHECK(layers[6].shape.weight_elements() == 4 * 32 * 16);
  CHECK(layers[7].shape.in_channels == 32);  // the level's own map beside the one from below
  CHECK(layers.back().shape.out_channels == 2);
}

TEST_CASE(
    "unet: without padding and norms it is the network of the paper, 31 million parameters from 572 pixels to 388") {
  const Unet unet;
  const ModelShape shape = shipped_shape(unet, "unet-medical");
  CHECK(unet_sides(shape, 0) == std::vector<std::int64_t>{572, 284, 140, 68, 32});
  WorkloadSettings settings = settings_for("none", 327184);
  settings.image_size = 572;
  settings.input_bytes_per_element = 2;
  settings.mode = RunMode::training;
  const ModelGraph graph = unet.build(shape, settings);
  // Two convolutions of 3 x 3 a level with biases, four doublings of 2 x 2, the output of 1 x 1.
  std::int64_t parameters = 2 * 64 + 2;
  std::int64_t in = 1;
  for (const std::int64_t out : {64, 128, 256, 512, 1024}) {
    parameters += 9 * in * out + out + 9 * out * out + out;
    in = out;
  }
  for (const std::int64_t out : {512, 256, 128, 64}) {
    parameters += 4 * 2 * out * out + out + 9 * 2 * out * out + out + 9 * out * out + out;
  }
  CHECK(parameters == 31'030'658);
  CHECK(graph.parameter_count() == parameters);
  CHECK(graph.layers == 9);
  const Operator& last = operator_named(graph.blocks.back().forward, "output");
  CHECK(last.convolution.output_height == 388);
  CHECK(last.convolution.in_channels == 64);
  // An image of one channel and masks of two, two bytes a value.
  CHECK(graph.host_input == Bytes(2 * 572 * 572 + 2 * 2 * 388 * 388));
}

TEST_CASE("unet: maps of the way down are cut and carried over the layers between, the last first") {
  const Unet unet;
  WorkloadSettings settings = settings_for("none", 327184);
  settings.image_size = 572;
  settings.mode = RunMode::training;
  const ModelGraph graph = unet.build(shipped_shape(unet, "unet-medical"), settings);
  const std::vector<std::int64_t> kept = {392 * 392 * 64, 200 * 200 * 128, 104 * 104 * 256, 56 * 56 * 512};
  std::vector<std::int64_t> carried;
  for (const Block& block : graph.blocks) carried.push_back(block.carried.count() / 2);
  const std::int64_t two = kept[0] + kept[1];
  const std::int64_t all = two + kept[2] + kept[3];
  CHECK(carried == std::vector<std::int64_t>{kept[0], two, two + kept[2], all, all, two + kept[2], two, kept[0], 0});
  CHECK(graph.handed_on(1) == Bytes(2 * (140 * 140 * 128 + two)));
  const Operator& joined = operator_named(graph.blocks[5].forward, "conv1");
  CHECK(joined.convolution.in_channels == 1024);
  CHECK(joined.convolution.input_height == 56);
  // The gradient of what was cut is padded and added; without a cut it is added alone.
  CHECK(operator_named(graph.blocks[0].backward, "map_gradient").passes == 2);
  CHECK(operator_named(shipped_graph(RunMode::training).blocks[0].backward, "map_gradient").passes == 1);
}

TEST_CASE("unet: images that cannot be halved are refused by either family") {
  CHECK(problems_of(R"(system = "sn30"
[model]
config = "unet"
[workload]
image_size = 250
[rdu]
compile = "python u.py compile -b 8 --num-tiles 4"
)") == "experiment.toml:5:14: workload.image_size: 250 pixels cannot be halved 4 times, once per level; expected a "
       "multiple of 16\n");
  CHECK(problems_from(Unet(), R"({"model_type": "unet", "image_size": 100, "depth": 3})") ==
        "config.json:1:1: image_size: 100 pixels cannot be halved 3 times; expected a multiple of 8\n");
  CHECK(
      problems_from(Unet(), R"({"model_type": "unet", "image_size": 512, "padding": "valid"})") ==
      "config.json:1:1: image_size: 512 pixels cannot be halved 4 times; expected 60 more than a multiple of 16, from "
      "172\n");
  CHECK(problems_from(Unet(), R"({"model_type": "unet", "padding": "half"})")
            .find("padding: is \"half\"; expected one of same, valid") != std::string::npos);
  const std::string machine = "system = \"bow-pod4\"\n[model]\nconfig = \"unet\"\n[workload]\nimage_size = ";
  CHECK(problems_of(machine + "250\n")
            .find("workload.image_size: 250 pixels cannot be halved 4 times, once per level; "
                  "expected a multiple of 16") != std::string::npos);
  CHECK(problems_of("system = \"sn30\"\n[model]\nconfig = \"unet-medical\"\n[rdu]\ncompile = \"python u.py compile "
                    "-b 8 --num-tiles 4\"\n")
            .find("a unet of this kind is not known on RDUs") != std::string::npos);
}
