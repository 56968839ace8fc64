#pragma once
// What one IPU of a replica has to do and to hold, by the layers that stand on it: the same work, steps and accounts
// that a plan is made of, asked for one IPU at a time.

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "models/ipu/ipu_plan.hpp"
#include "models/ipu/lowering/stage_work.hpp"
#include "sim/plan/plan.hpp"

namespace podsim::ipu {

// The graph of one micro-batch size, with the work of its blocks under every proportion on offer.
class MicroBatch {
 public:
  MicroBatch(const Plan& plan, const IpuPlan& ipu_plan, std::int64_t size, std::vector<double> proportions);

  const WorkloadSettings& settings() const { return settings_; }
  const ModelGraph& graph() const { return graph_; }
  const std::vector<double>& proportions() const { return proportions_; }  // ascending
  // By proportion, then block, when vocabulary-sized operators run in the steps that `setup` says.
  const std::vector<BlockWorks>& works(const RunSetup& setup);
  // Forward and backward of one micro-batch, without recomputation, at the best proportion of each block.
  SimTime least_work(const RunSetup& setup);
  // Whether any two layers are alike, so that their number decides and not which they are.
  bool uniform(const RunSetup& setup);

 private:
  const IpuPlan& ipu_plan_;
  WorkloadSettings settings_;
  ModelGraph graph_;
  std::vector<double> proportions_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<BlockWorks>> works_;  // by serial steps
};

// Of one IPU, by proportion.
struct StageLoad {
  std::vector<SimTime> time;       // of all its stages for one micro-batch
  std::vector<Bytes> temporaries;  // the most that is live at once
};

class ReplicaStages {
 public:
  // `setup` says how each IPU works; its placement and its replicas do not matter here.
  ReplicaStages(MicroBatch& micro_batch, const IpuPlan& ipu_plan, const RunSetup& setup, bool recompute);

  const std::vector<std::int64_t>& least_layers() const { return least_; }  // by IPU
  std::int64_t training_stages() const;
  // Of IPU `ipu` in that placement.
  StageLoad load(const LayerPlacement& placement, std::size_t ipu) const;
  // All but temporaries, with the replicas, accumulation and places of optimizer state that `run` says.
  Bytes held(const RunSetup& run, const LayerPlacement& placement, std::size_t ipu) const;
  // The same where whole layers stand in order and the other IPUs have what is left; remembered.
  const StageLoad& load(std::size_t ipu, std::int64_t first, std::int64_t count);
  Bytes held(const RunSetup& run, std::size_t ipu, std::int64_t first, std::int64_t count);
  // The settings of a run with that recomputation.
  const WorkloadSettings& settings() const { return settings_; }

 private:
  using Stretch = std::tuple<std::size_t, std::int64_t, std::int64_t>;
  using PlaceOfState = std::tuple<std::int64_t, bool, bool, bool>;  // replicas, accumulates, off chip, sharded
  LayerPlacement with(std::size_t ipu, std::int64_t first, std::int64_t count) const;
  Stretch key(std::size_t ipu, std::int64_t first, std::int64_t count) const;

  MicroBatch& micro_batch_;
  const IpuPlan& ipu_plan_;
  RunSetup setup_;
  WorkloadSettings settings_;
  bool uniform_;
  std::vector<std::int64_t> least_;
  std::map<Stretch, StageLoad> loads_;
  std::map<std::pair<PlaceOfState, Stretch>, Bytes> held_;
};

}  // namespace podsim::ipu
