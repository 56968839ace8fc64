#include "models/rdu/command/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "sim/units/text.hpp"

namespace podsim::rdu {
namespace {

template <class T>
std::optional<T> parse_whole(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string quoted(const std::string& text) {
  return fmt::format("\"{}\"", text);
}

std::string in_words(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

std::string range_text(const KeySpec& key) {
  if (key.minimum && key.maximum) {
    return fmt::format("{} to {}", format_number(*key.minimum), format_number(*key.maximum));
  }
  return key.minimum ? "at least " + format_number(*key.minimum) : "at most " + format_number(*key.maximum);
}

std::string default_origin(const FlagSpec& spec) {
  if (spec.owner == FlagOwner::application) return "default: the application's own";
  return spec.key.default_text.empty() ? "default: none" : "default: documented (" + spec.key.default_text + ")";
}

// What every typed argument has in common: where it comes from, and whether its form is right.
template <class T>
Argument<T> common(const CommandLine& line, const FlagSpec& spec, T otherwise) {
  Argument<T> argument;
  argument.value = std::move(otherwise);
  argument.place = line.place;
  argument.name = spec.name();
  argument.origin = default_origin(spec);
  const FlagOccurrence* found = line.find(spec.key.path);
  if (found == nullptr) return argument;
  argument.known = true;
  argument.name = found->name;
  argument.valid = found->valid;
  argument.place = found->values.empty() ? found->place : found->values.front().place;
  argument.given = found->shipped_in.empty();
  argument.origin = argument.given ? origin_text(argument.place) : "default: Model Zoo, " + found->shipped_in;
  return argument;
}

// The words of a valid use; null when there are none or a variable among them has no value. That is reported where
// the value is needed.
const std::vector<Word>* values_of(const CommandLine& line, std::string_view path, bool& valid,
                                   Diagnostics& diagnostics) {
  const FlagOccurrence* found = line.find(path);
  if (found == nullptr || !found->valid || found->values.empty()) return nullptr;
  for (const Word& word : found->values) {
    for (const UnsetVariable& variable : word.unset) {
      if (found->flag->needs_value()) report_unset(variable, found->name, diagnostics);
      valid = false;
    }
  }
  return valid ? &found->values : nullptr;
}

// Names of variables that counts of launchers and values of flags need: they are reported where they stand.
std::set<std::string> needed_variables(const CommandLine& line) {
  std::set<std::string> needed;
  const auto add = [&](const std::vector<Word>& words) {
    for (const Word& word : words) {
      for (const UnsetVariable& variable : word.unset) needed.insert(variable.name);
    }
  };
  for (const FlagOccurrence& used : line.flags) {
    if (used.flag->needs_value()) add(used.values);
  }
  for (const LauncherCall& call : line.launchers) {
    for (const LauncherOption& option : call.options) {
      const bool counts = option.role == LauncherRole::ranks || option.role == LauncherRole::nodes ||
                          option.role == LauncherRole::ranks_per_node;
      if (counts) add(option.values);
    }
  }
  return needed;
}

// Flags that change nothing, as written, each once.
std::vector<std::string> names_without_effect(const CommandLine& line) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  const auto add = [&](const std::string& name) {
    if (seen.insert(name).second) names.push_back(name);
  };
  for (const EnvironmentVariable& variable : line.environment) add(variable.name);
  for (const FlagOccurrence& used : line.flags) {
    if (used.shipped_in.empty() && !used.flag->without_effect.empty() && !used.flag->only_checked) add(used.name);
  }
  for (const FlagOccurrence& used : line.application) {
    const bool names_file =
        line.spelling == Spelling::overrides && (used.name == "--config-name" || used.name == "-cn");
    if (used.flag == nullptr && !names_file) add(used.name);
  }
  return names;
}

}  // namespace

std::string origin_text(const Place& place) {
  if (place.line == 0) return place.file;
  return fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

void report_unset(const UnsetVariable& variable, const std::string& key, Diagnostics& diagnostics) {
  diagnostics.error(
      variable.place, key, fmt::format("the variable {} has no value", variable.name),
      fmt::format("one in rdu.define.{}", is_assignment(variable.name + "=") ? variable.name : quoted(variable.name)));
}

Argument<bool> ArgumentReader::boolean(std::string_view flag_path) const {
  const FlagSpec& spec = flag(flag_path);
  Argument<bool> argument = common(line_, spec, false);
  if (!argument.known || !argument.valid) return argument;
  argument.value = true;
  const std::vector<Word>* values = values_of(line_, flag_path, argument.valid, diagnostics_);
  if (values == nullptr) return argument;
  std::string text = values->front().text;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  argument.value = text == "true" || text == "yes" || text == "on" || text == "1";
  if (argument.value || text == "false" || text == "no" || text == "off" || text == "0") return argument;
  argument.valid = false;
  diagnostics_.error(argument.place, argument.name, quoted(values->front().text) + " is no truth value",
                     "true or false");
  return argument;
}

Argument<std::int64_t> ArgumentReader::integer(std::string_view flag_path, std::int64_t otherwise) const {
  const FlagSpec& spec = flag(flag_path);
  Argument<std::int64_t> argument = common(line_, spec, otherwise);
  const std::vector<Word>* values = values_of(line_, flag_path, argument.valid, diagnostics_);
  if (values == nullptr) return argument;
  const std::string& text = values->front().text;
  const std::optional<std::int64_t> value = parse_whole<std::int64_t>(text);
  if (!value) {
    argument.valid = false;
    diagnostics_.error(argument.place, argument.name, quoted(text) + " is no whole number", "a whole number");
    return argument;
  }
  const double number = static_cast<double>(*value);
  const bool inside =
      !(spec.key.minimum && number < *spec.key.minimum) && !(spec.key.maximum && number > *spec.key.maximum);
  if (!inside) {
    argument.valid = false;
    diagnostics_.error(argument.place, argument.name, text + " is out of range", range_text(spec.key));
    return argument;
  }
  argument.value = *value;
  return argument;
}

Argument<std::string> ArgumentReader::word(std::string_view flag_path, std::string otherwise) const {
  const FlagSpec& spec = flag(flag_path);
  Argument<std::string> argument = common(line_, spec, std::move(otherwise));
  const FlagOccurrence* found = line_.find(flag_path);
  if (found == nullptr || !found->valid || found->values.empty()) return argument;
  if (spec.needs_value() && values_of(line_, flag_path, argument.valid, diagnostics_) == nullptr) return argument;
  argument.value = found->values.front().text;
  argument.unset = !found->values.front().unset.empty();
  const std::vector<std::string>& choices = spec.key.choices;
  if (choices.empty() || std::find(choices.begin(), choices.end(), argument.value) != choices.end()) return argument;
  argument.valid = false;
  diagnostics_.error(argument.place, argument.name, "unknown value " + quoted(argument.value), in_words(choices),
                     nearest(argument.value, choices));
  return argument;
}

Argument<std::vector<double>> ArgumentReader::numbers(std::string_view flag_path) const {
  Argument<std::vector<double>> argument = common<std::vector<double>>(line_, flag(flag_path), {});
  const std::vector<Word>* values = values_of(line_, flag_path, argument.valid, diagnostics_);
  if (values == nullptr) return argument;
  for (const Word& word : *values) {
    const std::optional<double> value = parse_whole<double>(word.text);
    if (value && std::isfinite(*value)) {
      argument.value.push_back(*value);
    } else {
      argument.valid = false;
      diagnostics_.error(word.place, argument.name, quoted(word.text) + " is no number", "a number");
    }
  }
  return argument;
}

std::map<std::string, Argument<std::int64_t>> ArgumentReader::shapes() const {
  std::map<std::string, Argument<std::int64_t>> found;
  for (const FlagSpec& spec : flag_table()) {
    const bool shape = spec.owner == FlagOwner::application && spec.key.type == KeyType::integer;
    if (shape && line_.find(spec.key.path) != nullptr) found.emplace(spec.key.path, integer(spec.key.path, 0));
  }
  return found;
}

void report_without_effect(const CommandLine& line, Diagnostics& diagnostics) {
  const std::vector<std::string> names = names_without_effect(line);
  if (!names.empty()) {
    diagnostics.warning(line.place, "command",
                        fmt::format("without effect on what is simulated: {}", fmt::join(names, ", ")));
  }
  const std::set<std::string> needed = needed_variables(line);
  std::vector<std::string> unset;
  for (const UnsetVariable& variable : line.unset()) {
    if (!needed.contains(variable.name)) unset.push_back(variable.name);
  }
  if (!unset.empty()) {
    diagnostics.warning(line.place, "command",
                        fmt::format("without a value, where none is needed: {}", fmt::join(unset, ", ")));
  }
}

}  // namespace podsim::rdu
