#pragma once
// What the plans of one sweep have in common, so that a point pays for what its axes change: parsed machines and
// models, operator graphs, and whatever the family keeps. A plan made with a cache is the plan made without, but for
// its hash, which is left out. Files are read once: a cache is as old as they were then. For one thread.

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan/catalog.hpp"
#include "sim/plan/constants_loader.hpp"
#include "sim/plan/model_kind.hpp"
#include "sim/plan/plan.hpp"

namespace podsim {

class PlanCache {
 public:
  // What choose_machine made of these tables.
  struct Machine {
    std::vector<Value> sections;  // that it reads, null where absent
    std::vector<std::string> overlays;
    MachineChoice choice;
    std::vector<ResolvedKey> resolved;
    Diagnostics diagnostics;
  };
  // What the [model] table and the file it names say.
  struct Model {
    Value section;
    const ModelKind* kind = nullptr;
    std::string implied_head;
    ModelShape shape;
    std::vector<ResolvedKey> resolved;
    Diagnostics diagnostics;
  };

  // What SettingsReader::read made of the [model] and [workload] tables.
  struct Settings {
    Value model;
    Value workload;  // null: absent
    WorkloadSettings settings;
    std::vector<ResolvedKey> resolved;
  };

  // Null when there is none yet.
  const Machine* machine(const std::vector<Value>& sections, const std::vector<std::string>& overlays) const;
  const Machine& keep(Machine machine);
  // Of machines that differ in constants and options only.
  std::vector<MachineFiles>& machine_files() { return machine_files_; }
  const Model* model(const Value& section) const;
  const Model& keep(Model model);
  // Of the document's tables; of those read without a problem.
  const Settings* settings(const Value& document) const;
  void keep_settings(const Value& document, const WorkloadSettings& settings, std::vector<ResolvedKey> resolved);
  // The graph that `kind` builds, which shares its blocks with those handed out before.
  ModelGraph graph(const ModelKind& kind, const ModelShape& shape, const WorkloadSettings& settings);
  // The keys of a document, once made by `make`.
  template <class Make>
  const std::vector<KeySpec>& keys(const Make& make) {
    if (keys_.empty()) keys_ = make();
    return keys_;
  }
  // `base` under other values: the same set for the same changes, so that what is made of it is found again.
  ConstantSet varied(const ConstantSet& base, const std::vector<ConstantChange>& changes);
  // What `family` keeps; null when it keeps nothing.
  const std::shared_ptr<FamilyCache>& of_family(const Family& family);

 private:
  struct Graph {
    const ModelKind* kind;
    ModelShape shape;
    WorkloadSettings settings;
    ModelGraph graph;
  };
  struct Varied {
    ConstantSet base;
    std::vector<ConstantChange> changes;
    ConstantSet set;
  };
  std::vector<KeySpec> keys_;
  std::vector<Settings> settings_;  // the newest last, in all of these
  std::vector<std::unique_ptr<const Machine>> machines_;
  std::vector<MachineFiles> machine_files_;
  std::vector<std::unique_ptr<const Model>> models_;
  std::vector<Graph> graphs_;
  std::vector<Varied> varied_;
  std::map<const Family*, std::shared_ptr<FamilyCache>> families_;
};

// make_plan of an experiment that nobody needs any more.
PlanResult make_plan(Experiment&& experiment, const Catalog& catalog, const ConfigFiles& configs, PlanCache& cache);

// The graph of what is being resolved, from the context's cache where it has one.
ModelGraph graph_of(const FamilyContext& context);

}  // namespace podsim
