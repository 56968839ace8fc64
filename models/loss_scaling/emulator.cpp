#include "models/loss_scaling/emulator.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/check.hpp"
#include "sim/numerics/sampling.hpp"

namespace podsim::loss_scaling {
namespace {

// Weight tensors: two of the embedding, six of each block, one of the output.
constexpr std::size_t k_tokens = 0;
constexpr std::size_t k_positions = 1;
constexpr std::size_t k_query = 0;
constexpr std::size_t k_key = 1;
constexpr std::size_t k_value = 2;
constexpr std::size_t k_output = 3;
constexpr std::size_t k_up = 4;
constexpr std::size_t k_down = 5;
constexpr std::size_t k_per_block = 6;
constexpr float k_rate = 3e-3F;
constexpr float k_beta_first = 0.9F;
constexpr float k_beta_second = 0.99F;
constexpr float k_epsilon = 1e-8F;

std::size_t tensor_of(std::size_t block, std::size_t part) {
  return 2 + block * k_per_block + part;
}

// Rows divided by their root mean square; the inverses are kept for the way back.
Matrix normalised(const Matrix& x, std::vector<float>& inverse) {
  Matrix result = x;
  inverse.assign(x.rows, 0);
  for (std::size_t i = 0; i < x.rows; ++i) {
    float sum = 0;
    for (std::size_t j = 0; j < x.columns; ++j) sum += x.row(i)[j] * x.row(i)[j];
    inverse[i] = 1 / std::sqrt(sum / static_cast<float>(x.columns) + 1e-6F);
    for (std::size_t j = 0; j < x.columns; ++j) result.row(i)[j] *= inverse[i];
  }
  return result;
}

void add(Matrix& a, const Matrix& b) {
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] += b.values[i];
}

// Softmax of the first `count` values of a row, in single precision.
void softmax(float* row, std::size_t count) {
  const float largest = *std::max_element(row, row + count);
  float sum = 0;
  for (std::size_t j = 0; j < count; ++j) {
    row[j] = std::exp(row[j] - largest);
    sum += row[j];
  }
  for (std::size_t j = 0; j < count; ++j) row[j] /= sum;
}

}  // namespace

struct HeadGradients {
  Matrix context;
  Matrix query, key, value;
  Matrix probabilities, scores;  // of all heads, one below the other
};

// What the forward pass keeps of a block.
struct Emulator::Block {
  Matrix attention_input, query, key, value, context;
  std::vector<Matrix> probabilities;  // by sequence and head
  std::vector<float> attention_inverse;
  Matrix feed_forward_input, up, active;
  std::vector<float> feed_forward_inverse;
};

struct Emulator::Pass {
  std::vector<std::size_t> tokens;  // inputs; the target of one is the next
  std::vector<std::size_t> targets;
  Matrix stream;
  std::vector<Block> blocks;
  Matrix output_input;
  std::vector<float> output_inverse;
  Matrix probabilities;
};

Emulator::Emulator(const EmulatorShape& shape, const EmulatorNumerics& numerics, std::uint64_t seed)
    : shape_(shape), numerics_(numerics), data_(keyed_random(seed, {1})) {
  PODSIM_CHECK(shape.width % shape.heads == 0, "heads that do not divide the width");
  // Rounding is only right where subnormals are: a library that flushes them would spoil every count.
  PODSIM_CHECK(rounded(0x1p-24F, NumberFormat::float16, OverflowRule::saturate) == 0x1p-24F, "subnormals are flushed");
  Random chain = keyed_random(seed, {2});
  successors_.resize(4 * shape.vocabulary);
  for (std::uint32_t& successor : successors_) successor = static_cast<std::uint32_t>(chain.below(shape.vocabulary));
  const auto add_weight = [&](std::size_t rows, std::size_t columns, float rms) {
    Matrix weight(rows, columns);
    Random draws = keyed_random(seed, {3, weights_.size()});
    for (float& value : weight.values) value = rms * static_cast<float>(draw_normal(draws));
    weights_.push_back(std::move(weight));
  };
  add_weight(shape.vocabulary, shape.width, 1);
  add_weight(shape.sequence, shape.width, 0.5F);
  for (std::size_t block = 0; block < shape.blocks; ++block) {
    for (int part = 0; part < 4; ++part) add_weight(shape.width, shape.width, shape.weight_rms);
    add_weight(shape.width, shape.feed_forward, shape.weight_rms);
    add_weight(shape.feed_forward, shape.width, shape.weight_rms);
  }
  add_weight(shape.width, shape.vocabulary, shape.output_rms);
  for (const Matrix& weight : weights_) {
    gradients_.emplace_back(weight.rows, weight.columns);
    first_moments_.emplace_back(weight.rows, weight.columns);
    second_moments_.emplace_back(weight.rows, weight.columns);
  }
  rounded_ = weights_;
}

