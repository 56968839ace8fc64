#include "models/ipu/lowering/pipeline.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace podsim::ipu {
namespace {

// IPU of each layer's block of one kind: `counts` in order, then what `front` withheld from IPU 0.
std::vector<int> assign(const std::vector<std::int64_t>& counts, std::int64_t front) {
  std::vector<int> ipus;
  for (std::size_t ipu = 0; ipu < counts.size(); ++ipu) {
    const std::int64_t count = ipu == 0 ? front : counts[ipu];
    ipus.insert(ipus.end(), static_cast<std::size_t>(count), static_cast<int>(ipu));
  }
  ipus.insert(ipus.end(), static_cast<std::size_t>(counts[0] - front), 0);
  return ipus;
}

}  // namespace

std::vector<int> place_blocks(const ModelGraph& graph, const LayerPlacement& placement) {
  PODSIM_CHECK(!placement.attention.empty() && placement.attention.size() == placement.feed_forward.size(),
               "a placement needs both lists");
  const std::int64_t front = std::min(placement.attention[0], placement.feed_forward[0]);
  const std::vector<int> attention = assign(placement.attention, placement.attention[0]);
  const std::vector<int> feed_forward = assign(placement.feed_forward, front);
  const auto layers = static_cast<std::size_t>(graph.layers);
  PODSIM_CHECK(attention.size() == layers && feed_forward.size() == layers, "a placement of another number of layers");

  const int last = static_cast<int>(placement.attention.size()) - 1;
  const bool returns = graph.head_placement == HeadPlacement::first_device;
  int embedding = 0;
  std::size_t next_layer = 0;
  std::vector<int> ipus;
  for (const Block& block : graph.blocks) {
    const auto layer = static_cast<std::size_t>(std::max(block.layer, 0));
    if (block.layer >= 0) next_layer = layer + 1;
    switch (block.kind) {
      case BlockKind::embedding:
        if (next_layer > 0) embedding = placement.decoder_embedding.value_or(attention[next_layer]);
        ipus.push_back(embedding);
        break;
      case BlockKind::attention:
      case BlockKind::whole_layer:
        ipus.push_back(attention[layer]);
        break;
      case BlockKind::feed_forward:
        ipus.push_back(feed_forward[layer]);
        break;
      case BlockKind::head:
        ipus.push_back(returns ? embedding : last);
        break;
    }
  }
  return ipus;
}

Pipeline make_pipeline(const ModelGraph& graph, const LayerPlacement& placement) {
  const std::vector<int> ipus = place_blocks(graph, placement);
  std::vector<ForwardStage> stages;
  for (std::size_t block = 0; block < ipus.size(); ++block) {
    if (stages.empty() || stages.back().ipu != ipus[block]) stages.push_back({ipus[block], {}});
    stages.back().blocks.push_back(block);
  }
  return Pipeline(std::move(stages), static_cast<int>(placement.attention.size()));
}

}  // namespace podsim::ipu
