#include "tools/podsim/candidates_input.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace podsim {

CapacityCosts costs_from(const Arguments& arguments) {
  const std::optional<std::string> file = arguments.value("costs");
  if (!file) return {};
  Diagnostics diagnostics;
  const auto text = read_text_file(*file, {"command line", 0, 0}, "--costs", diagnostics);
  const auto document = text ? parse_toml(*text, *file, diagnostics) : std::nullopt;
  CapacityCosts costs;
  if (document) costs = read_capacity_costs(*document, diagnostics);
  if (diagnostics.has_errors()) throw ConfigError(diagnostics);
  return costs;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::vector<std::string> systems_from(const Arguments& arguments) {
  const auto names = arguments.value("systems");
  if (!names) return {};
  std::vector<std::string> systems = split_at_commas(*names);
  for (auto name = systems.begin(); name != systems.end(); ++name) {
    if (name->empty()) throw UsageError(fmt::format("option --systems: \"{}\" has an empty name", *names));
    if (std::find(systems.begin(), name, *name) != name) {
      throw UsageError(fmt::format("option --systems: \"{}\" stands twice", *name));
    }
  }
  return systems;
}

}  // namespace podsim