Matrix Emulator::multiplied(const Matrix& a, const Matrix& b) const {
  return product(a, b, numerics_.accumulation);
}

void Emulator::keep(Matrix& a) const {
  round_values(a, numerics_.format, numerics_.overflow, edge_, nullptr);
}

void Emulator::keep_gradient(Matrix& a, const char* name, int layer) {
  TensorCounts counts;
  counts.name = name;
  counts.layer = layer;
  round_values(a, numerics_.format, numerics_.overflow, edge_, &counts);
  counts_.push_back(std::move(counts));
}

// Sequences of the chain, one token longer than the model reads.
std::vector<std::size_t> Emulator::next_batch() {
  std::vector<std::size_t> tokens;
  for (std::size_t s = 0; s < shape_.sequences; ++s) {
    std::size_t token = data_.below(shape_.vocabulary);
    tokens.push_back(token);
    for (std::size_t t = 0; t < shape_.sequence; ++t) {
      const double u = data_.unit();
      const std::size_t choice = u < 0.6 ? 0 : u < 0.85 ? 1 : u < 0.95 ? 2 : 3;
      token = successors_[4 * token + choice];
      tokens.push_back(token);
    }
  }
  return tokens;
}

double Emulator::forward(Pass& pass) {
  round_weights();
  const std::vector<std::size_t> batch = next_batch();
  pass.stream = Matrix(shape_.tokens(), shape_.width);
  for (std::size_t s = 0; s < shape_.sequences; ++s) {
    for (std::size_t t = 0; t < shape_.sequence; ++t) {
      const std::size_t token = batch[s * (shape_.sequence + 1) + t];
      pass.tokens.push_back(token);
      pass.targets.push_back(batch[s * (shape_.sequence + 1) + t + 1]);
      float* row = pass.stream.row(s * shape_.sequence + t);
      for (std::size_t j = 0; j < shape_.width; ++j) {
        row[j] = rounded_[k_tokens].row(token)[j] + rounded_[k_positions].row(t)[j];
      }
    }
  }
  keep(pass.stream);
  pass.blocks.resize(shape_.blocks);
  for (std::size_t block = 0; block < shape_.blocks; ++block) {
    forward_attention(pass, block);
    Block& b = pass.blocks[block];
    b.feed_forward_input = normalised(pass.stream, b.feed_forward_inverse);
    keep(b.feed_forward_input);
    b.up = multiplied(b.feed_forward_input, rounded_[tensor_of(block, k_up)]);
    keep(b.up);
    b.active = b.up;
    for (float& value : b.active.values) value = gelu(value);
    keep(b.active);
    Matrix down = multiplied(b.active, rounded_[tensor_of(block, k_down)]);
    keep(down);
    add(pass.stream, down);
    keep(pass.stream);
  }
  pass.output_input = normalised(pass.stream, pass.output_inverse);
  keep(pass.output_input);
  pass.probabilities = multiplied(pass.output_input, rounded_.back());
  keep(pass.probabilities);
  double loss = 0;
  for (std::size_t i = 0; i < pass.targets.size(); ++i) {
    softmax(pass.probabilities.row(i), shape_.vocabulary);
    loss -= std::log(static_cast<double>(pass.probabilities.row(i)[pass.targets[i]]));
  }
  return loss / static_cast<double>(pass.targets.size());
}

