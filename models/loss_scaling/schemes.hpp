#pragma once
// Controllers of the loss scale, each in a file of its own; facts.md has their rules and sources.

#include <memory>
#include <vector>

#include "sim/plan/loss_scaling.hpp"

namespace podsim::loss_scaling {

std::unique_ptr<const LossScalingScheme> apex_scheme();               // NVIDIA apex amp, dynamic
std::unique_ptr<const LossScalingScheme> constant_scheme();           // one scale for ever
std::unique_ptr<const LossScalingScheme> deepspeed_scheme();          // DeepSpeed's dynamic scaler
std::unique_ptr<const LossScalingScheme> doubling_schedule_scheme();  // doubles at even distances in epochs
std::unique_ptr<const LossScalingScheme> grad_scaler_scheme();        // PyTorch's GradScaler
std::unique_ptr<const LossScalingScheme> keras_automatic_scheme();    // IPU Keras ALSOptimizer
std::unique_ptr<const LossScalingScheme> megatron_scheme();           // Megatron-LM, with hysteresis
std::unique_ptr<const LossScalingScheme> no_scheme();                 // no scale: bfloat16, unit scaling
std::unique_ptr<const LossScalingScheme> popart_automatic_scheme();   // PopART automatic loss scaling

}  // namespace podsim::loss_scaling
