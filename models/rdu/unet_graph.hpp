#pragma once
// The operator list of a U-Net step. A convolution of the way down or up is, in training, four operators: convolution,
// statistics over the batch, normalisation, ReLU; the normalisation waits for the statistics of the whole batch. In
// inference statistics are known and the normalisation streams. Backward has per convolution the gradients of ReLU,
// statistics and normalisation, which waits again, and two products; it reads the input, the convolution's output and
// the activation. Gradients of biases and norms are as long as a row: what writes them is left out.

#include <cstdint>
#include <optional>
#include <string>

#include "models/rdu/operator_graph.hpp"
#include "models/rdu/transformer_graph.hpp"
#include "models/workloads/unet.hpp"

namespace podsim::rdu {

struct UnetDescription {
  std::string name;
  UnetSizes sizes;  // of one sample: the batch is the step's

  std::int64_t parameter_count() const;
};

// From a read configuration of model_type unet; empty for others.
std::optional<UnetDescription> describe_unet(const ModelShape& shape, const WorkloadSettings& settings);

// Of `request` training, batch and optimizer count. PODSIM_CHECK fails when the image cannot be halved as often as
// there are levels. FLOP and bytes beyond 2^62 throw std::range_error.
OperatorGraph build_unet_step(const UnetDescription& model, const StepRequest& request);

}  // namespace podsim::rdu
