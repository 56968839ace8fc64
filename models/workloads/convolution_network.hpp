#pragma once
// Networks of two-dimensional convolutions over images, layer by layer: the operators of one micro-batch forward and
// backward, parameters, and what stays live. A normalisation's operator stands for the norm, its rectifier and the
// share of residual sums that falls to it, as its cost constants were fitted; what an activation does beyond a
// rectifier is a pass of its own.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/plan/model_kind.hpp"
#include "sim/plan/workload_settings.hpp"
#include "sim/workload/model_graph.hpp"

namespace podsim {

// Activations of one sample between two layers.
struct Field {
  std::int64_t channels = 0;
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t elements() const { return channels * height * width; }
  friend bool operator==(const Field&, const Field&) = default;
};

enum class Padding { same, none };

struct ConvolutionLayer {
  std::string name;
  std::int64_t out_channels = 0;
  std::int64_t kernel = 1;  // of both axes
  std::int64_t stride = 1;
  std::int64_t groups = 1;  // divides both channel counts
  bool bias = false;
  bool norm = true;
  int activation_passes = 0;   // over its output, beyond a rectifier
  bool input_gradient = true;  // false: nothing before it learns
  Padding padding = Padding::same;
};

// One with a norm and a rectifier behind it.
ConvolutionLayer convolution_layer(std::string name, std::int64_t out_channels, std::int64_t kernel,
                                   std::int64_t stride);
// One over a field of one position, with a bias and without a norm, as at the end of a network.
ConvolutionLayer dense_layer(std::string name, std::int64_t out_channels);

class NetworkBuilder {
 public:
  explicit NetworkBuilder(const WorkloadSettings& settings);

  // Blocks follow each other; the layers added between two calls stand in the first.
  void begin_block(BlockKind kind, std::string name, int layer);

  Field convolve(const Field& in, const ConvolutionLayer& layer);
  // A transposed convolution to twice the height and width, as the input gradient of one of 2 × 2 and stride 2 is
  // computed: each input spreads over 2 × 2 outputs. With a bias and without a norm.
  Field upsample(const Field& in, const std::string& name, std::int64_t out_channels, int activation_passes);
  Field pool(const Field& in, const std::string& name, std::int64_t kernel, std::int64_t stride, Padding padding);
  Field average(const Field& in, const std::string& name);  // over the whole field
  // A gate per channel from the field's average: two small convolutions with biases, then the product.
  Field squeeze_and_excite(const Field& in, const std::string& name, std::int64_t reduced);
  // Passes over a field that keep its shape, as many in either direction.
  void apply(const Field& field, const std::string& name, int passes);
  // Keeps a field for a layer further on, cut to the `side` of its middle: a copy where it is larger. What is kept last
  // is joined first.
  void keep(const Field& field, const std::string& name, std::int64_t side);
  // The channels of the field kept last beside those of `in`.
  Field join(const Field& in);
  // Activations that stay until `release`: a shortcut around layers.
  void hold(const Field& field);
  void release(const Field& field);

  // Closes the last block. `name` and notes are the caller's to set.
  ModelGraph finish(const Field& image, const WorkloadSettings& settings);

 private:
  void close_block();
  void write(const Field& out);              // an activation that the backward pass reads, and what lives without one
  Bytes bytes(std::int64_t elements) const;  // of a micro-batch

  std::int64_t samples_;
  std::int64_t element_bytes_;
  bool training_;
  ModelGraph graph_;
  std::vector<std::vector<Operator>> gradients_;  // of the open block, by layer
  std::int64_t kept_ = 0;                         // elements per sample: of all layers in training, the most otherwise
  std::int64_t held_ = 0;                         // by shortcuts and for layers further on
  struct Kept {
    Field field;
    bool cut = false;  // a copy
  };
  std::vector<Kept> for_later_;  // not joined yet
  Field last_;                   // written last in the open block
};

// What classifiers of images have in common: heads, and defaults, since their published programs send pixels of a byte
// and normalise them on the device.
class ImageClassifier : public ModelKind {
 public:
  bool convolution_network() const final { return true; }
  std::vector<std::string> heads() const final { return {"image-classification", "none"}; }
  WorkloadDefaults workload_defaults(const ModelShape& shape) const final;
  std::int64_t maximum_sequence_length(const ModelShape& shape) const final;
  // Positions of the field that the classifier averages; 0: the image is smaller than the strides.
  std::int64_t image_tokens(const ModelShape& shape, std::int64_t image_size) const final;
  std::int64_t default_masked_tokens(const WorkloadSettings&) const final { return 0; }

 protected:
  // Side of the field behind the stem and all units; 0: smaller than a stride.
  virtual std::int64_t last_side(const ModelShape& shape, std::int64_t image_size) const = 0;
  // Whether the head is the classifier; PODSIM_CHECK fails on a head that is none of `heads()`.
  bool has_classifier(const std::string& head) const;
};

// That the lists of a shape ("depths.0", …; "depths" is their number) sum up to a network that can be built; else an
// error.
bool check_units(const ModelShape& shape, const std::string& list, const Value& config, Diagnostics& diagnostics);

// Pixels per side of an image: the workload's, else the model's.
std::int64_t image_side(const ModelShape& shape, const WorkloadSettings& settings);

}  // namespace podsim
