#include "models/loss_scaling/gradient_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace podsim::loss_scaling {
namespace {

constexpr double k_none = -std::numeric_limits<double>::infinity();

// log2(2^a + 2^b) of squares: the root of the sum of two mean squares.
double joined(double a, double b) {
  if (a == k_none) return b;
  if (b == k_none) return a;
  return 0.5 * std::log2(std::exp2(2 * a) + std::exp2(2 * b));
}

double size_of(const Operator& op) {
  if (op.kind != OperatorKind::matmul) return static_cast<double>(op.elements);
  return static_cast<double>(op.matmul.groups) * static_cast<double>(op.matmul.rows) *
         static_cast<double>(op.matmul.columns);
}

bool ends_with(const std::string& name, std::string_view end) {
  return name.ends_with(end);
}

bool projects_to_vocabulary(const ModelGraph& graph) {
  return std::any_of(graph.blocks.begin(), graph.blocks.end(), [](const Block& block) {
    return std::any_of(block.forward.begin(), block.forward.end(),
                       [](const Operator& op) { return op.name == "vocabulary_projection"; });
  });
}

// Walks the blocks from the loss to the embedding and keeps the gradient of the residual stream.
class Walk {
 public:
  Walk(const ModelGraph& graph, const LossShape& loss, const GradientSettings& settings,
       const GradientConstants& constants)
      : graph_(graph), loss_(loss), settings_(settings), constants_(constants) {
    tokens_ = static_cast<double>(graph.tokens);
    sequence_ = static_cast<double>(graph.sequence_length);
    width_ = static_cast<double>(graph.hidden);
    // Products keep the size of what they multiply, at most: wide models are initialised so, trained weights grow so
    // far.
    const double largest = -0.5 * std::log2(width_);
    const double initial = std::min(std::log2(constants.weight_rms), largest);
    weight_ = settings.pretrained ? largest : initial;
    head_weight_ = settings.pretrained && projects_to_vocabulary(graph) ? largest : initial;
    bearing_ = loss.bearing;
  }

  GradientModel model() {
    add_loss();
    for (auto block = graph_.blocks.rbegin(); block != graph_.blocks.rend(); ++block) visit(*block);
    if (settings_.accumulation > 1) add_accumulators();
    model_.micro_batches = settings_.accumulation * settings_.replicas;
    model_.replicas = settings_.replicas;
    GradientProcess& process = model_.process;
    process.initial_loss = std::log(loss_.classes);
    process.final_loss = constants_.final_loss_share * process.initial_loss;
    process.loss_time = constants_.loss_time;
    process.loss_exponent = constants_.loss_exponent;
    process.growth_time = constants_.growth_time;
    process.noise = constants_.noise;
    process.noise_correlation = constants_.noise_correlation;
    process.spike_probability = constants_.spike_probability;
    process.spike_height = constants_.spike_height;
    process.spike_length = constants_.spike_length;
    process.growth_limit = std::max(0.0, -0.5 * std::log2(width_) - head_weight_);
    return std::move(model_);
  }

 private:
  Magnitudes magnitudes(double location, double spread) const {
    Magnitudes result;
    result.location = location;
    result.spread = spread;
    result.largest_deviation = constants_.largest_deviation;
    return settings_.shape == MagnitudeShape::lognormal ? as_lognormal(result) : result;
  }
  double hidden_spread() const { return settings_.spread.value_or(constants_.hidden_spread); }

  GradientTensor& add(const std::string& name, int layer, double values, Drift drift) {
    GradientTensor tensor;
    tensor.name = name;
    tensor.layer = layer;
    tensor.values = values;
    tensor.drift = drift;
    model_.tensors.push_back(std::move(tensor));
    return model_.tensors.back();
  }

  // Values per token: those that the loss looks at lie at `near`, the others at `far`, or are zero.
  void add_activation(const std::string& name, int layer, double values, double near, double far, bool product,
                      bool bounds, double more_spread = 0) {
    const double spread = std::hypot(hidden_spread(), more_spread);
    GradientTensor& tensor = add(name, layer, values, Drift::hidden);
    tensor.product = product;
    tensor.bounds_window = bounds;
    const double share = near > far ? bearing_ : 0;
    if (share > 0) tensor.components.push_back({share, magnitudes(near, spread)});
    if (share < 1 && far != k_none) tensor.components.push_back({1 - share, magnitudes(far, spread)});
    if (far == k_none) {
      tensor.zero_share = 1 - share;
      if (share > 0) tensor.components.front().share = 1;
    }
  }

