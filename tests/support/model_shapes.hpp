#pragma once
// Model configurations as text inside tests, and what a kind of model makes of them.

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "sim/config/config_files.hpp"
#include "sim/plan/model_kind.hpp"

namespace podsim::test {

inline Value json_value(const std::string& text, const std::string& file = "config.json") {
  Diagnostics diagnostics;
  std::optional<Value> value = parse_json(text, file, diagnostics);
  REQUIRE(!diagnostics.has_errors());
  return *value;
}

inline ModelShape shape_from(const ModelKind& kind, const std::string& text, const std::string& overrides = "{}") {
  Diagnostics diagnostics;
  const auto shape = kind.read(json_value(text), json_value(overrides, "experiment"), diagnostics);
  INFO(diagnostics.to_text());
  REQUIRE(shape.has_value());
  return *shape;
}

// Of a shipped configuration.
inline ModelShape shipped_shape(const ModelKind& kind, const std::string& name) {
  const std::optional<std::string> text = ConfigFiles::embedded().text("models/" + name + ".json");
  REQUIRE(text.has_value());
  return shape_from(kind, *text);
}

inline std::string problems_from(const ModelKind& kind, const std::string& text) {
  Diagnostics diagnostics;
  CHECK(!kind.read(json_value(text), json_value("{}"), diagnostics).has_value());
  return diagnostics.to_text();
}

inline WorkloadSettings settings_for(const std::string& head, std::int64_t sequence_length) {
  WorkloadSettings settings;
  settings.precision = "fp16.16";
  settings.head = head;
  settings.sequence_length = sequence_length;
  return settings;
}

inline std::int64_t parameters_of(const ModelKind& kind, const std::string& shipped, const std::string& head) {
  return kind.build(shipped_shape(kind, shipped), settings_for(head, 32)).parameter_count();
}

// Fails when there is none.
inline const Operator& operator_named(const std::vector<Operator>& operators, const std::string& name) {
  for (const Operator& op : operators) {
    if (op.name == name) return op;
  }
  FAIL("no operator " << name);
  return operators.front();
}

inline bool has_operator(const std::vector<Operator>& operators, const std::string& name) {
  for (const Operator& op : operators) {
    if (op.name == name) return true;
  }
  return false;
}

}  // namespace podsim::test
