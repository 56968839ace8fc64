#pragma once
// Residual networks: ResNet as in Hugging Face configurations of model_type "resnet" (He et al. 2015; version 1.5 with
// the stride in the 3 × 3 convolution unless downsample_in_bottleneck), and ResNeXt (Xie et al. 2016), whose middle
// convolution is grouped. Nobody publishes a type for ResNeXt: "resnext" takes the fields of "resnet" and, as
// torchvision names them, groups and width_per_group.

#include "models/workloads/convolution_network.hpp"

namespace podsim {

// Dimensions of its ModelShape: num_channels, embedding_size, hidden_sizes and depths (lists), bottleneck,
// downsample_in_first_stage, downsample_in_bottleneck, groups, width_per_group, image_size, num_labels. A layer of
// layers_per_ipu is a residual unit.
class ResNet : public ImageClassifier {
 public:
  std::string_view type() const override { return "resnet"; }
  std::vector<std::pair<std::string, std::string>> architectures() const override;
  std::optional<ModelShape> read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const override;
  ModelGraph build(const ModelShape& shape, const WorkloadSettings& settings) const override;

 protected:
  std::int64_t last_side(const ModelShape& shape, std::int64_t image_size) const override;
};

class ResNext final : public ResNet {
 public:
  std::string_view type() const override { return "resnext"; }
  std::vector<std::pair<std::string, std::string>> architectures() const override { return {}; }
};

}  // namespace podsim
