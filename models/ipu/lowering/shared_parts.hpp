#pragma once
// What plans of the family have in common: constants as read from one set, with the cost model and its matmul plans;
// the work of blocks of one graph; models on stages; memory accounts; pods with their folds. Each is found by exactly
// what it was made of, so that a plan gets what it would have made itself, and kinds that depend on few constants serve
// plans that differ in the others. Of each kind the newest are kept. Safe to use from several threads.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "models/ipu/config/ipu_config.hpp"
#include "models/ipu/ipu_plan.hpp"
#include "models/ipu/lowering/pod.hpp"
#include "models/ipu/lowering/staged_work.hpp"
#include "models/ipu/memory/memory.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/plan_cache.hpp"

namespace podsim::ipu {

struct SharedConstants {
  ConstantSet set;  // kept, so that its identity stays its own
  bool convolution_network = false;
  IpuConstants constants;
  std::vector<ConstantId> ids;
  std::shared_ptr<const OperatorCostModel> costs;
};

struct FoldedPod {
  Pod pod;
  ReplicaFold fold;
};

// What verdict, lowering and reports of one plan all begin with.
struct PreparedPlan {
  std::shared_ptr<const StagedWork> staged;
  bool convolutional = false;                            // the graph
  std::vector<PlacedParameters> parameters;              // by IPU of a replica
  std::vector<std::vector<MemoryAccountEntry>> account;  // likewise
};

// An [ipu] table with the file it names, resolved, with what the software decides of it.
struct SharedConfig {
  IpuConfig config;
  std::vector<ResolvedKey> training_keys;  // that count in training
  Diagnostics found;
};

class SharedParts final : public FamilyCache {
 public:
  // The same table before; `variant` says what else was as it is now. Null: there was none.
  std::shared_ptr<const SharedConfig> config(const Value& section, const std::string& variant);
  void keep(const Value& section, const std::string& variant, std::shared_ptr<const SharedConfig> config);
  // Of a finished plan of these parts; made on the first call and kept with it.
  const PreparedPlan& prepared(const Plan& plan, const IpuPlan& ipu_plan);
  // Throws ConfigError about an unusable constant.
  std::shared_ptr<const SharedConstants> constants(const ConstantSet& set, bool convolution_network);
  std::shared_ptr<const FoldedPod> pod(const Pipeline& pipeline, const IpuPlan& plan, bool fold);

 private:
  struct ConfigEntry {
    Value section;
    std::string variant;
    std::shared_ptr<const SharedConfig> config;
  };
  struct BlockEntry {
    double proportion;
    std::int64_t serial_steps;
    std::shared_ptr<const BlockWork> work;
  };
  // What decides the work of the blocks of a graph beside their execution. The cost model stands for the constants that
  // it was made of.
  struct GraphKey {
    SharedVector<Block> blocks;
    std::shared_ptr<const OperatorCostModel> costs;
    AmpMode mode;
    RunMode run;
    bool auto_loss_scaling;
    std::int64_t norm_replicas;
    double framework_factor;
    double plan_tolerance;
    LossScalingConstants loss_scaling;
    bool operator==(const GraphKey& other) const;
  };
  struct GraphEntry {
    GraphKey key;
    std::size_t kept = 0;  // works of all blocks
    std::uint64_t number;  // of this entry alone
    bool convolutional;
    FlopCount forward_flop;
    FlopCount backward_flop;
    std::vector<std::vector<BlockEntry>> works;  // by block
  };
  struct StagedEntry {
    std::uint64_t graph;  // its number
    WorkloadSettings settings;
    RunSetup setup;  // as far as it matters
    std::shared_ptr<const StagedWork> staged;
  };
  struct PreparedEntry {
    std::shared_ptr<const StagedWork> staged;
    RunSetup setup;  // as far as it matters
    MemoryConstants memory;
    std::int64_t sharding_minimum;
    std::shared_ptr<const PreparedPlan> prepared;
  };
  struct PodKey {
    PodShape shape;
    std::vector<int> stages;  // their IPUs
    std::vector<double> slowdown;
    bool fold;
    SystemConstants system;
    Bytes capacity;  // of an IPU
    Bytes usable;
    friend bool operator==(const PodKey&, const PodKey&) = default;
  };
  struct PodEntry {
    PodKey key;
    std::shared_ptr<const FoldedPod> pod;
  };
  std::shared_ptr<const OperatorCostModel> costs_of(const SharedConstants& shared) const;
  std::shared_ptr<const StagedWork> staged_work(const Plan& plan, const IpuPlan& ipu_plan, GraphEntry& graph);
  BlockWorks works_of(const MemoryInputs& inputs, const IpuPlan& plan, GraphEntry& graph);
  GraphEntry& graph_entry(const Plan& plan, const IpuPlan& ipu_plan);
  void forget_works();

  std::mutex mutex_;
  std::multimap<std::size_t, ConfigEntry> configs_;                // by hash of the section
  std::vector<std::shared_ptr<const SharedConstants>> constants_;  // the newest last, in all of these
  std::uint64_t graphs_made_ = 0;
  std::vector<GraphEntry> graphs_;
  std::vector<StagedEntry> staged_;
  std::vector<PreparedEntry> prepared_;
  std::vector<PodEntry> pods_;
};

}  // namespace podsim::ipu