  // Outer products of activations (log2 rms `input`) and gradients, summed over tokens.
  void add_weight(const std::string& name, int layer, double values, double input, double near, double far,
                  bool bounds) {
    const double summed = joined(near + tokens_sum(tokens_ * bearing_), far + tokens_sum(tokens_ * (1 - bearing_)));
    GradientTensor& tensor = add(name, layer, values, Drift::hidden);
    tensor.product = true;
    tensor.bounds_window = bounds;
    tensor.components.push_back({1, magnitudes(input + summed, hidden_spread())});
  }

  // log2 of the sum of n like terms: sqrt(n) of random sign, n of one sign, a blend between.
  double tokens_sum(double n) const {
    return n > 0 ? 0.5 * std::log2(n * (1 + settings_.coherence * std::max(0.0, n - 1))) : k_none;
  }

  void add_loss() {
    const double v = loss_.classes;
    const double n = loss_.targets;
    GradientTensor& tensor = add("loss_gradient", -1, n * v, Drift::loss);
    tensor.bound = -std::log2(n);
    // Probabilities of classes that are not the target: log-normal around logits of some deviation, their mean 1/V.
    const double deviation = constants_.logit_deviation;
    const double below = deviation * deviation / 2 / std::numbers::ln2;
    Magnitudes others{MagnitudeShape::lognormal, other_class_gradient(loss_) - below, deviation / std::numbers::ln2};
    Magnitudes target{MagnitudeShape::lognormal, target_gradient(loss_), 0};
    tensor.components = {{1 - 1 / v, others}, {1 / v, target}};
    // rms(W) sqrt(sum_j (p_j - y_j)^2) / n, with sum = (1 - 1/V)^2 + (V - 1)/V^2 = 1 - 1/V.
    near_ = head_weight_ + 0.5 * std::log2(1 - 1 / v) - std::log2(n);
    far_ = loss_.elsewhere > 0 ? near_ + std::log2(loss_.elsewhere) : k_none;
  }

  // Rows of the targets that occur, the row of the most frequent one, and all others: p h summed over the targets.
  void add_output_weight(const std::string& name, double values) {
    const double v = loss_.classes;
    const double n = loss_.targets;
    const double hit = 1 - std::exp(-n / v);
    const double often = std::max(1.0, constants_.most_frequent * n);
    const double spread = settings_.spread.value_or(constants_.output_spread);
    GradientTensor& tensor = add(name, -1, values, Drift::loss);
    tensor.product = true;
    tensor.bounds_window = false;  // rows of classes that did not occur hold next to nothing
    tensor.components = {{1 - hit, magnitudes(other_class_gradient(loss_) + tokens_sum(n), spread)},
                         {hit * (1 - 1 / v), magnitudes(-std::log2(n), spread)},
                         {hit / v, magnitudes(-std::log2(n) + tokens_sum(often), spread)}};
  }

  void visit(const Block& block) {
    if (block.kind == BlockKind::attention) attention_ = Attention{};
    // The gain stands before a layer's blocks: it is what one layer does to the residual stream.
    if (block.kind == BlockKind::feed_forward) {
      near_ += std::log2(settings_.residual_gain);
      far_ += std::log2(settings_.residual_gain);
    }
    inner_near_ = near_;
    inner_far_ = far_;
    for (const Operator& op : block.backward) visit(op, block);
    if (block.kind == BlockKind::attention) {
      near_ = joined(near_, attention_.input_near);
      far_ = joined(far_, attention_.input_far);
    }
    if (block.kind == BlockKind::embedding) add_embedding(block);
    if (block.kind == BlockKind::head && !block.holds_vocabulary && block.name == "classifier") {
      add_output_weight("classifier_weight_gradient", width_ * loss_.classes);
    }
  }

