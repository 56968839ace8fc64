#include "tools/podsim/reference.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/plan/workload_settings.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

struct ConstantFolder {
  const char* folder;
  const char* prefix;  // null: the file says its own
};

constexpr ConstantFolder k_folders[] = {
    {"chips/", "chip"}, {"systems/", "system"}, {"software/", "software"}, {"constants/", nullptr}};

// Names and choices of these files that are no constants.
const std::vector<std::string> k_plain_keys = {"name", "family", "chip", "software", "prefix", "summary", "optional"};

// A cell of a Markdown table.
std::string cell(std::string text) {
  for (std::size_t bar = text.find('|'); bar != std::string::npos; bar = text.find('|', bar + 2))
    text.insert(bar, "\\");
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string key_rows(const std::vector<ReferenceKey>& keys, bool with_effect) {
  std::string text;
  for (const ReferenceKey& key : keys) {
    if (key.without_effect.empty() != with_effect) continue;
    const KeySpec& spec = key.spec;
    if (!with_effect) {
      text += fmt::format("| `{}` | {} | {} |\n", key.path, cell(spec.summary), cell(key.without_effect));
      continue;
    }
    const std::string range = range_text(spec);
    text += fmt::format("| `{}` | {} | {}{}{} | {} | {} | {} |\n", key.path, cell(spec.summary), cell(type_text(spec)),
                        range.empty() ? "" : ", ", range, cell(spec.default_text), cell(spec.time_effect),
                        cell(spec.memory_effect));
  }
  return text;
}

}  // namespace

std::vector<ReferenceKey> all_keys(const Catalog& catalog) {
  std::vector<ReferenceKey> keys;
  for (const KeySpec& spec : shared_keys()) keys.push_back({spec.path, spec, ""});
  for (const KeySpec& spec : catalog.loss_scaling_keys) keys.push_back({"loss_scaling." + spec.path, spec, ""});
  for (const auto& family : catalog.families) {
    const auto silent = family->keys_without_effect();
    for (const KeySpec& spec : family->keys()) {
      const auto found =
          std::find_if(silent.begin(), silent.end(), [&](const auto& entry) { return entry.first == spec.path; });
      keys.push_back({std::string(family->name()) + "." + spec.path, spec, found == silent.end() ? "" : found->second});
    }
  }
  return keys;
}

std::vector<ReferenceConstant> all_constants(const ConfigFiles& configs) {
  std::vector<ReferenceConstant> constants;
  Diagnostics diagnostics;
  for (const ConstantFolder& folder : k_folders) {
    for (const std::string& path : configs.list(folder.folder)) {
      const auto document = parse_toml(configs.text(path).value_or(""), configs.display_name(path), diagnostics);
      if (!document) continue;
      ConstantSet set;
      const std::string prefix = folder.prefix != nullptr ? folder.prefix : read_text(*document, "prefix").value_or("");
      set.add(*document, prefix, k_plain_keys, diagnostics);
      for (const std::string& name : set.names()) constants.push_back({path, set[*set.find(name)]});
    }
  }
  if (diagnostics.has_errors()) throw ConfigError(diagnostics);
  return constants;
}

std::string type_text(const KeySpec& spec) {
  switch (spec.type) {
    case KeyType::boolean:
      return "true or false";
    case KeyType::integer:
      return "an integer";
    case KeyType::number:
      return spec.unit == "power of two" ? "a number or a power of two such as \"2^12\"" : "a number";
    case KeyType::text:
      return "text";
    case KeyType::choice:
      return fmt::format("one of {}", fmt::join(spec.choices, ", "));
    case KeyType::quantity:
      return "a " + spec.unit + " with its unit";
    case KeyType::integer_list:
      return "a list of integers";
    case KeyType::number_list:
      return "a list of numbers";
    case KeyType::number_or_list:
      return "a number or a list of them";
    case KeyType::text_list:
      return "a list of texts";
    case KeyType::path:
      return "a name or a path";
    case KeyType::table:
      return "a table";
  }
  return "";
}

std::string range_text(const KeySpec& spec) {
  if (spec.minimum && spec.maximum) return format_number(*spec.minimum) + " to " + format_number(*spec.maximum);
  if (spec.minimum) return "at least " + format_number(*spec.minimum);
  if (spec.maximum) return "at most " + format_number(*spec.maximum);
  return "";
}

std::string reference_markdown(const Catalog& catalog, const ConfigFiles& configs) {
  const std::vector<ReferenceKey> keys = all_keys(catalog);
  std::string text =
      "## Keys of an experiment\n\n| key | says | type and range | default | acts on time | acts on memory |\n"
      "|---|---|---|---|---|---|\n";
  text += key_rows(keys, true);
  text += "\n## Keys without effect on the result\n\n| key | says | why it has no effect |\n|---|---|---|\n";
  text += key_rows(keys, false);
  text += "\n## Constants\n\n| constant | value | confidence | file |\n|---|---|---|---|\n";
  for (const ReferenceConstant& entry : all_constants(configs)) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", entry.constant.name, cell(entry.constant.text),
                        entry.constant.confidence, entry.file);
  }
  return text;
}

}  // namespace podsim
