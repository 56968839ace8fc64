#pragma once
// A small language model trained in emulated half precision: weights, activations and gradients are rounded for real,
// partial sums are kept in the format asked for, and a controller moves the loss scale by what it sees of the true
// gradients. It is what the model of gradients is checked against. Equal arguments give equal results on one machine;
// exp and erf may differ in the last bit between libraries.
//
// The model: embedding, blocks of causal attention and a GELU feed-forward, each behind a root-mean-square norm, a
// projection onto the vocabulary, the mean cross entropy. Data: a Markov chain whose tokens have four successors.

#include <cstdint>
#include <memory>
#include <vector>

#include "models/loss_scaling/emulator_kernels.hpp"
#include "sim/core/random.hpp"
#include "sim/plan/loss_scaling.hpp"

namespace podsim::loss_scaling {

struct EmulatorShape {
  std::size_t vocabulary = 128;
  std::size_t width = 32;
  std::size_t feed_forward = 128;
  std::size_t heads = 2;  // divides width
  std::size_t blocks = 2;
  std::size_t sequence = 32;  // tokens
  std::size_t sequences = 4;  // per step
  float weight_rms = 0.1F;    // at the start
  float output_rms = 0.02F;   // of the projection onto the vocabulary, at the start
  std::size_t tokens() const { return sequence * sequences; }
};

struct EmulatorNumerics {
  NumberFormat format = NumberFormat::float16;
  OverflowRule overflow = OverflowRule::saturate;
  Accumulation accumulation;  // of matrix products
};

struct EmulatorStep {
  float scale = 1;
  double loss = 0;  // mean, nats
  bool applied = true;
  GradientCounts counts;  // what the controller saw
  std::vector<TensorCounts> tensors;
};

class Emulator {
 public:
  Emulator(const EmulatorShape& shape, const EmulatorNumerics& numerics, std::uint64_t seed);

  // One weight update by Adam on single-precision weights (rate 3e-3, betas 0.9 and 0.99, epsilon 1e-8).
  EmulatorStep step(LossScaleController& controller);

  // Of the current weights on the next batch, without an update: for checks.
  double loss_only();
  // The gradient of weight `index` of tensor `tensor` on the next batch, without a scale.
  double gradient_of(std::size_t tensor, std::size_t index);
  float& weight(std::size_t tensor, std::size_t index) { return weights_[tensor].values[index]; }
  std::size_t weight_tensors() const { return weights_.size(); }

 private:
  struct Block;
  struct Pass;
  std::vector<std::size_t> next_batch();
  void round_weights();
  Matrix multiplied(const Matrix& a, const Matrix& b) const;
  void keep(Matrix& a) const;
  void keep_gradient(Matrix& a, const char* name, int layer);
  double forward(Pass& pass);
  void forward_attention(Pass& pass, std::size_t block);
  void backward(Pass& pass, float scale);
  void backward_attention(Pass& pass, std::size_t block, Matrix& stream);
  void backward_head(Pass& pass, std::size_t block, std::size_t sequence, std::size_t head, struct HeadGradients& to);
  void weight_gradient(std::size_t tensor, const Matrix& input, const Matrix& gradient, const char* name, int layer);
  Matrix through_norm(const Matrix& normed, const std::vector<float>& inverse, const Matrix& gradient) const;
  void apply(float scale);

  EmulatorShape shape_;
  EmulatorNumerics numerics_;
  Random data_;
  std::vector<std::uint32_t> successors_;  // four per token
  std::vector<Matrix> weights_;            // single precision
  std::vector<Matrix> rounded_;            // as the device holds them
  std::vector<Matrix> gradients_;
  std::vector<Matrix> first_moments_;
  std::vector<Matrix> second_moments_;
  double edge_ = 0;
  std::int64_t updates_ = 0;
  std::vector<TensorCounts> counts_;
};

}  // namespace podsim::loss_scaling