  void add_embedding(const Block& block) {
    for (const ParameterTensor& parameter : block.parameters) {
      if (!parameter.name.starts_with("word") && !parameter.name.starts_with("token")) continue;
      const auto values = static_cast<double>(parameter.elements);
      const double rows = values / width_;
      const double hit = 1 - std::exp(-tokens_ / rows);
      GradientTensor& tensor = add("embedding_gradient", -1, values, Drift::hidden);
      tensor.zero_share = 1 - hit;
      const double mean = joined(near_ + 0.5 * std::log2(bearing_), far_ + 0.5 * std::log2(1 - bearing_ + 1e-12));
      tensor.components = {{1, magnitudes(mean, hidden_spread())}};
    }
  }

  void visit(const Operator& op, const Block& block) {
    const bool gradient = ends_with(op.name, "_gradient");
    if (!gradient || size_of(op) == 0) return;
    if (block.kind == BlockKind::head) return visit_head(op, block);
    if (block.kind == BlockKind::attention) return visit_attention(op, block.layer);
    if (block.kind == BlockKind::feed_forward) return visit_feed_forward(op, block.layer);
  }

  void visit_head(const Operator& op, const Block& block) {
    if (op.name == "vocabulary_weight_gradient") return add_output_weight(op.name, size_of(op));
    if (op.name == "vocabulary_input_gradient" || block.name == "token transform") {
      // Rows of targets only: nothing else is in these tensors.
      GradientTensor& tensor = add(op.name, -1, size_of(op), Drift::hidden);
      const bool weight = ends_with(op.name, "_weight_gradient");
      const bool input = op.name == "transform_input_gradient";
      const double product = input || weight ? std::log2(constants_.activation_slope) : 0;
      const double factor = weight ? tokens_sum(loss_.targets) : input ? weight_ + 0.5 * std::log2(width_) : 0;
      tensor.product = true;
      tensor.bounds_window = true;
      tensor.components = {{1, magnitudes(near_ + product + factor, hidden_spread())}};
      if (input) near_ += product + factor;
      if (input && far_ != k_none) far_ += product + factor;
    }
  }

  void visit_feed_forward(const Operator& op, int layer) {
    const auto columns = static_cast<double>(op.matmul.columns);
    if (ends_with(op.name, "down_input_gradient")) {
      step(weight_ + 0.5 * std::log2(width_));
      inner_width_ = columns;
      add_activation(op.name, layer, size_of(op), inner_near_, inner_far_, true, true);
    } else if (ends_with(op.name, "activation_gradient")) {
      // Slopes differ from value to value: many are near zero, which the root mean square does not show. They bound no
      // window: a rectifier makes half of these values zero by itself.
      const double typical = constants_.slope_mean;
      add_activation(op.name, layer, size_of(op), inner_near_ + typical, inner_far_ + typical, false, false,
                     constants_.slope_deviation);
      step(std::log2(constants_.activation_slope));
    } else if (ends_with(op.name, "down_weight_gradient")) {
      add_weight(op.name, layer, size_of(op), std::log2(constants_.activation_output), near_, far_, true);
    } else if (ends_with(op.name, "_weight_gradient")) {
      add_weight(op.name, layer, size_of(op), 0, inner_near_, inner_far_, true);
    } else if (ends_with(op.name, "_input_gradient")) {
      const double factor = weight_ + 0.5 * std::log2(inner_width_);
      add_activation(op.name, layer, size_of(op), inner_near_ + factor, inner_far_ + factor, true, true);
    } else if (!ends_with(op.name, "bias_gradient")) {
      add_activation(op.name, layer, size_of(op), near_, far_, false, true);
    }
  }

  // Attention spread evenly over the keys, as at the start: scores of 1/T.
  struct Attention {
    double context_near = k_none;
    double context_far = k_none;
    double value = k_none;
    double probability_near = k_none;
    double probability_far = k_none;
    double score_near = k_none;
    double score_far = k_none;
    double query_near = k_none;
    double query_far = k_none;
    double key = k_none;
    double input_near = k_none;
    double input_far = k_none;
  };

