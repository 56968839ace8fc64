#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/plan/plan.hpp"

namespace podsim {

// Keys are grouped by their first step: TOML wants each table once. Deeper steps stay dotted.
std::string to_toml(const Plan& plan) {
  std::vector<ResolvedKey> keys = plan.resolved;
  const std::vector<ResolvedKey> own = plan.family_plan->resolved();
  keys.insert(keys.end(), own.begin(), own.end());

  std::vector<std::string> sections;
  std::map<std::string, std::string> lines;
  for (const ResolvedKey& key : keys) {
    const std::size_t dot = key.path.find('.');
    const std::string section = dot == std::string::npos ? "" : key.path.substr(0, dot);
    const std::string rest = dot == std::string::npos ? key.path : key.path.substr(dot + 1);
    if (std::find(sections.begin(), sections.end(), section) == sections.end()) sections.push_back(section);
    lines[section] += fmt::format("{} = {}  # {}\n", rest, key.toml_value, key.origin);
  }
  std::string text = lines[""];
  for (const std::string& section : sections) {
    if (!section.empty()) text += fmt::format("\n[{}]\n{}", section, lines[section]);
  }
  return text;
}

}  // namespace podsim
