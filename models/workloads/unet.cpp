#include "models/workloads/unet.hpp"

#include "models/workloads/convolution_network.hpp"
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

constexpr std::int64_t k_rim = 4;  // pixels that two unpadded convolutions of 3 × 3 take off a side

std::int64_t image_side(const ModelShape& shape, std::int64_t image_size) {
  return image_size > 0 ? image_size : shape["image_size"];
}

// Builds the network level by level.
class LevelBuilder {
 public:
  LevelBuilder(const ModelShape& shape, const WorkloadSettings& settings)
      : shape_(shape),
        network_(settings),
        depth_(static_cast<int>(shape["depth"])),
        rim_(shape["unpadded"] == 1 ? k_rim : 0),
        sides_(unet_sides(shape, settings.image_size)) {
    PODSIM_CHECK(!sides_.empty(), "an image that cannot be halved so often");
    side_up_ = sides_.back() - rim_;
  }

  ModelGraph take(const WorkloadSettings& settings) {
    const Field image{shape_["in_channels"], sides_.front(), sides_.front()};
    Field field = image;
    for (int level = 0; level < depth_; ++level) field = go_down(field, level);
    field = pass_bottom(field);
    for (int level = depth_ - 1; level >= 0; --level) field = go_up(field, level);
    ModelGraph graph = network_.finish(image, settings);
    if (settings.mode == RunMode::training) {  // and the masks
      graph.host_input += Bytes(graph.host_input.count() * field.elements() / image.elements());
    }
    return graph;
  }

 private:
  std::int64_t features(int level) const { return shape_["init_features"] << level; }

  void begin(std::string name) { network_.begin_block(BlockKind::whole_layer, std::move(name), layer_++); }

  Field convolve(const Field& in, const std::string& name, int level) {
    ConvolutionLayer layer;
    layer.name = name;
    layer.out_channels = features(level);
    layer.kernel = 3;
    layer.norm = shape_["batch_norm"] == 1;
    layer.bias = !layer.norm;
    layer.activation_passes = layer.norm ? 0 : 1;
    layer.padding = rim_ > 0 ? Padding::none : Padding::same;
    layer.input_gradient = layer_ > 1 || name != "conv1";
    return network_.convolve(in, layer);
  }

  Field convolve_twice(const Field& in, int level) { return convolve(convolve(in, "conv1", level), "conv2", level); }

  // Of the map of `level` that the way up takes.
  std::int64_t kept_side(int level) const {
    std::int64_t side = side_up_;
    for (int below = depth_ - 1; below > level; --below) side = 2 * side - rim_;
    return 2 * side;
  }

  Field go_down(const Field& in, int level) {
    begin("down " + std::to_string(level + 1));
    const Field map = convolve_twice(in, level);
    network_.keep(map, "map", kept_side(level));
    return network_.pool(map, "pool", 2, 2, Padding::none);
  }

  Field pass_bottom(const Field& in) {
    begin("bottom");
    const Field map = convolve_twice(in, depth_);
    if (shape_["bottom_dropout"] == 1) network_.apply(map, "dropout", 1);
    return double_up(map, depth_ - 1);
  }

  Field go_up(const Field& in, int level) {
    begin("up " + std::to_string(level + 1));
    const Field map = convolve_twice(network_.join(in), level);
    if (level > 0) return double_up(map, level - 1);
    ConvolutionLayer output;
    output.name = "output";
    output.out_channels = shape_["out_channels"];
    output.bias = true;
    output.norm = false;
    output.activation_passes = 1;
    return network_.convolve(map, output);
  }

  Field double_up(const Field& in, int level) {
    return network_.upsample(in, "upsampling", features(level), shape_["batch_norm"] == 1 ? 0 : 1);
  }

  const ModelShape& shape_;
  NetworkBuilder network_;
  int depth_;
  std::int64_t rim_;
  std::vector<std::int64_t> sides_;
  std::int64_t side_up_ = 0;  // of what the bottom writes
  int layer_ = 0;
};

}  // namespace

std::int64_t UnetLayer::parameters() const {
  const bool upward = kind == Kind::upsampling;
  const std::int64_t written = upward ? shape.in_channels : shape.out_channels;
  return shape.weight_elements() + (kind == Kind::convolution ? 2 : 1) * written;
}

UnetSizes unet_sizes(const ModelShape& shape, std::int64_t image_size) {
  UnetSizes sizes;
  sizes.image_size = image_side(shape, image_size);
  sizes.in_channels = shape["in_channels"];
  sizes.out_channels = shape["out_channels"];
  sizes.features = shape["init_features"];
  sizes.depth = static_cast<int>(shape["depth"]);
  return sizes;
}

std::vector<std::int64_t> unet_sides(const ModelShape& shape, std::int64_t image_size) {
  const std::int64_t rim = shape["unpadded"] == 1 ? k_rim : 0;
  std::vector<std::int64_t> sides{image_side(shape, image_size)};
  for (std::int64_t level = 0; level < shape["depth"]; ++level) {
    const std::int64_t map = sides.back() - rim;
    if (map < 2 || map % 2 != 0) return {};
    sides.push_back(map / 2);
  }
  // What the bottom leaves is doubled and must be wider than the rim of the next level.
  const std::int64_t bottom = sides.back() - rim;
  return bottom >= 1 && 2 * bottom > rim ? sides : std::vector<std::int64_t>{};
}

std::string unet_sizes_in_words(const ModelShape& shape) {
  const std::int64_t step = std::int64_t{1} << shape["depth"];
  if (shape["unpadded"] == 0) return "a multiple of " + std::to_string(step);
  const std::int64_t rims = k_rim * (step - 1);
  return std::to_string(rims) + " more than a multiple of " + std::to_string(step) + ", from " +
         std::to_string(rims + (k_rim + 3) * step);
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
  reader.read_choice("unpadded", "padding", {"same", "valid"}, 0);
  reader.read_flag("batch_norm", true);
  reader.read_flag("bottom_dropout", false);
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  if (unet_sides(shape, 0).empty()) {
    diagnostics.error(
        config.place(), "image_size",
        std::to_string(shape["image_size"]) + " pixels cannot be halved " + std::to_string(depth) + " times",
        unet_sizes_in_words(shape));
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
  ModelGraph graph = LevelBuilder(shape, settings).take(settings);
  graph.name = shape.name;
  graph.hidden = shape["init_features"];
  graph.layer_names = std::to_string(graph.layers) + " levels: down, the bottom and up";
  graph.notes.emplace_back("poolings of 2 x 2 are costed as the windows of 3 x 3 that their cost is known of");
  graph.notes.emplace_back("the loss is costed as one pass over the output");
  return graph;
}

}  // namespace podsim