void Emulator::round_weights() {
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    rounded_[i] = weights_[i];
    keep(rounded_[i]);
  }
}

void Emulator::forward_attention(Pass& pass, std::size_t block) {
  Block& b = pass.blocks[block];
  b.attention_input = normalised(pass.stream, b.attention_inverse);
  keep(b.attention_input);
  Matrix* const projections[] = {&b.query, &b.key, &b.value};
  for (std::size_t part = 0; part < 3; ++part) {
    *projections[part] = multiplied(b.attention_input, rounded_[tensor_of(block, part)]);
    keep(*projections[part]);
  }
  const std::size_t head = shape_.width / shape_.heads;
  const float scale = 1 / std::sqrt(static_cast<float>(head));
  b.context = Matrix(shape_.tokens(), shape_.width);
  for (std::size_t s = 0; s < shape_.sequences; ++s) {
    for (std::size_t h = 0; h < shape_.heads; ++h) {
      const auto part = [&](const Matrix& m) {
        return copied({&m, s * shape_.sequence, shape_.sequence, h * head, head});
      };
      Matrix scores = multiplied(part(b.query), transposed(part(b.key)));
      keep(scores);
      for (float& value : scores.values) value *= scale;
      keep(scores);
      for (std::size_t i = 0; i < scores.rows; ++i) {
        softmax(scores.row(i), i + 1);
        std::fill(scores.row(i) + i + 1, scores.row(i) + scores.columns, 0.0F);
      }
      keep(scores);
      add_to(b.context, s * shape_.sequence, h * head, multiplied(scores, part(b.value)));
      b.probabilities.push_back(std::move(scores));
    }
  }
  keep(b.context);
  Matrix output = multiplied(b.context, rounded_[tensor_of(block, k_output)]);
  keep(output);
  add(pass.stream, output);
  keep(pass.stream);
}

// y = x r with r = 1/rms: dx = r (dy - y mean(y dy)).
Matrix Emulator::through_norm(const Matrix& normed, const std::vector<float>& inverse, const Matrix& gradient) const {
  Matrix result = gradient;
  for (std::size_t i = 0; i < normed.rows; ++i) {
    float mean = 0;
    for (std::size_t j = 0; j < normed.columns; ++j) mean += normed.row(i)[j] * gradient.row(i)[j];
    mean /= static_cast<float>(normed.columns);
    for (std::size_t j = 0; j < normed.columns; ++j) {
      result.row(i)[j] = inverse[i] * (gradient.row(i)[j] - normed.row(i)[j] * mean);
    }
  }
  return result;
}

void Emulator::weight_gradient(std::size_t tensor, const Matrix& input, const Matrix& gradient, const char* name,
                               int layer) {
  gradients_[tensor] = multiplied(transposed(input), gradient);
  keep_gradient(gradients_[tensor], name, layer);
}

