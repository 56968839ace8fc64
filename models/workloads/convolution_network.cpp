#include "models/workloads/convolution_network.hpp"

#include <algorithm>
#include <cmath>

#include "models/workloads/operators.hpp"
#include "sim/core/check.hpp"

namespace podsim {
namespace {

constexpr double k_pixel_bytes = 1;  // of a value of an image, as published programs send them

Operator convolution_operator(std::string name, const ConvolutionShape& shape, ConvolutionPass pass) {
  Operator op;
  op.kind = OperatorKind::convolution;
  op.name = std::move(name);
  op.convolution = shape;
  op.pass = pass;
  op.elements = pass == ConvolutionPass::forward          ? shape.output_elements()
                : pass == ConvolutionPass::input_gradient ? shape.input_elements()
                                                          : shape.weight_elements();
  return op;
}

Operator norm_operator(std::string name, std::int64_t elements, std::int64_t channels, bool gradient) {
  Operator op;
  op.kind = OperatorKind::normalisation;
  op.name = std::move(name);
  op.elements = elements;
  op.channels = channels;
  op.gradient = gradient;
  return op;
}

Operator pooling_operator(std::string name, const ConvolutionShape& window, bool gradient) {
  Operator op;
  op.kind = OperatorKind::pooling;
  op.name = std::move(name);
  op.convolution = window;
  op.gradient = gradient;
  return op;
}

std::int64_t output_size(std::int64_t size, std::int64_t kernel, std::int64_t stride, Padding padding) {
  const std::int64_t whole = padding == Padding::same ? size : size - kernel + 1;
  PODSIM_CHECK(whole >= 1, "a kernel larger than its field");
  return (whole + stride - 1) / stride;
}

ConvolutionShape shape_of(std::int64_t samples, const Field& in, const Field& out, std::int64_t kernel,
                          std::int64_t stride, std::int64_t groups) {
  ConvolutionShape shape;
  shape.batch = samples;
  shape.groups = groups;
  shape.in_channels = in.channels;
  shape.out_channels = out.channels;
  shape.input_height = in.height;
  shape.input_width = in.width;
  shape.output_height = out.height;
  shape.output_width = out.width;
  shape.kernel_height = kernel;
  shape.kernel_width = kernel;
  shape.stride = stride;
  return shape;
}

}  // namespace

ConvolutionLayer convolution_layer(std::string name, std::int64_t out_channels, std::int64_t kernel,
                                   std::int64_t stride) {
  ConvolutionLayer layer;
  layer.name = std::move(name);
  layer.out_channels = out_channels;
  layer.kernel = kernel;
  layer.stride = stride;
  return layer;
}

ConvolutionLayer dense_layer(std::string name, std::int64_t out_channels) {
  ConvolutionLayer layer = convolution_layer(std::move(name), out_channels, 1, 1);
  layer.bias = true;
  layer.norm = false;
  return layer;
}

NetworkBuilder::NetworkBuilder(const WorkloadSettings& settings)
    : samples_(settings.micro_batch_size),
      element_bytes_(activation_element_bytes(settings.precision)),
      training_(settings.mode == RunMode::training) {
  graph_.samples = samples_;
  graph_.images = true;
  graph_.sequence_length = settings.sequence_length;
}

Bytes NetworkBuilder::bytes(std::int64_t elements) const {
  return Bytes(samples_ * elements * element_bytes_);
}

void NetworkBuilder::begin_block(BlockKind kind, std::string name, int layer) {
  close_block();
  Block block;
  block.kind = kind;
  block.name = std::move(name);
  block.layer = layer;
  graph_.blocks.push_back(std::move(block));
  if (layer >= 0) graph_.layers = layer + 1;
}

void NetworkBuilder::close_block() {
  if (graph_.blocks.empty()) return;
  Block& block = graph_.blocks.back();
  for (auto layer = gradients_.rbegin(); layer != gradients_.rend(); ++layer) {
    block.backward.insert(block.backward.end(), layer->begin(), layer->end());
  }
  gradients_.clear();
  block.output = bytes(last_.elements());
  std::int64_t carried = 0;
  for (const Kept& kept : for_later_) carried += kept.field.elements();
  block.carried = bytes(carried);
  block.live_forward = bytes(kept_);
  kept_ = 0;
}

void NetworkBuilder::hold(const Field& field) {
  held_ += field.elements();
}

void NetworkBuilder::release(const Field& field) {
  held_ -= field.elements();
}

void NetworkBuilder::write(const Field& out) {
  if (training_) {
    kept_ += out.elements();
  } else {
    kept_ = std::max(kept_, held_ + last_.elements() + out.elements());
  }
  last_ = out;
}

Field NetworkBuilder::convolve(const Field& in, const ConvolutionLayer& layer) {
  PODSIM_CHECK(in.channels % layer.groups == 0 && layer.out_channels % layer.groups == 0,
               layer.name + ": groups that do not divide the channels");
  const Field out{layer.out_channels, output_size(in.height, layer.kernel, layer.stride, layer.padding),
                  output_size(in.width, layer.kernel, layer.stride, layer.padding)};
  const ConvolutionShape shape = shape_of(samples_, in, out, layer.kernel, layer.stride, layer.groups);
  const std::int64_t written = samples_ * out.elements();
  Block& block = graph_.blocks.back();
  std::vector<Operator> gradients;
  last_ = in;
  write(out);
  block.forward.push_back(convolution_operator(layer.name, shape, ConvolutionPass::forward));
  block.parameters.push_back({layer.name + ".weight", shape.weight_elements()});
  if (layer.bias) {
    block.parameters.push_back({layer.name + ".bias", layer.out_channels});
    block.forward.push_back(elementwise_operator(layer.name + "_bias", written, 1, 1));
  }
  if (layer.norm) {
    block.parameters.push_back({layer.name + "_norm.weight", layer.out_channels});
    block.parameters.push_back({layer.name + "_norm.bias", layer.out_channels});
    block.forward.push_back(norm_operator(layer.name + "_norm", written, layer.out_channels, false));
    // The norm's gradient reads the convolution's output, the next weight gradient what the norm wrote.
    if (training_) write(out);
  }
  if (layer.activation_passes > 0) {
    const std::string name = layer.name + "_activation";
    block.forward.push_back(elementwise_operator(name, written, layer.activation_passes, 1));
    gradients.push_back(elementwise_operator(name + "_gradient", written, layer.activation_passes, 1));
  }
  if (!training_) return out;
  if (layer.norm) gradients.push_back(norm_operator(layer.name + "_norm_gradient", written, layer.out_channels, true));
  if (layer.bias) gradients.push_back(elementwise_operator(layer.name + "_bias_gradient", written, 1, 1));
  if (layer.input_gradient) {
    gradients.push_back(convolution_operator(layer.name + "_input_gradient", shape, ConvolutionPass::input_gradient));
  }
  gradients.push_back(convolution_operator(layer.name + "_weight_gradient", shape, ConvolutionPass::weight_gradient));
  gradients_.push_back(std::move(gradients));
  return out;
}

Field NetworkBuilder::upsample(const Field& in, const std::string& name, std::int64_t out_channels,
                               int activation_passes) {
  constexpr std::int64_t k_side = 2;
  const Field out{out_channels, k_side * in.height, k_side * in.width};
  const ConvolutionShape back = shape_of(samples_, out, in, k_side, k_side, 1);
  const std::int64_t written = samples_ * out.elements();
  Block& block = graph_.blocks.back();
  block.parameters.push_back({name + ".weight", back.weight_elements()});
  block.parameters.push_back({name + ".bias", out_channels});
  last_ = in;
  write(out);
  block.forward.push_back(convolution_operator(name, back, ConvolutionPass::input_gradient));
  block.forward.push_back(elementwise_operator(name + "_bias", written, 1, 1));
  if (activation_passes > 0) {
    block.forward.push_back(elementwise_operator(name + "_activation", written, activation_passes, 1));
  }
  if (!training_) return out;
  std::vector<Operator> gradients;
  if (activation_passes > 0) {
    gradients.push_back(elementwise_operator(name + "_activation_gradient", written, activation_passes, 1));
  }
  gradients.push_back(elementwise_operator(name + "_bias_gradient", written, 1, 1));
  gradients.push_back(convolution_operator(name + "_input_gradient", back, ConvolutionPass::forward));
  gradients.push_back(convolution_operator(name + "_weight_gradient", back, ConvolutionPass::weight_gradient));
  gradients_.push_back(std::move(gradients));
  return out;
}

void NetworkBuilder::apply(const Field& field, const std::string& name, int passes) {
  const std::int64_t elements = samples_ * field.elements();
  graph_.blocks.back().forward.push_back(elementwise_operator(name, elements, passes, 1));
  if (training_) gradients_.push_back({elementwise_operator(name + "_gradient", elements, passes, 1)});
}

void NetworkBuilder::keep(const Field& field, const std::string& name, std::int64_t side) {
  PODSIM_CHECK(side <= field.height && side <= field.width, name + ": cut to more than there is");
  const Field kept{field.channels, side, side};
  const bool cut = !(kept == field);
  if (cut) {
    graph_.blocks.back().forward.push_back(elementwise_operator(name + "_cut", samples_ * kept.elements(), 1, 1));
    if (!training_) write(kept);  // in training it is handed on at once, and read where it is joined
    last_ = field;
  }
  // Its gradient is padded where it was cut, and added to that of the field.
  if (training_) {
    const int passes = cut ? 2 : 1;
    gradients_.push_back({elementwise_operator(name + "_gradient", samples_ * field.elements(), passes, passes)});
  }
  hold(kept);
  for_later_.push_back({kept, cut});
}

Field NetworkBuilder::join(const Field& in) {
  PODSIM_CHECK(!for_later_.empty(), "no field is kept");
  const auto [kept, cut] = for_later_.back();
  PODSIM_CHECK(kept.height == in.height && kept.width == in.width, "fields of different sizes cannot be joined");
  for_later_.pop_back();
  release(kept);
  if (training_ && cut) kept_ += kept.elements();  // the weight gradient behind reads it
  return {in.channels + kept.channels, in.height, in.width};
}

Field NetworkBuilder::pool(const Field& in, const std::string& name, std::int64_t kernel, std::int64_t stride,
                           Padding padding) {
  const Field out{in.channels, output_size(in.height, kernel, stride, padding),
                  output_size(in.width, kernel, stride, padding)};
  ConvolutionShape window = shape_of(samples_, in, out, kernel, stride, in.channels);
  last_ = in;
  write(out);
  graph_.blocks.back().forward.push_back(pooling_operator(name, window, false));
  if (training_) gradients_.push_back({pooling_operator(name + "_gradient", window, true)});
  return out;
}

Field NetworkBuilder::average(const Field& in, const std::string& name) {
  const Field out{in.channels, 1, 1};
  ConvolutionShape window = shape_of(samples_, in, out, in.height, in.height, in.channels);
  window.kernel_width = in.width;
  last_ = in;
  write(out);
  graph_.blocks.back().forward.push_back(pooling_operator(name, window, false));
  if (training_) gradients_.push_back({pooling_operator(name + "_gradient", window, true)});
  return out;
}

Field NetworkBuilder::squeeze_and_excite(const Field& in, const std::string& name, std::int64_t reduced) {
  const std::int64_t scaled = samples_ * in.elements();
  hold(in);
  const Field mean = average(in, name + "_mean");
  ConvolutionLayer squeeze;
  squeeze.name = name + "_squeeze";
  squeeze.out_channels = reduced;
  squeeze.bias = true;
  squeeze.norm = false;
  squeeze.activation_passes = 1;
  ConvolutionLayer excite = squeeze;
  excite.name = name + "_excite";
  excite.out_channels = in.channels;
  convolve(convolve(mean, squeeze), excite);
  release(in);
  last_ = in;
  write(in);
  graph_.blocks.back().forward.push_back(elementwise_operator(name + "_scale", scaled, 1, 1));
  // The gradient of the product: that of the field, and that of the gates, a sum over each channel.
  if (training_) gradients_.push_back({elementwise_operator(name + "_scale_gradient", scaled, 2, 2)});
  return in;
}

ModelGraph NetworkBuilder::finish(const Field& image, const WorkloadSettings& settings) {
  close_block();
  const double bytes = settings.input_bytes_per_element > 0 ? settings.input_bytes_per_element : k_pixel_bytes;
  const double values = static_cast<double>(samples_ * image.elements());
  graph_.host_input = Bytes(static_cast<std::int64_t>(std::ceil(values * bytes)));
  return std::move(graph_);
}

WorkloadDefaults ImageClassifier::workload_defaults(const ModelShape& shape) const {
  WorkloadDefaults defaults;
  defaults.image_size = shape["image_size"];
  defaults.input_bytes_per_element = k_pixel_bytes;
  return defaults;
}

std::int64_t ImageClassifier::maximum_sequence_length(const ModelShape& shape) const {
  return image_tokens(shape, shape["image_size"]);
}

std::int64_t ImageClassifier::image_tokens(const ModelShape& shape, std::int64_t image_size) const {
  const std::int64_t side = last_side(shape, image_size);
  return side * side;
}

bool ImageClassifier::has_classifier(const std::string& head) const {
  check_head(*this, head);
  return head == "image-classification";
}

bool check_units(const ModelShape& shape, const std::string& list, const Value& config, Diagnostics& diagnostics) {
  constexpr std::int64_t k_most = 2'000;
  std::int64_t units = 0;
  for (std::int64_t stage = 0; stage < shape[list]; ++stage) units += shape[list + "." + std::to_string(stage)];
  if (units <= k_most) return true;
  const Value* written = config.find(list);
  diagnostics.error(written != nullptr ? written->place() : config.place(), list,
                    std::to_string(units) + " units in all stages", "at most " + std::to_string(k_most));
  return false;
}

std::int64_t image_side(const ModelShape& shape, const WorkloadSettings& settings) {
  return settings.image_size > 0 ? settings.image_size : shape["image_size"];
}

}  // namespace podsim
