#pragma once
// BERT: encoder transformer, as in Hugging Face configurations of model_type "bert".

#include "models/workloads/encoder_model.hpp"

namespace podsim {

class Bert final : public EncoderModel {
 public:
  Bert();
};

}  // namespace podsim
