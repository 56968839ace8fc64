#include "models/workloads/efficientnet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/workloads/convolution_network.hpp"
#include "models/workloads/shape_reader.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

constexpr std::int64_t k_stem_channels = 32;
constexpr std::int64_t k_top_channels = 1280;
constexpr int k_swish_passes = 1;  // beyond a rectifier

// Channels scaled by the width coefficient: to the nearest multiple of the divisor, never more than a tenth down.
std::int64_t scaled_channels(std::int64_t channels, double width, std::int64_t divisor) {
  const double wanted = static_cast<double>(channels) * width;
  const std::int64_t steps = static_cast<std::int64_t>(wanted + static_cast<double>(divisor) / 2) / divisor;
  std::int64_t scaled = std::max(divisor, steps * divisor);
  if (static_cast<double>(scaled) < 0.9 * wanted) scaled += divisor;
  return scaled;
}

std::int64_t at(const ModelShape& shape, const char* name, std::int64_t stage) {
  return shape[fmt::format("{}.{}", name, stage)];
}

// As graphcore/examples counts them: what does not fill a group joins the others.
std::int64_t groups_of(std::int64_t channels, std::int64_t group_dim) {
  return std::max<std::int64_t>(1, channels / group_dim);
}

ConvolutionLayer layer(std::string name, std::int64_t out_channels, std::int64_t kernel, std::int64_t stride) {
  ConvolutionLayer layer = convolution_layer(std::move(name), out_channels, kernel, stride);
  layer.activation_passes = k_swish_passes;
  return layer;
}

