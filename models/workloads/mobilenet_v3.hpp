#pragma once
// MobileNetV3 (Howard et al. 2019): inverted bottlenecks with depthwise convolutions, some with gates, and a classifier
// of two layers. Nobody publishes a configuration for it: "mobilenet_v3" lists its units, one entry each, in the fields
// below. The shipped ones have the tables of the paper with the rounding of torchvision.

#include "models/workloads/convolution_network.hpp"

namespace podsim {

// Dimensions of its ModelShape: num_channels, image_size, stem_channels, last_channels, classifier_channels,
// num_labels; lists by unit: kernel_sizes, expanded_channels, out_channels, strides, squeezed_channels (0: no gate). A
// layer of layers_per_ipu is a unit.
class MobileNetV3 final : public ImageClassifier {
 public:
  std::string_view type() const override { return "mobilenet_v3"; }
  std::vector<std::pair<std::string, std::string>> architectures() const override { return {}; }
  std::optional<ModelShape> read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const override;
  ModelGraph build(const ModelShape& shape, const WorkloadSettings& settings) const override;

 protected:
  std::int64_t last_side(const ModelShape& shape, std::int64_t image_size) const override;
};

}  // namespace podsim
