#include "models/loss_scaling/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "models/loss_scaling/keys.hpp"
#include "models/loss_scaling/outlook.hpp"

namespace podsim::loss_scaling {
namespace {

constexpr std::int64_t k_usual_updates = 1000;
constexpr std::int64_t k_most_updates = 1'000'000;
constexpr std::int64_t k_intervals = 5;

NumberFormat format_of(const std::string& name) {
  if (name == "float16") return NumberFormat::float16;
  return name == "bfloat16" ? NumberFormat::bfloat16 : NumberFormat::float32;
}

OverflowRule overflow_of(const std::string& name) {
  if (name == "saturate") return OverflowRule::saturate;
  return name == "infinity" ? OverflowRule::infinity : OverflowRule::not_a_number;
}

class Analyst {
 public:
  Analyst(const Plan& plan, const Value& document, const Catalog& catalog, const ConfigFiles& configs)
      : plan_(plan),
        document_(document),
        catalog_(catalog),
        constants_(read_gradient_constants(configs, document.find("loss_scaling.constants"))),
        settings_(document, result_.resolved, diagnostics_) {}

  Analysis analyse() {
    check_training();
    read_numerics();
    const GradientModel model = read_gradients();
    read_run();
    stop_on_errors();
    result_.window = recommended_window(model, result_.limits);
    const std::unique_ptr<LossScaleController> controller = make_controller();
    stop_on_errors();
    read_updates();
    warn_idle();
    check_machine();
    if (scheme_->counts_gradients()) {
      const bool popart = result_.mode == "popart_als";
      const double threshold =
          popart ? read_number(document_, "loss_scaling.threshold_upper_count_proportion").value_or(1e-7)
                 : read_number(document_, "loss_scaling.ratio_threshold").value_or(1e-5);
      result_.balance = balanced_scale(model, controller->edge(), threshold, result_.settings.products_only);
    }
    result_.trajectory = follow(model, *controller, result_.settings);
    result_.limit_cycle = limit_cycle(model);
    add_notes();
    result_.warnings = diagnostics_;
    return std::move(result_);
  }

 private:
  Place place_of(const std::string& path) const {
    const Value* written = document_.find(path);
    return written != nullptr ? written->place() : document_.place();
  }

  void stop_on_errors() const {
    if (diagnostics_.has_errors()) throw ConfigError(diagnostics_);
  }

  void check_training() {
    const NothingToScale nothing = nothing_to_scale(plan_);
    if (!nothing.reason.empty()) {
      diagnostics_.error(place_of(nothing.key), nothing.key, nothing.reason, nothing.expected);
      stop_on_errors();
    }
    std::string unused;
    result_.loss = *loss_shape(plan_.graph, plan_.shape, plan_.settings, unused);
  }

  // A key of the family's own, as resolved; empty when it has none.
  std::string family_key(const std::string& name) const {
    const std::string path = std::string(plan_.family->name()) + "." + name;
    for (const ResolvedKey& key : plan_.family_plan->resolved()) {
      if (key.path == path) return key.toml_value;
    }
    return {};
  }

