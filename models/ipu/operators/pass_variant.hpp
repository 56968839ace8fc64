#pragma once
// The ways to run one pass that the planner compares. A variant reshapes the pass: kernel positions folded into the
// input channels, kernel rows packed into one input grain, groups joined block-diagonally, operands exchanged, or the
// sliding-window unit in place of the matrix unit.

#include <cstdint>
#include <string>
#include <vector>

#include "models/ipu/operators/pass_constants.hpp"
#include "models/ipu/operators/pass_shape.hpp"

namespace podsim::ipu {

enum class KernelFold : std::uint8_t { none, width, whole };

struct PassVariant {
  KernelFold fold = KernelFold::none;
  std::int64_t packed_rows = 1;    // kernel rows in one input grain: 1, 2 or 4
  std::int64_t joined_groups = 1;  // multiplied as one, with zeros off the diagonal
  bool swapped = false;            // of a product: rows and columns have changed places
  bool sliding_window = false;
  friend bool operator==(const PassVariant&, const PassVariant&) = default;
};

// "kernel folded into channels, 4 groups joined"; "as it stands" when nothing is reshaped.
std::string describe(const PassVariant& variant);

// Which operand of a product lies where it is read. A tile receives of it what the others hold that read the same.
enum class Resident : std::uint8_t { none, inputs, weights };

// A pass as a variant has it.
struct VariantShape {
  PassShape pass;                 // after folding and joining; 1 × 1 fields are one axis, the width
  std::int64_t input_grain = 1;   // elements
  std::int64_t input_grains = 1;  // of the input channels of a group
  std::int64_t output_grains = 1;
  std::int64_t packed_rows = 1;
  std::int64_t kernel_rows = 1;      // in packs of packed_rows
  std::int64_t folded_elements = 0;  // activations written anew to fold the kernel
  double useful = 1;                 // part of the multiply-adds that do not meet padding
  bool flat = false;                 // one list of positions: a 1 × 1 kernel on an undilated field
  bool sliding_window = false;
  Resident resident = Resident::none;
};

// Every variant that the pass and mode allow; never empty.
std::vector<PassVariant> variants_of(const PassShape& pass, AmpMode mode);

VariantShape reshape(const PassShape& pass, const PassVariant& variant, const PassMode& mode);

}  // namespace podsim::ipu
