#include "tools/podsim/sweep_axes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/core/json_writer.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

const Place k_command_line{"command line", 0, 0};

// As TOML, strings with their quotes.
std::string toml_text(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::boolean:
      return value.as_boolean() ? "true" : "false";
    case Value::Kind::integer:
      return std::to_string(value.as_integer());
    case Value::Kind::floating:
      return format_number(value.as_number());
    case Value::Kind::string:
      return json_quoted(value.as_string());
    case Value::Kind::null:
    case Value::Kind::table:
    case Value::Kind::array:
      break;
  }
  std::string text;
  if (value.is(Value::Kind::array)) {
    for (const Value& element : value.elements()) text += (text.empty() ? "" : ", ") + toml_text(element);
    return "[" + text + "]";
  }
  if (!value.is(Value::Kind::table)) return "\"\"";
  for (const Value::Member& member : value.members()) {
    text += (text.empty() ? "" : ", ") + json_quoted(member.key) + " = " + toml_text(member.value);
  }
  return "{" + text + "}";
}

void add_value(SweepAxis& axis, const Value& value) {
  axis.cells.push_back(value.is(Value::Kind::string) ? value.as_string() : toml_text(value));
  axis.assignments.push_back(axis.key + "=" + toml_text(value));
}

std::vector<std::string> split_values(const std::string& text) {
  std::vector<std::string> parts{""};
  int depth = 0;
  char quote = '\0';
  for (const char c : text) {
    if (quote != '\0')
      quote = c == quote ? '\0' : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == '[' || c == '{')
      ++depth;
    else if (c == ']' || c == '}')
      --depth;
    if (c == ',' && depth == 0 && quote == '\0')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

void collect_axes(const Value& table, const std::string& prefix, std::vector<SweepAxis>& axes,
                  Diagnostics& diagnostics) {
  for (const Value::Member& member : table.members()) {
    const std::string key = prefix.empty() ? member.key : prefix + "." + member.key;
    if (member.value.is(Value::Kind::table)) {
      collect_axes(member.value, key, axes, diagnostics);
      continue;
    }
    if (!member.value.is(Value::Kind::array) || member.value.elements().empty()) {
      diagnostics.error(member.value.place(), "sweep.axes." + key, "is no list of values",
                        "a list with at least one value");
      continue;
    }
    SweepAxis axis{key, {}, {}};
    for (const Value& value : member.value.elements()) add_value(axis, value);
    axes.push_back(std::move(axis));
  }
}

}  // namespace

std::vector<SweepAxis> parse_axes(const std::vector<std::string>& texts, Diagnostics& diagnostics) {
  std::vector<SweepAxis> axes;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      diagnostics.error(k_command_line, "--axis", fmt::format("\"{}\" is no axis", text), "KEY=VALUE,VALUE,…");
      continue;
    }
    SweepAxis axis{text.substr(0, equals), {}, {}};
    const bool twice =
        std::any_of(axes.begin(), axes.end(), [&](const SweepAxis& other) { return other.key == axis.key; });
    if (twice) {
      diagnostics.error(k_command_line, "--axis", fmt::format("\"{}\" is an axis twice", axis.key),
                        "all its values in one");
      continue;
    }
    for (const std::string& part : split_values(text.substr(equals + 1))) {
      add_value(axis, parse_override_value(part, k_command_line));
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

std::vector<SweepAxis> document_axes(const Value& document, Diagnostics& diagnostics) {
  std::vector<SweepAxis> axes;
  const Value* sweep = document.find("sweep");
  if (sweep == nullptr) return axes;
  const Value* table = sweep->is(Value::Kind::table) ? sweep->find("axes") : nullptr;
  if (table == nullptr || !table->is(Value::Kind::table)) {
    diagnostics.error(sweep->place(), "sweep", "has no table of axes", "[sweep.axes] with KEY = [VALUE, …]");
    return axes;
  }
  collect_axes(*table, "", axes, diagnostics);
  return axes;
}

std::size_t grid_size(const std::vector<SweepAxis>& axes) {
  std::size_t size = 1;
  for (const SweepAxis& axis : axes) size *= axis.cells.size();
  return size;
}

std::vector<std::size_t> grid_point(const std::vector<SweepAxis>& axes, std::size_t index) {
  std::vector<std::size_t> point(axes.size());
  for (std::size_t a = axes.size(); a-- > 0;) {
    point[a] = index % axes[a].cells.size();
    index /= axes[a].cells.size();
  }
  return point;
}

}  // namespace podsim
