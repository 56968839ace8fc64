#include "sim/plan/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace podsim {
namespace {

constexpr std::string_view k_form = "key=value, such as workload.micro_batch_size=2";

Place command_line() {
  return {"command line", 0, 0};
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool is_dotted_path(std::string_view path) {
  if (path.empty() || path.front() == '.' || path.back() == '.' || path.find("..") != std::string_view::npos) {
    return false;
  }
  constexpr std::ptrdiff_t k_deepest = 64;
  if (std::count(path.begin(), path.end(), '.') >= k_deepest) return false;
  return std::none_of(path.begin(), path.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '\'' || c == '[' || c == ']';
  });
}

// Sections that may be written as a name alone.
constexpr std::array<std::string_view, 2> k_named_sections = {"system", "software"};

// A key below a section that is a name alone turns it into a table that holds the name.
void widen_named_section(Value& document, std::string_view path) {
  for (const std::string_view section : k_named_sections) {
    const Value* value = document.find(section);
    const bool below = path.starts_with(section) && path.substr(section.size()).starts_with('.');
    if (!below || value == nullptr || !value->is(Value::Kind::string)) continue;
    Value table = Value::table(value->place());
    table.add("name", value->place(), *value);
    document.set(section, std::move(table));
  }
}

// A new name leaves the other keys of such a section's table as they are.
std::string target_of(const Value& document, const std::string& path, const Value& value) {
  const bool named = std::find(k_named_sections.begin(), k_named_sections.end(), path) != k_named_sections.end();
  const Value* old = document.find(path);
  const bool keeps_table = named && value.is(Value::Kind::string) && old != nullptr && old->is(Value::Kind::table);
  return keeps_table ? path + ".name" : path;
}

// The longest part of `path` that stands in the document as something else than a table; empty: none.
std::string blocking_part(const Value& document, std::string_view path) {
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.', dot + 1)) {
    const Value* step = document.find(path.substr(0, dot));
    if (step == nullptr) return {};
    if (!step->is(Value::Kind::table)) return std::string(path.substr(0, dot));
  }
  return {};
}

}  // namespace

Experiment read_experiment(const std::string& path, const ConfigFiles& configs, Diagnostics& diagnostics) {
  const bool bare_name = path.find('/') == std::string::npos && !path.ends_with(".toml");
  const std::string shipped = "experiments/" + path + ".toml";
  std::string file = path;
  std::optional<std::string> text = bare_name ? configs.text(shipped) : std::nullopt;
  if (text) file = configs.display_name(shipped);
  Experiment experiment;
  experiment.document = Value::table({file, 0, 0});
  if (!text && bare_name && !file_exists(path)) {
    std::vector<std::string> names;
    for (const std::string& known : configs.list("experiments/"))
      names.push_back(known.substr(12, known.rfind('.') - 12));
    diagnostics.error(command_line(), "", fmt::format("no experiment is called \"{}\", and no such file", path),
                      "a file, or one of `podsim list experiments`", nearest(path, names));
    return experiment;
  }
  if (!text) text = read_text_file(path, command_line(), "", diagnostics);
  if (!text) return experiment;
  experiment.source_text = *text;
  if (auto document = parse_toml(*text, file, diagnostics)) experiment.document = std::move(*document);
  return experiment;
}

std::optional<Override> parse_override(const std::string& assignment, Diagnostics& diagnostics) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos) {
    diagnostics.error(command_line(), "--set", fmt::format("\"{}\" has no \"=\"", assignment), std::string(k_form));
    return std::nullopt;
  }
  const std::string path(trimmed(std::string_view(assignment).substr(0, equals)));
  if (!is_dotted_path(path)) {
    diagnostics.error(command_line(), "--set", fmt::format("\"{}\" is not a key", path), std::string(k_form));
    return std::nullopt;
  }
  return Override{path, parse_override_value(std::string_view(assignment).substr(equals + 1), command_line())};
}

void apply_override(Experiment& experiment, const Override& override, Diagnostics& diagnostics) {
  Value& document = experiment.document;
  if (!document.is(Value::Kind::table)) document = Value::table(command_line());
  widen_named_section(document, override.path);
  if (const std::string blocking = blocking_part(document, override.path); !blocking.empty()) {
    const Value& found = *document.find(blocking);
    diagnostics.error(command_line(), override.path, fmt::format("\"{}\" is {}", blocking, kind_name(found.kind())),
                      "a table");
    return;
  }
  const std::string target = target_of(document, override.path, override.value);
  document.set(target, override.value);
}

void apply_override(Experiment& experiment, const std::string& assignment, Diagnostics& diagnostics) {
  if (const auto parsed = parse_override(assignment, diagnostics)) apply_override(experiment, *parsed, diagnostics);
}

}  // namespace podsim