Field add_unit(NetworkBuilder& network, const Field& in, const ModelShape& shape, std::int64_t stage, bool first) {
  const std::int64_t expanded = in.channels * at(shape, "expand", stage);
  const std::int64_t stride = first ? at(shape, "stride", stage) : 1;
  const std::int64_t out = at(shape, "out", stage);
  const bool shortcut = stride == 1 && in.channels == out;
  Field field = in;
  if (expanded != in.channels) field = network.convolve(field, layer("expand", expanded, 1, 1));
  if (shortcut) network.hold(in);
  ConvolutionLayer middle = layer("depthwise", expanded, at(shape, "kernel", stage), stride);
  middle.groups = groups_of(expanded, shape["group_dim"]);
  field = network.convolve(field, middle);
  if (shape["squeeze_thousandths"] > 0) {
    const std::int64_t reduced = std::max<std::int64_t>(1, in.channels * shape["squeeze_thousandths"] / 1000);
    field = network.squeeze_and_excite(field, "squeeze_and_excite", reduced);
  }
  ConvolutionLayer project = layer("project", out, 1, 1);
  project.activation_passes = 0;
  field = network.convolve(field, project);
  if (shortcut) network.release(in);
  return field;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> EfficientNet::architectures() const {
  return with_pipelined_names(
      {{"EfficientNetForImageClassification", "image-classification"}, {"EfficientNetModel", "none"}});
}

std::optional<ModelShape> EfficientNet::read(const Value& config, const Value& overrides,
                                             Diagnostics& diagnostics) const {
  ShapeReader reader("efficientnet", config, overrides, diagnostics);
  if (!reader.good()) return std::nullopt;
  reader.read({"num_channels", {"num_channels"}, 3, 1, 1000});
  reader.read({"image_size", {"image_size"}, 600, 1, 100'000});
  const double width = reader.read_number("width_coefficient", 2.0, 0.01, 100);
  const double depth = reader.read_number("depth_coefficient", 3.1, 0.01, 100);
  const std::int64_t divisor = reader.read({"depth_divisor", {"depth_divisor"}, 8, 1, 1024});
  const double squeeze = reader.read_number("squeeze_expansion_ratio", 0.25, 0, 1);
  constexpr std::size_t k_longest = 16;
  const auto kernels = reader.read_open_list("kernel_sizes", {3, 3, 5, 3, 5, 5, 3}, 1, k_longest);
  const auto list = [&](const char* field, const std::vector<std::int64_t>& fallback) {
    return reader.read_open_list(field, fallback, kernels.size(), kernels.size());
  };
  const auto in = list("in_channels", {32, 16, 24, 40, 80, 112, 192});
  const auto out = list("out_channels", {16, 24, 40, 80, 112, 192, 320});
  const auto strides = list("strides", {1, 2, 2, 2, 1, 2, 1});
  const auto repeats = list("num_block_repeats", {1, 2, 2, 3, 3, 4, 1});
  const auto expansions = list("expand_ratios", {1, 6, 6, 6, 6, 6, 6});
  const std::int64_t group = reader.read({"group_dim", {"group_dim"}, 1, 1, 100'000});
  reader.read({"hidden_dim", {"hidden_dim"}, scaled_channels(k_top_channels, width, divisor)});
  reader.read_labels();
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  shape.dimensions["squeeze_thousandths"] = std::llround(squeeze * 1000);
  shape.dimensions["stem"] = scaled_channels(k_stem_channels, width, divisor);
  shape.dimensions["stages"] = static_cast<std::int64_t>(kernels.size());
  shape.dimensions["repeats"] = shape["stages"];
  std::int64_t before = shape["stem"];
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto set = [&](const char* name, std::int64_t value) {
      shape.dimensions[fmt::format("{}.{}", name, i)] = value;
    };
    set("kernel", kernels[i]);
    set("stride", strides[i]);
    set("out", scaled_channels(out[i], width, divisor));
    set("repeats", static_cast<std::int64_t>(std::ceil(depth * static_cast<double>(repeats[i]))));
    set("expand", expansions[i]);
    const std::int64_t first = scaled_channels(in[i], width, divisor);
    if (first != before) {
      diagnostics.error(config.place(), "in_channels",
                        fmt::format("stage {} takes {} channels, but gets {}", i + 1, first, before),
                        "what the stage before gives");
      return std::nullopt;
    }
    before = at(shape, "out", static_cast<std::int64_t>(i));
    for (const std::int64_t channels : {first * expansions[i], before * expansions[i]}) {
      if (channels % groups_of(channels, group) == 0) continue;
      diagnostics.error(config.place(), "group_dim",
                        fmt::format("{} does not divide the {} channels of stage {}", group, channels, i + 1));
      return std::nullopt;
    }
  }
  if (!check_units(shape, "repeats", config, diagnostics)) return std::nullopt;
  shape.name = "EfficientNet, width × " + format_number(width) + ", depth × " + format_number(depth);
  return shape;
}

std::int64_t EfficientNet::last_side(const ModelShape& shape, std::int64_t image_size) const {
  std::int64_t stride = 2;  // of the stem
  for (std::int64_t stage = 0; stage < shape["stages"]; ++stage) stride *= at(shape, "stride", stage);
  return image_size < stride ? 0 : (image_size + stride - 1) / stride;
}

ModelGraph EfficientNet::build(const ModelShape& shape, const WorkloadSettings& settings) const {
  const std::int64_t side = image_side(shape, settings);
  const Field image{shape["num_channels"], side, side};
  NetworkBuilder network(settings);
  network.begin_block(BlockKind::embedding, "stem", -1);
  ConvolutionLayer stem = layer("conv", shape["stem"], 3, 2);
  stem.input_gradient = false;
  Field field = network.convolve(image, stem);
  int index = 0;
  for (std::int64_t stage = 0; stage < shape["stages"]; ++stage) {
    for (std::int64_t unit = 0; unit < at(shape, "repeats", stage); ++unit) {
      network.begin_block(BlockKind::whole_layer, fmt::format("stage {} unit {}", stage + 1, unit + 1), index++);
      field = add_unit(network, field, shape, stage, unit == 0);
    }
  }
  network.begin_block(BlockKind::head, "top", -1);
  field = network.convolve(field, layer("top", shape["hidden_dim"], 1, 1));
  const std::int64_t hidden = field.channels;
  if (has_classifier(settings.head)) {
    network.convolve(network.average(field, "average_pool"), dense_layer("classifier", shape["num_labels"]));
  }
  ModelGraph graph = network.finish(image, settings);
  graph.name = shape.name;
  graph.hidden = hidden;
  graph.layer_names = fmt::format("{} units", graph.layers);
  graph.notes.push_back("swish and squeeze-and-excite gates are counted in passes that no measurement was fitted with");
  return graph;
}

}  // namespace podsim
