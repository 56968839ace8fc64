#include "models/rdu/command/release.hpp"

#include <array>
#include <charconv>
#include <system_error>

namespace podsim::rdu {

std::optional<Release> parse_release(std::string_view text) {
  std::array<int, 3> parts{};
  std::size_t count = 0;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (count < parts.size()) {
    if (at == end || *at < '0' || *at > '9') return std::nullopt;
    const auto [behind, error] = std::from_chars(at, end, parts[count]);
    if (error != std::errc() || parts[count] > 9999) return std::nullopt;
    ++count;
    at = behind;
    if (at == end) break;
    if (*at != '.') return std::nullopt;
    ++at;
  }
  if (at != end || count < 2) return std::nullopt;
  return Release{parts[0], parts[1], parts[2]};
}

std::string to_text(const Release& release) {
  std::string text = std::to_string(release.major) + "." + std::to_string(release.minor);
  if (release.patch != 0) text += "." + std::to_string(release.patch);
  return text;
}

}  // namespace podsim::rdu
