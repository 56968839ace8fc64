#pragma once
// RoBERTa: encoder transformer, as in Hugging Face configurations of model_type "roberta".

#include "models/workloads/encoder_model.hpp"

namespace podsim {

class Roberta final : public EncoderModel {
 public:
  Roberta();
};

}  // namespace podsim
