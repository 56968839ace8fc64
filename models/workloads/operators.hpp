#pragma once
// Short ways to write the operators of a workload, and the micro-batch they are counted for.

#include <cstdint>
#include <string>

#include "sim/plan/workload_settings.hpp"
#include "sim/workload/model_graph.hpp"

namespace podsim {

// A matmul is one launch; in serial steps it is one launch per step.
Operator matmul_operator(std::string name, const MatmulShape& shape, SerialDimension serial = SerialDimension::none);

// `launches` operations in `passes` passes over `elements`. Launches without a pass (0) are fixed overhead.
Operator elementwise_operator(std::string name, std::int64_t elements, int passes, int launches);

// The same over attention scores, whose rows of `row_length` elements start wherever the row before them ends.
Operator score_operator(std::string name, std::int64_t elements, std::int64_t row_length, int passes);

Operator lookup_operator(std::string name, std::int64_t lookups);

// Bytes of an activation element: 4 in "fp32", else 2 ("fp8" keeps its activations in half precision).
std::int64_t activation_element_bytes(const std::string& precision);

}  // namespace podsim
