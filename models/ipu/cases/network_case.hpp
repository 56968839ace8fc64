#pragma once
// What rows of convolution networks say in another way than those of transformers.

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/plan/case_row.hpp"

namespace podsim::ipu {

bool is_convolution_network(std::string_view model);

// The shipped model that a table means: the published programs' ResNeXt has 32 groups of 4.
std::string network_model(const std::string& model);

// The profile of a software and its release: memory that TensorFlow 1 needs changed with SDK 2.5.
std::string network_software(const std::string& software, std::string_view sdk);

// "7-segment recompute", "manual checkpoints …": a checkpoint before every unit; "yes": stage by stage; "no". Else the
// row is skipped.
void read_network_recompute(CaseRowReader& cells, std::int64_t ipus_per_replica);

// Which units stand on which IPU; nothing to say with one IPU.
void read_network_layers(CaseRowReader& cells, std::int64_t ipus_per_replica, bool inference);

// Of its own table and what the published programs leave to convolutions.
double usual_proportion(std::string_view model);

}  // namespace podsim::ipu
