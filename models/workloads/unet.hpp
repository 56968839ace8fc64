#pragma once
// U-Net for images: levels of two 3 × 3 convolutions with batch normalisation, halved by pooling on the way down and
// doubled by transposed convolutions on the way up, where the feature map of the same level is concatenated. As in
// mateuszbuda/brain-segmentation-pytorch, which SambaFlow's segmentation application is made after; or without padding
// and norms, with maps cut to the size above, as in Ronneberger et al. (arXiv 1505.04597) and graphcore/examples
// vision/unet_medical/tensorflow2. There is no Hugging Face configuration of it: the fields are arguments of these
// programs.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/plan/model_kind.hpp"
#include "sim/workload/convolution_shape.hpp"

namespace podsim {

// Dimensions of its ModelShape: in_channels, out_channels, init_features, depth, image_size; unpadded, batch_norm and
// bottom_dropout, each 0 or 1.
class Unet final : public ModelKind {
 public:
  std::string_view type() const override { return "unet"; }
  std::vector<std::pair<std::string, std::string>> architectures() const override { return {{"UNet", "none"}}; }
  bool convolution_network() const override { return true; }
  std::vector<std::string> heads() const override { return {"none"}; }
  std::optional<ModelShape> read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const override;
  // Pixels of an image of the model's size; images are no sequences.
  std::int64_t maximum_sequence_length(const ModelShape& shape) const override;
  WorkloadDefaults workload_defaults(const ModelShape& shape) const override;
  // Its pixels; 0 when nothing is left of the image at the bottom.
  std::int64_t image_tokens(const ModelShape& shape, std::int64_t image_size) const override;
  std::int64_t default_masked_tokens(const WorkloadSettings&) const override { return 0; }
  // A level is a layer: two convolutions and the pooling or the doubling behind them, the output behind the last.
  ModelGraph build(const ModelShape& shape, const WorkloadSettings& settings) const override;
};

// Pixels per side that enter each level on the way down, the bottom last. Empty: an image of `image_size` (0: the
// model's) cannot be halved so often, or unpadded convolutions leave nothing of it.
std::vector<std::int64_t> unet_sides(const ModelShape& shape, std::int64_t image_size);

// Sizes that can be, for a message: "a multiple of 16".
std::string unet_sizes_in_words(const ModelShape& shape);

// One convolution of the network, in execution order.
struct UnetLayer {
  enum class Kind : std::uint8_t {
    convolution,  // 3 × 3, then batch normalisation and ReLU
    upsampling,   // transposed 2 × 2 of stride 2 with bias; its output is concatenated with the level's feature map
    output,       // 1 × 1 with bias, then a sigmoid
  };
  std::string name;  // "encoder 1 convolution 2", "up 3", "output"
  Kind kind = Kind::convolution;
  int level = 0;            // of its output: 0 is full resolution, `depth` the bottom
  bool ends_block = false;  // the second convolution of a level
  bool downward = false;    // on the way down: what ends its block is kept for the way up, then pooled
  ConvolutionShape shape;   // an upsampling as the convolution whose input gradient it is
  // Kernel, bias, and two parameters of a normalisation.
  std::int64_t parameters() const;
};

struct UnetSizes {
  std::int64_t batch = 1;
  std::int64_t image_size = 0;  // pixels per side, divisible by 2^depth
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  std::int64_t features = 0;  // channels of the first level
  int depth = 0;              // levels above the bottom
};

// Of one image; an image size of 0 is the model's.
UnetSizes unet_sizes(const ModelShape& shape, std::int64_t image_size);

std::vector<UnetLayer> unet_layers(const UnetSizes& sizes);

}  // namespace podsim
