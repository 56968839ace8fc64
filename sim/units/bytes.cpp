#include "sim/units/bytes.hpp"

#include <cmath>

namespace podsim {

Bytes round_up_bytes(DataSize size) {
  return Bytes(static_cast<std::int64_t>(std::ceil(size.in_base())));
}

}  // namespace podsim
