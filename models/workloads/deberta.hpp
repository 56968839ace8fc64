#pragma once
// DeBERTa (first version): encoder whose attention also scores relative positions, model_type "deberta".

#include "models/workloads/encoder_model.hpp"

namespace podsim {

class DeBerta final : public EncoderModel {
 public:
  DeBerta();
};

}  // namespace podsim
