#include "tests/support/paths.hpp"

namespace podsim::test {

std::string source_dir() {
  return PODSIM_SOURCE_DIR;
}

std::string build_dir() {
  return PODSIM_BUILD_DIR;
}

std::string program() {
  return build_dir() + "/podsim";
}

}  // namespace podsim::test
