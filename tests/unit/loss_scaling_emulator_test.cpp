// Does the model of gradients agree with a network that is really trained in half precision?
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "models/catalog.hpp"
#include "models/loss_scaling/emulator.hpp"
#include "models/loss_scaling/gradient_statistics.hpp"
#include "models/loss_scaling/trajectory.hpp"
#include "models/workloads/transformer.hpp"

using namespace podsim;
using namespace podsim::loss_scaling;

namespace {

EmulatorShape small_shape() {
  EmulatorShape shape;
  shape.output_rms = shape.weight_rms;
  return shape;
}

EmulatorShape wide_shape() {
  EmulatorShape shape;
  shape.vocabulary = 192;
  shape.width = 48;
  shape.feed_forward = 192;
  shape.heads = 3;
  shape.weight_rms = 0.0866F;  // 0.6 / sqrt(width), as in the small one
  shape.output_rms = shape.weight_rms;
  return shape;
}

EmulatorNumerics numerics(NumberFormat format, OverflowRule rule = OverflowRule::saturate,
                          NumberFormat partials = NumberFormat::float32) {
  return {format, rule, {partials, 16, rule}};
}

std::unique_ptr<LossScaleController> controller(const std::string& mode, double initial, const std::string& keys = "") {
  static const Catalog catalog = make_catalog();
  Diagnostics diagnostics;
  auto document = parse_toml("[loss_scaling]\n" + keys, "x.toml", diagnostics);
  document->set("loss_scaling.initial", Value::floating(initial, {"x.toml", 1, 1}));
  std::vector<ResolvedKey> resolved;
  SettingsReader settings(*document, resolved, diagnostics);
  return catalog.loss_scaling_scheme(mode)->make(settings, 1, *document, diagnostics);
}

// The model's view of the same network: the operators of a transformer of that shape.
GradientModel model_of(const EmulatorShape& shape) {
  TransformerShape transformer;
  const auto count = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  transformer.layers = count(shape.blocks);
  transformer.hidden = count(shape.width);
  transformer.heads = count(shape.heads);
  transformer.feed_forward = count(shape.feed_forward);
  transformer.vocabulary = count(shape.vocabulary);
  transformer.dropout = false;
  TransformerBatch batch;
  batch.samples = count(shape.sequences);
  batch.sequence = count(shape.sequence);
  batch.tokens = count(shape.tokens());
  batch.scores = batch.samples * transformer.heads * batch.sequence * batch.sequence;
  batch.qkv_products = 3;
  TransformerHead head;
  head.vocabulary_rows = batch.tokens;
  head.parameters = {{"decoder.weight", count(shape.vocabulary * shape.width), true}};
  GradientConstants constants = read_gradient_constants(ConfigFiles::embedded());
  constants.weight_rms = static_cast<double>(shape.weight_rms);
  constants.hidden_spread = 0.3;  // at the start of training
  constants.logit_deviation = constants.weight_rms * std::sqrt(static_cast<double>(shape.width));
  LossShape loss;
  loss.targets = static_cast<double>(shape.tokens());
  loss.classes = static_cast<double>(shape.vocabulary);
  return gradient_model(build_transformer(transformer, batch, head), loss, {}, constants);
}

const GradientTensor* find(const GradientModel& model, const TensorCounts& counts) {
  for (const GradientTensor& tensor : model.tensors) {
    if (tensor.name == counts.name && tensor.layer == counts.layer) return &tensor;
  }
  return nullptr;
}

double mean_log2(const GradientTensor& tensor) {
  double mean = 0;
  for (const GradientComponent& component : tensor.components) {
    const bool mixture = component.magnitudes.shape == MagnitudeShape::gaussian_mixture;
    mean += component.share * (component.magnitudes.location + (mixture ? k_gaussian_mean : 0));
  }
  return mean;
}

// The mean loss of the last steps; infinite when it is not a number.
double trained(const EmulatorShape& shape, const EmulatorNumerics& with, std::uint64_t seed, int log2_scale) {
  constexpr int k_steps = 60;
  constexpr int k_last = 5;
  Emulator emulator(shape, with, seed);
  const auto constant = controller("constant", std::exp2(log2_scale));
  double sum = 0;
  for (int step = 0; step < k_steps; ++step) {
    const double loss = emulator.step(*constant).loss;
    if (!std::isfinite(loss)) return std::numeric_limits<double>::infinity();
    if (step >= k_steps - k_last) sum += loss;
  }
  return sum / k_last;
}

}  // namespace

