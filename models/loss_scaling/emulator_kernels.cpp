#include "models/loss_scaling/emulator_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/core/check.hpp"

namespace podsim::loss_scaling {
namespace {

// out += a[k] b[k] for some k: the innermost loop runs along a row, so that no sum is reordered.
void add_products(float* __restrict out, const float* a, const Matrix& b, std::size_t begin, std::size_t end) {
  const std::size_t n = b.columns;
  for (std::size_t k = begin; k < end; ++k) {
    const float factor = a[k];
    const float* __restrict row = b.row(k);
    for (std::size_t j = 0; j < n; ++j) out[j] += factor * row[j];
  }
}

}  // namespace

Matrix transposed(const Matrix& a) {
  Matrix result(a.columns, a.rows);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.columns; ++j) result.row(j)[i] = a.row(i)[j];
  }
  return result;
}

Matrix product(const Matrix& a, const Matrix& b, const Accumulation& accumulation) {
  PODSIM_CHECK(a.columns == b.rows, "a product of matrices that do not fit");
  Matrix result(a.rows, b.columns);
  if (accumulation.partials == NumberFormat::float32) {
    for (std::size_t i = 0; i < a.rows; ++i) add_products(result.row(i), a.row(i), b, 0, a.columns);
    return result;
  }
  const auto chunk = static_cast<std::size_t>(accumulation.chunk);
  std::vector<float> part(b.columns);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t begin = 0; begin < a.columns; begin += chunk) {
      std::fill(part.begin(), part.end(), 0.0F);
      add_products(part.data(), a.row(i), b, begin, std::min(a.columns, begin + chunk));
      for (std::size_t j = 0; j < b.columns; ++j) {
        result.row(i)[j] = accumulate(result.row(i)[j], part[j], accumulation);
      }
    }
  }
  return result;
}

Matrix copied(const Slice& slice) {
  Matrix result(slice.rows, slice.columns);
  for (std::size_t i = 0; i < slice.rows; ++i) {
    const float* from = slice.matrix->row(slice.row + i) + slice.column;
    std::copy(from, from + slice.columns, result.row(i));
  }
  return result;
}

void add_to(Matrix& target, std::size_t row, std::size_t column, const Matrix& part) {
  for (std::size_t i = 0; i < part.rows; ++i) {
    float* to = target.row(row + i) + column;
    for (std::size_t j = 0; j < part.columns; ++j) to[j] += part.row(i)[j];
  }
}

void round_values(Matrix& a, NumberFormat format, OverflowRule rule, double edge, TensorCounts* counts) {
  if (counts == nullptr) {
    for (float& value : a.values) value = rounded(value, format, rule);
    return;
  }
  const FormatRange& range = range_of(format);
  const auto limit = static_cast<float>(range.overflow_from);
  for (float& value : a.values) {
    const float before = std::abs(value);
    value = rounded(value, format, rule);
    const float after = std::abs(value);
    counts->values += 1;
    counts->zeros += before == 0 ? 1 : 0;
    counts->flushed += before != 0 && after == 0 ? 1 : 0;
    counts->overflowed += before >= limit ? 1 : 0;
    counts->at_edge += static_cast<double>(after) < edge ? 0 : 1;
    counts->non_finite += std::isfinite(value) ? 0 : 1;
    if (before != 0 && std::isfinite(before)) {
      const double log = std::log2(static_cast<double>(before));
      counts->sum_log2 += log;
      counts->sum_log2_squares += log * log;
    }
  }
}

float gelu(float x) {
  const double v = static_cast<double>(x);
  return static_cast<float>(v * std::erfc(-v / std::numbers::sqrt2) / 2);
}

float gelu_slope(float x) {
  const double v = static_cast<double>(x);
  const double density = std::exp(-v * v / 2) / std::sqrt(2 * std::numbers::pi);
  return static_cast<float>(std::erfc(-v / std::numbers::sqrt2) / 2 + v * density);
}

}  // namespace podsim::loss_scaling
