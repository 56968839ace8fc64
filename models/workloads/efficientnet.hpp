#pragma once
// EfficientNet, as in Hugging Face configurations of model_type "efficientnet" (Tan and Le 2019): inverted bottlenecks
// with depthwise convolutions and squeeze-and-excite gates, widths and depths scaled from one table. `group_dim` is a
// field of our own: channels of a group in the middle convolution, 1 for depthwise, 16 for the G16 networks of
// graphcore/examples.

#include "models/workloads/convolution_network.hpp"

namespace podsim {

// Dimensions of its ModelShape: num_channels, image_size, stem, hidden_dim, group_dim, num_labels, stages; and by stage
// i: kernel.i, stride.i, in.i, out.i, repeats.i, expand.i; per block the gate keeps gate.i channels in the first unit
// and gate_repeat.i in the others. A layer of layers_per_ipu is a unit.
class EfficientNet final : public ImageClassifier {
 public:
  std::string_view type() const override { return "efficientnet"; }
  std::vector<std::pair<std::string, std::string>> architectures() const override;
  std::optional<ModelShape> read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const override;
  ModelGraph build(const ModelShape& shape, const WorkloadSettings& settings) const override;

 protected:
  std::int64_t last_side(const ModelShape& shape, std::int64_t image_size) const override;
};

}  // namespace podsim
