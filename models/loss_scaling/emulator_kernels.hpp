#pragma once
// Matrices of half-precision values held in single precision, and the few operations that the emulator trains with.
// Every sum has a fixed order.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/numerics/partial_sums.hpp"

namespace podsim::loss_scaling {

struct Matrix {
  Matrix() = default;
  Matrix(std::size_t row_count, std::size_t column_count)
      : rows(row_count), columns(column_count), values(row_count * column_count, 0.0F) {}
  float* row(std::size_t i) { return values.data() + i * columns; }
  const float* row(std::size_t i) const { return values.data() + i * columns; }

  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<float> values;
};

Matrix transposed(const Matrix& a);

// The product with partial sums as `accumulation` says; the result is not yet rounded to the operands' format.
Matrix product(const Matrix& a, const Matrix& b, const Accumulation& accumulation);

// A part of a matrix: one head of one sequence.
struct Slice {
  const Matrix* matrix = nullptr;
  std::size_t row = 0;
  std::size_t rows = 0;
  std::size_t column = 0;
  std::size_t columns = 0;
};
Matrix copied(const Slice& slice);
// Adds `part` to the target's values from (row, column) on.
void add_to(Matrix& target, std::size_t row, std::size_t column, const Matrix& part);

// What rounding did to a gradient. Values are counted before they are rounded, large ones behind it.
struct TensorCounts {
  std::string name;
  int layer = -1;
  double values = 0;
  double zeros = 0;       // exact, before rounding
  double flushed = 0;     // to zero by rounding
  double at_edge = 0;     // magnitudes at or above the edge, and NaN
  double overflowed = 0;  // beyond the format
  double non_finite = 0;  // after rounding
  double sum_log2 = 0;    // of non-zero finite magnitudes
  double sum_log2_squares = 0;
};

// Rounds in place to nearest; counts when `counts` is given.
void round_values(Matrix& a, NumberFormat format, OverflowRule rule, double edge, TensorCounts* counts);

// GELU and its derivative.
float gelu(float x);
float gelu_slope(float x);

}  // namespace podsim::loss_scaling
