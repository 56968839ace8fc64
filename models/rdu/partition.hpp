#pragma once
// How a compiled model is cut into sections. A section is what one launch runs: its operators sit on the chip together,
// tensors between them never leave it.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/rdu/compile_options.hpp"
#include "models/rdu/operator_graph.hpp"
#include "sim/units/bytes.hpp"

namespace podsim::rdu {

// Share of the chip that the compiler may use, by graph type. Above 1 it sees more than there is.
struct ResourceFactors {
  double forward = 1;
  double backward = 1;
  double gradient_norm = 1;
  double optimizer = 1;
  double of(RduPhase phase) const;
  friend bool operator==(const ResourceFactors&, const ResourceFactors&) = default;
};

// What one section can hold at factor 1.
struct SectionCapacity {
  Bytes sram;                       // of the allotted tiles
  double operators = 0;             // forward and backward operators that fill the compute units
  Bytes resident_forward;           // bytes per weight of a forward product
  Bytes resident_backward;          // of each of the two backward products
  Bytes resident_update;            // of an optimizer operator
  std::int64_t tiles_per_call = 0;  // an operator works on tensors in so many pieces
  double retry_factor = 0;          // by which the compiler lowers the factors after a failure
  friend bool operator==(const SectionCapacity&, const SectionCapacity&) = default;
};

// Consecutive operators of the same pattern and instance are one section at o1, as far as their weights fit the chip
// beside each other; of instance 0, within a layer.
struct FusedPattern {
  std::string name;
  std::uint32_t instance = 0;
  friend bool operator==(const FusedPattern&, const FusedPattern&) = default;
};

struct PartitionOptions {
  OptimizationLevel level = OptimizationLevel::o3;
  ResourceFactors factors;
  // At o1, the pattern of each operator of the graph, from user rules; empty: the operators' own.
  std::vector<FusedPattern> patterns;
};

struct RduSection {
  RduPhase phase = RduPhase::forward;  // of its first operator
  int layer = -1;                      // of its first operator
  std::string name;                    // its operator, its pattern, or "section 12"
  std::vector<OperatorId> operators;   // ascending. Empty: a part of the operator that the next section completes
  double demand = 0;                   // of one section's capacity, 0 to 1
  std::uint32_t program = 0;           // the first section with the same operators and shapes, maybe itself
};

// An operator that no section can hold.
struct PlacementFailure {
  OperatorId op;
  Bytes need;  // its largest tensor's piece
  Bytes have;  // memory visible to its graph type
};

struct Partition {
  SharedVector<RduSection> sections;  // in execution order
  ResourceFactors factors;            // that the compiler ended with, at most 1
  int retries = 0;                    // with lower factors, as the first ones were above what is there
  std::optional<PlacementFailure> failure;
  std::int64_t unique_sections() const;
};

// Limits of this tool, not of a machine: a step beyond them would fill gigabytes and take minutes, where the largest
// models at o0 have some ten thousands of either.
inline constexpr std::size_t k_most_operators = 200'000;
inline constexpr double k_most_sections = 200'000;

enum class SectionFill : std::uint8_t { compute_units, weights };  // what the sections are full of

// what(): "would make 2.5e+08 sections; at most 200,000 are simulated".
class TooManySections : public std::range_error {
 public:
  TooManySections(double sections, SectionFill full_of);
  SectionFill fills;
};

// Throws TooManySections, and std::range_error on more than k_most_operators.
// Fails (Partition::failure) when an operator cannot be placed; the sections stand all the same. Factors must be
// positive.
Partition make_partition(const OperatorGraph& graph, const PartitionOptions& options, const SectionCapacity& capacity);

// Part of one section that an operator takes at o3. What it waits for stays on chip meanwhile.
double section_demand(const RduOperator& op, const ResourceFactors& factors, const SectionCapacity& capacity);

// Bytes of its weights that an operator keeps on chip.
Bytes resident_weights(const RduOperator& op, const SectionCapacity& capacity);

// Which section each operator is in.
std::vector<std::uint32_t> section_of_operators(const OperatorGraph& graph, const Partition& partition);

}  // namespace podsim::rdu
