#include "sim/study/point_key.hpp"

#include "sim/core/check.hpp"
#include "sim/study/sweep_axes.hpp"

namespace podsim {

void PointKey::take(const std::vector<Value>& values) {
  PODSIM_CHECK(values.size() == keys_.size(), "a value for each key");
  bool same = parts_.size() == values.size();
  parts_.resize(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    Part& part = parts_[k];
    const bool known = !part.line.empty() && part.value == values[k];
    if (known && same) continue;
    same = false;
    if (!known) {
      part.value = values[k];
      part.line = keys_[k] + " = " + toml_text(values[k]) + "\n";
      part.cell = input_cell(values[k]);
    }
    part.hash = k > 0 ? parts_[k - 1].hash : Sha256();
    part.hash.update(part.line);
  }
}

void PointKey::add_cells(std::vector<Cell>& row) const {
  for (const Part& part : parts_) row.push_back(part.cell);
}

std::string PointKey::text() const {
  constexpr std::size_t k_digits = 16;
  Sha256 hash = parts_.empty() ? Sha256() : parts_.back().hash;
  return hash.finish().substr(0, k_digits);
}

}  // namespace podsim
