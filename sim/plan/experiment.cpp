#include "sim/plan/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace podsim {
namespace {

constexpr std::string_view k_form = "key=value, such as workload.micro_batch_size=2";

Place command_line() { return {"command line", 0, 0}; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool is_dotted_path(std::string_view path) {
  if (path.empty() || path.front() == '.' || path.back() == '.' || path.find("..") != std::string_view::npos) {
    return false;
  }
  return std::none_of(path.begin(), path.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '\'' || c == '[' || c == ']';
  });
}

// `system` may be written as a name alone; a key below it turns the name into a table that holds it.
void widen_system(Value& document, std::string_view path) {
  const Value* system = document.find("system");
  if (system == nullptr || !system->is(Value::Kind::string) || !path.starts_with("system.")) return;
  Value table = Value::table(system->place());
  table.add("name", system->place(), *system);
  document.set("system", std::move(table));
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

Experiment read_experiment(const std::string& path, Diagnostics& diagnostics) {
  Experiment experiment;
  experiment.document = Value::table({path, 0, 0});
  const auto text = read_text_file(path, command_line(), "", diagnostics);
  if (!text) return experiment;
  experiment.source_text = *text;
  if (auto document = parse_toml(*text, path, diagnostics)) experiment.document = std::move(*document);
  return experiment;
}

void apply_override(Experiment& experiment, const std::string& assignment, Diagnostics& diagnostics) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos) {
    diagnostics.error(command_line(), "--set", fmt::format("\"{}\" has no \"=\"", assignment), std::string(k_form));
    return;
  }
  std::string path(trimmed(std::string_view(assignment).substr(0, equals)));
  if (!is_dotted_path(path)) {
    diagnostics.error(command_line(), "--set", fmt::format("\"{}\" is not a key", path), std::string(k_form));
    return;
  }
  Value& document = experiment.document;
  if (!document.is(Value::Kind::table)) document = Value::table(command_line());
  widen_system(document, path);
  if (const std::string blocking = blocking_part(document, path); !blocking.empty()) {
    const Value& found = *document.find(blocking);
    diagnostics.error(command_line(), path, fmt::format("\"{}\" is {}", blocking, kind_name(found.kind())), "a table");
    return;
  }
  Value value = parse_override_value(std::string_view(assignment).substr(equals + 1), command_line());
  // A new name leaves the other keys of a system's table as they are.
  const Value* system = document.find("system");
  const bool only_name = path == "system" && value.is(Value::Kind::string);
  if (only_name && system != nullptr && system->is(Value::Kind::table)) path = "system.name";
  document.set(path, std::move(value));
}

}  // namespace podsim
