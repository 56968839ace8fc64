#include "models/rdu/unet_graph.hpp"

#include <utility>
#include <vector>

#include "models/rdu/tensor_bytes.hpp"
#include "sim/core/check.hpp"

namespace podsim::rdu {

namespace {

constexpr const char* k_group = "convolution";  // of the built-in o1 rules: a layer of the network

// In floating point: shapes of any size.
FlopCount convolution_flop(const ConvolutionShape& shape) {
  const double per_output = static_cast<double>(shape.weight_elements());
  return flop(2.0 * static_cast<double>(shape.batch) * static_cast<double>(shape.output_height) *
              static_cast<double>(shape.output_width) * per_output);
}

// What the backward of a layer reads of its forward.
struct SavedLayer {
  TensorId input;
  TensorId convolved;  // before its normalisation
  TensorId output;     // activated
  Bytes input_bytes;
  Bytes output_bytes;
};

class UnetStepBuilder {
 public:
  UnetStepBuilder(const UnetDescription& model, const StepRequest& request)
      : training_(request.training),
        optimizer_(request.optimizer),
        update_bytes_(request.update_bytes),
        sizes_(model.sizes),
        parameters_(model.parameter_count()),
        name_(model.name) {
    sizes_.batch = request.batch;
    layers_ = unet_layers(sizes_);
    kept_.resize(static_cast<std::size_t>(sizes_.depth));
    kept_gradients_.resize(static_cast<std::size_t>(sizes_.depth));
  }

  OperatorGraph build() {
    forward();
    if (training_) {
      phase_ = RduPhase::backward;
      backward();
      add_update();
    }
    OperatorGraph graph = builder_.take();
    graph.name = name_;
    graph.layers = static_cast<int>(layers_.size());
    graph.samples = sizes_.batch;
    graph.tokens = product({sizes_.batch, sizes_.image_size, sizes_.image_size});
    graph.parameter_count = parameters_;
    return graph;
  }

 private:
  RduOperator make(std::string name, const char* type) const {
    RduOperator op;
    op.name = std::move(name);
    op.type = type;
    op.pattern_group = k_group;
    op.phase = phase_;
    op.layer = layer_;
    return op;
  }

  TensorId unary(const char* name, const char* type, const std::vector<TensorId>& inputs, Bytes output) {
    return builder_.add_one(make(name, type), inputs, output);
  }

  RduOperator convolution_operator(std::string name, const char* type, const UnetLayer& layer, WeightUse use) const {
    RduOperator op = make(std::move(name), type);
    op.flop = convolution_flop(layer.shape);
    op.products = 1;
    op.weight_use = use;
    op.weight_elements = layer.shape.weight_elements();
    return op;
  }

  Bytes reads_weights(const UnetLayer& layer) const {
    return Bytes(product({k_bf16_bytes, layer.shape.weight_elements()}));
  }

  // Field of a level, of `channels`.
  Bytes field(int level, std::int64_t channels) const {
    const std::int64_t side = sizes_.image_size >> level;
    return Bytes(product({k_bf16_bytes, sizes_.batch, channels, side, side}));
  }
  std::int64_t features(int level) const { return sizes_.features << level; }
  static std::size_t place(int level) { return static_cast<std::size_t>(level); }

  // Normalises what depends on statistics of all of `waited`, two values per channel in single precision.
  TensorId normalise(const char* name, const char* type, const char* statistics, std::vector<TensorId> inputs,
                     TensorId waited, Bytes output, std::int64_t channels) {
    const Bytes values(product({2, k_single_bytes, channels}));
    inputs.push_back(unary(statistics, "batch_norm_statistics", inputs, values));
    RduOperator op = make(name, type);
    op.waits_for = builder_.graph()[waited].bytes;
    return builder_.add_one(std::move(op), inputs, output);
  }

  void forward() {
    input_bytes_ = field(0, sizes_.in_channels);
    TensorId x = builder_.input(input_bytes_);
    Bytes bytes = input_bytes_;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const UnetLayer& layer = layers_[i];
      layer_ = static_cast<int>(i);
      SavedLayer saved;
      saved.input = x;
      saved.input_bytes = bytes;
      const bool up = layer.kind == UnetLayer::Kind::upsampling;
      saved.output_bytes = field(layer.level, up ? layer.shape.in_channels : layer.shape.out_channels);
      RduOperator op = convolution_operator(up ? "upsampling" : "convolution", up ? "conv_transpose2d" : "conv2d",
                                            layer, WeightUse::forward);
      op.weight_bytes = reads_weights(layer);
      saved.convolved = builder_.add_one(std::move(op), {x}, saved.output_bytes);
      saved.output = finish_layer(layer, saved);
      saved_.push_back(saved);
      x = saved.output;
      bytes = saved.output_bytes;
      if (up) {
        bytes = field(layer.level, 2 * features(layer.level));
        x = unary("concatenation", "cat", {x, kept_[place(layer.level)]}, bytes);
      } else if (layer.downward && layer.ends_block) {
        kept_[place(layer.level)] = x;
        bytes = field(layer.level + 1, features(layer.level));
        x = unary("pooling", "max_pool2d", {x}, bytes);
      }
    }
  }

  TensorId finish_layer(const UnetLayer& layer, const SavedLayer& saved) {
    switch (layer.kind) {
      case UnetLayer::Kind::upsampling:
        return saved.convolved;
      case UnetLayer::Kind::output:
        return finish_output(saved);
      case UnetLayer::Kind::convolution:
        break;
    }
    const TensorId normed = training_ ? normalise("normalisation", "batch_norm", "statistics", {saved.convolved},
                                                  saved.convolved, saved.output_bytes, layer.shape.out_channels)
                                      : unary("normalisation", "batch_norm", {saved.convolved}, saved.output_bytes);
    return unary("activation", "relu", {normed}, saved.output_bytes);
  }

