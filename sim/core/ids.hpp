#pragma once
// Dense indices with a type each, so that a device is never used as a link.

#include <compare>
#include <cstddef>
#include <cstdint>

namespace podsim {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t value) : value_(value) {}
  constexpr std::uint32_t value() const { return value_; }
  constexpr std::size_t index() const { return value_; }
  static constexpr Id none() { return Id(UINT32_MAX); }
  constexpr bool valid() const { return value_ != UINT32_MAX; }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  std::uint32_t value_ = UINT32_MAX;
};

using DeviceId = Id<struct DeviceTag>;
using MemoryId = Id<struct MemoryTag>;
using LinkId = Id<struct LinkTag>;
using RouteId = Id<struct RouteTag>;
using OpId = Id<struct OpTag>;            // within one segment
using SegmentId = Id<struct SegmentTag>;  // within one program
using CostId = Id<struct CostTag>;
using LabelId = Id<struct LabelTag>;
using FoldId = Id<struct FoldTag>;
using ConstantId = Id<struct ConstantTag>;

}  // namespace podsim
