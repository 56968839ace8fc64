#pragma once
// Which podsim this is. The values are written at build time.

#include <string_view>

namespace podsim {

// "0.1.0", from the build's project line.
std::string_view version();
// The first 12 digits of the git commit, with "-dirty" when tracked files differ from it; "unknown" outside git.
std::string_view commit();

}  // namespace podsim
