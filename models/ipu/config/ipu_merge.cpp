// From an [ipu] table and the IPUConfig file it names to one table of known keys.

#include <fmt/format.h>

#include <algorithm>

#include "models/ipu/config/ipu_config.hpp"
#include "models/ipu/config/ipu_config_keys.hpp"
#include "sim/plan/settings_reader.hpp"

namespace podsim::ipu {
namespace {

const Value::Member* member_of(const Value& table, std::string_view key) {
  for (const Value::Member& member : table.members()) {
    if (member.key == key) return &member;
  }
  return nullptr;
}

std::string full(std::string_view key) {
  return "ipu." + std::string(key);
}

bool is_pod_dictionary(const Value& value) {
  if (!value.is(Value::Kind::table) || value.members().empty()) return false;
  return std::all_of(value.members().begin(), value.members().end(), [](const Value::Member& member) {
    static const std::vector<std::string> known{"pod4",  "pod8",   "pod16",  "pod32",
                                                "pod64", "pod128", "pod256", "default"};
    return std::find(known.begin(), known.end(), member.key) != known.end();
  });
}

class Merger {
 public:
  Merger(const Value& section, Diagnostics& diagnostics, std::string pod)
      : section_(section), diagnostics_(diagnostics), system_pod_(std::move(pod)) {}

  MergedSection run() {
    merged_.table = Value::table(section_.place());
    read_file();
    find_version();
    if (file_) add_file_members();
    add_section_members();
    warn_of_idle_pod_type();
    check();
    return std::move(merged_);
  }

 private:
  void fail(const Place& place, const std::string& key, std::string problem, std::string expected = {},
            std::string suggestion = {}) {
    merged_.bad.insert(key);
    diagnostics_.error(place, full(key), std::move(problem), std::move(expected), std::move(suggestion));
  }

  void read_file() {
    const Value* config = section_.find("config");
    if (config == nullptr || !config->is(Value::Kind::string)) return;  // the wrong type is check_keys' to tell
    const std::string path = path_from(*config);
    const std::optional<std::string> text = read_text_file(path, config->place(), "ipu.config", diagnostics_);
    if (text) {
      merged_.file_text = *text;
      file_ = parse_json(*text, path, diagnostics_);
    }
    if (!file_) merged_.bad.insert("config");
    if (file_ && !file_->is(Value::Kind::table)) {
      fail(file_->place(), "config", "the file holds " + kind_name(file_->kind()), "an object of IPUConfig keys");
      file_.reset();
    }
  }

  void find_version() {
    const Value* written = section_.find("version");
    VersionRange& range = merged_.version;
    range.reason = file_ ? "the file does not show its version" : "no file";
    if (written != nullptr && written->is(Value::Kind::string)) {
      const std::optional<Version> version = parse_version(written->as_string());
      if (version) {
        range = {*version, *version, VersionOrigin::given, "given"};
      } else {
        fail(written->place(), "version",
             fmt::format("\"{}\" is no version of optimum-graphcore", written->as_string()), "0.1 to 0.7.1");
      }
    } else if (written == nullptr && file_) {
      infer_version();
    }
  }

  void infer_version() {
    VersionRange range{k_first_version, k_last_version, VersionOrigin::inferred, ""};
    std::string low_mark;
    std::string high_mark;
    const auto mark = [&](Version low, Version high, const std::string& name) {
      if (low > range.low) {
        range.low = low;
        low_mark = name;
      }
      if (high < range.high) {
        range.high = high;
        high_mark = name;
      }
    };
    for (const Value::Member& member : file_->members()) {
      const KeyHistory* history = key_history(member.key);
      if (history != nullptr && history->shows_version) mark(history->since, history->until, member.key);
      if (is_pod_dictionary(member.value)) mark({2, 0}, {6, 0}, "the pod dictionary of " + member.key);
    }
    if (low_mark.empty() && high_mark.empty()) return;
    if (range.low > range.high) {
      merged_.version.reason = "the file's marks contradict each other";
      diagnostics_.warning(file_->place(), "ipu.version",
                           fmt::format("{} needs version {} or later, {} version {} or earlier: the documented "
                                       "defaults are used",
                                       low_mark, to_text(range.low), high_mark, to_text(range.high)),
                           "ipu.version to say which it is");
      return;
    }
    range.reason = "shown by " + low_mark;
    if (low_mark.empty()) range.reason = "shown by " + high_mark;
    if (!low_mark.empty() && !high_mark.empty() && high_mark != low_mark) range.reason += " and " + high_mark;
    merged_.version = range;
  }

