#include "sim/core/check.hpp"

namespace podsim {

void fail_check(const char* condition, const char* file, int line, const std::string& message) {
  throw InternalError(std::string(file) + ":" + std::to_string(line) + ": " + message + " (" + condition + ")");
}

}  // namespace podsim
