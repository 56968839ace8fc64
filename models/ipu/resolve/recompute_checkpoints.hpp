#pragma once
// Where one IPU cuts a network of convolutions into the parts that it runs forward again, by names: the splits that
// published programs list, or the blocks of a report.

#include <cstddef>
#include <string>
#include <vector>

#include "models/ipu/config/ipu_config.hpp"
#include "sim/core/diagnostics.hpp"
#include "sim/workload/model_graph.hpp"

namespace podsim::ipu {

// The name of the block behind which `written` cuts, in the spellings of graphcore/examples vision/cnns:
// "stage2/unit3/relu" (TensorFlow 1) and "conv3_block3_out" (TensorFlow 2) are "stage 2 unit 3"; others stay.
std::string block_behind(const std::string& written);

// The blocks that begin a part, ascending. A name that no block of the graph has, the last block, and a name twice are
// errors.
std::vector<std::size_t> cuts_behind(const Setting<std::vector<std::string>>& names, const ModelGraph& graph,
                                     Diagnostics& diagnostics);

}  // namespace podsim::ipu