  void add_file_members() {
    for (const Value::Member& member : file_->members()) {
      const KeyHistory* history = key_history(member.key);
      const Value::Member* over = history == nullptr ? nullptr : member_of(section_, member.key);
      if (over != nullptr && !history->beyond_ipu_config) {
        add_by_hand(*history, *over);
      } else if (history == nullptr || history->beyond_ipu_config) {
        report_unknown(member);
      } else {
        add(*history, member, false);
      }
    }
  }

  void report_unknown(const Value::Member& member) {
    if (is_base_config_key(member.key)) return;
    const std::string suggestion = suggest(member.key);
    if (merged_.version.at_least({7, 0})) {
      diagnostics_.error(member.key_place, full(member.key),
                         fmt::format("unknown key; version {} refuses it", to_text(merged_.version)), {}, suggestion);
    } else {
      diagnostics_.warning(member.key_place, full(member.key), "unknown key, ignored", {}, suggestion);
    }
  }

  static std::string suggest(const std::string& key) {
    std::vector<std::string> names;
    for (const KeySpec& spec : ipu_config_keys()) {
      if (!key_history(spec.path)->beyond_ipu_config) names.push_back(spec.path);
    }
    return nearest(key, names);
  }

  void add_section_members() {
    for (const Value::Member& member : section_.members()) {
      if (merged_.table.find(member.key) != nullptr || done_.contains(member.key)) continue;
      const KeyHistory* history = key_history(member.key);
      if (history != nullptr && history->beyond_ipu_config && member.value.is(Value::Kind::null)) continue;
      if (history == nullptr || history->beyond_ipu_config) {
        merged_.table.add(member.key, member.key_place, member.value);  // unknown ones are check_keys' to tell
      } else {
        add_by_hand(*history, member);
      }
    }
  }

  void add_by_hand(const KeyHistory& history, const Value::Member& member) {
    merged_.by_hand.emplace(history.path, member.value.place());
    add(history, member, true);
  }

  void add(const KeyHistory& history, const Value::Member& member, bool from_section) {
    done_.insert(history.path);
    if (merged_.version.origin == VersionOrigin::given && !known_to_version(history, member, from_section)) return;
    if (member.value.is(Value::Kind::null)) {
      if (!history.nullable) fail(member.value.place(), member.key, "null is not allowed", "a value, or no such key");
      return;
    }
    std::optional<Value> value = member.value;
    if (is_pod_dictionary(member.value)) {
      has_pod_dictionary_ = true;
      value = resolve_pod(member);
    }
    if (value) value = repaired(history, *value);
    if (value) merged_.table.add(member.key, member.key_place, std::move(*value));
  }

  bool known_to_version(const KeyHistory& history, const Value::Member& member, bool from_section) {
    const Version version = merged_.version.low;
    if (version >= history.since && version <= history.until) return true;
    const std::string when =
        version < history.since ? "came with " + to_text(history.since) : "was retired after " + to_text(history.until);
    if (version >= Version{7, 0}) {
      fail(member.key_place, member.key, fmt::format("{}; version {} refuses it", when, to_text(version)));
      return false;
    }
    diagnostics_.warning(
        member.key_place, full(member.key),
        fmt::format("{}; version {} ignores it{}", when, to_text(version), from_section ? ", used all the same" : ""));
    return from_section;
  }

  // Old files' forms that later versions refuse.
  std::optional<Value> repaired(const KeyHistory& history, const Value& value) {
    if (!value.is(Value::Kind::integer) || merged_.version.at_least({6, 1})) return value;
    if (history.path == "embedding_serialization_factor" && value.as_integer() == 0) {
      diagnostics_.warning(value.place(), full(history.path), "0 is taken as 1; from 0.6.1 it is refused",
                           "at least 1");
      return Value::integer(1, value.place());
    }
    if (history.path == "layers_per_ipu") {
      diagnostics_.warning(value.place(), full(history.path), "a bare number is taken as a list of one", "a list");
      return Value::array({value}, value.place());
    }
    return value;
  }