void Emulator::backward(Pass& pass, float scale) {
  const auto n = static_cast<float>(shape_.tokens());
  Matrix loss = pass.probabilities;
  for (std::size_t i = 0; i < loss.rows; ++i) {
    loss.row(i)[pass.targets[i]] -= 1;
    for (std::size_t j = 0; j < loss.columns; ++j) loss.row(i)[j] *= scale / n;
  }
  keep_gradient(loss, "loss_gradient", -1);
  weight_gradient(weights_.size() - 1, pass.output_input, loss, "vocabulary_weight_gradient", -1);
  Matrix normed = multiplied(loss, transposed(rounded_.back()));
  keep_gradient(normed, "vocabulary_input_gradient", -1);
  Matrix stream = through_norm(pass.output_input, pass.output_inverse, normed);
  keep_gradient(stream, "norm_gradient", -1);
  for (std::size_t block = shape_.blocks; block-- > 0;) {
    const Block& b = pass.blocks[block];
    const int layer = static_cast<int>(block);
    weight_gradient(tensor_of(block, k_down), b.active, stream, "down_weight_gradient", layer);
    Matrix inner = multiplied(stream, transposed(rounded_[tensor_of(block, k_down)]));
    keep_gradient(inner, "down_input_gradient", layer);
    for (std::size_t i = 0; i < inner.values.size(); ++i) inner.values[i] *= gelu_slope(b.up.values[i]);
    keep_gradient(inner, "activation_gradient", layer);
    weight_gradient(tensor_of(block, k_up), b.feed_forward_input, inner, "up_weight_gradient", layer);
    Matrix input = multiplied(inner, transposed(rounded_[tensor_of(block, k_up)]));
    keep_gradient(input, "up_input_gradient", layer);
    add(stream, through_norm(b.feed_forward_input, b.feed_forward_inverse, input));
    keep_gradient(stream, "residual_gradient", layer);
    backward_attention(pass, block, stream);
  }
  Matrix& tokens = gradients_[k_tokens];
  Matrix& positions = gradients_[k_positions];
  std::fill(tokens.values.begin(), tokens.values.end(), 0.0F);
  std::fill(positions.values.begin(), positions.values.end(), 0.0F);
  for (std::size_t i = 0; i < pass.tokens.size(); ++i) {
    for (std::size_t j = 0; j < shape_.width; ++j) {
      tokens.row(pass.tokens[i])[j] += stream.row(i)[j];
      positions.row(i % shape_.sequence)[j] += stream.row(i)[j];
    }
  }
  keep_gradient(tokens, "embedding_gradient", -1);
  keep_gradient(positions, "position_gradient", -1);
}

void Emulator::backward_head(Pass& pass, std::size_t block, std::size_t sequence, std::size_t head_index,
                             HeadGradients& to) {
  const Block& b = pass.blocks[block];
  const std::size_t head = shape_.width / shape_.heads;
  const float scale = 1 / std::sqrt(static_cast<float>(head));
  const auto part = [&](const Matrix& m) {
    return copied({&m, sequence * shape_.sequence, shape_.sequence, head_index * head, head});
  };
  const std::size_t index = sequence * shape_.heads + head_index;
  const Matrix& p = b.probabilities[index];
  const Matrix scores = copied({&to.scores, index * shape_.sequence, shape_.sequence, 0, shape_.sequence});
  Matrix scaled_scores = scores;
  for (float& value : scaled_scores.values) value *= scale;
  keep(scaled_scores);
  const Matrix context = part(to.context);
  const std::size_t row = sequence * shape_.sequence;
  add_to(to.query, row, head_index * head, multiplied(scaled_scores, part(b.key)));
  add_to(to.key, row, head_index * head, multiplied(transposed(scaled_scores), part(b.query)));
  add_to(to.value, row, head_index * head, multiplied(transposed(p), context));
}

