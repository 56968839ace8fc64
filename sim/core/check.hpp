#pragma once
// Always-on invariants. A failed check is our fault, never the user's: it throws InternalError, which the
// program turns into exit code 70 with a request to report it.

#include <stdexcept>
#include <string>

namespace podsim {

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* condition, const char* file, int line, const std::string& message);

}  // namespace podsim

#define PODSIM_CHECK(condition, message)                                               \
  do {                                                                                 \
    if (!(condition)) ::podsim::fail_check(#condition, __FILE__, __LINE__, (message)); \
  } while (false)
