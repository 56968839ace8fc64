#include "sim/units/bytes.hpp"

#include <cmath>
#include <stdexcept>

namespace podsim {

Bytes round_up_bytes(DataSize size) {
  const double bytes = std::ceil(size.in_base());
  if (!(bytes > -9.2e18 && bytes < 9.2e18)) throw std::range_error("a size beyond exact counts of bytes");
  return Bytes(static_cast<std::int64_t>(bytes));
}

}  // namespace podsim
