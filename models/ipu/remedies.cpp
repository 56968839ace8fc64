#include "models/ipu/remedies.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/ipu/estimate.hpp"
#include "models/ipu/estimate_inference.hpp"
#include "models/ipu/remedy_changes.hpp"
#include "models/ipu/verdict.hpp"
#include "models/workloads/results.hpp"

namespace podsim::ipu {
namespace {

double time_of(const MemoryInputs& inputs, const OperatorCostModel& costs) {
  const SimTime time = inputs.setup.training() ? estimate_step(inputs, costs).total()
                                               : estimate_call(inputs, costs, inputs.setup.inference.sharded).call;
  return time.duration().in_base();
}

// The best of the candidates that were tried so far.
class Trial {
 public:
  Trial(const Plan& plan, const IpuPlan& ipu_plan) : plan_(plan), ipu_plan_(ipu_plan) {}

  void test(const std::string& text, const Candidate& candidate) {
    const bool rebuild = candidate.settings.micro_batch_size != plan_.settings.micro_batch_size ||
                         candidate.settings.sequence_length != plan_.settings.sequence_length ||
                         candidate.settings.masked_tokens != plan_.settings.masked_tokens;
    const ModelGraph rebuilt = rebuild ? plan_.model_kind->build(plan_.shape, candidate.settings) : ModelGraph();
    const ModelGraph& graph = rebuild ? rebuilt : plan_.graph;
    RunSetup setup = candidate.setup;
    setup.inference.results = result_bytes(graph, plan_.shape, candidate.settings);
    const Pipeline pipeline = make_pipeline(graph, setup.placement);
    if (!can_run(setup, pipeline)) return;
    const MemoryInputs inputs{graph, candidate.settings, setup, pipeline, ipu_plan_.constants};
    if (!judge(inputs, *ipu_plan_.costs).fits()) return;
    const double time = time_of(inputs, *ipu_plan_.costs);
    const double rate = static_cast<double>(candidate.settings.micro_batch_size) / time;
    if (rate <= rate_) return;
    text_ = text;
    rate_ = rate;
  }
  const std::string& best() const { return text_; }

 private:
  // Whether there are as many micro-batches as the pipeline has stages.
  bool can_run(const RunSetup& setup, const Pipeline& pipeline) const {
    if (ipu_plan_.written.io_tiles && pipeline.forward_stages() > 1) return false;
    if (setup.training()) return setup.gradient_accumulation_steps >= pipeline.training_stages();
    return setup.inference.sharded || setup.device_iterations >= pipeline.forward_stages();
  }

  const Plan& plan_;
  const IpuPlan& ipu_plan_;
  std::string text_;
  double rate_ = 0;
};

// Pairs are tried only where no single change helps; big models have none that does, and each trial costs them most.
bool tries_pairs(const Plan& plan) {
  constexpr std::size_t k_blocks_of_big_models = 400;
  return plan.graph.blocks.size() <= k_blocks_of_big_models;
}

std::string find_remedy(const Plan& plan, const IpuPlan& ipu_plan) {
  const std::vector<Change> changes = changes_of(plan, ipu_plan);
  Trial trial(plan, ipu_plan);
  const auto test = [&](const Change& change) {
    Candidate candidate{ipu_plan.setup, plan.settings};
    change.apply(candidate);
    trial.test(change.text, candidate);
  };
  for (const Change& change : changes) test(change);
  const bool pairs = trial.best().empty() && tries_pairs(plan);
  for (std::size_t first = 0; pairs && first < changes.size(); ++first) {
    for (std::size_t second = first + 1; second < changes.size(); ++second) {
      test({changes[first].text + " and " + changes[second].text, [&](Candidate& candidate) {
              changes[first].apply(candidate);
              changes[second].apply(candidate);
            }});
    }
  }
  if (!trial.best().empty()) return trial.best();
  for (const Change& change : output_changes_of(plan, ipu_plan)) test(change);
  return trial.best();
}

// IPUs behind the number of layers stay empty.
bool has_room(const Plan& plan, const IpuPlan& ipu_plan) {
  const SystemConstants& system = ipu_plan.constants.system;
  const std::int64_t most = std::min(system.ipus * plan.nodes, system.ipus_per_pod);
  return ipu_plan.setup.ipus_per_replica < std::min<std::int64_t>(most, plan.graph.layers + 1);
}

// When nothing that was tried helps.
std::string advice_on(const BrokenLimit& broken, const Plan& plan, const IpuPlan& ipu_plan) {
  const bool stream = broken.limit == "host stream";
  const bool room = has_room(plan, ipu_plan);
  const char* what = stream ? "a model.head with smaller results"
                     : room ? "more IPUs per replica"
                            : "a smaller model or a system with more IPUs";
  return fmt::format("{}: none of the changes tried{} makes it fit", what,
                     tries_pairs(plan) ? ", alone or in pairs," : "");
}

}  // namespace

void add_remedies(const Plan& plan, const IpuPlan& ipu_plan, Verdict& verdict) {
  const std::string remedy = find_remedy(plan, ipu_plan);
  for (BrokenLimit& broken : verdict.broken)
    broken.remedy = remedy.empty() ? advice_on(broken, plan, ipu_plan) : remedy;
}

}  // namespace podsim::ipu