  TensorId finish_output(const SavedLayer& saved) {
    const TensorId predicted = unary("output_activation", "sigmoid", {saved.convolved}, saved.output_bytes);
    builder_.mark_output(predicted);
    if (training_) {
      masks_ = builder_.input(saved.output_bytes);
      builder_.add(make("loss", "dice_loss"), {predicted, masks_}, {});
    }
    return predicted;
  }

  void backward() {
    const SavedLayer& last = saved_.back();
    layer_ = static_cast<int>(layers_.size()) - 1;
    TensorId d = unary("loss_gradient", "dice_loss_backward", {last.output, masks_}, last.output_bytes);
    d = unary("output_activation_gradient", "sigmoid_backward", {d, last.output}, last.output_bytes);
    for (std::size_t i = layers_.size(); i-- > 0;) {
      layer_ = static_cast<int>(i);
      const UnetLayer& layer = layers_[i];
      const SavedLayer& saved = saved_[i];
      const int level = layer.level;
      if (layer.kind == UnetLayer::Kind::upsampling) d = part_concatenation(d, saved, level);
      if (layer.kind == UnetLayer::Kind::convolution) {
        if (layer.downward && layer.ends_block) {
          d = unary("pooling_gradient", "max_pool2d_backward", {d, saved.output}, saved.output_bytes);
          d = unary("level_gradient", "add", {d, kept_gradients_[place(level)]}, saved.output_bytes);
        }
        d = unary("activation_gradient", "relu_backward", {d, saved.output}, saved.output_bytes);
        d = normalise("normalisation_gradient", "batch_norm_backward", "statistics_gradient", {d, saved.convolved}, d,
                      saved.output_bytes, layer.shape.out_channels);
      }
      d = product_gradients(layer, saved, d, i > 0);
    }
  }

  TensorId part_concatenation(TensorId d, const SavedLayer& saved, int level) {
    const std::vector<TensorId> parts =
        builder_.add(make("concatenation_gradient", "split"), {d}, {saved.output_bytes, saved.output_bytes});
    kept_gradients_[place(level)] = parts[1];
    return parts[0];
  }

  // Nothing before the first layer learns.
  TensorId product_gradients(const UnetLayer& layer, const SavedLayer& saved, TensorId d, bool to_input) {
    const std::string name = layer.kind == UnetLayer::Kind::upsampling ? "upsampling" : "convolution";
    TensorId next;
    if (to_input) {
      RduOperator op = convolution_operator(name + "_input_gradient", "conv2d_backward", layer, WeightUse::backward);
      op.weight_bytes = reads_weights(layer);
      next = builder_.add_one(std::move(op), {d}, saved.input_bytes);
    }
    RduOperator op = convolution_operator(name + "_weight_gradient", "conv2d_backward", layer, WeightUse::backward);
    gradients_.push_back(builder_.add_one(std::move(op), {saved.input, d}, reads_weights(layer)));
    return next;
  }

  // Kernels, and per layer what is left of its parameters: bias, or weight and bias of its normalisation.
  void add_update() {
    struct Parameter {
      const char* name;
      int layer;
      std::int64_t elements;
      TensorId gradient;
    };
    std::vector<Parameter> all;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const int layer = static_cast<int>(i);
      const std::int64_t kernel = layers_[i].shape.weight_elements();
      all.push_back({"kernel", layer, kernel, gradients_[layers_.size() - 1 - i]});
      const std::int64_t rest = layers_[i].parameters() - kernel;
      all.push_back({"vectors", layer, rest, builder_.input(Bytes(product({k_bf16_bytes, rest})))});
    }
    phase_ = RduPhase::gradient_norm;
    for (const Parameter& parameter : all) {
      layer_ = parameter.layer;
      builder_.add(make(std::string(parameter.name) + "_norm", "gradient_norm"), {parameter.gradient}, {});
    }
    phase_ = RduPhase::optimizer;
    for (const Parameter& parameter : all) {
      layer_ = parameter.layer;
      RduOperator op = make(std::string(parameter.name) + "_" + optimizer_, optimizer_.c_str());
      op.weight_use = WeightUse::update;
      op.weight_elements = parameter.elements;
      op.weight_bytes = Bytes(product({update_bytes_, parameter.elements}));
      builder_.add(std::move(op), {parameter.gradient}, {});
    }
  }

  bool training_;
  std::string optimizer_;
  std::int64_t update_bytes_;
  UnetSizes sizes_;
  std::int64_t parameters_;
  std::string name_;
  std::vector<UnetLayer> layers_;
  std::vector<SavedLayer> saved_;
  std::vector<TensorId> kept_;            // by level, for the way up
  std::vector<TensorId> kept_gradients_;  // by level
  std::vector<TensorId> gradients_;       // of kernels, from the last layer
  OperatorGraphBuilder builder_;
  RduPhase phase_ = RduPhase::forward;
  int layer_ = -1;
  TensorId masks_;
  Bytes input_bytes_;
};

}  // namespace

std::int64_t UnetDescription::parameter_count() const {
  std::int64_t count = 0;
  for (const UnetLayer& layer : unet_layers(sizes)) count += layer.parameters();
  return count;
}

std::optional<UnetDescription> describe_unet(const ModelShape& shape, const WorkloadSettings& settings) {
  if (shape.type != "unet") return std::nullopt;
  return UnetDescription{shape.name, unet_sizes(shape, settings.image_size)};
}

OperatorGraph build_unet_step(const UnetDescription& model, const StepRequest& request) {
  PODSIM_CHECK(request.batch >= 1, "an empty batch");
  return UnetStepBuilder(model, request).build();
}

}  // namespace podsim::rdu