  double family_number(const std::string& name, double fallback) const {
    const std::string text = family_key(name);
    double value = fallback;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  void read_numerics() {
    const std::string& precision = plan_.settings.precision;
    const bool ipu = plan_.family->name() == "ipu";
    const std::string family = "default of the system";
    const char* usual = precision == "bf16" ? "bfloat16" : precision == "fp32" ? "float32" : "float16";
    result_.format = settings_.text("loss_scaling.numerics.format", usual, "the precision");
    result_.overflow = settings_.text("loss_scaling.numerics.overflow", ipu ? "saturate" : "infinity", family);
    const bool half = precision == "fp16.16" || precision == "fp8";
    result_.half_partials =
        settings_.text("loss_scaling.numerics.partials", half ? "float16" : "float32", "the precision") == "float16";
    const bool stochastic =
        settings_.boolean("loss_scaling.numerics.stochastic_rounding", ipu && result_.format == "float16", family);
    result_.settings.format = format_of(result_.format);
    result_.settings.overflow = overflow_of(result_.overflow);
    result_.settings.stochastic = stochastic;
    result_.limits.format = result_.settings.format;
    result_.limits.stochastic = stochastic;
  }

  GradientModel read_gradients() {
    GradientSettings gradients;
    const std::string constant = "constant of loss scaling";
    const std::string shape = settings_.text("loss_scaling.gradients.distribution", "gaussian_mixture", "default");
    if (shape == "lognormal") gradients.shape = MagnitudeShape::lognormal;
    if (const auto spread = read_number(document_, "loss_scaling.gradients.spread")) {
      gradients.spread = settings_.number("loss_scaling.gradients.spread", *spread, "");
    }
    gradients.coherence = settings_.number("loss_scaling.gradients.coherence", 0, "default");
    gradients.residual_gain = settings_.number("loss_scaling.gradients.residual_gain", 1, "default");
    const std::string& head = plan_.settings.head;
    const bool fine_tunes = head == "question-answering" || head == "sequence-classification" ||
                            head == "token-classification" || head == "multiple-choice";
    gradients.pretrained = settings_.boolean("loss_scaling.gradients.pretrained", fine_tunes, "the head");
    gradients.accumulation = family_number("gradient_accumulation_steps", 1);
    const StepFacts facts = plan_.family->step_facts(plan_);
    const double passes = static_cast<double>(facts.global_batch) / static_cast<double>(facts.micro_batch);
    gradients.replicas = std::max(1.0, passes / gradients.accumulation);
    GradientModel model = gradient_model(plan_.graph, result_.loss, gradients, constants_);
    GradientProcess& process = model.process;
    const auto number = [&](const char* key, double fallback) {
      return settings_.number(std::string("loss_scaling.gradients.") + key, fallback, constant);
    };
    process.drift = settings_.boolean("loss_scaling.gradients.drift", true, "default");
    process.noise = number("noise", process.noise);
    process.noise_correlation = number("noise_correlation", process.noise_correlation);
    process.spike_probability = number("spike_probability", process.spike_probability);
    process.spike_height = number("spike_height", process.spike_height);
    process.spike_length = number("spike_length", process.spike_length);
    result_.micro_batches = model.micro_batches;
    const double spikes = process.spike_probability > 0 ? process.spike_height : 0;
    result_.limits.headroom = spikes + (result_.half_partials ? constants_.partials_headroom : 0);
    result_.limits.negligible = constants_.negligible_energy;
    return model;
  }

  void read_run() {
    TrajectorySettings& run = result_.settings;
    result_.limits.updates = read_integer(document_, "loss_scaling.updates").value_or(k_usual_updates);
    run.seed = static_cast<std::uint64_t>(settings_.integer("loss_scaling.seed", 1, "default"));
    const std::string statistics = settings_.text("loss_scaling.statistics", "sampled", "default");
    run.statistics = statistics == "expected" ? Statistics::expected : Statistics::sampled;
    result_.limits.flush_limit = settings_.number("loss_scaling.limits.flush", 1e-2, "default");
    result_.limits.overflow_limit = settings_.number("loss_scaling.limits.overflow", 1e-3, "default");
    result_.lost_limit = settings_.number("loss_scaling.limits.lost_updates", 0.1, "default");
  }

  // A scale that grows every so many updates shows its rate of overflows over some of them.
  void read_updates() {
    std::int64_t usual = k_usual_updates;
    for (const ResolvedKey& key : result_.resolved) {
      if (key.path != "loss_scaling.growth_interval") continue;
      std::int64_t interval = 1;
      std::from_chars(key.toml_value.data(), key.toml_value.data() + key.toml_value.size(), interval);
      usual = std::clamp(k_intervals * std::min(interval, k_most_updates), k_usual_updates, k_most_updates);
    }
    const char* origin = usual == k_usual_updates ? "default" : "default: five growth intervals";
    result_.settings.updates = settings_.integer("loss_scaling.updates", usual, origin);
  }

  void idle(const std::string& key, const std::string& reason) {
    const std::string path = "loss_scaling." + key;
    const Value* written = document_.find(path);
    if (written != nullptr) diagnostics_.warning(written->place(), path, "has no effect: " + reason);
  }

  // Keys that the settings beside them leave without effect.
  void warn_idle() {
    if (result_.settings.statistics == Statistics::expected) {
      for (const char* key : {"seed", "gradients.noise", "gradients.noise_correlation", "gradients.spike_length"}) {
        idle(key, "nothing is drawn with statistics = \"expected\"");
      }
    } else if (number_of("gradients.noise") == 0) {
      idle("gradients.noise_correlation", "there is no noise");
    }
    if (number_of("gradients.spike_probability") == 0) {
      idle("gradients.spike_height", "there are no spikes");
      if (result_.settings.statistics == Statistics::sampled) idle("gradients.spike_length", "there are no spikes");
    }
  }

  std::optional<double> number_of(const std::string& key) const {
    return read_number(document_, "loss_scaling." + key);
  }

  // What the mode means on the machine of the plan: PopART controls the scale there when its own key says so.
  void check_machine() {
    const bool popart = result_.mode == "popart_als";
    const bool ipu = plan_.family->name() == "ipu";
    const bool automatic = family_key("auto_loss_scaling") == "true";
    result_.in_program = automatic;
    tell_cost(popart, ipu);
    const auto warn = [&](const char* problem, const char* expected) {
      diagnostics_.warning(place_of("loss_scaling.mode"), "loss_scaling.mode", problem, expected);
    };
    if (popart && !ipu) warn("PopART runs on IPUs alone; the scale is followed as if it ran here", "none");
    if (automatic && !popart) {
      warn("PopART controls the scale of a run with ipu.auto_loss_scaling; another mode is followed here",
           "popart_als, or ipu.auto_loss_scaling = false");
    }
    if (popart && ipu) check_period();
  }

  void tell_cost(bool popart, bool ipu) {
    if (!scheme_->counts_gradients() && !scheme_->looks_for_non_finite()) return;
    if (popart && result_.in_program) {
      result_.cost = "its histograms are in the time and memory of a run; ipu.auto_loss_scaling=false leaves them out";
      return;
    }
    result_.cost_left_out = true;
    result_.cost = popart && ipu ? "left out of a run's time and memory; ipu.auto_loss_scaling=true adds it"
                                 : "not modelled: a run's time and memory hold none";
  }

  // A scale that holds although no window recommends it: which limits are the narrower ones.
  void note_outside() {
    const Window& w = result_.window;
    const auto scale = static_cast<double>(result_.trajectory.scales.back());
    if (!result_.needs_scale() || !w.feasible() || verdict_of(result_) != ScaleVerdict::holds) return;
    if (scale > std::exp2(w.high)) {
      result_.notes.push_back(
          fmt::format("the scale ends above the window, which keeps the probability of an overflow per update below "
                      "loss_scaling.limits.overflow={:g}; it holds while at most loss_scaling.limits.lost_updates="
                      "{:g} of the updates are skipped or clipped",
                      result_.limits.overflow_limit, result_.lost_limit));
    } else if (scale < std::exp2(w.low)) {
      result_.notes.push_back(
          fmt::format("the scale ends below the window, which lets at most loss_scaling.limits.flush={:g} of a "
                      "tensor's values become zero; it holds while no tensor loses more than half of them",
                      result_.limits.flush_limit));
    }
  }

  void check_period() {
    const std::int64_t period = read_integer(document_, "loss_scaling.update_period").value_or(1);
    const auto accumulation = static_cast<std::int64_t>(family_number("gradient_accumulation_steps", 1));
    if (accumulation % period != 0 && period % accumulation != 0) {
      diagnostics_.warning(place_of("loss_scaling.update_period"), "loss_scaling.update_period",
                           fmt::format("PopART refuses {}, which neither divides the {} micro-batches of an update nor "
                                       "is a multiple of them",
                                       period, accumulation),
                           "a divisor or a multiple");
    }
  }

  // Where the scale ends when nothing is drawn.
  std::optional<std::pair<double, double>> limit_cycle(const GradientModel& model) {
    if (!scheme_->counts_gradients()) return std::nullopt;
    std::optional<std::pair<float, float>> cycle = result_.trajectory.cycle;
    if (result_.settings.statistics == Statistics::sampled) {
      std::vector<ResolvedKey> told;
      Diagnostics ignored;
      SettingsReader again(document_, told, ignored);
      TrajectorySettings expected = result_.settings;
      expected.statistics = Statistics::expected;
      cycle = follow(model, *scheme_->make(again, 1, document_, ignored), expected).cycle;
    }
    if (!cycle) return std::nullopt;
    return std::pair(static_cast<double>(cycle->first), static_cast<double>(cycle->second));
  }

  std::unique_ptr<LossScaleController> make_controller() {
    const bool automatic = family_key("auto_loss_scaling") == "true";
    const char* usual = automatic ? "popart_als" : result_.format == "float16" ? "constant" : "none";
    const std::string origin = automatic ? "auto_loss_scaling" : "the number format";
    result_.mode = settings_.text("loss_scaling.mode", usual, origin);
    scheme_ = catalog_.loss_scaling_scheme(result_.mode);
    result_.experimental = scheme_->experimental();
    warn_unread(document_, *scheme_, catalog_, diagnostics_);
    if (scheme_->counts_gradients() && result_.format != "float16") {
      diagnostics_.error(place_of("loss_scaling.mode"), "loss_scaling.mode",
                         fmt::format("{} tracks half-precision gradients; these are {}", result_.mode, result_.format),
                         "none, or workload.precision = \"fp16.16\"");
    }
    if (scheme_->looks_for_non_finite() && result_.overflow == "saturate") {
      diagnostics_.warning(place_of("loss_scaling.mode"), "loss_scaling.mode",
                           result_.mode + " never sees an overflow where values saturate: the scale only grows",
                           "loss_scaling.numerics.overflow = \"infinity\" or \"nan\"");
    }
    if (result_.mode == "popart_als") {
      result_.settings.products_only =
          settings_.text("loss_scaling.tracking", "all_non_view_changing", "default") == "conv_and_matmul";
    }
    const double middle = std::exp2(std::floor(result_.window.centre()));
    return scheme_->make(settings_, middle, document_, diagnostics_);
  }

  void add_notes() {
    const Trajectory& t = result_.trajectory;
    const Window& w = result_.window;
    if (!w.feasible()) {
      result_.notes.emplace_back(
          "no constant scale keeps both limits: single-precision partial sums, a scale per layer or bfloat16 would");
    }
    const Accumulation sums{result_.half_partials ? NumberFormat::float16 : NumberFormat::float32};
    const auto tokens = static_cast<double>(plan_.graph.tokens);
    result_.random_sum_error = incoherent_sum_error(tokens, sums);
    result_.coherent_sum_error = coherent_sum_error(tokens, sums);
    if (tokens > stagnation_length(sums)) {
      result_.notes.push_back(
          fmt::format("sums of one sign stop growing behind {:.0f} of {:.0f} tokens", stagnation_length(sums), tokens));
    }
    if (t.runaway) {
      result_.notes.emplace_back("the scale grows without end: nothing that it looks at is large enough to stop it");
    }
    note_outside();
    if (result_.balance && w.feasible() && *result_.balance > w.high && result_.reaches_balance()) {
      result_.notes.push_back(
          fmt::format("{} balances at 2^{:.1f}, above the window: it accepts a small share of large values",
                      result_.mode, *result_.balance));
    }
    if (!t.scales.empty() && result_.mode == "popart_als" && t.scales.back() > t.scales.front() * 0x1p15F) {
      result_.notes.emplace_back(
          "its factor exceeds 2^15: an inverse loss scale in half precision could not follow much further");
    }
    if (!t.failure.empty()) {
      result_.notes.push_back(t.failure);
    } else if (const auto ended = ended_update(t)) {
      result_.notes.push_back(
          fmt::format("an infinity or NaN reaches the weights in update {}: nothing skips it", *ended));
    }
    for (const TensorHistory& tensor : t.tensors) {
      if (tensor.name != "loss_gradient" || tensor.flushed.median < 0.5) continue;
      result_.notes.emplace_back("most of the loss gradient of classes that are not the target becomes zero");
    }
  }

  const Plan& plan_;
  const Value& document_;
  const Catalog& catalog_;
  GradientConstants constants_;
  Analysis result_;
  Diagnostics diagnostics_;
  SettingsReader settings_;
  const LossScalingScheme* scheme_ = nullptr;
};

}  // namespace

bool Analysis::reaches_balance() const {
  const auto highest = std::max_element(trajectory.scales.begin(), trajectory.scales.end());
  return balance && static_cast<double>(*highest) >= std::exp2(std::floor(*balance));
}

NothingToScale nothing_to_scale(const Plan& plan) {
  if (plan.settings.mode != RunMode::training) {
    return {"only training has a loss to scale", "workload.mode", "\"training\""};
  }
  std::string problem;
  if (!loss_shape(plan.graph, plan.shape, plan.settings, problem)) {
    return {problem, "model.head", "a head that is trained"};
  }
  const bool transformer = std::any_of(plan.graph.blocks.begin(), plan.graph.blocks.end(), [](const Block& block) {
    return block.kind == BlockKind::attention || block.kind == BlockKind::feed_forward;
  });
  if (transformer) return {};
  return {"the gradients of this kind of model are not modelled", "model.config", "a transformer"};
}

Analysis analyse(const Plan& plan, const Value& document, const Catalog& catalog, const ConfigFiles& configs) {
  return Analyst(plan, document, catalog, configs).analyse();
}

}  // namespace podsim::loss_scaling
