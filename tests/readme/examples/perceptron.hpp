#pragma once
// A kind of model that is shipped nowhere: layers of one square product and a rectifier.

#include "sim/plan/model_kind.hpp"

namespace podsim::examples {

// Dimensions of its ModelShape: width, layers.
class Perceptron final : public ModelKind {
 public:
  std::string_view type() const override { return "perceptron"; }
  std::vector<std::pair<std::string, std::string>> architectures() const override { return {}; }
  std::vector<std::string> heads() const override { return {"none"}; }
  std::optional<ModelShape> read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const override;
  std::int64_t maximum_sequence_length(const ModelShape&) const override { return 1; }
  std::int64_t default_masked_tokens(const WorkloadSettings&) const override { return 0; }
  ModelGraph build(const ModelShape& shape, const WorkloadSettings& settings) const override;
};

}  // namespace podsim::examples
