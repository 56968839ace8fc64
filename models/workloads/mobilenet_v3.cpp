#include "models/workloads/mobilenet_v3.hpp"

#include <fmt/format.h>

#include "models/workloads/convolution_network.hpp"
#include "models/workloads/shape_reader.hpp"

namespace podsim {
namespace {

constexpr std::size_t k_most_units = 200;

std::int64_t at(const ModelShape& shape, const char* list, std::int64_t unit) {
  return shape[fmt::format("{}.{}", list, unit)];
}

Field add_unit(NetworkBuilder& network, const Field& in, const ModelShape& shape, std::int64_t unit) {
  const std::int64_t expanded = at(shape, "expanded_channels", unit);
  const std::int64_t out = at(shape, "out_channels", unit);
  const std::int64_t stride = at(shape, "strides", unit);
  const bool shortcut = stride == 1 && in.channels == out;
  Field field = in;
  if (expanded != in.channels) field = network.convolve(field, convolution_layer("expand", expanded, 1, 1));
  if (shortcut) network.hold(in);
  ConvolutionLayer depthwise = convolution_layer("depthwise", expanded, at(shape, "kernel_sizes", unit), stride);
  depthwise.groups = expanded;
  field = network.convolve(field, depthwise);
  const std::int64_t squeezed = at(shape, "squeezed_channels", unit);
  if (squeezed > 0) field = network.squeeze_and_excite(field, "squeeze_and_excite", squeezed);
  field = network.convolve(field, convolution_layer("project", out, 1, 1));
  if (shortcut) network.release(in);
  return field;
}

}  // namespace

std::optional<ModelShape> MobileNetV3::read(const Value& config, const Value& overrides,
                                            Diagnostics& diagnostics) const {
  ShapeReader reader("mobilenet_v3", config, overrides, diagnostics);
  if (!reader.good()) return std::nullopt;
  reader.read({"num_channels", {"num_channels"}, 3, 1, 1000});
  reader.read({"image_size", {"image_size"}, 224, 1, 100'000});
  reader.read({"stem_channels", {"stem_channels"}, 16, 1, 100'000});
  reader.read({"last_channels", {"last_channels"}, 960, 1, 100'000});
  reader.read({"classifier_channels", {"classifier_channels"}, 1280, 1, 100'000});
  const auto kernels =
      reader.read_open_list("kernel_sizes", {3, 3, 3, 5, 5, 5, 3, 3, 3, 3, 3, 3, 5, 5, 5}, 1, k_most_units);
  const auto list = [&](const char* field, const std::vector<std::int64_t>& fallback, std::int64_t minimum = 1) {
    reader.read_open_list(field, fallback, kernels.size(), kernels.size(), minimum);
  };
  list("expanded_channels", {16, 64, 72, 72, 120, 120, 240, 200, 184, 184, 480, 672, 672, 960, 960});
  list("out_channels", {16, 24, 24, 40, 40, 40, 80, 80, 80, 80, 112, 112, 160, 160, 160});
  list("strides", {1, 2, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1});
  list("squeezed_channels", {0, 0, 0, 24, 32, 32, 0, 0, 0, 0, 120, 168, 168, 240, 240}, 0);
  reader.read_labels();
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  shape.name = fmt::format("MobileNetV3, {} units", kernels.size());
  return shape;
}

std::int64_t MobileNetV3::last_side(const ModelShape& shape, std::int64_t image_size) const {
  std::int64_t side = (image_size + 1) / 2;  // behind the stem
  for (std::int64_t unit = 0; unit < shape["strides"]; ++unit) {
    const std::int64_t stride = at(shape, "strides", unit);
    if (side < stride) return 0;
    side = (side + stride - 1) / stride;
  }
  return side;
}

ModelGraph MobileNetV3::build(const ModelShape& shape, const WorkloadSettings& settings) const {
  const std::int64_t side = image_side(shape, settings);
  const Field image{shape["num_channels"], side, side};
  NetworkBuilder network(settings);
  network.begin_block(BlockKind::embedding, "stem", -1);
  ConvolutionLayer stem = convolution_layer("conv", shape["stem_channels"], 3, 2);
  stem.input_gradient = false;
  Field field = network.convolve(image, stem);
  for (std::int64_t unit = 0; unit < shape["strides"]; ++unit) {
    network.begin_block(BlockKind::whole_layer, fmt::format("unit {}", unit + 1), static_cast<int>(unit));
    field = add_unit(network, field, shape, unit);
  }
  network.begin_block(BlockKind::head, "top", -1);
  field = network.convolve(field, convolution_layer("top", shape["last_channels"], 1, 1));
  const std::int64_t hidden = field.channels;
  if (has_classifier(settings.head)) {
    field =
        network.convolve(network.average(field, "average_pool"), dense_layer("dense", shape["classifier_channels"]));
    network.convolve(field, dense_layer("classifier", shape["num_labels"]));
  }
  ModelGraph graph = network.finish(image, settings);
  graph.name = shape.name;
  graph.hidden = hidden;
  graph.layer_names = fmt::format("{} units", graph.layers);
  graph.notes.push_back("depthwise convolutions are costed within 20 %, gates are held to nothing");
  graph.notes.push_back("a hard swish counts as a rectifier");
  return graph;
}

}  // namespace podsim
