#include "models/rdu/command/flags.hpp"

#include <algorithm>

#include "models/rdu/command/flag_tables.hpp"
#include "sim/core/check.hpp"

namespace podsim::rdu {
namespace {

bool has_name(const FlagSpec& spec, std::string_view name) {
  return std::find(spec.names.begin(), spec.names.end(), name) != spec.names.end();
}

// Without dashes and underscores, in lower case.
std::string bare(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '-' || c == '_') continue;
    text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

// One insertion, deletion, replacement or swap of neighbours.
bool one_edit_apart(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1) return false;
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin());
  const std::string_view rest_a = a.substr(static_cast<std::size_t>(in_a - a.begin()));
  const std::string_view rest_b = b.substr(static_cast<std::size_t>(in_b - b.begin()));
  if (rest_b.empty()) return false;
  if (a.size() != b.size()) return rest_a == rest_b.substr(1);
  if (rest_a.substr(1) == rest_b.substr(1)) return true;
  return rest_a.size() > 1 && rest_a[0] == rest_b[1] && rest_a[1] == rest_b[0] && rest_a.substr(2) == rest_b.substr(2);
}

std::vector<FlagSpec> joined_tables() {
  std::vector<FlagSpec> all;
  add_compile_flags(all);
  add_parallel_flags(all);
  add_run_flags(all);
  add_zoo_keys(all);
  add_application_flags(all);
  add_environment(all);
  return all;
}

}  // namespace

const std::vector<FlagSpec>& flag_table() {
  static const std::vector<FlagSpec> table = joined_tables();
  return table;
}

const FlagSpec& flag(std::string_view path) {
  const std::vector<FlagSpec>& table = flag_table();
  const auto it = std::find_if(table.begin(), table.end(), [&](const FlagSpec& spec) { return spec.key.path == path; });
  PODSIM_CHECK(it != table.end(), "no flag " + std::string(path));
  return *it;
}

const FlagSpec* find_flag(std::string_view name, FlagUse use) {
  const FlagSpec* other = nullptr;
  for (const FlagSpec& spec : flag_table()) {
    if (!has_name(spec, name)) continue;
    if (spec.used_by(use)) return &spec;
    other = &spec;
  }
  // A name of one letter of the other side is an application's own more often than a mistake.
  return name.size() > 2 ? other : nullptr;
}

std::vector<const FlagSpec*> flags_beginning_with(std::string_view beginning, FlagUse use) {
  std::vector<const FlagSpec*> fitting;
  for (const FlagSpec& spec : flag_table()) {
    const bool fits = spec.owner == FlagOwner::sambaflow && spec.used_by(use) &&
                      std::any_of(spec.names.begin(), spec.names.end(), [&](const std::string& name) {
                        return name.starts_with("--") && name.starts_with(beginning);
                      });
    if (fits) fitting.push_back(&spec);
  }
  return fitting;
}

const FlagSpec* find_zoo_key(std::string_view key) {
  const std::string_view section = "samba_compile.";
  std::string option;
  if (key.starts_with(section)) {
    option = "--" + std::string(key.substr(section.size()));
    std::replace(option.begin(), option.end(), '_', '-');
  }
  const std::vector<FlagSpec>& table = flag_table();
  const auto it = std::find_if(table.begin(), table.end(), [&](const FlagSpec& spec) {
    const bool listed = std::find(spec.zoo_keys.begin(), spec.zoo_keys.end(), key) != spec.zoo_keys.end();
    return listed || (!option.empty() && spec.owner == FlagOwner::sambaflow && has_name(spec, option));
  });
  return it == table.end() ? nullptr : &*it;
}

const FlagSpec* find_environment_variable(std::string_view name) {
  const std::vector<FlagSpec>& table = flag_table();
  const auto it = std::find_if(table.begin(), table.end(), [&](const FlagSpec& spec) {
    return spec.owner == FlagOwner::environment && spec.key.path == name;
  });
  return it == table.end() ? nullptr : &*it;
}

std::vector<std::pair<std::string, std::string>> flags_without_effect() {
  std::vector<std::pair<std::string, std::string>> flags;
  for (const FlagSpec& spec : flag_table()) {
    if (!spec.without_effect.empty()) flags.emplace_back(spec.name(), spec.without_effect);
  }
  return flags;
}

std::string likely_flag(std::string_view wrong, FlagUse use) {
  constexpr std::size_t k_shortest = 6;  // shorter names are one edit away from too many
  if (!wrong.starts_with("--") || wrong.size() < k_shortest) return {};
  for (const FlagSpec& spec : flag_table()) {
    if (spec.owner != FlagOwner::sambaflow || !spec.used_by(use)) continue;
    for (const std::string& name : spec.names) {
      if (!name.starts_with("--") || name.size() < k_shortest) continue;
      if (bare(name) == bare(wrong) || one_edit_apart(wrong, name)) return name;
    }
  }
  return {};
}

}  // namespace podsim::rdu
