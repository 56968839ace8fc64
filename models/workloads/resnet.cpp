#include "models/workloads/resnet.hpp"

#include <fmt/format.h>

#include "models/workloads/convolution_network.hpp"
#include "models/workloads/shape_reader.hpp"

namespace podsim {
namespace {

constexpr std::int64_t k_reduction = 4;    // of a bottleneck's output channels
constexpr std::int64_t k_base_width = 64;  // inner channels of a bottleneck that groups of width_per_group replace
constexpr std::size_t k_longest = 16;      // stages

struct Unit {
  std::int64_t inner = 0;
  std::int64_t out = 0;
  std::int64_t stride = 1;
  std::int64_t groups = 1;
  bool bottleneck = true;
  bool stride_first = false;  // in the first convolution of a bottleneck
};

Field add_unit(NetworkBuilder& network, const Field& in, const Unit& unit) {
  Field field = in;
  const std::int64_t first_kernel = unit.bottleneck ? 1 : 3;
  const bool first_strides = !unit.bottleneck || unit.stride_first;
  field =
      network.convolve(field, convolution_layer("conv1", unit.inner, first_kernel, first_strides ? unit.stride : 1));
  network.hold(in);
  ConvolutionLayer middle =
      convolution_layer("conv2", unit.bottleneck ? unit.inner : unit.out, 3, first_strides ? 1 : unit.stride);
  middle.groups = unit.groups;
  field = network.convolve(field, middle);
  if (unit.bottleneck) field = network.convolve(field, convolution_layer("conv3", unit.out, 1, 1));
  network.release(in);
  if (in.channels == unit.out && unit.stride == 1) return field;
  network.hold(field);
  const Field projected = network.convolve(in, convolution_layer("shortcut", unit.out, 1, unit.stride));
  network.release(field);
  return projected;
}

Unit unit_of(const ModelShape& shape, std::int64_t stage, bool first) {
  Unit unit;
  unit.bottleneck = shape["bottleneck"] == 1;
  unit.out = shape[fmt::format("hidden_sizes.{}", stage)];
  unit.groups = unit.bottleneck ? shape["groups"] : 1;
  const std::int64_t reduced = unit.out / k_reduction;
  unit.inner = unit.bottleneck ? reduced * shape["width_per_group"] / k_base_width * unit.groups : unit.out;
  unit.stride = first && (stage > 0 || shape["downsample_in_first_stage"] == 1) ? 2 : 1;
  unit.stride_first = shape["downsample_in_bottleneck"] == 1;
  return unit;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ResNet::architectures() const {
  return with_pipelined_names({{"ResNetForImageClassification", "image-classification"}, {"ResNetModel", "none"}});
}

std::optional<ModelShape> ResNet::read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const {
  const bool grouped = type() == "resnext";
  ShapeReader reader(std::string(type()), config, overrides, diagnostics);
  if (!reader.good()) return std::nullopt;
  reader.read({"num_channels", {"num_channels"}, 3, 1, 1000});
  reader.read({"embedding_size", {"embedding_size"}, 64, 1, 100'000});
  reader.read({"image_size", {"image_size"}, 224, 1, 100'000});
  const auto widths = reader.read_open_list("hidden_sizes", {256, 512, 1024, 2048}, 1, k_longest);
  reader.read_open_list("depths", {3, 4, 6, 3}, widths.size(), widths.size());
  reader.read_choice("bottleneck", "layer_type", {"basic", "bottleneck"}, 1);
  reader.read_flag("downsample_in_first_stage", false);
  reader.read_flag("downsample_in_bottleneck", false);
  reader.read({"groups", {"groups"}, grouped ? 32 : 1, 1, 100'000});
  reader.read({"width_per_group", {"width_per_group"}, grouped ? 4 : k_base_width, 1, 100'000});
  reader.read_labels();
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  if (!check_units(shape, "depths", config, diagnostics)) return std::nullopt;
  std::int64_t layers = 2;  // the stem and the classifier
  for (std::int64_t stage = 0; stage < shape["depths"]; ++stage) {
    layers += shape[fmt::format("depths.{}", stage)] * (shape["bottleneck"] == 1 ? 3 : 2);
    const Unit unit = unit_of(shape, stage, true);
    if (unit.inner > 0) continue;
    diagnostics.error(config.place(), "hidden_sizes",
                      fmt::format("a stage of {} channels has no channel in a bottleneck", unit.out),
                      fmt::format("at least {}", k_reduction * k_base_width / shape["width_per_group"]));
    return std::nullopt;
  }
  shape.name = fmt::format("{}-{}", grouped ? "ResNeXt" : "ResNet", layers);
  return shape;
}

std::int64_t ResNet::last_side(const ModelShape& shape, std::int64_t image_size) const {
  std::int64_t stride = 4;  // of the stem
  for (std::int64_t stage = 0; stage < shape["depths"]; ++stage) stride *= unit_of(shape, stage, true).stride;
  return image_size < stride ? 0 : (image_size + stride - 1) / stride;
}

ModelGraph ResNet::build(const ModelShape& shape, const WorkloadSettings& settings) const {
  const std::int64_t side = image_side(shape, settings);
  const Field image{shape["num_channels"], side, side};
  NetworkBuilder network(settings);
  network.begin_block(BlockKind::embedding, "stem", -1);
  ConvolutionLayer stem = convolution_layer("conv", shape["embedding_size"], 7, 2);
  stem.input_gradient = false;
  Field field = network.pool(network.convolve(image, stem), "max_pool", 3, 2, Padding::same);
  int index = 0;
  for (std::int64_t stage = 0; stage < shape["depths"]; ++stage) {
    for (std::int64_t unit = 0; unit < shape[fmt::format("depths.{}", stage)]; ++unit) {
      network.begin_block(BlockKind::whole_layer, fmt::format("stage {} unit {}", stage + 1, unit + 1), index++);
      field = add_unit(network, field, unit_of(shape, stage, unit == 0));
    }
  }
  const std::int64_t hidden = field.channels;
  if (has_classifier(settings.head)) {
    network.begin_block(BlockKind::head, "classifier", -1);
    network.convolve(network.average(field, "average_pool"), dense_layer("classifier", shape["num_labels"]));
  }
  ModelGraph graph = network.finish(image, settings);
  graph.name = shape.name;
  graph.hidden = hidden;
  graph.layer_names = fmt::format("{} residual units", graph.layers);
  return graph;
}

}  // namespace podsim