  void visit_attention(const Operator& op, int layer) {
    Attention& a = attention_;
    const double projected = weight_ + 0.5 * std::log2(width_);  // rms of queries, keys and values
    const double spread_over = std::log2(sequence_);
    const double size = size_of(op);
    const std::string name = op.name.starts_with("cross_") ? op.name.substr(6) : op.name;
    if (name == "output_input_gradient") {
      a.context_near = near_ + projected;
      a.context_far = far_ + projected;
      add_activation(op.name, layer, size, a.context_near, a.context_far, true, true);
    } else if (name == "output_weight_gradient") {
      add_weight(op.name, layer, size, projected - 0.5 * spread_over, near_, far_, true);
    } else if (name == "scores_gradient") {
      const double head = static_cast<double>(op.matmul.inner);
      head_ = head;
      a.probability_near = a.context_near + projected + 0.5 * std::log2(head);
      a.probability_far = a.context_far + projected + 0.5 * std::log2(head);
      add_activation(op.name, layer, size, a.probability_near, a.probability_far, true, false);
    } else if (name == "value_gradient") {
      a.value = sum_over_queries(a.context_near, a.context_far) - spread_over;
      add_activation(op.name, layer, size, k_none, a.value, true, true);
    } else if (name == "softmax_gradient") {
      a.score_near = a.probability_near - spread_over;
      a.score_far = a.probability_far - spread_over;
      add_activation(op.name, layer, size, a.score_near, a.score_far, false, false);
    } else if (name == "scale_gradient") {
      a.score_near -= 0.5 * std::log2(head_);
      a.score_far -= 0.5 * std::log2(head_);
      add_activation(op.name, layer, size, a.score_near, a.score_far, false, false);
    } else if (name == "query_gradient") {
      a.query_near = a.score_near + projected + 0.5 * spread_over;
      a.query_far = a.score_far + projected + 0.5 * spread_over;
      add_activation(op.name, layer, size, a.query_near, a.query_far, true, false);
    } else if (name == "key_gradient") {
      a.key = sum_over_queries(a.score_near, a.score_far) + projected;
      add_activation(op.name, layer, size, k_none, a.key, true, false);
    } else {
      visit_projections(op, name, layer, projected);
    }
  }

  void visit_projections(const Operator& op, const std::string& name, int layer, double projected) {
    Attention& a = attention_;
    const double size = size_of(op);
    if (ends_with(name, "_weight_gradient")) {
      const bool fused = name == "qkv_weight_gradient";
      const double parts = fused ? 3 : name == "key_value_weight_gradient" ? 2 : 1;
      if (fused || name == "query_weight_gradient") {
        add_weight(fused ? "query_part_of_" + op.name : op.name, layer, size / parts, 0, a.query_near, a.query_far,
                   false);
      }
      if (parts > 1 || name == "key_weight_gradient") {
        add_weight(parts > 1 ? "key_part_of_" + op.name : op.name, layer, size / parts, 0, a.key, a.key, false);
      }
      if (parts > 1 || name == "value_weight_gradient") {
        add_weight(parts > 1 ? "value_part_of_" + op.name : op.name, layer, size / parts, 0, a.value, a.value, true);
      }
    } else if (ends_with(name, "_input_gradient") && !name.starts_with("position")) {
      // Of values and keys for all tokens, of queries for those that the loss looks at.
      const double common = joined(a.value, a.key);
      const bool query_only = name == "query_input_gradient";
      const double from_all = query_only                       ? k_none
                              : name == "value_input_gradient" ? a.value
                              : name == "key_input_gradient"   ? a.key
                                                               : common;
      const bool with_query = query_only || name == "qkv_input_gradient";
      const double near = joined(from_all, with_query ? a.query_near : k_none) + projected;
      const double far = joined(from_all, with_query ? a.query_far : k_none) + projected;
      add_activation(op.name, layer, size, near, far, true, !query_only && name != "key_input_gradient");
      a.input_near = joined(a.input_near, near);
      a.input_far = joined(a.input_far, far);
    } else if (name == "residual_gradient" || name.find("norm") != std::string::npos) {
      add_activation(op.name, layer, size, near_, far_, false, true);
    }
  }

  // Root mean square sum over the queries of a sequence: some near, some far.
  double sum_over_queries(double near, double far) const {
    return joined(near + 0.5 * std::log2(sequence_ * bearing_),
                  bearing_ < 1 ? far + 0.5 * std::log2(sequence_ * (1 - bearing_)) : k_none);
  }

  void step(double octaves) {
    inner_near_ += octaves;
    inner_far_ += octaves;
  }