  std::optional<Value> resolve_pod(const Value::Member& member) {
    const Value& dictionary = member.value;
    if (merged_.version.at_least({7, 0})) {
      fail(dictionary.place(), member.key,
           fmt::format("a pod dictionary; version {} refuses it", to_text(merged_.version)), "a plain value");
      return std::nullopt;
    }
    const Value* pod = section_.find("pod_type");
    const bool ignores_pod = merged_.version.at_least({6, 1});
    const Value* fallback = dictionary.find("default");
    const Value* own = system_pod_.empty() ? nullptr : dictionary.find(system_pod_);
    if (pod == nullptr && !ignores_pod && own != nullptr) {
      merged_.pod_entries[member.key] = fmt::format("entry {}, as the system", system_pod_);
      return *own;
    }
    if (pod == nullptr || ignores_pod) {
      if (fallback == nullptr) {
        fail(dictionary.place(), member.key, "a pod dictionary without default, and no pod type to choose by",
             "ipu.pod_type = " + choices(dictionary));
        return std::nullopt;
      }
      diagnostics_.warning(dictionary.place(), full(member.key),
                           ignores_pod
                               ? fmt::format("a pod dictionary; version {} takes its default", to_text(merged_.version))
                               : "a pod dictionary and no pod type: its default is taken",
                           ignores_pod ? "a plain value" : "ipu.pod_type = " + choices(dictionary));
      return *fallback;
    }
    if (!pod->is(Value::Kind::string)) return std::nullopt;  // check_keys tells
    const Value* entry = pod->as_string() == "default" ? nullptr : dictionary.find(pod->as_string());
    if (entry == nullptr) {
      if (is_pod(pod->as_string())) {
        fail(dictionary.place(), member.key, fmt::format("the pod dictionary has no entry {}", pod->as_string()),
             choices(dictionary));
      }
      return std::nullopt;
    }
    return *entry;
  }

  void warn_of_idle_pod_type() {
    const Value* pod = section_.find("pod_type");
    if (pod == nullptr || !pod->is(Value::Kind::string) || !is_pod(pod->as_string())) return;
    if (has_pod_dictionary_ || merged_.bad.contains("config")) return;
    diagnostics_.warning(pod->place(), "ipu.pod_type", "no effect: no key has a pod dictionary to choose from");
  }

  static bool is_pod(const std::string& name) {
    for (const KeySpec& spec : ipu_config_keys()) {
      if (spec.path != "pod_type") continue;
      return std::find(spec.choices.begin(), spec.choices.end(), name) != spec.choices.end();
    }
    return false;
  }

  static std::string choices(const Value& dictionary) {
    std::string text;
    for (const Value::Member& member : dictionary.members()) {
      if (member.key == "default") continue;
      text += (text.empty() ? "" : " or ") + member.key;
    }
    return text;
  }

  void check() {
    Diagnostics found;
    check_keys(merged_.table, "ipu", ipu_config_keys(), found);
    for (const Diagnostic& problem : found.all()) {
      if (problem.severity != Severity::error || !problem.key.starts_with("ipu.")) continue;
      merged_.bad.insert(problem.key.substr(4, problem.key.find('[') - 4));
    }
    diagnostics_.append(found);
  }

  const Value& section_;
  Diagnostics& diagnostics_;
  std::optional<Value> file_;
  std::set<std::string> done_;  // IPUConfig keys of either source that were dealt with
  bool has_pod_dictionary_ = false;
  std::string system_pod_;  // entry of a pod dictionary that the system stands for; empty: none
  MergedSection merged_;
};

}  // namespace

MergedSection merge_ipu_section(const Value& section, Diagnostics& diagnostics, const std::string& pod) {
  if (section.is(Value::Kind::table)) return Merger(section, diagnostics, pod).run();
  const Value none = Value::table(section.place());  // no [ipu] table was written
  return Merger(none, diagnostics, pod).run();
}

}  // namespace podsim::ipu
