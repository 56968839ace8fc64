// Do gradients follow from the model's shape as the formulas say, and do published scales lie in their windows?
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "models/catalog.hpp"
#include "models/loss_scaling/analysis.hpp"
#include "models/loss_scaling/outlook.hpp"
#include "models/loss_scaling/published.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::loss_scaling;

namespace {

const Catalog& catalog() {
  static const Catalog all = make_catalog();
  return all;
}

struct Scene {
  Plan plan;
  LossShape loss;
  GradientModel model;
};

std::string bert(const std::string& head, const std::string& more) {
  return "system = \"bow-pod16\"\nmodel = { config = \"bert-large-uncased\", head = \"" + head +
         "\" }\n[ipu]\nlayers_per_ipu = [3, 7, 7, 7]\ngradient_accumulation_steps = 64\n[workload]\n" + more;
}

Scene scene(const std::string& toml, const GradientSettings& settings = {}) {
  Plan plan = test::plan_of(toml);
  std::string problem;
  const auto loss = loss_shape(plan.graph, plan.shape, plan.settings, problem);
  REQUIRE_MESSAGE(loss.has_value(), problem);
  GradientModel model = gradient_model(plan.graph, *loss, settings, read_gradient_constants(ConfigFiles::embedded()));
  return {std::move(plan), *loss, std::move(model)};
}

const GradientTensor& tensor(const GradientModel& model, const std::string& name, int layer) {
  for (const GradientTensor& candidate : model.tensors) {
    if (candidate.name == name && candidate.layer == layer) return candidate;
  }
  throw std::runtime_error("no tensor " + name);
}

double location(const GradientModel& model, const std::string& name, int layer, std::size_t part = 0) {
  return tensor(model, name, layer).components.at(part).magnitudes.location;
}

Analysis analysed(const std::string& toml, const std::vector<std::string>& overrides = {}) {
  Diagnostics diagnostics;
  Experiment experiment;
  experiment.document = *parse_toml(toml, "experiment.toml", diagnostics);
  for (const std::string& assignment : overrides) apply_override(experiment, assignment, diagnostics);
  const PlanResult made = make_plan(experiment, catalog(), ConfigFiles::embedded());
  REQUIRE_MESSAGE(made.plan.has_value(), made.diagnostics.to_text());
  return analyse(*made.plan, experiment.document, catalog(), ConfigFiles::embedded());
}

std::string refused(const std::string& toml, const std::vector<std::string>& overrides = {}) {
  try {
    analysed(toml, overrides);
  } catch (const ConfigError& error) {
    return error.diagnostics().to_text();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("gradients: the loss gradient of published cases") {
  struct Case {
    double classes, targets, other, target;
  };
  // log2 of 1/(V n) and (1 - 1/V)/n: masked tokens, next tokens, images and answer spans.
  for (const Case& row :
       {Case{30522, 160, -22.2195, -7.322}, Case{30522, 152, -22.1455, -7.248}, Case{50257, 1024, -25.617, -10.0},
        Case{50257, 2048, -26.617, -11.0}, Case{1000, 16, -13.9658, -4.0014}, Case{1000, 8, -12.9658, -3.0014},
        Case{384, 8, -11.585, -3.0038}}) {
    LossShape loss;
    loss.classes = row.classes;
    loss.targets = row.targets;
    CHECK(other_class_gradient(loss) == doctest::Approx(row.other).epsilon(1e-5));
    CHECK(target_gradient(loss) == doctest::Approx(row.target).epsilon(1e-4));
  }
}

TEST_CASE("gradients: each head has its targets, classes and tokens that bear them") {
  const LossShape masked = scene(bert("pretraining", "micro_batch_size = 2\nmasked_tokens = 76\n")).loss;
  CHECK(masked.targets == 152);
  CHECK(masked.classes == 30522);
  CHECK(masked.bearing == doctest::Approx(76.0 / 512));
  const LossShape span = scene(bert("question-answering", "micro_batch_size = 4\nsequence_length = 384\n")).loss;
  CHECK(span.targets == 8);
  CHECK(span.classes == 384);
  CHECK(span.elsewhere == doctest::Approx(1.0 / 384));
  const LossShape label = scene(bert("sequence-classification", "micro_batch_size = 4\nsequence_length = 128\n")).loss;
  CHECK(label.targets == 4);
  CHECK(label.classes == 2);
  CHECK(label.bearing == doctest::Approx(1.0 / 128));
  const LossShape tokens = scene(bert("token-classification", "micro_batch_size = 4\nsequence_length = 128\n")).loss;
  CHECK(tokens.targets == 512);
  CHECK(tokens.bearing == 1);
}

TEST_CASE("gradients: a feed-forward block multiplies by weights, slopes and tokens") {
  const Scene s = scene(bert("token-classification", "micro_batch_size = 4\nsequence_length = 128\n"));
  const double weights = std::log2(0.02);
  // rms(W) sqrt(1 - 1/V) / n at every token.
  const double stream = weights + 0.5 * std::log2(0.5) - std::log2(512.0);
  CHECK(location(s.model, "residual_gradient", 23) == doctest::Approx(stream));
  const double inner = stream + weights + 0.5 * std::log2(1024.0);
  CHECK(location(s.model, "down_input_gradient", 23) == doctest::Approx(inner));
  CHECK(location(s.model, "down_weight_gradient", 23) ==
        doctest::Approx(std::log2(0.36) + stream + 0.5 * std::log2(512.0)));
  const double active = inner + std::log2(0.62);
  CHECK(location(s.model, "up_weight_gradient", 23) == doctest::Approx(active + 0.5 * std::log2(512.0)));
  CHECK(location(s.model, "up_input_gradient", 23) == doctest::Approx(active + weights + 0.5 * std::log2(4096.0)));
  CHECK(tensor(s.model, "down_weight_gradient", 23).values == 4096.0 * 1024);
  CHECK(tensor(s.model, "down_weight_gradient", 23).bounds_window);
}

TEST_CASE("gradients: attention spread over T keys gives scores a T-th and values a root of it") {
  const Scene s = scene(bert("token-classification", "micro_batch_size = 4\nsequence_length = 128\n"));
  const double projected = std::log2(0.02) + 0.5 * std::log2(1024.0);
  const double context = location(s.model, "output_input_gradient", 23);
  const double stream = location(s.model, "residual_gradient", 23);
  CHECK(context == doctest::Approx(stream + projected));
  CHECK(location(s.model, "value_gradient", 23) == doctest::Approx(context - 0.5 * std::log2(128.0)));
  const double scores = context + projected + 0.5 * std::log2(64.0);
  CHECK(location(s.model, "scores_gradient", 23) == doctest::Approx(scores));
  CHECK(location(s.model, "softmax_gradient", 23) == doctest::Approx(scores - std::log2(128.0)));
  CHECK_FALSE(tensor(s.model, "softmax_gradient", 23).bounds_window);
}

TEST_CASE("gradients: tokens without targets have none in the last layer and small ones below") {
  const Scene s = scene(bert("pretraining", "micro_batch_size = 2\nmasked_tokens = 76\n"));
  const GradientTensor& last = tensor(s.model, "residual_gradient", 23);
  CHECK(last.zero_share == doctest::Approx(1 - 76.0 / 512));
  const GradientTensor& first = tensor(s.model, "residual_gradient", 0);
  CHECK(first.zero_share == 0);
  REQUIRE(first.components.size() == 2);
  CHECK(first.components[0].share == doctest::Approx(76.0 / 512));
  CHECK(first.components[1].magnitudes.location < first.components[0].magnitudes.location - 3);
}

TEST_CASE("gradients: accumulators hold the mean of micro-batches, coherent parts whole") {
  GradientSettings settings;
  settings.accumulation = 64;
  const std::string toml = bert("pretraining", "micro_batch_size = 2\nmasked_tokens = 76\n");
  const Scene apart = scene(toml, settings);
  CHECK(location(apart.model, "accumulated_up_weight_gradient", 3) ==
        doctest::Approx(location(apart.model, "up_weight_gradient", 3) - 3));
  settings.coherence = 1;
  const Scene together = scene(toml, settings);
  CHECK(location(together.model, "accumulated_up_weight_gradient", 3) ==
        doctest::Approx(location(together.model, "up_weight_gradient", 3)));
  // And the tokens' parts add up instead of their squares: from sqrt(n) to n.
  CHECK(location(together.model, "down_weight_gradient", 23) >
        location(apart.model, "down_weight_gradient", 23) + 0.5 * std::log2(152.0) - 0.01);
}

TEST_CASE("gradients: trained weights are as large as keeps the size of what they multiply, new heads are not") {
  GradientSettings trained;
  trained.pretrained = true;
  const double growth = -0.5 * std::log2(1024.0) - std::log2(0.02);  // from 0.02 to 1 / sqrt(1024)
  const auto moved = [&trained](const std::string& head, const std::string& name, int layer) {
    const std::string toml = bert(head, "micro_batch_size = 4\nsequence_length = 128\n");
    return location(scene(toml, trained).model, name, layer) - location(scene(toml).model, name, layer);
  };
  // One product with the body's weights behind a new classifier; behind a trained projection one more.
  CHECK(moved("token-classification", "residual_gradient", 23) == doctest::Approx(0));
  CHECK(moved("token-classification", "down_input_gradient", 23) == doctest::Approx(growth));
  CHECK(moved("pretraining", "vocabulary_input_gradient", -1) == doctest::Approx(growth));
  const std::string toml = bert("pretraining", "micro_batch_size = 4\nsequence_length = 128\n");
  CHECK(scene(toml).model.process.growth_limit == doctest::Approx(growth));
  CHECK(scene(toml, trained).model.process.growth_limit == 0);
}

TEST_CASE("loss scale: heads of fine-tuning start from trained weights, and a key says otherwise") {
  const std::string toml = bert("question-answering", "micro_batch_size = 4\nsequence_length = 384\n");
  const int trained = analysed(toml).window.low;
  CHECK(trained < analysed(toml, {"loss_scaling.gradients.pretrained=false"}).window.low);
  CHECK(trained == analysed(toml, {"loss_scaling.gradients.pretrained=true"}).window.low);
  const std::string from_scratch = bert("pretraining", "");
  CHECK(analysed(from_scratch).window.low ==
        analysed(from_scratch, {"loss_scaling.gradients.pretrained=false"}).window.low);
}

TEST_CASE("gradients: a gain per layer moves lower layers, a spread or log-normal shape the shares") {
  GradientSettings settings;
  settings.residual_gain = 0.5;
  const std::string toml = bert("token-classification", "micro_batch_size = 4\nsequence_length = 128\n");
  CHECK(location(scene(toml, settings).model, "residual_gradient", 13) ==
        doctest::Approx(location(scene(toml).model, "residual_gradient", 13) - 11).epsilon(0.01));
  settings = {};
  settings.spread = 2;
  CHECK(tensor(scene(toml, settings).model, "residual_gradient", 3).components[0].magnitudes.spread == 2);
  settings.shape = MagnitudeShape::lognormal;
  const Magnitudes m = tensor(scene(toml, settings).model, "residual_gradient", 3).components[0].magnitudes;
  CHECK(m.shape == MagnitudeShape::lognormal);
  CHECK(m.spread == doctest::Approx(std::hypot(2, k_gaussian_deviation)));
}

TEST_CASE("loss scale: an experiment gives mode, window and trajectory, by the keys of its section") {
  const std::string toml = bert("pretraining", "micro_batch_size = 2\nmasked_tokens = 76\nprecision = \"fp16.16\"\n");
  const Analysis constant = analysed(toml);
  CHECK(constant.mode == "constant");
  CHECK(constant.half_partials);
  CHECK(constant.window.feasible());
  CHECK(static_cast<double>(constant.trajectory.scales[0]) == std::exp2(std::floor(constant.window.centre())));
  const Analysis automatic = analysed(toml, {"ipu.auto_loss_scaling=true", "loss_scaling.statistics=expected"});
  CHECK(automatic.mode == "popart_als");
  CHECK(automatic.trajectory.scales[0] == 1);
  REQUIRE(automatic.balance);
  CHECK(automatic.trajectory.cycle);
  CHECK(automatic.warnings.all().empty());
  const Analysis scaler = analysed(toml, {"loss_scaling.mode=grad_scaler"});
  CHECK(scaler.warnings.to_text() ==
        "command line: warning: loss_scaling.mode: grad_scaler never sees an overflow where values saturate: the scale "
        "only grows; expected loss_scaling.numerics.overflow = \"infinity\" or \"nan\"\n");
}

TEST_CASE("loss scale: what has no loss or no half precision is refused") {
  const std::string toml = bert("pretraining", "micro_batch_size = 2\nmasked_tokens = 76\n");
  CHECK(
      refused(toml, {"loss_scaling.mode=popart_als", "loss_scaling.numerics.format=bfloat16"}) ==
      "command line: loss_scaling.mode: popart_als tracks half-precision gradients; these are bfloat16; expected none, "
      "or workload.precision = \"fp16.16\"\n");
  CHECK(refused(bert("pretraining", "mode = \"inference\"\n"), {"ipu.inference_device_iterations=5"}) ==
        "experiment.toml:7:8: workload.mode: only training has a loss to scale; expected \"training\"\n");
  CHECK(refused(bert("none", "")) ==
        "experiment.toml:2:49: model.head: a \"none\" head has no loss that is modelled; expected a head that is "
        "trained\n");
  CHECK(refused(toml, {"model.vocab_size=1"}) ==
        "experiment.toml:2:49: model.head: a choice among one class has no gradients; expected a head that is "
        "trained\n");
}

TEST_CASE("loss scale: a network of other blocks than those of transformers has no modelled gradients") {
  Plan plan = test::plan_of(bert("pretraining", ""));
  CHECK(nothing_to_scale(plan).reason.empty());
  for (Block& block : plan.graph.blocks) {
    if (block.kind != BlockKind::embedding && block.kind != BlockKind::head) block.kind = BlockKind::whole_layer;
  }
  CHECK(nothing_to_scale(plan).reason == "the gradients of this kind of model are not modelled");
  const Value document = Value::table({});
  Diagnostics warnings;
  CHECK_FALSE(outlook_for(plan, document, catalog(), ConfigFiles::embedded(), warnings));
  CHECK(warnings.all().empty());
}

TEST_CASE("loss scale: constants of the gradients can be replaced, by sound values") {
  const std::string toml = bert("pretraining", "");
  const Analysis usual = analysed(toml);
  const Analysis larger = analysed(toml, {"loss_scaling.constants.weight.rms=0.04"});
  CHECK(larger.window.low < usual.window.low);
  CHECK(refused(toml, {"loss_scaling.constants.weight.rm=0.04"}).find("did you mean \"loss_scaling.weight.rms\"?") !=
        std::string::npos);
  CHECK(refused(toml, {"loss_scaling.constants.spread.hidden=1e9"}) ==
        "command line: loss_scaling.spread.hidden: 1000000000 is out of range; expected from 0 to 8\n");
}

TEST_CASE("loss scale: half-precision partial sums over many tokens are told to stagnate") {
  const auto notes = [](const std::string& workload) {
    std::string all;
    for (const std::string& note : analysed(bert("token-classification", workload)).notes) all += note + "\n";
    return all;
  };
  // 2048 chunks of 16 tokens; 65 x 512 tokens are more, 64 x 512 are not.
  const std::string half = "precision = \"fp16.16\"\nmicro_batch_size = ";
  CHECK(notes(half + "65\n").find("sums of one sign stop growing behind 32768 of 33280 tokens") != std::string::npos);
  CHECK(notes(half + "64\n").find("stop growing") == std::string::npos);
}

TEST_CASE("loss scale: bfloat16 needs none") {
  const Analysis result = analysed(bert("pretraining", ""), {"loss_scaling.numerics.format=bfloat16"});
  CHECK(result.mode == "none");
  CHECK(result.trajectory.scales[0] == 1);
  CHECK_FALSE(result.trajectory.first_overflow);
  for (const TensorHistory& tensor : result.trajectory.tensors) CHECK(tensor.flushed.highest < 1e-20);
  CHECK(result.window.low < -60);
}

TEST_CASE("loss scale: published constants lie in their windows") {
  const std::vector<PublishedScale> scales = published_scales(catalog(), ConfigFiles::embedded());
  const PublishedSummary summary = summary_of(scales);
  CHECK(summary.count >= 12);
  CHECK(static_cast<double>(summary.inside) >= 0.8 * static_cast<double>(summary.count));
  CHECK(summary.median_width <= 16);
  REQUIRE(summary.rank_correlation);
  CHECK(*summary.rank_correlation >= 0.5);
}

TEST_CASE("loss scale: a summary counts, takes the median and correlates") {
  const auto scale = [](double value, int low, int high) {
    return PublishedScale{"x", "y", value, {low, high, {}, {}}};
  };
  const PublishedSummary summary = summary_of({scale(1, 0, 4), scale(8, 2, 8), scale(64, 7, 8), scale(0.25, -3, -1)});
  CHECK(summary.count == 4);
  CHECK(summary.inside == 3);
  CHECK(summary.median_width == 3);
  CHECK(*summary.rank_correlation == doctest::Approx(1));
  CHECK_FALSE(summary_of({}).rank_correlation);
}
