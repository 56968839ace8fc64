#include "sim/plan/catalog.hpp"

namespace podsim {

const Family* Catalog::family(std::string_view name) const {
  for (const auto& family : families) {
    if (family->name() == name) return family.get();
  }
  return nullptr;
}

const ModelKind* Catalog::model_kind(std::string_view type) const {
  for (const auto& kind : model_kinds) {
    if (kind->type() == type) return kind.get();
  }
  return nullptr;
}

const LossScalingScheme* Catalog::loss_scaling_scheme(std::string_view name) const {
  for (const auto& scheme : loss_scaling_schemes) {
    if (scheme->name() == name) return scheme.get();
  }
  return nullptr;
}

}  // namespace podsim
