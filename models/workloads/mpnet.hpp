#pragma once
// MPNet: encoder with a bias by relative position, shared by all layers, model_type "mpnet".

#include "models/workloads/encoder_model.hpp"

namespace podsim {

class MpNet final : public EncoderModel {
 public:
  MpNet();
};

}  // namespace podsim
