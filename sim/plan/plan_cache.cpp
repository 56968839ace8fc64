#include "sim/plan/plan_cache.hpp"

#include <algorithm>

namespace podsim {
namespace {

// Enough for the points of a grid that differ in the innermost axes; older ones are forgotten.
constexpr std::size_t k_kept = 64;

template <class T>
void forget_oldest(std::vector<T>& kept, std::size_t most = k_kept) {
  if (kept.size() >= most) kept.erase(kept.begin());
}

}  // namespace

const PlanCache::Machine* PlanCache::machine(const std::vector<Value>& sections,
                                             const std::vector<std::string>& overlays) const {
  for (auto known = machines_.rbegin(); known != machines_.rend(); ++known) {
    if ((*known)->sections == sections && (*known)->overlays == overlays) return known->get();
  }
  return nullptr;
}

const PlanCache::Machine& PlanCache::keep(Machine machine) {
  forget_oldest(machines_);
  machines_.push_back(std::make_unique<const Machine>(std::move(machine)));
  return *machines_.back();
}

const PlanCache::Model* PlanCache::model(const Value& section) const {
  for (auto known = models_.rbegin(); known != models_.rend(); ++known) {
    if ((*known)->section == section) return known->get();
  }
  return nullptr;
}

const PlanCache::Model& PlanCache::keep(Model model) {
  forget_oldest(models_);
  models_.push_back(std::make_unique<const Model>(std::move(model)));
  return *models_.back();
}

const PlanCache::Settings* PlanCache::settings(const Value& document) const {
  const Value* model = document.find("model");
  const Value* workload = document.find("workload");
  if (model == nullptr) return nullptr;
  for (auto known = settings_.rbegin(); known != settings_.rend(); ++known) {
    const bool same = workload != nullptr ? known->workload == *workload : known->workload.is(Value::Kind::null);
    if (same && known->model == *model) return &*known;
  }
  return nullptr;
}

void PlanCache::keep_settings(const Value& document, const WorkloadSettings& settings,
                              std::vector<ResolvedKey> resolved) {
  constexpr std::size_t k_few = 16;
  const Value* workload = document.find("workload");
  forget_oldest(settings_, k_few);
  settings_.push_back(
      {*document.find("model"), workload != nullptr ? *workload : Value(), settings, std::move(resolved)});
}

ModelGraph PlanCache::graph(const ModelKind& kind, const ModelShape& shape, const WorkloadSettings& settings) {
  for (auto known = graphs_.rbegin(); known != graphs_.rend(); ++known) {
    if (known->kind == &kind && known->settings == settings && known->shape == shape) return known->graph;
  }
  forget_oldest(graphs_);
  graphs_.push_back({&kind, shape, settings, kind.build(shape, settings)});
  return graphs_.back().graph;
}

ConstantSet PlanCache::varied(const ConstantSet& base, const std::vector<ConstantChange>& changes) {
  const auto same = [](const ConstantChange& a, const ConstantChange& b) {
    return a.base_value == b.base_value && a.name == b.name;
  };
  for (auto known = varied_.rbegin(); known != varied_.rend(); ++known) {
    if (known->base.identity() == base.identity() && std::ranges::equal(known->changes, changes, same)) {
      return known->set;
    }
  }
  forget_oldest(varied_);
  varied_.push_back({base, changes, with_changes(base, changes)});
  return varied_.back().set;
}

ModelGraph graph_of(const FamilyContext& context) {
  if (context.cache == nullptr) return context.model_kind.build(context.shape, context.settings);
  return context.cache->graph(context.model_kind, context.shape, context.settings);
}

const std::shared_ptr<FamilyCache>& PlanCache::of_family(const Family& family) {
  const auto [place, added] = families_.try_emplace(&family);
  if (added) place->second = family.make_cache();
  return place->second;
}

}  // namespace podsim
