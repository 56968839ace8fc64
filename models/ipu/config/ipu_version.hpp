#pragma once
// Versions of the optimum-graphcore package, whose IPUConfig changed its keys, defaults and checks over time. A file
// does not name its version; some keys tell a range of them.

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace podsim::ipu {

// "0.<release>.<patch>"; every published version starts with 0.
struct Version {
  int release = 0;
  int patch = 0;
  friend constexpr auto operator<=>(const Version&, const Version&) = default;
};

constexpr Version k_first_version{1, 0};
constexpr Version k_last_version{7, 1};
constexpr int k_any_patch = 999;  // as upper bound: every patch of a release

std::string to_text(Version version);
// "0.5", "v0.5", "0.6.1"; empty when it is no such version or none that was published.
std::optional<Version> parse_version(std::string_view text);

// How the version came to be known.
enum class VersionOrigin { given, inferred, assumed };

struct VersionRange {
  Version low = k_first_version;
  Version high = k_last_version;
  VersionOrigin origin = VersionOrigin::assumed;
  std::string reason;  // for reports: "given", "decompose_grad_sum stands in the file", "the file does not show it", …

  bool known() const { return origin != VersionOrigin::assumed; }
  // Every version of the range is at least / below this one; false when the version is only assumed.
  bool at_least(Version version) const { return known() && low >= version; }
  bool below(Version version) const { return known() && high < version; }
};

// "0.5.0", or "0.2.0 to 0.6.0" for a range.
std::string to_text(const VersionRange& range);

}  // namespace podsim::ipu
