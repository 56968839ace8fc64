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

TEST_CASE("unet: an image takes 24.1 GFLOP forward, twice that backward") {
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
  CHECK(graph.backward_flop().in_base() == doctest::Approx(2 * forward).epsilon(1e-12));
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

TEST_CASE("unet: images that cannot be halved, and placements on IPUs, are refused") {
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
  CHECK(problems_of(R"(system = "bow-pod16"
[model]
config = "unet"
)")
            .find("model.config: feature maps of a unet pass over the layers between, which placements on IPUs do not "
                  "carry; "
                  "expected another model, or an RDU system") != std::string::npos);
}