void Emulator::backward_attention(Pass& pass, std::size_t block, Matrix& stream) {
  const Block& b = pass.blocks[block];
  const int layer = static_cast<int>(block);
  weight_gradient(tensor_of(block, k_output), b.context, stream, "output_weight_gradient", layer);
  Matrix context = multiplied(stream, transposed(rounded_[tensor_of(block, k_output)]));
  keep_gradient(context, "output_input_gradient", layer);
  const std::size_t head = shape_.width / shape_.heads;
  const std::size_t rows = shape_.sequences * shape_.heads * shape_.sequence;
  const Matrix empty(stream.rows, stream.columns);
  HeadGradients to{context, empty, empty, empty, Matrix(rows, shape_.sequence), {}};
  for (std::size_t s = 0; s < shape_.sequences; ++s) {
    for (std::size_t h = 0; h < shape_.heads; ++h) {
      const Slice gradient{&context, s * shape_.sequence, shape_.sequence, h * head, head};
      const Slice value{&b.value, s * shape_.sequence, shape_.sequence, h * head, head};
      Matrix part = multiplied(copied(gradient), transposed(copied(value)));
      // Masked positions have no gradient.
      for (std::size_t i = 0; i < part.rows; ++i) std::fill(part.row(i) + i + 1, part.row(i) + part.columns, 0.0F);
      add_to(to.probabilities, (s * shape_.heads + h) * shape_.sequence, 0, part);
    }
  }
  keep_gradient(to.probabilities, "scores_gradient", layer);
  to.scores = to.probabilities;
  for (std::size_t i = 0; i < rows; ++i) {
    const float* p = b.probabilities[i / shape_.sequence].row(i % shape_.sequence);
    float* d = to.scores.row(i);
    float mean = 0;
    for (std::size_t j = 0; j < shape_.sequence; ++j) mean += p[j] * d[j];
    for (std::size_t j = 0; j < shape_.sequence; ++j) d[j] = p[j] * (d[j] - mean);
  }
  keep_gradient(to.scores, "softmax_gradient", layer);
  for (std::size_t s = 0; s < shape_.sequences; ++s) {
    for (std::size_t h = 0; h < shape_.heads; ++h) backward_head(pass, block, s, h, to);
  }
  keep_gradient(to.query, "query_gradient", layer);
  keep_gradient(to.key, "key_gradient", layer);
  keep_gradient(to.value, "value_gradient", layer);
  const Matrix* const gradients[] = {&to.query, &to.key, &to.value};
  const char* const weight_names[] = {"query_weight_gradient", "key_weight_gradient", "value_weight_gradient"};
  const char* const input_names[] = {"query_input_gradient", "key_input_gradient", "value_input_gradient"};
  Matrix input(stream.rows, stream.columns);
  for (std::size_t part = 0; part < 3; ++part) {
    weight_gradient(tensor_of(block, part), b.attention_input, *gradients[part], weight_names[part], layer);
    Matrix one = multiplied(*gradients[part], transposed(rounded_[tensor_of(block, part)]));
    keep_gradient(one, input_names[part], layer);
    add(input, one);
  }
  keep(input);
  add(stream, through_norm(b.attention_input, b.attention_inverse, input));
  keep_gradient(stream, "residual_gradient", layer);
}

void Emulator::apply(float scale) {
  ++updates_;
  const auto t = static_cast<float>(updates_);
  const float first_correction = 1 - std::pow(k_beta_first, t);
  const float second_correction = 1 - std::pow(k_beta_second, t);
  for (std::size_t tensor = 0; tensor < weights_.size(); ++tensor) {
    for (std::size_t i = 0; i < weights_[tensor].values.size(); ++i) {
      const float gradient = gradients_[tensor].values[i] / scale;
      float& first = first_moments_[tensor].values[i];
      float& second = second_moments_[tensor].values[i];
      first = k_beta_first * first + (1 - k_beta_first) * gradient;
      second = k_beta_second * second + (1 - k_beta_second) * gradient * gradient;
      weights_[tensor].values[i] -=
          k_rate * (first / first_correction) / (std::sqrt(second / second_correction) + k_epsilon);
    }
  }
}

EmulatorStep Emulator::step(LossScaleController& controller) {
  EmulatorStep result;
  result.scale = controller.scale();
  edge_ = controller.edge();
  counts_.clear();
  Pass pass;
  result.loss = forward(pass);
  backward(pass, result.scale);
  double values = 0;
  for (const TensorCounts& counts : counts_) {
    values += counts.values;
    result.counts.at_or_above += counts.at_edge;
    result.counts.non_finite = result.counts.non_finite || counts.non_finite > 0;
  }
  result.counts.below = values - result.counts.at_or_above;
  result.tensors = counts_;
  result.applied = controller.finish_update(result.counts);
  if (result.applied) apply(result.scale);
  return result;
}

double Emulator::loss_only() {
  const Random before = data_;
  Pass pass;
  const double loss = forward(pass);
  data_ = before;
  return loss;
}

double Emulator::gradient_of(std::size_t tensor, std::size_t index) {
  const Random before = data_;
  Pass pass;
  forward(pass);
  backward(pass, 1);
  data_ = before;
  return static_cast<double>(gradients_[tensor].values[index]);
}

}  // namespace podsim::loss_scaling
