#include "models/loss_scaling/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

namespace podsim::loss_scaling {
namespace {

constexpr double k_smallest_scale = 0x1p-100;
constexpr double k_largest_scale = std::numeric_limits<float>::max();
constexpr double k_most_updates = 1e6;

KeySpec key(std::string path, KeyType type, std::string default_text, std::string summary, std::string source) {
  KeySpec spec;
  spec.path = std::move(path);
  spec.type = type;
  spec.default_text = std::move(default_text);
  spec.summary = std::move(summary);
  spec.source = std::move(source);
  return spec;
}

KeySpec ranged(KeySpec spec, double minimum, double maximum) {
  spec.minimum = minimum;
  spec.maximum = maximum;
  return spec;
}

KeySpec number(std::string path, double minimum, double maximum, std::string default_text, std::string summary,
               std::string source = "podsim") {
  return ranged(key(std::move(path), KeyType::number, std::move(default_text), std::move(summary), std::move(source)),
                minimum, maximum);
}

KeySpec scale(std::string path, std::string default_text, std::string summary) {
  KeySpec spec =
      number(std::move(path), k_smallest_scale, k_largest_scale, std::move(default_text), std::move(summary));
  spec.unit = "power of two";
  return spec;
}

KeySpec count(std::string path, double minimum, double maximum, std::string default_text, std::string summary,
              std::string source = "podsim") {
  return ranged(key(std::move(path), KeyType::integer, std::move(default_text), std::move(summary), std::move(source)),
                minimum, maximum);
}

KeySpec choice(std::string path, std::vector<std::string> choices, std::string default_text, std::string summary,
               std::string source = "podsim") {
  KeySpec spec = key(std::move(path), KeyType::choice, std::move(default_text), std::move(summary), std::move(source));
  spec.choices = std::move(choices);
  return spec;
}

void add_scheme_keys(std::vector<KeySpec>& keys) {
  const std::string popart = "graphcore/popart, willow/src/transforms/automaticlossscaling.cpp";
  keys.push_back(scale("initial",
                       "1 (popart_als, keras_als), 16 (schedule), 65536 (grad_scaler, apex, deepspeed), 2^32 "
                       "(megatron), the middle of the recommended window (constant)",
                       "the loss scale of the first update"));
  KeySpec sdk = choice("sdk_version", {"2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "3.0", "3.1", "3.2", "3.3", "3.4"},
                       "3.3", "popart_als: the release whose edge, clamp and period apply", popart);
  keys.push_back(std::move(sdk));
  keys.push_back(number("bin_edge_location", 0, 1, "0.125 since SDK 2.5, 0.0625 in 2.4, else 1",
                        "popart_als: where large values begin, as a share of the largest half", popart));
  keys.push_back(number("threshold_upper_count_proportion", 0, 1, "1e-7",
                        "popart_als: the share of large values above which the scale is halved", popart));
  keys.push_back(count("update_period", 1, k_most_updates, "1",
                       "popart_als: updates from one look at the counts to the next; the others are not seen", popart));
  keys.push_back(choice("tracking", {"all_non_view_changing", "conv_and_matmul"}, "all_non_view_changing",
                        "popart_als: the gradients that are counted", popart));
  keys.push_back(number("growth_factor", 1, 65536, "2", "factor when the scale grows"));
  keys.push_back(number("backoff_factor", 0x1p-16, 1, "0.5", "factor when the scale shrinks"));
  keys.push_back(count("growth_interval", 1, 1e9, "2000 (grad_scaler, apex), 1000 (megatron, deepspeed), 8 (keras_als)",
                       "clean updates until the scale grows; keras_als: updates until it changes"));
  keys.push_back(count("hysteresis", 1, 1e6, "2", "megatron, deepspeed: overflows until the scale shrinks"));
  keys.push_back(number("ratio_threshold", 0, 1, "1e-5", "keras_als: share of saturated values that halves the scale"));
  keys.push_back(scale("minimum", "1 (megatron, deepspeed, keras_als), none (apex)", "the smallest scale"));
  keys.push_back(scale("maximum", "2^24 (apex), 32768, not reached (keras_als)", "the largest scale"));
  keys.push_back(scale("final", "128", "schedule: the scale of the last epochs"));
  keys.push_back(count("epochs", 1, 1e6, "100", "schedule: epochs over which the scale doubles"));
  keys.push_back(count("updates_per_epoch", 1, 1e9, "1", "schedule: weight updates in an epoch"));
}

void add_gradient_keys(std::vector<KeySpec>& keys) {
  keys.push_back(choice("gradients.distribution", {"gaussian_mixture", "lognormal"}, "gaussian_mixture",
                        "the shape of gradient magnitudes in a tensor"));
  keys.push_back(number("gradients.spread", 0, 8, "of each class, see the constants loss_scaling.spread",
                        "octaves by which the scale of values varies inside a tensor (standard deviation)"));
  keys.push_back(number("gradients.coherence", 0, 1, "0",
                        "how far the tokens' parts of a weight gradient point the same way: 0 not at all, 1 all"));
  keys.push_back(number("gradients.residual_gain", 0.1, 10, "1",
                        "factor on the gradient of the residual stream from a layer to the one before"));
  keys.push_back(key("gradients.pretrained", KeyType::boolean,
                     "true with a head for question answering, classification of sequences or tokens, or multiple "
                     "choice; else false",
                     "whether training starts from trained weights, which are larger than initial ones", "podsim"));
  keys.push_back(number("gradients.noise", 0, 8, "0.25", "octaves by which a step's gradients vary, together"));
  keys.push_back(number("gradients.noise_correlation", 0, 0.9999, "0.9", "correlation of that noise between steps"));
  keys.push_back(number("gradients.spike_probability", 0, 1, "0.001", "of a spike of all gradients, at each step"));
  keys.push_back(number("gradients.spike_height", 0, 32, "2", "octaves, mean of an exponential distribution"));
  keys.push_back(number("gradients.spike_length", 1, 1e6, "4", "steps, mean"));
  keys.push_back(key("gradients.drift", KeyType::boolean, "true",
                     "whether the gradients' size follows the falling loss and the growing output weights", "podsim"));
}

}  // namespace

std::vector<KeySpec> keys(const std::vector<std::string>& modes) {
  std::vector<KeySpec> keys;
  keys.push_back(choice("mode", modes,
                        "popart_als with automatic loss scaling, none without half precision, else constant",
                        "what controls the loss scale"));
  add_scheme_keys(keys);
  keys.push_back(choice("numerics.format", {"float16", "bfloat16", "float32"}, "what the precision says",
                        "the format of gradients"));
  keys.push_back(choice("numerics.overflow", {"saturate", "infinity", "nan"}, "saturate on IPUs, else infinity",
                        "what values become that are too large for the format"));
  keys.push_back(choice("numerics.partials", {"float16", "float32"}, "what the precision says",
                        "the format of partial sums: half ones need room above the result"));
  keys.push_back(key("numerics.stochastic_rounding", KeyType::boolean, "true on IPUs, else false",
                     "whether gradients are rounded stochastically", "podsim"));
  add_gradient_keys(keys);
  keys.push_back(key("constants", KeyType::table, "",
                     "replaces constants of the gradients by their names behind loss_scaling", "podsim"));
  keys.push_back(number("limits.flush", 1e-9, 1, "0.01",
                        "the share of a tensor's values that a recommended scale may round to zero"));
  keys.push_back(number("limits.overflow", 1e-12, 1, "0.001",
                        "the probability, per step, of any overflow at a recommended scale"));
  keys.push_back(number("limits.lost_updates", 0, 1, "0.1",
                        "the share of the last half of the updates that may be skipped or clipped before a report says "
                        "\"overflows\""));
  keys.push_back(count("updates", 1, k_most_updates, "1000, or five growth intervals where they are longer",
                       "weight updates to follow"));
  keys.push_back(choice("statistics", {"sampled", "expected"}, "sampled",
                        "counts drawn with noise and spikes, or their expectation without"));
  keys.push_back(count("seed", 0, 9e15, "1", "of everything drawn"));
  return keys;
}

void warn_unread(const Value& document, const LossScalingScheme& scheme, const Catalog& catalog,
                 Diagnostics& diagnostics) {
  const auto read_by = [](const LossScalingScheme& candidate) {
    const std::vector<std::string_view> paths = candidate.reads();
    return std::set<std::string_view>(paths.begin(), paths.end());
  };
  const std::set<std::string_view> own = read_by(scheme);
  std::set<std::string_view> all;
  for (const auto& candidate : catalog.loss_scaling_schemes) all.merge(read_by(*candidate));
  for (const std::string_view path : all) {
    const std::string full = "loss_scaling." + std::string(path);
    const Value* written = document.find(full);
    if (written == nullptr || own.contains(path)) continue;
    diagnostics.warning(written->place(), full,
                        fmt::format("has no effect: mode \"{}\" does not read it", scheme.name()));
  }
}

}  // namespace podsim::loss_scaling
