#include "models/workloads/unet.hpp"

#include "models/workloads/operators.hpp"
#include "models/workloads/shape_reader.hpp"
#include "sim/core/check.hpp"

namespace podsim {
namespace {

class LayerList {
 public:
  explicit LayerList(const UnetSizes& sizes) : sizes_(sizes) {}

  std::vector<UnetLayer> take() {
    std::int64_t channels = sizes_.in_channels;
    for (int level = 0; level < sizes_.depth; ++level) {
      add_block("encoder " + std::to_string(level + 1), level, channels, true);
      channels = features(level);
    }
    add_block("bottom", sizes_.depth, channels, false);
    for (int level = sizes_.depth - 1; level >= 0; --level) {
      const std::string number = std::to_string(level + 1);
      layers_.push_back({"up " + number, UnetLayer::Kind::upsampling, level, false, false, upsampling_shape(level)});
      add_block("decoder " + number, level, 2 * features(level), false);
    }
    layers_.push_back(
        {"output", UnetLayer::Kind::output, 0, false, false, shape(0, features(0), sizes_.out_channels, 1)});
    return std::move(layers_);
  }

 private:
  std::int64_t features(int level) const { return sizes_.features << level; }

  ConvolutionShape shape(int level, std::int64_t in, std::int64_t out, std::int64_t kernel) const {
    const std::int64_t side = sizes_.image_size >> level;
    ConvolutionShape made;
    made.batch = sizes_.batch;
    made.in_channels = in;
    made.out_channels = out;
    made.input_height = made.input_width = made.output_height = made.output_width = side;
    made.kernel_height = made.kernel_width = kernel;
    return made;
  }

  // From the level below to `level`, read backwards: a convolution of stride 2 from `level` to the one below.
  ConvolutionShape upsampling_shape(int level) const {
    ConvolutionShape made = shape(level, features(level), features(level + 1), 2);
    made.output_height = made.output_width = sizes_.image_size >> (level + 1);
    made.stride = 2;
    return made;
  }

  void add_block(const std::string& name, int level, std::int64_t in, bool downward) {
    const std::int64_t out = features(level);
    layers_.push_back(
        {name + " convolution 1", UnetLayer::Kind::convolution, level, false, downward, shape(level, in, out, 3)});
    layers_.push_back(
        {name + " convolution 2", UnetLayer::Kind::convolution, level, true, downward, shape(level, out, out, 3)});
  }

  const UnetSizes& sizes_;
  std::vector<UnetLayer> layers_;
};

// As products over unfolded rows: FLOP and weights are the convolution's.
Operator unfolded(const std::string& name, const ConvolutionShape& shape) {
  const std::int64_t rows = shape.batch * shape.output_height * shape.output_width;
  const std::int64_t inner = shape.in_channels * shape.kernel_height * shape.kernel_width;
  return matmul_operator(name, {1, rows, inner, shape.out_channels});
}

}  // namespace

std::int64_t UnetLayer::parameters() const {
  const bool upward = kind == Kind::upsampling;
  const std::int64_t written = upward ? shape.in_channels : shape.out_channels;
  return shape.weight_elements() + (kind == Kind::convolution ? 2 : 1) * written;
}

UnetSizes unet_sizes(const ModelShape& shape, std::int64_t image_size) {
  UnetSizes sizes;
  sizes.image_size = image_size > 0 ? image_size : shape["image_size"];
  sizes.in_channels = shape["in_channels"];
  sizes.out_channels = shape["out_channels"];
  sizes.features = shape["init_features"];
  sizes.depth = static_cast<int>(shape["depth"]);
  return sizes;
}

std::vector<UnetLayer> unet_layers(const UnetSizes& sizes) {
  PODSIM_CHECK(sizes.depth >= 1 && sizes.image_size > 0 && sizes.image_size % (std::int64_t{1} << sizes.depth) == 0,
               "an image that cannot be halved so often");
  return LayerList(sizes).take();
}

std::optional<ModelShape> Unet::read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const {
  ShapeReader reader("unet", config, overrides, diagnostics);
  if (!reader.good()) return std::nullopt;
  constexpr std::int64_t k_most_channels = 4096;
  reader.read({"in_channels", {"in_channels"}, 3, 1, k_most_channels});
  reader.read({"out_channels", {"out_channels"}, 1, 1, k_most_channels});
  const std::int64_t features = reader.read({"init_features", {"init_features"}, 32, 1, k_most_channels});
  const std::int64_t depth = reader.read({"depth", {"depth"}, 4, 1, 8});
  reader.read({"image_size", {"image_size"}, 256, 1, 100'000});
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  if (shape["image_size"] % (std::int64_t{1} << depth) != 0) {
    diagnostics.error(
        config.place(), "image_size",
        std::to_string(shape["image_size"]) + " pixels cannot be halved " + std::to_string(depth) + " times",
        "a multiple of " + std::to_string(std::int64_t{1} << depth));
    return std::nullopt;
  }
  shape.name = "U-Net, " + std::to_string(depth) + " levels, " + std::to_string(features) + " features";
  return shape;
}

std::int64_t Unet::maximum_sequence_length(const ModelShape& shape) const {
  return image_tokens(shape, shape["image_size"]);
}

WorkloadDefaults Unet::workload_defaults(const ModelShape& shape) const {
  WorkloadDefaults defaults;
  defaults.image_size = shape["image_size"];
  defaults.input_bytes_per_element = 2;
  return defaults;
}

std::int64_t Unet::image_tokens(const ModelShape& shape, std::int64_t image_size) const {
  return image_size >= std::int64_t{1} << shape["depth"] ? image_size * image_size : 0;
}

ModelGraph Unet::build(const ModelShape& shape, const WorkloadSettings& settings) const {
  ModelGraph graph;
  graph.name = shape.name;
  graph.samples = settings.micro_batch_size;
  graph.images = true;
  graph.notes.emplace_back("convolutions are costed as matrix products over unfolded rows");
  UnetSizes sizes = unet_sizes(shape, settings.image_size);
  sizes.batch = settings.micro_batch_size;
  for (const UnetLayer& layer : unet_layers(sizes)) {
    Block block;
    block.kind = BlockKind::whole_layer;
    block.name = layer.name;
    block.layer = graph.layers++;
    block.forward = {unfolded(layer.name, layer.shape)};
    if (settings.mode == RunMode::training) {
      block.backward = {unfolded(layer.name + " input gradient", layer.shape),
                        unfolded(layer.name + " weight gradient", layer.shape)};
    }
    block.parameters = {{layer.name, layer.parameters()}};
    graph.blocks.push_back(std::move(block));
  }
  return graph;
}

}  // namespace podsim
