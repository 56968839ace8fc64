#pragma once
// Releases of SambaFlow: flags came, changed and became needless with them.

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace podsim::rdu {

struct Release {
  int major = 0;
  int minor = 0;
  int patch = 0;
  friend constexpr auto operator<=>(const Release&, const Release&) = default;
};

// "1.17" or "1.17.7"; empty when it is no such text. Each part is at most 9999.
std::optional<Release> parse_release(std::string_view text);

// "1.17", with the patch when it is not 0.
std::string to_text(const Release& release);

}  // namespace podsim::rdu