TEST_CASE("emulator: gradients are the slopes of the loss") {
  EmulatorNumerics single = numerics(NumberFormat::float32);
  Emulator emulator(small_shape(), single, 1);
  for (std::size_t tensor = 0; tensor < emulator.weight_tensors(); ++tensor) {
    CAPTURE(tensor);
    const std::size_t index = tensor + 5;
    const double gradient = emulator.gradient_of(tensor, index);
    float& weight = emulator.weight(tensor, index);
    const float before = weight;
    constexpr float k_step = 0.01F;
    weight = before + k_step;
    const double above = emulator.loss_only();
    weight = before - k_step;
    const double below = emulator.loss_only();
    weight = before;
    // Single precision resolves the loss to some 1e-7; the step's third-order error is a percent of the slope.
    const double slope = (above - below) / (2 * static_cast<double>(k_step));
    CHECK(std::abs(gradient - slope) < 0.02 * std::abs(slope) + 3e-5);
  }
}

TEST_CASE("emulator: magnitudes from the edge on and NaN count as large, zeros and flushed values apart") {
  const auto counted = [](std::vector<float> values, double edge) {
    Matrix matrix(1, values.size());
    matrix.values = std::move(values);
    TensorCounts counts;
    round_values(matrix, NumberFormat::float16, OverflowRule::infinity, edge, &counts);
    return counts;
  };
  constexpr float k_infinity = std::numeric_limits<float>::infinity();
  const TensorCounts edge = counted({0.0F, -0.0F, 1, 8184, 8188, -8188, 8192, 65504, k_infinity, -k_infinity,
                                     std::numeric_limits<float>::quiet_NaN(), 0x1p-24F},
                                    8188);
  CHECK(edge.values == 12);
  CHECK(edge.at_edge == 7);
  CHECK(edge.zeros == 2);
  CHECK(edge.non_finite == 3);
  CHECK(counted({0.001F, -0.00012F, -2, 140000}, 32752).at_edge == 1);
  const TensorCounts small = counted({0x1p-25F, 0x1.8p-25F, -0x1p-30F, 0}, 8188);
  CHECK(small.flushed == 2);
  CHECK(small.zeros == 1);
}

TEST_CASE("emulator: equal seeds repeat every value, another seed does not") {
  const auto run = [](std::uint64_t seed) {
    Emulator emulator(small_shape(), numerics(NumberFormat::float16), seed);
    const auto als = controller("popart_als", 1);
    std::vector<double> seen;
    for (int step = 0; step < 5; ++step) {
      const EmulatorStep result = emulator.step(*als);
      seen.push_back(result.loss);
      seen.push_back(result.counts.below);
      for (const TensorCounts& counts : result.tensors) seen.push_back(counts.sum_log2);
    }
    return seen;
  };
  CHECK(run(1) == run(1));
  CHECK(run(1) != run(2));
}

TEST_CASE("emulator: gradients lie where the model says from the shape alone") {
  int tensors = 0;
  for (const EmulatorShape& shape : {small_shape(), wide_shape()}) {
    const GradientModel model = model_of(shape);
    Emulator emulator(shape, numerics(NumberFormat::float16), 1);
    constexpr double k_scale = 10;
    const auto constant = controller("constant", std::exp2(k_scale));
    for (const TensorCounts& counts : emulator.step(*constant).tensors) {
      const GradientTensor* tensor = find(model, counts);
      if (tensor == nullptr) continue;
      CAPTURE(counts.name);
      CAPTURE(counts.layer);
      const double measured = counts.sum_log2 / (counts.values - counts.zeros) - k_scale;
      // An octave; one and a half where causal attention favours the first tokens, which the model spreads evenly.
      const bool causal = counts.name == "output_weight_gradient" || counts.name == "value_weight_gradient";
      CHECK(std::abs(mean_log2(*tensor) - measured) < (causal ? 1.5 : 1.0));
      ++tensors;
    }
  }
  CHECK(tensors >= 60);
}

