#pragma once
// What plans of the family have in common: constants as read from one set, with the cost model and its matmul plans;
// the work of blocks of one graph; pods with their folds. All are found by what they were made of, so that a plan gets
// exactly what it would have made itself. Safe to use from several threads.

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "models/ipu/ipu_plan.hpp"
#include "models/ipu/lowering/pod.hpp"
#include "models/ipu/lowering/stage_work.hpp"
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
  Pipeline pipeline;
  BlockWorks works;
  std::vector<std::vector<StageStep>> steps;             // by training stage; in inference by stage
  std::vector<PlacedParameters> parameters;              // by IPU of a replica
  std::vector<std::vector<MemoryAccountEntry>> account;  // likewise
};

class SharedParts final : public FamilyCache {
 public:
  // Of a finished plan of these parts; made on the first call and kept with it.
  const PreparedPlan& prepared(const Plan& plan, const IpuPlan& ipu_plan);
  // Throws ConfigError about an unusable constant.
  std::shared_ptr<const SharedConstants> constants(const ConstantSet& set, bool convolution_network);
  std::shared_ptr<const FoldedPod> pod(const Pipeline& pipeline, const IpuPlan& plan, bool fold);

 private:
  struct BlockEntry {
    double proportion;
    std::int64_t serial_steps;
    std::shared_ptr<const BlockWork> work;
  };
  struct GraphEntry {
    SharedVector<Block> blocks;
    const void* constants;
    AmpMode mode;
    RunMode run;
    bool auto_loss_scaling;
    std::int64_t norm_replicas;
    std::vector<std::vector<BlockEntry>> works;  // by block
  };
  struct PodEntry {
    PodShape shape;
    std::vector<int> stages;  // their IPUs
    std::vector<double> slowdown;
    const void* constants;
    bool fold;
    std::shared_ptr<const FoldedPod> pod;
  };
  std::shared_ptr<const OperatorCostModel> costs_of(const SharedConstants& shared) const;
  BlockWorks works_locked(const MemoryInputs& inputs, const IpuPlan& plan);
  GraphEntry& graph_entry(const MemoryInputs& inputs, const IpuPlan& plan);

  std::mutex mutex_;
  std::vector<std::shared_ptr<const SharedConstants>> constants_;  // the newest last, in all of these
  std::vector<GraphEntry> graphs_;
  std::vector<PodEntry> pods_;
};

}  // namespace podsim::ipu
