#include "sim/observe/observer.hpp"

namespace podsim {

void Observer::begin(const Platform&, const Program&) {}

void Observer::end(SimTime) {}

}  // namespace podsim
