#pragma once
// From a placement of layers to pipeline stages, as PopTorch and PopART count them (graphcore/poptorch
// popart_compiler/source/CompilerImpl.cpp, graphcore/popart willow/src/transforms/pipeline.cpp): consecutive blocks on
// one IPU merge, every change of IPU opens a stage, and training has 2F - 1 stages of which the last forward one also
// holds the first backward one.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/workload/model_graph.hpp"

namespace podsim::ipu {

// Layers per IPU of one replica. The lists differ only in half-layer placements, where attention and feed-forward
// blocks of a layer may sit on different IPUs.
struct LayerPlacement {
  std::vector<std::int64_t> attention;
  std::vector<std::int64_t> feed_forward;
  std::optional<int> decoder_embedding = {};  // IPU of an embedding in front of a decoder; else with its first layer
  friend bool operator==(const LayerPlacement&, const LayerPlacement&) = default;
};

struct ForwardStage {
  int ipu = 0;
  std::vector<std::size_t> blocks;  // indices into the graph's blocks, in execution order
};

class Pipeline {
 public:
  explicit Pipeline(std::vector<ForwardStage> forward, int ipus) : forward_(std::move(forward)), ipus_(ipus) {}
  const std::vector<ForwardStage>& forward() const { return forward_; }
  int forward_stages() const { return static_cast<int>(forward_.size()); }
  int training_stages() const { return 2 * forward_stages() - 1; }
  int ipus() const { return ipus_; }  // of one replica, empty ones included
  // The forward stage that training stage `stage` belongs to: itself, or the one it is the backward of.
  int forward_of(int stage) const { return stage < forward_stages() ? stage : training_stages() - 1 - stage; }
  // Whether training stage `stage` works in cycle `cycle` of an update with `accumulation` micro-batches.
  static bool active(int stage, std::int64_t cycle, std::int64_t accumulation) {
    return stage <= cycle && cycle < stage + accumulation;
  }
  std::int64_t cycles(std::int64_t accumulation) const { return accumulation + training_stages() - 1; }

 private:
  std::vector<ForwardStage> forward_;
  int ipus_ = 1;
};

// The IPU of each block: the first embedding on IPU 0, one in front of a decoder as placed; layers as placed; heads
// with the last embedding, whose table they share, or on the last IPU as the graph says. With half-layer lists IPU 0
// takes min(attention, feed-forward) layers at the front, and its surplus of feed-forward blocks is the end of the
// model.
std::vector<int> place_blocks(const ModelGraph& graph, const LayerPlacement& placement);

Pipeline make_pipeline(const ModelGraph& graph, const LayerPlacement& placement);

}  // namespace podsim::ipu
