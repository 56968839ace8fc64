#pragma once
// What lowering a training step and lowering an inference call share: the pod and its fold, the memory that always
// lives, the ops of a block on its IPU, copies between stages, fixed times.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/ipu/ipu_plan.hpp"
#include "models/ipu/memory.hpp"
#include "models/ipu/norm_exchange.hpp"
#include "models/ipu/stage_work.hpp"
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
  Pipeline pipeline_;
  MemoryInputs inputs_;
  const OperatorCostModel& costs_;
  Pod pod_;
  NormExchange norms_;  // of the segment being made
  ReplicaFold fold_;
  std::vector<PlacedParameters> parameters_;
  ProgramBuilder builder_;

 private:
  // An op that cycles repeat, with what the builder made of its cost and label.
  struct InternedOp {
    CostId cost;
    LabelId label;
    const WorkOp* work = nullptr;
  };

  void intern_work();

  std::vector<BlockWork> works_;
  std::vector<std::array<std::vector<InternedOp>, 3>> interned_;  // by block, then phase
  FoldId fold_id_;
  MemoryCategory activations_ = 0;
  MemoryCategory temporaries_ = 0;
};

}  // namespace podsim::ipu
