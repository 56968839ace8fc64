#include "sim/program/program.hpp"

namespace podsim {

std::string_view name(CostCategory category) {
  static constexpr std::array<std::string_view, k_cost_categories> k_names = {
      "compute",         "recompute",  "exchange",      "sync",   "inter_device", "host_io",
      "off_chip_memory", "collective", "weight_update", "launch", "bubble",       "other"};
  return k_names[static_cast<std::size_t>(category)];
}

SimTime CostVector::total() const {
  SimTime sum;
  for (const SimTime time : part) sum += time;
  return sum;
}

CostVector& CostVector::operator+=(const CostVector& other) {
  for (std::size_t i = 0; i < part.size(); ++i) part[i] += other.part[i];
  return *this;
}

FoldMap unfolded(const Platform& platform) {
  FoldMap map;
  for (std::uint32_t i = 0; i < platform.devices().size(); ++i) map.device_representative.emplace_back(i);
  for (std::uint32_t i = 0; i < platform.links().size(); ++i) map.link_representative.emplace_back(i);
  for (std::uint32_t i = 0; i < platform.memories().size(); ++i) map.memory_representative.emplace_back(i);
  return map;
}

}  // namespace podsim
