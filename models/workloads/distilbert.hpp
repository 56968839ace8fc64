#pragma once
// DistilBERT: encoder transformer without token types and pooler, model_type "distilbert".

#include "models/workloads/encoder_model.hpp"

namespace podsim {

class DistilBert final : public EncoderModel {
 public:
  DistilBert();
};

}  // namespace podsim
