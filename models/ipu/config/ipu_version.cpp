#include "models/ipu/config/ipu_version.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace podsim::ipu {

std::string to_text(Version version) {
  if (version.patch == k_any_patch) return fmt::format("0.{}.x", version.release);
  return fmt::format("0.{}.{}", version.release, version.patch);
}

std::optional<Version> parse_version(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  std::array<int, 3> parts{0, 0, 0};
  std::size_t count = 0;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (count < parts.size()) {
    const auto [next, error] = std::from_chars(at, end, parts[count]);
    if (error != std::errc{} || parts[count] < 0) return std::nullopt;
    ++count;
    at = next;
    if (at == end) break;
    if (*at != '.') return std::nullopt;
    ++at;
  }
  const Version version{parts[1], parts[2]};
  if (at != end || count < 2 || parts[0] != 0 || version < k_first_version || version > k_last_version) {
    return std::nullopt;
  }
  return version;
}

std::string to_text(const VersionRange& range) {
  if (range.low == range.high) return to_text(range.low);
  return to_text(range.low) + " to " + to_text(range.high);
}

}  // namespace podsim::ipu
