#include "models/rdu/fusion_rules.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "models/rdu/traced_graph.hpp"

namespace podsim::rdu {
namespace {

constexpr std::size_t k_largest_text = std::size_t{256} << 10;  // bytes; published files have up to 17 000
constexpr std::size_t k_most_rules = 256;
constexpr std::size_t k_most_nodes = 256;  // of one pattern
constexpr std::size_t k_longest_name = 128;

const std::vector<std::string> k_rule_keys = {"priority", "heuristic", "pattern"};
const std::vector<std::string> k_node_keys = {"op_type",  "child",    "children",
                                              "required", "included", "match_first_option"};
const std::vector<std::string> k_heuristic_keys = {"name", "tp_dim", "head_dim_sharding_degree", "spatial_split_degree",
                                                   "fwd_num_sections"};

std::string kind(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null:
      return "nothing";
    case YAML::NodeType::Scalar:
      return "one value";
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      break;
  }
  return "a map";
}

struct Entry {
  std::string key;
  Place place;  // of the key
  YAML::Node value;
};

struct Word {
  std::string text;
  Place place;
};

class RuleReader {
 public:
  RuleReader(const std::string& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

  std::vector<FusionRule> read(const YAML::Node& root) {
    const std::vector<Entry> entries = map_of(root, {file_, 1, 1}, "", "a map of rules");
    if (entries.size() > k_most_rules) {
      error(entries[k_most_rules].place, "", fmt::format("{} rules", entries.size()),
            fmt::format("at most {}", k_most_rules));
      return {};
    }
    std::vector<FusionRule> rules;
    for (const Entry& entry : entries) rules.push_back(read_rule(entry));
    return rules;
  }

  Place place_of(const YAML::Mark& mark) const {
    return mark.is_null() ? Place{file_, 1, 1} : Place{file_, mark.line + 1, mark.column + 1};
  }

 private:
  void error(const Place& place, const std::string& key, const std::string& problem, const std::string& expected = {},
             const std::string& suggestion = {}) {
    diagnostics_.error(place, key, problem, expected, suggestion);
  }

  // The library keeps a key that is written twice; its first place counts here.
  std::vector<Entry> map_of(const YAML::Node& node, const Place& otherwise, const std::string& path,
                            const char* expected) {
    const Place place = node.IsNull() ? otherwise : place_of(node.Mark());
    std::vector<Entry> entries;
    if (!node.IsMap()) {
      error(place, path, "is " + kind(node), expected);
      return entries;
    }
    if (node.size() == 0) error(place, path, "is empty", expected);
    for (const auto& pair : node) {
      const Place key_place = place_of(pair.first.Mark());
      if (!pair.first.IsScalar()) {
        error(key_place, path, "has a key that is " + kind(pair.first), "a name");
        continue;
      }
      const std::string& key = pair.first.Scalar();
      if (key.empty() || key.size() > k_longest_name) {
        error(key_place, path, fmt::format("a name of {} characters", key.size()),
              fmt::format("1 to {}", k_longest_name));
        continue;
      }
      const auto same = std::ranges::find(entries, key, &Entry::key);
      if (same != entries.end() && path.empty()) {
        diagnostics_.warning(key_place, key,
                             fmt::format("is there already, in line {}: that one counts", same->place.line),
                             "each name once");
        continue;
      }
      if (same != entries.end()) {
        error(key_place, joined(path, key), fmt::format("is there already, in line {}", same->place.line),
              "each name once");
        continue;
      }
      entries.push_back({key, key_place, pair.second});
    }
    return entries;
  }

  static std::string joined(const std::string& path, const std::string& key) {
    return path.empty() ? key : path + "." + key;
  }

  bool known(const Entry& entry, const std::string& path, const std::vector<std::string>& keys) {
    if (std::ranges::count(keys, entry.key) > 0) return true;
    error(entry.place, joined(path, entry.key), "unknown key", fmt::format("one of {}", fmt::join(keys, ", ")),
          nearest(entry.key, keys));
    return false;
  }

  FusionRule read_rule(const Entry& entry) {
    FusionRule rule;
    rule.name = entry.key;
    rule.place = entry.place;
    bool has_priority = false;
    bool has_pattern = false;
    const std::size_t before = diagnostics_.all().size();
    for (const Entry& part : map_of(entry.value, entry.place, entry.key, "a map with priority and pattern")) {
      if (!known(part, entry.key, k_rule_keys)) continue;
      if (part.key == "priority") {
        has_priority = true;
        rule.priority = read_number(part, entry.key);
      } else if (part.key == "heuristic") {
        read_heuristic(part, entry.key);
      } else {
        has_pattern = true;
        read_pattern(part, rule);
      }
    }
    const bool is_map = entry.value.IsMap() && entry.value.size() > 0;
    if (is_map && !has_priority) error(entry.place, joined(rule.name, "priority"), "is missing", "a number");
    if (is_map && !has_pattern) error(entry.place, joined(rule.name, "pattern"), "is missing", "a map of operators");
    if (diagnostics_.all().size() == before) check_pattern(rule);
    return rule;
  }

  double read_number(const Entry& entry, const std::string& path) {
    double number = 0;
    const bool converts = entry.value.IsScalar() && YAML::convert<double>::decode(entry.value, number);
    if (converts && std::isfinite(number)) return number;
    error(entry.value.IsNull() ? entry.place : place_of(entry.value.Mark()), joined(path, entry.key),
          entry.value.IsScalar() ? fmt::format("\"{}\" is no number", shortened(entry.value.Scalar()))
                                 : "is " + kind(entry.value),
          "a number");
    return 0;
  }

  static std::string shortened(const std::string& text) {
    return text.size() <= k_longest_name ? text : text.substr(0, k_longest_name) + "…";
  }

  void read_heuristic(const Entry& entry, const std::string& path) {
    const std::string own = joined(path, entry.key);
    if (!entry.value.IsMap()) {
      read_word(entry, path, "a name, or a map with name and tp_dim");
    } else {
      bool named = false;
      for (const Entry& part : map_of(entry.value, entry.place, own, "a map with name and tp_dim")) {
        if (!known(part, own, k_heuristic_keys)) continue;
        named = named || part.key == "name";
        read_word(part, own, "one value");
      }
      if (!named) error(entry.place, joined(own, "name"), "is missing", "the heuristic's name");
    }
    if (!std::exchange(told_of_heuristics_, true)) {
      diagnostics_.warning(entry.place, own,
                           "has no effect: heuristics choose the mapping inside a section, which is not modelled");
    }
  }

  Word read_word(const Entry& entry, const std::string& path, const char* expected) {
    const Place place = entry.value.IsNull() ? entry.place : place_of(entry.value.Mark());
    if (entry.value.IsScalar() && !entry.value.Scalar().empty() && entry.value.Scalar().size() <= k_longest_name) {
      return {entry.value.Scalar(), place};
    }
    error(place, joined(path, entry.key),
          entry.value.IsScalar() ? fmt::format("a text of {} characters", entry.value.Scalar().size())
                                 : "is " + kind(entry.value),
          expected);
    return {};
  }

  std::vector<Word> read_words(const Entry& entry, const std::string& path, const char* expected) {
    std::vector<Word> words;
    if (!entry.value.IsSequence() || entry.value.size() == 0 || entry.value.size() > k_most_nodes) {
      error(entry.value.IsNull() ? entry.place : place_of(entry.value.Mark()), joined(path, entry.key),
            entry.value.IsSequence() ? fmt::format("is a list of {}", entry.value.size()) : "is " + kind(entry.value),
            expected);
      return words;
    }
    for (const YAML::Node& element : entry.value) {
      const Word word = read_word({entry.key, entry.place, element}, path, expected);
      if (word.text.empty()) continue;
      if (std::ranges::count(words, word.text, &Word::text) > 0) {
        error(word.place, joined(path, entry.key), fmt::format("\"{}\" is there already", word.text), "each once");
        continue;
      }
      words.push_back(word);
    }
    return words;
  }

  bool read_flag(const Entry& entry, const std::string& path, bool otherwise) {
    bool flag = otherwise;
    if (entry.value.IsScalar() && YAML::convert<bool>::decode(entry.value, flag)) return flag;
    error(
        entry.value.IsNull() ? entry.place : place_of(entry.value.Mark()), joined(path, entry.key),
        entry.value.IsScalar() ? fmt::format("is \"{}\"", shortened(entry.value.Scalar())) : "is " + kind(entry.value),
        "true or false");
    return otherwise;
  }

  // Names that a node refers to, resolved once all nodes are known.
  struct References {
    std::vector<Word> children;
    std::vector<Word> options;
  };

  void read_pattern(const Entry& entry, FusionRule& rule) {
    const std::string path = joined(rule.name, entry.key);
    const std::vector<Entry> entries = map_of(entry.value, entry.place, path, "a map of operators");
    if (entries.size() > k_most_nodes) {
      error(entries[k_most_nodes].place, path, fmt::format("{} operators", entries.size()),
            fmt::format("at most {}", k_most_nodes));
      return;
    }
    std::vector<References> references;
    std::vector<std::string> names;
    for (const Entry& node : entries) {
      references.emplace_back();
      names.push_back(node.key);
      rule.nodes.push_back(read_node(node, path, references.back()));
    }
    for (std::size_t i = 0; i < references.size(); ++i) {
      const std::string own = joined(path, names[i]);
      rule.nodes[i].children = resolved(references[i].children, names, own + ".child");
      rule.nodes[i].options = resolved(references[i].options, names, own + ".match_first_option");
    }
  }

  std::vector<std::uint32_t> resolved(const std::vector<Word>& words, const std::vector<std::string>& names,
                                      const std::string& path) {
    std::vector<std::uint32_t> indices;
    for (const Word& word : words) {
      const auto found = std::ranges::find(names, word.text);
      if (found != names.end()) {
        indices.push_back(static_cast<std::uint32_t>(found - names.begin()));
      } else {
        error(word.place, path, fmt::format("the pattern has no \"{}\"", word.text), "a name in the same pattern",
              nearest(word.text, names));
      }
    }
    return indices;
  }

  FusionNode read_node(const Entry& entry, const std::string& pattern, References& references) {
    const std::string path = joined(pattern, entry.key);
    FusionNode node;
    node.name = entry.key;
    node.place = entry.place;
    std::map<std::string, Place> given;
    for (const Entry& part : map_of(entry.value, entry.place, path, "a map with op_type")) {
      if (!known(part, path, k_node_keys)) continue;
      given[part.key] = part.place;
      if (part.key == "op_type") node.types = read_types(part, path);
      if (part.key == "required") node.required = read_flag(part, path, true);
      if (part.key == "included") node.included = read_flag(part, path, true);
      if (part.key == "children") references.children = read_words(part, path, "a list of names");
      if (part.key == "match_first_option") references.options = read_words(part, path, "a list of names");
      if (part.key == "child") {
        const Word word = read_word(part, path, "the name of one operator; several stand in children");
        if (!word.text.empty()) references.children = {word};
      }
    }
    if (!entry.value.IsMap() || entry.value.size() == 0) return node;
    if (given.contains("child") && given.contains("children")) {
      error(given["children"], joined(path, "children"), "stands beside child", "one of them");
    }
    if (!given.contains("op_type") && !given.contains("match_first_option")) {
      error(entry.place, joined(path, "op_type"), "is missing", "the type of an operator, or a list of types");
    }
    if (!given.contains("match_first_option")) return node;
    for (const char* key : {"op_type", "child", "children", "required", "included"}) {
      if (given.contains(key)) error(given[key], joined(path, key), "stands beside match_first_option", "one of them");
    }
    return node;
  }

  std::vector<std::string> read_types(const Entry& entry, const std::string& path) {
    std::vector<Word> words;
    if (entry.value.IsSequence()) {
      words = read_words(entry, path, "a list of types");
    } else {
      words = {read_word(entry, path, "the type of an operator, or a list of types")};
    }
    std::vector<std::string> types;
    for (const Word& word : words) {
      types.push_back(word.text);
      if (word.text.empty() || std::ranges::binary_search(traced_types(), word.text)) continue;
      error(word.place, joined(path, entry.key), fmt::format("no operator is of type \"{}\"", word.text),
            "a type such as linear, layer_norm or matmul", nearest(word.text, traced_types()));
    }
    return types;
  }

  // ---- the pattern as a whole; all its names are known
  void check_pattern(const FusionRule& rule) {
    const std::string path = joined(rule.name, "pattern");
    if (const FusionNode* node = on_a_cycle(rule)) {
      error(node->place, joined(path, node->name), "is among its own descendants", "operators without a cycle");
      return;
    }
    if (const FusionNode* node = apart(rule)) {
      error(node->place, joined(path, node->name), fmt::format("is not connected to \"{}\"", rule.nodes.front().name),
            "one connected pattern");
    }
    const auto fuses = [](const FusionNode& node) { return node.options.empty() && node.included; };
    const auto must = [](const FusionNode& node) { return node.options.empty() && node.required; };
    if (std::ranges::none_of(rule.nodes, fuses)) {
      error(rule.place, path, "fuses nothing: no operator is included", "at least one");
    } else if (std::ranges::none_of(rule.nodes, must)) {
      error(rule.place, path, "has no operator that is required", "at least one");
    }
  }

  static std::vector<std::uint32_t> below(const FusionNode& node) {
    std::vector<std::uint32_t> all = node.children;
    all.insert(all.end(), node.options.begin(), node.options.end());
    return all;
  }

  // Takes away nodes that nothing leads to; what stays is on a cycle or behind one.
  static const FusionNode* on_a_cycle(const FusionRule& rule) {
    std::vector<int> leading(rule.nodes.size(), 0);
    for (const FusionNode& node : rule.nodes) {
      for (const std::uint32_t child : below(node)) ++leading[child];
    }
    std::vector<std::uint32_t> free;
    for (std::uint32_t i = 0; i < leading.size(); ++i) {
      if (leading[i] == 0) free.push_back(i);
    }
    std::size_t taken = 0;
    for (; taken < free.size(); ++taken) {
      for (const std::uint32_t child : below(rule.nodes[free[taken]])) {
        if (--leading[child] == 0) free.push_back(child);
      }
    }
    if (taken == rule.nodes.size()) return nullptr;
    const auto left = std::ranges::find_if(leading, [](int count) { return count > 0; });
    return &rule.nodes[static_cast<std::size_t>(left - leading.begin())];
  }

  static const FusionNode* apart(const FusionRule& rule) {
    std::vector<std::vector<std::uint32_t>> beside(rule.nodes.size());
    for (std::uint32_t i = 0; i < rule.nodes.size(); ++i) {
      for (const std::uint32_t child : below(rule.nodes[i])) {
        beside[i].push_back(child);
        beside[child].push_back(i);
      }
    }
    std::vector<bool> reached(rule.nodes.size(), false);
    std::vector<std::uint32_t> open = {0};
    reached[0] = true;
    while (!open.empty()) {
      const std::uint32_t node = open.back();
      open.pop_back();
      for (const std::uint32_t other : beside[node]) {
        if (reached[other]) continue;
        reached[other] = true;
        open.push_back(other);
      }
    }
    const auto left = std::ranges::find(reached, false);
    return left == reached.end() ? nullptr : &rule.nodes[static_cast<std::size_t>(left - reached.begin())];
  }

  const std::string& file_;
  Diagnostics& diagnostics_;
  bool told_of_heuristics_ = false;
};

}  // namespace

std::optional<std::vector<FusionRule>> read_fusion_rules(std::string_view text, const std::string& file,
                                                         Diagnostics& diagnostics) {
  Diagnostics found;
  RuleReader reader(file, found);
  std::vector<FusionRule> rules;
  try {
    if (text.size() > k_largest_text) {
      found.error({file, 1, 1}, "", fmt::format("{} bytes of fusion rules", text.size()),
                  fmt::format("at most {}", k_largest_text));
    } else {
      const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
      if (documents.size() > 1) {
        found.error(reader.place_of(documents[1].Mark()), "", "a second document", "one document of rules");
      }
      rules = reader.read(documents.empty() ? YAML::Node() : documents.front());
    }
  } catch (const YAML::Exception& exception) {
    found.error(reader.place_of(exception.mark), "", "cannot be read as YAML: " + exception.msg, "a map of rules");
  }
  const bool sound = !found.has_errors();
  diagnostics.append(found);
  if (!sound) return std::nullopt;
  return rules;
}

}  // namespace podsim::rdu
