#pragma once
// The explicit list of everything that plugs in. Made by models/catalog.cpp; no registration at start-up.

#include <memory>
#include <string_view>
#include <vector>

#include "sim/plan/case_reader.hpp"
#include "sim/plan/family.hpp"
#include "sim/plan/loss_scaling.hpp"
#include "sim/plan/model_kind.hpp"

namespace podsim {

struct Catalog {
  std::vector<std::unique_ptr<const Family>> families;
  std::vector<std::unique_ptr<const ModelKind>> model_kinds;
  std::vector<std::unique_ptr<const CaseReader>> case_readers;
  std::vector<std::unique_ptr<const LossScalingScheme>> loss_scaling_schemes;
  std::vector<KeySpec> loss_scaling_keys;  // below `loss_scaling`, of every scheme and of the gradients

  const Family* family(std::string_view name) const;                          // null: unknown
  const ModelKind* model_kind(std::string_view type) const;                   // null: unknown
  const LossScalingScheme* loss_scaling_scheme(std::string_view name) const;  // null: unknown
};

}  // namespace podsim
