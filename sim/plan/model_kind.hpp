#pragma once
// A kind of model: reads the published configuration of its type and builds the operator graph of a micro-batch.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/value.hpp"
#include "sim/plan/workload_settings.hpp"
#include "sim/workload/model_graph.hpp"

namespace podsim {

// What a configuration says, after defaults: named integers such as "hidden_size", and the keys it ignored.
struct ModelShape {
  std::string type;  // as the configuration names it
  std::string name;  // for reports
  std::map<std::string, std::int64_t> dimensions;
  std::vector<std::string> defaulted;                           // dimensions that the file left out
  std::int64_t operator[](const std::string& dimension) const;  // PODSIM_CHECK fails when unknown
  friend bool operator==(const ModelShape&, const ModelShape&) = default;
};

// What a workload does when the experiment does not say.
struct WorkloadDefaults {
  bool split_qkv = false;
  bool attention_dropout = true;
  bool ffn_dropout = false;
  std::int64_t image_size = 0;         // pixels per side; 0: the model reads no images
  double input_bytes_per_element = 0;  // of image input
};

class ModelKind {
 public:
  virtual ~ModelKind() = default;
  virtual std::string_view type() const = 0;  // as in the configuration's model_type
  // Class names in `architectures` that mean this kind when model_type is absent, and the head they imply.
  virtual std::vector<std::pair<std::string, std::string>> architectures() const = 0;
  // Heads it can carry, the default first.
  virtual std::vector<std::string> heads() const = 0;
  // Bad or missing fields go to `diagnostics`. `overrides` are the [model] keys that replace fields (vocab_size, …).
  virtual std::optional<ModelShape> read(const Value& config, const Value& overrides,
                                         Diagnostics& diagnostics) const = 0;
  // Whether its layers are convolutions over images: a family may cost them in another way.
  virtual bool convolution_network() const { return false; }
  virtual std::int64_t maximum_sequence_length(const ModelShape& shape) const = 0;
  // When none is given: the maximum, unless the model knows none.
  virtual std::int64_t default_sequence_length(const ModelShape& shape) const { return maximum_sequence_length(shape); }
  virtual WorkloadDefaults workload_defaults(const ModelShape&) const { return {}; }
  // Tokens an image of `image_size` pixels per side becomes; 0: it is too small, or the model reads no images.
  virtual std::int64_t image_tokens(const ModelShape&, std::int64_t /*image_size*/) const { return 0; }
  // Rows of the head per sequence when none are given, e.g. the usual number of masked tokens; 0: not applicable.
  virtual std::int64_t default_masked_tokens(const WorkloadSettings& settings) const = 0;
  virtual ModelGraph build(const ModelShape& shape, const WorkloadSettings& settings) const = 0;
};

// The fewest pixels per side that the model can take; a model that reads images.
std::int64_t least_image_size(const ModelKind& kind, const ModelShape& shape);

// PODSIM_CHECK fails on a head that `kind` cannot carry.
void check_head(const ModelKind& kind, const std::string& head);

}  // namespace podsim
