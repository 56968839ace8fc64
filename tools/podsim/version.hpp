#pragma once
// Which podsim this is.

#include <string>

namespace podsim {

extern const char* const k_version;  // "0.1.0"
extern const char* const k_commit;   // abbreviated; "unknown" outside of a repository

// "podsim 0.1.0 (abc1234)" with a line end.
std::string version_line();

}  // namespace podsim
