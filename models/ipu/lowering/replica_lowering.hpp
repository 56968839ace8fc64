#pragma once
// What lowering a training step and lowering an inference call share: the pod and its fold, the memory that always
// lives, the ops of a block on its IPU, copies between stages, fixed times.

#include <array>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "models/ipu/ipu_plan.hpp"
#include "models/ipu/lowering/norm_exchange.hpp"
#include "models/ipu/lowering/shared_parts.hpp"
#include "models/ipu/lowering/staged_work.hpp"
#include "models/ipu/memory/memory.hpp"
#include "sim/plan/family.hpp"
#include "sim/plan/plan.hpp"
#include "sim/program/builder.hpp"

namespace podsim::ipu {

class ReplicaLowering {
 protected:
  ReplicaLowering(const Plan& plan, const IpuPlan& ipu_plan, const LowerOptions& options);

  void add_always_live();
  // The ops of one step, chained behind what the IPU did before, with the activations that begin and end to live.
  void add_step(SegmentBuilder& segment, const ReplicaResources& replica, std::size_t position, const StageStep& step);
  // Where chains are merged (`merges`): what an IPU does in a cycle is one op in every replica. `working`: by
  // position, a bit for each stage that works in the cycles that `add_chains` adds from now on.
  bool merges() const { return merge_; }
  void begin_chains(const std::vector<std::uint64_t>& working);
  void add_chains(SegmentBuilder& segment, const ReplicaResources& replica);
  // A copy of one stage's boundary activation to the next stage, or of its gradient back.
  void add_copy(SegmentBuilder& segment, const ReplicaResources& replica, std::size_t stage, bool forward);
  // `time` on every IPU.
  SegmentId fixed_time(const std::string& name, Duration time, CostCategory category);
  SegmentBuilder folded_segment(const std::string& name);
  CostVector slowed(const CostVector& cost, DeviceId device) const;
  Lowered finish(std::vector<ProgramBlock> blocks);  // the builder is spent

  const RunSetup& setup_;
  const IpuConstants& constants_;
  const std::vector<double>& slowdown_;
  const PreparedPlan& prepared_;
  const Pipeline& pipeline_;
  MemoryInputs inputs_;
  std::shared_ptr<const FoldedPod> folded_pod_;
  const Pod& pod_;
  NormExchange norms_;  // of the segment being made
  const ReplicaFold& fold_;
  const std::vector<PlacedParameters>& parameters_;
  const bool convolutional_;
  ProgramBuilder builder_;

 private:
  // An op that cycles repeat, with what the builder made of its cost and label.
  struct InternedOp {
    CostId cost;
    LabelId label;
    const WorkOp* work = nullptr;
  };

  // A chain of the pipeline, with what the builder made of its cost and label.
  struct InternedChain {
    const WorkChain* work = nullptr;
    CostId cost;
    LabelId label;
  };

  void intern_work();
  InternedChain intern_chain(std::size_t position, std::uint64_t working);

  const BlockWorks& works_;
  std::vector<std::array<std::vector<InternedOp>, 3>> interned_;  // by block, then phase
  bool merge_ = false;
  std::vector<std::vector<InternedChain>> chains_;  // by position: one for each set of stages met
  std::vector<std::size_t> current_;                // by position: that of the cycle
  std::deque<WorkChain> rare_chains_;               // that the pipeline has not, of short updates
  FoldId fold_id_;
  MemoryCategory activations_ = 0;
  MemoryCategory temporaries_ = 0;
};

}  // namespace podsim::ipu
