#include "models/catalog.hpp"

#include "models/ipu/cases/case_reader.hpp"
#include "models/ipu/family.hpp"
#include "models/loss_scaling/keys.hpp"
#include "models/loss_scaling/schemes.hpp"
#include "models/rdu/case_reader.hpp"
#include "models/rdu/family.hpp"
#include "models/workloads/bart.hpp"
#include "models/workloads/bert.hpp"
#include "models/workloads/deberta.hpp"
#include "models/workloads/distilbert.hpp"
#include "models/workloads/efficientnet.hpp"
#include "models/workloads/gpt2.hpp"
#include "models/workloads/gptj.hpp"
#include "models/workloads/llama.hpp"
#include "models/workloads/mobilenet_v3.hpp"
#include "models/workloads/mpnet.hpp"
#include "models/workloads/resnet.hpp"
#include "models/workloads/roberta.hpp"
#include "models/workloads/single_operator.hpp"
#include "models/workloads/t5.hpp"
#include "models/workloads/unet.hpp"
#include "models/workloads/vit.hpp"
#include "models/workloads/wav2vec2.hpp"
#include "models/workloads/whisper.hpp"

namespace podsim {

Catalog make_catalog() {
  Catalog catalog;
  catalog.families.push_back(std::make_unique<ipu::IpuFamily>());
  catalog.families.push_back(std::make_unique<rdu::RduFamily>());
  catalog.model_kinds.push_back(std::make_unique<Bart>());
  catalog.model_kinds.push_back(std::make_unique<Bert>());
  catalog.model_kinds.push_back(std::make_unique<DeBerta>());
  catalog.model_kinds.push_back(std::make_unique<DistilBert>());
  catalog.model_kinds.push_back(std::make_unique<EfficientNet>());
  catalog.model_kinds.push_back(std::make_unique<Gpt2>());
  catalog.model_kinds.push_back(std::make_unique<GptJ>());
  catalog.model_kinds.push_back(std::make_unique<Hubert>());
  catalog.model_kinds.push_back(std::make_unique<Llama>());
  catalog.model_kinds.push_back(std::make_unique<Mistral>());
  catalog.model_kinds.push_back(std::make_unique<MobileNetV3>());
  catalog.model_kinds.push_back(std::make_unique<MpNet>());
  catalog.model_kinds.push_back(std::make_unique<MT5>());
  catalog.model_kinds.push_back(std::make_unique<ResNet>());
  catalog.model_kinds.push_back(std::make_unique<ResNext>());
  catalog.model_kinds.push_back(std::make_unique<Roberta>());
  catalog.model_kinds.push_back(std::make_unique<SingleMatmul>());
  catalog.model_kinds.push_back(std::make_unique<SingleRelu>());
  catalog.model_kinds.push_back(std::make_unique<T5>());
  catalog.model_kinds.push_back(std::make_unique<Unet>());
  catalog.model_kinds.push_back(std::make_unique<Vit>());
  catalog.model_kinds.push_back(std::make_unique<Wav2Vec2>());
  catalog.model_kinds.push_back(std::make_unique<Whisper>());
  catalog.case_readers.push_back(std::make_unique<ipu::IpuCaseReader>());
  catalog.case_readers.push_back(std::make_unique<rdu::RduCaseReader>());
  catalog.loss_scaling_schemes.push_back(loss_scaling::apex_scheme());
  catalog.loss_scaling_schemes.push_back(loss_scaling::constant_scheme());
  catalog.loss_scaling_schemes.push_back(loss_scaling::deepspeed_scheme());
  catalog.loss_scaling_schemes.push_back(loss_scaling::doubling_schedule_scheme());
  catalog.loss_scaling_schemes.push_back(loss_scaling::grad_scaler_scheme());
  catalog.loss_scaling_schemes.push_back(loss_scaling::keras_automatic_scheme());
  catalog.loss_scaling_schemes.push_back(loss_scaling::megatron_scheme());
  catalog.loss_scaling_schemes.push_back(loss_scaling::no_scheme());
  catalog.loss_scaling_schemes.push_back(loss_scaling::popart_automatic_scheme());
  std::vector<std::string> modes;
  for (const auto& scheme : catalog.loss_scaling_schemes) modes.emplace_back(scheme->name());
  catalog.loss_scaling_keys = loss_scaling::keys(modes);
  return catalog;
}

}  // namespace podsim
