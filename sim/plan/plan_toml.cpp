#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "sim/plan/plan.hpp"
#include "sim/plan/settings_reader.hpp"

namespace podsim {
namespace {

namespace fs = std::filesystem;

// A path from the current folder as one from `folder`; absolute ones stay. A bare file name gets "./", so that it
// cannot be taken for a shipped name.
std::string path_in(const std::string& folder, const std::string& path) {
  if (path.starts_with("/")) return path;
  std::error_code code;
  const fs::path relative = fs::proximate(fs::absolute(path, code), fs::absolute(folder, code), code);
  const std::string text = code ? fs::absolute(path).string() : relative.generic_string();
  return text.find('/') == std::string::npos ? "./" + text : text;
}

// A comment ends with its line.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return text;
}

// What a TOML string that podsim printed stands for.
std::string unquoted(const std::string& toml) {
  Diagnostics ignored;
  const std::optional<Value> document = parse_toml("value = " + toml, "", ignored);
  return document ? document->find("value")->as_string() : toml;
}

}  // namespace

// Keys are grouped by their first step: TOML wants each table once. Deeper steps stay dotted.
std::string to_toml(const Plan& plan, const std::string& folder) {
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
    const std::string value = key.is_path ? toml_string(path_in(folder, unquoted(key.toml_value))) : key.toml_value;
    lines[section] += fmt::format("{} = {}  # {}\n", rest, value, one_line(key.origin));
  }
  std::string text = lines[""];
  for (const std::string& section : sections) {
    if (!section.empty()) text += fmt::format("\n[{}]\n{}", section, lines[section]);
  }
  return text;
}

}  // namespace podsim
