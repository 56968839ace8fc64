#pragma once
// One operator as a model of its own, for comparison with micro-benchmarks: a matrix product of model_type "matmul"
// with rows x inner times inner x columns, or a pass over elements of model_type "relu".

#include "sim/plan/model_kind.hpp"

namespace podsim {

// Dimensions of its ModelShape: rows, inner, columns.
class SingleMatmul final : public ModelKind {
 public:
  std::string_view type() const override { return "matmul"; }
  std::vector<std::pair<std::string, std::string>> architectures() const override { return {}; }
  std::vector<std::string> heads() const override { return {"none"}; }
  std::optional<ModelShape> read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const override;
  std::int64_t maximum_sequence_length(const ModelShape&) const override { return 1; }
  std::int64_t default_masked_tokens(const WorkloadSettings&) const override { return 0; }
  ModelGraph build(const ModelShape& shape, const WorkloadSettings& settings) const override;
};

// Its ModelShape has `elements`.
class SingleRelu final : public ModelKind {
 public:
  std::string_view type() const override { return "relu"; }
  std::vector<std::pair<std::string, std::string>> architectures() const override { return {}; }
  std::vector<std::string> heads() const override { return {"none"}; }
  std::optional<ModelShape> read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const override;
  std::int64_t maximum_sequence_length(const ModelShape&) const override { return 1; }
  std::int64_t default_masked_tokens(const WorkloadSettings&) const override { return 0; }
  ModelGraph build(const ModelShape& shape, const WorkloadSettings& settings) const override;
};

}  // namespace podsim
