#include "models/ipu/remedies.hpp"

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
    const bool rebuild = candidate.settings.micro_batch_size != plan_.settings.micro_batch_size;
    const ModelGraph rebuilt = rebuild ? plan_.model_kind->build(plan_.shape, candidate.settings) : ModelGraph();
    const ModelGraph& graph = rebuild ? rebuilt : plan_.graph;
    RunSetup setup = candidate.setup;
    setup.inference.results = result_bytes(graph, plan_.shape, candidate.settings);
    const Pipeline pipeline = make_pipeline(graph, setup.placement);
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
  const Plan& plan_;
  const IpuPlan& ipu_plan_;
  std::string text_;
  double rate_ = 0;
};

std::string find_remedy(const Plan& plan, const IpuPlan& ipu_plan) {
  const std::vector<Change> changes = changes_of(plan, ipu_plan);
  Trial trial(plan, ipu_plan);
  for (const Change& change : changes) {
    Candidate candidate{ipu_plan.setup, plan.settings};
    change.apply(candidate);
    trial.test(change.text, candidate);
  }
  // Pairs only where no single change helps; big models have none that does, and each trial costs them most.
  constexpr std::size_t k_blocks_of_big_models = 400;
  if (!trial.best().empty() || plan.graph.blocks.size() > k_blocks_of_big_models) return trial.best();
  for (std::size_t first = 0; first < changes.size(); ++first) {
    for (std::size_t second = first + 1; second < changes.size(); ++second) {
      Candidate candidate{ipu_plan.setup, plan.settings};
      changes[first].apply(candidate);
      changes[second].apply(candidate);
      trial.test(changes[first].text + " and " + changes[second].text, candidate);
    }
  }
  return trial.best();
}

// When nothing that was tried helps.
std::string advice_on(const BrokenLimit& broken) {
  if (broken.limit == "host stream") return "smaller outputs: labels or a loss in place of scores of the vocabulary";
  return "more IPUs per replica: no one or two changes of the other keys make it fit";
}

}  // namespace

void add_remedies(const Plan& plan, const IpuPlan& ipu_plan, Verdict& verdict) {
  const std::string remedy = find_remedy(plan, ipu_plan);
  for (BrokenLimit& broken : verdict.broken) broken.remedy = remedy.empty() ? advice_on(broken) : remedy;
}

}  // namespace podsim::ipu