  // The running mean of a replica's micro-batches.
  void add_accumulators() {
    const double n = settings_.accumulation;
    const double shrink = 0.5 * std::log2((1 + settings_.coherence * (n - 1)) / n);
    std::vector<GradientTensor> accumulators;
    for (const GradientTensor& tensor : model_.tensors) {
      if (!ends_with(tensor.name, "_weight_gradient") && tensor.name != "embedding_gradient") continue;
      GradientTensor accumulator = tensor;
      accumulator.name = "accumulated_" + tensor.name;
      accumulator.accumulator = true;
      accumulator.product = false;
      for (GradientComponent& component : accumulator.components) component.magnitudes.location += shrink;
      accumulators.push_back(std::move(accumulator));
    }
    model_.tensors.insert(model_.tensors.end(), accumulators.begin(), accumulators.end());
  }

  const ModelGraph& graph_;
  const LossShape& loss_;
  const GradientSettings& settings_;
  const GradientConstants& constants_;
  GradientModel model_;
  double tokens_ = 0;
  double sequence_ = 0;
  double width_ = 0;
  double weight_ = 0;       // log2 rms of the body's
  double head_weight_ = 0;  // of those that the loss looks through
  double bearing_ = 1;
  double near_ = 0;        // residual stream, of tokens that the loss looks at
  double far_ = 0;         // of the others
  double inner_near_ = 0;  // inside of a block
  double inner_far_ = 0;
  double inner_width_ = 1;
  double head_ = 1;
  Attention attention_;
};

}  // namespace

namespace {

// Without regard to how many classes there are.
std::optional<LossShape> loss_of_head(const ModelGraph& graph, const ModelShape& shape,
                                      const WorkloadSettings& settings) {
  const auto dimension = [&shape](const std::string& name, double fallback) {
    const auto found = shape.dimensions.find(name);
    return found == shape.dimensions.end() ? fallback : std::max(2.0, static_cast<double>(found->second));
  };
  LossShape loss;
  const auto samples = static_cast<double>(graph.samples);
  const auto tokens = static_cast<double>(graph.tokens);
  for (const Block& block : graph.blocks) {
    for (const Operator& op : block.forward) {
      if (op.name != "vocabulary_projection") continue;
      loss.targets = static_cast<double>(op.matmul.rows);
      loss.classes = static_cast<double>(op.matmul.columns);
      loss.bearing = std::min(1.0, loss.targets / tokens);
    }
  }
  if (loss.targets > 0) return loss;
  if (settings.head == "question-answering") {
    // A start and an end among the tokens: every token is a class, the answer's two are targets.
    loss.targets = 2 * samples;
    loss.classes = static_cast<double>(graph.sequence_length);
    loss.bearing = 1 / loss.classes;
    loss.elsewhere = 1 / loss.classes;
  } else if (settings.head == "token-classification" || settings.head == "ctc") {
    loss.targets = tokens;
    loss.classes = settings.head == "ctc" ? dimension("vocab_size", 32) : dimension("num_labels", 2);
  } else if (settings.head != "none" && settings.head != "speech-pretraining") {
    loss.targets = samples;
    loss.classes = dimension("num_labels", 2);
    loss.bearing = samples / tokens;
  } else {
    return std::nullopt;
  }
  return loss;
}

}  // namespace

std::optional<LossShape> loss_shape(const ModelGraph& graph, const ModelShape& shape, const WorkloadSettings& settings,
                                    std::string& problem) {
  std::optional<LossShape> loss = loss_of_head(graph, shape, settings);
  if (!loss) problem = "a \"" + settings.head + "\" head has no loss that is modelled";
  if (loss && loss->classes < 2) {
    problem = "a choice among one class has no gradients";
    loss.reset();
  }
  return loss;
}

double other_class_gradient(const LossShape& loss) {
  return -std::log2(loss.classes) - std::log2(loss.targets);
}

double target_gradient(const LossShape& loss) {
  return std::log2(1 - 1 / loss.classes) - std::log2(loss.targets);
}

GradientModel gradient_model(const ModelGraph& graph, const LossShape& loss, const GradientSettings& settings,
                             const GradientConstants& constants) {
  return Walk(graph, loss, settings, constants).model();
}

}  // namespace podsim::loss_scaling
