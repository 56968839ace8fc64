#pragma once
// Residual networks: ResNet as in Hugging Face configurations of model_type "resnet" (He et al. 2015; version 1.5 with
// the stride in the 3 × 3 convolution unless downsample_in_bottleneck), and ResNeXt (Xie et al. 2016), whose middle
// convolution is grouped. Nobody publishes a type for ResNeXt: "resnext" takes the fields of "resnet" and, as
// torchvision names them, groups and width_per_group.

#include "sim/plan/model_kind.hpp"

namespace podsim {

// Dimensions of its ModelShape: num_channels, embedding_size, hidden_sizes and depths (lists), bottleneck,
// downsample_in_first_stage, downsample_in_bottleneck, groups, width_per_group, image_size, num_labels. A layer of
// layers_per_ipu is a residual unit.
class ResNet : public ModelKind {
 public:
  std::string_view type() const override { return "resnet"; }
  std::vector<std::pair<std::string, std::string>> architectures() const override;
  std::vector<std::string> heads() const override;
  std::optional<ModelShape> read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const override;
  bool convolution_network() const override { return true; }
  std::int64_t maximum_sequence_length(const ModelShape& shape) const override;
  WorkloadDefaults workload_defaults(const ModelShape& shape) const override;
  // Positions of the field that the classifier averages; 0: the image is smaller than the strides.
  std::int64_t image_tokens(const ModelShape& shape, std::int64_t image_size) const override;
  std::int64_t default_masked_tokens(const WorkloadSettings&) const override { return 0; }
  ModelGraph build(const ModelShape& shape, const WorkloadSettings& settings) const override;
};

class ResNext final : public ResNet {
 public:
  std::string_view type() const override { return "resnext"; }
  std::vector<std::pair<std::string, std::string>> architectures() const override { return {}; }
};

}  // namespace podsim