TEST_CASE("emulator: the model predicts how many values flush at each scale") {
  const EmulatorShape shape = small_shape();
  const GradientModel model = model_of(shape);
  const FormatLimits limits = limits_of(NumberFormat::float16);
  std::vector<std::string> seen;
  int scales = 0;
  int pairs = 0;
  for (const int scale : {-9, -8, -7, -6, -5, -4, -3, -2}) {
    Emulator emulator(shape, numerics(NumberFormat::float16), 1);
    const auto constant = controller("constant", std::exp2(scale));
    bool used = false;
    for (const TensorCounts& counts : emulator.step(*constant).tensors) {
      const GradientTensor* tensor = find(model, counts);
      if (tensor == nullptr || counts.flushed < 20) continue;
      const double measured = counts.flushed / (counts.values - counts.zeros);
      const double predicted = share_at_most(*tensor, limits.flush, scale);
      CAPTURE(counts.name);
      CAPTURE(counts.layer);
      CAPTURE(scale);
      CAPTURE(measured);
      CAPTURE(predicted);
      CHECK(predicted / measured < 3);
      CHECK(measured / predicted < 3);
      seen.push_back(counts.name + std::to_string(counts.layer));
      used = true;
      ++pairs;
    }
    scales += used ? 1 : 0;
  }
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  CHECK(seen.size() >= 10);
  CHECK(scales >= 6);
  MESSAGE(pairs << " pairs of " << seen.size() << " tensors and " << scales << " scales");
}

namespace {

// Inside of the window training is that of single precision. It fails where the window is left by the room it keeps:
// above, 3 octaves for spikes and partial sums and one for the limit of one overflow in a thousand updates; below, a
// hundredth of a tensor's values may flush, and training only fails when most do.
void check_window(const EmulatorShape& shape) {
  WindowSettings limits;
  limits.updates = 60;
  limits.headroom = 3;
  const Window window = recommended_window(model_of(shape), limits);
  REQUIRE(window.feasible());
  CHECK(window.width() <= 20);
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const double single = trained(shape, numerics(NumberFormat::float32), seed, 0);
    const auto half = [&](int scale) {
      return trained(shape, numerics(NumberFormat::float16, OverflowRule::infinity), seed, scale);
    };
    CHECK(half(window.low) == doctest::Approx(single).epsilon(0.01));
    CHECK(half(window.high) == doctest::Approx(single).epsilon(0.01));
    // Failure: less than three quarters of the descent, or no number.
    const double start = std::log(static_cast<double>(shape.vocabulary));
    const double failed = single + 0.25 * (start - single);
    CHECK(half(window.low - 11) > failed);
    CHECK(half(window.high + 4) > failed);
  }
}

}  // namespace

TEST_CASE("emulator: a small model trains inside of the window and fails outside") {
  check_window(small_shape());
}

TEST_CASE("emulator: a wider model trains inside of the window and fails outside") {
  check_window(wide_shape());
}

TEST_CASE("emulator: half-precision partial sums train inside of the window") {
  const EmulatorShape shape = small_shape();
  WindowSettings limits;
  limits.headroom = 3;
  const Window window = recommended_window(model_of(shape), limits);
  const double single = trained(shape, numerics(NumberFormat::float32), 1, 0);
  const EmulatorNumerics half = numerics(NumberFormat::float16, OverflowRule::saturate, NumberFormat::float16);
  CHECK(trained(shape, half, 1, window.high) == doctest::Approx(single).epsilon(0.02));
}

TEST_CASE("emulator: automatic loss scaling ends within two octaves of the model's balance") {
  const EmulatorShape shape = small_shape();
  Emulator emulator(shape, numerics(NumberFormat::float16), 1);
  const auto als = controller("popart_als", 1);
  std::vector<float> scales;
  for (int step = 0; step < 40; ++step) scales.push_back(emulator.step(*als).scale);
  CHECK(scales[1] == 2);
  const double last = std::log2(static_cast<double>(scales.back()));
  const double balance = balanced_scale(model_of(shape), als->edge(), 1e-7, false);
  CHECK(std::abs(last - balance) <= 2);
}

TEST_CASE("emulator: a scaler of infinities skips what overflows and stays below the edge") {
  Emulator emulator(small_shape(), numerics(NumberFormat::float16, OverflowRule::infinity), 1);
  const auto scaler = controller("grad_scaler", std::exp2(30), "growth_interval = 5\n");
  int skipped = 0;
  for (int step = 0; step < 30; ++step) {
    const EmulatorStep result = emulator.step(*scaler);
    CHECK(result.applied == !result.counts.non_finite);
    CHECK(std::isfinite(result.loss));
    skipped += result.applied ? 0 : 1;
  }
  // From 2^30 down to where nothing overflows: seven halvings at least, and one for each growth beyond the edge.
  CHECK(skipped >= 7);
  CHECK(skipped <= 18);
}
