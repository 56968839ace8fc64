#pragma once
// Where the gradients of a transformer lie at the start of training, from its shape alone: the loss gradient is known
// (probabilities 1/V, mean over n targets), and each backward operator multiplies by the weights and activations it
// meets. facts.md has the formulas.

#include <optional>
#include <string>

#include "models/loss_scaling/gradient_constants.hpp"
#include "models/loss_scaling/gradient_model.hpp"
#include "sim/core/diagnostics.hpp"
#include "sim/plan/model_kind.hpp"

namespace podsim::loss_scaling {

// What the user may say beyond the model.
struct GradientSettings {
  MagnitudeShape shape = MagnitudeShape::gaussian_mixture;
  std::optional<double> spread;  // octaves, of every hidden tensor
  double coherence = 0;          // of the tokens' parts of a weight gradient, 0 to 1
  double residual_gain = 1;      // from a layer to the one before
  // Weights have been trained before: those of the body, and of a head that projects to the vocabulary.
  bool pretrained = false;
  double accumulation = 1;  // micro-batches per update and replica
  double replicas = 1;
};

// The loss: a mean over `targets` targets per micro-batch, each among `classes`.
struct LossShape {
  double targets = 0;
  double classes = 0;
  double bearing = 1;    // share of the tokens whose output a target looks at
  double elsewhere = 0;  // gradient of the other tokens' outputs relative to these; 0: none
};

// Empty when the model has no head with a loss; the reason goes to `problem`.
std::optional<LossShape> loss_shape(const ModelGraph& graph, const ModelShape& shape, const WorkloadSettings& settings,
                                    std::string& problem);

// log2 of a loss gradient at the start: of a class that is not the target, 1/(V n), and of the target, (1 - 1/V)/n.
double other_class_gradient(const LossShape& loss);
double target_gradient(const LossShape& loss);

GradientModel gradient_model(const ModelGraph& graph, const LossShape& loss, const GradientSettings& settings,
                             const GradientConstants& constants);

}  // namespace podsim::loss_scaling
