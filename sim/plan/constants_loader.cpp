#include "sim/plan/constants_loader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/plan/settings_reader.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

const std::vector<std::string>& system_options() {
  static const std::vector<std::string> options = {"name", "nodes", "slowdown"};
  return options;
}

std::vector<std::string> names_in(const ConfigFiles& configs, std::string_view folder) {
  std::vector<std::string> names;
  for (const std::string& path : configs.list(folder)) {
    const std::size_t dot = path.rfind('.');
    names.push_back(path.substr(folder.size(), dot - folder.size()));
  }
  return names;
}

class MachineLoader {
 public:
  MachineLoader(const Value& document, const ConfigFiles& configs, std::vector<ResolvedKey>& resolved,
                Diagnostics& diagnostics)
      : document_(document), configs_(configs), resolved_(resolved), diagnostics_(diagnostics) {}

  MachineChoice load(const std::vector<std::string>& overlays, std::vector<MachineFiles>* known) {
    const bool found = known != nullptr ? take_files(*known) : load_files();
    if (!found) return std::move(choice_);
    read_options();
    for (const std::string& overlay : overlays) apply_overlay(overlay);
    for (const char* section : {"system", "chip", "software", "cost", "memory"}) apply_section(section);
    return std::move(choice_);
  }

 private:
  // False: there is no system to speak of.
  bool load_files() {
    const std::optional<Value> system = load_noun("system", "system.name", "systems/", {});
    if (!system) return false;
    choice_.system = read_text(*system, "name").value_or(choice_.system);
    choice_.family = read_text(*system, "family").value_or("");
    const Value* family = system->find("family");
    choice_.family_named_at = family != nullptr ? family->place() : system->place();
    choice_.chip = read_text(*system, "chip").value_or("");
    choice_.constants.add(*system, "system", {"name", "family", "chip", "software", "summary"}, diagnostics_);
    const bool chip = load_chip(*system);
    const bool software = load_software(*system);
    load_family_constants();
    choice_.complete = chip && software;
    return true;
  }

  bool take_files(std::vector<MachineFiles>& known) {
    constexpr std::size_t k_kept = 16;
    const auto written = [&](const char* key) {
      const Value* value = document_.find(key);
      return value != nullptr ? *value : Value();
    };
    MachineFiles files{written("system.name"), written("software.name"), {}, Value::null({}), {}};
    const auto same = std::find_if(known.rbegin(), known.rend(), [&](const MachineFiles& other) {
      return other.system == files.system && other.software == files.software;
    });
    if (same != known.rend()) {
      choice_ = same->choice;
      optional_ = same->optional;
      resolved_.insert(resolved_.end(), same->resolved.begin(), same->resolved.end());
      return true;
    }
    const std::size_t told = diagnostics_.all().size();
    const auto resolved = static_cast<std::ptrdiff_t>(resolved_.size());
    if (!load_files()) return false;
    if (diagnostics_.all().size() != told) return true;
    files.choice = choice_;
    files.optional = optional_;
    files.resolved.assign(resolved_.begin() + resolved, resolved_.end());
    if (known.size() >= k_kept) known.erase(known.begin());
    known.push_back(std::move(files));
    return true;
  }

  // The document of a named file under `folder`, or of a path the user wrote; the choice is recorded.
  std::optional<Value> load_noun(const std::string& section, const std::string& key, const std::string& folder,
                                 const std::string& fallback) {
    const Value* written = document_.find(key);
    if (written == nullptr && fallback.empty()) {
      diagnostics_.error(document_.place(), section, "is missing", "one of " + joined(folder));
      return std::nullopt;
    }
    if (written != nullptr && !written->is(Value::Kind::string)) {
      diagnostics_.error(written->place(), section, "is " + kind_name(written->kind()),
                         "a name, the path of a .toml file, or a table with a name");
      return std::nullopt;
    }
    const std::string name = written != nullptr ? written->as_string() : fallback;
    const Place asked_at = written != nullptr ? written->place() : Place{configs_.display_name(folder), 0, 0};
    std::optional<std::string> text = configs_.text(folder + name + ".toml");
    std::string file = configs_.display_name(folder + name + ".toml");
    const bool is_path = name.find('/') != std::string::npos || name.ends_with(".toml");
    if (!text && is_path && written != nullptr) {
      file = path_from(*written);
      text = read_text_file(file, asked_at, key, diagnostics_);
      if (!text) return std::nullopt;
    }
    if (!text) {
      const std::vector<std::string> known = names_in(configs_, folder);
      diagnostics_.error(asked_at, section, fmt::format("no {} is called \"{}\"", section, name),
                         "one of " + joined(folder) + ", or the path of a .toml file", nearest(name, known));
      return std::nullopt;
    }
    record(section, name, written, fallback);
    return parse_toml(*text, file, diagnostics_);
  }

  void record(const std::string& section, const std::string& name, const Value* written, const std::string& fallback) {
    if (section == "system") choice_.system = name;
    if (section == "software") choice_.software = name;
    if (section == "chip") return;
    const std::string origin = written != nullptr ? origin_of(written->place()) : "default of the system: " + fallback;
    const bool shipped =
        configs_.text(section == "system" ? "systems/" + name + ".toml" : "software/" + name + ".toml").has_value();
    const std::string source = written != nullptr && !shipped ? path_from(*written) : name;
    resolved_.push_back({section + ".name", toml_string(source), origin, !shipped});
  }

  std::string joined(const std::string& folder) const {
    return fmt::format("{}", fmt::join(names_in(configs_, folder), ", "));
  }

  // A shipped chip, or a file beside the system's own that names it.
  bool load_chip(const Value& system) {
    const Value* named = system.find("chip");
    const Place asked_at = named != nullptr ? named->place() : system.place();
    std::string file = "chips/" + choice_.chip + ".toml";
    std::optional<std::string> text = configs_.text(file);
    const bool shipped = text.has_value();
    if (!shipped && named != nullptr && choice_.chip.ends_with(".toml")) {
      file = path_from(*named);
      text = read_text_file(file, asked_at, "chip", diagnostics_);
      if (!text) return false;
    }
    if (!text) {
      diagnostics_.error(asked_at, "chip", fmt::format("no chip is called \"{}\"", choice_.chip),
                         "one of " + joined("chips/") + ", or the path of a .toml file",
                         nearest(choice_.chip, names_in(configs_, "chips/")));
      return false;
    }
    const std::optional<Value> chip = parse_toml(*text, shipped ? configs_.display_name(file) : file, diagnostics_);
    if (!chip) return false;
    choice_.constants.add(*chip, "chip", {"name", "family", "summary"}, diagnostics_);
    if (!shipped) choice_.chip = read_text(*chip, "name").value_or(choice_.chip);
    return true;
  }

  bool load_software(const Value& system) {
    const std::string fallback = read_text(system, "software").value_or("");
    const std::optional<Value> software = load_noun("software", "software.name", "software/", fallback);
    if (!software || !suits(*software)) return false;
    choice_.constants.add(*software, "software", {"name", "family", "summary"}, diagnostics_);
    return true;
  }

  // Software that names a family runs on systems of that family alone.
  bool suits(const Value& software) {
    const std::string family = read_text(software, "family").value_or(choice_.family);
    if (family == choice_.family) return true;
    std::vector<std::string> suiting;
    for (const std::string& name : names_in(configs_, "software/")) {
      Diagnostics ignored;
      const std::string path = "software/" + name + ".toml";
      const std::optional<Value> other = parse_toml(*configs_.text(path), path, ignored);
      if (other && read_text(*other, "family").value_or("") == choice_.family) suiting.push_back(name);
    }
    if (suiting.empty()) return true;  // nobody knows the system's family, which is told elsewhere
    const Value* written = document_.find("software.name");
    diagnostics_.error(written != nullptr ? written->place() : document_.place(), "software",
                       fmt::format("\"{}\" is of family \"{}\", system \"{}\" is of family \"{}\"", choice_.software,
                                   family, choice_.system, choice_.family),
                       fmt::format("one of {}", fmt::join(suiting, ", ")));
    return false;
  }

  void load_family_constants() {
    for (const std::string& path : configs_.list("constants/")) {
      const std::optional<Value> file = parse_toml(*configs_.text(path), configs_.display_name(path), diagnostics_);
      if (!file || read_text(*file, "family").value_or("") != choice_.family) continue;
      choice_.constants.add(*file, read_text(*file, "prefix").value_or(""),
                            {"name", "family", "prefix", "summary", "optional"}, diagnostics_);
      if (const Value* optional = file->find("optional")) optional_ = *optional;
    }
  }

  void read_options() {
    if (const Value* nodes = document_.find("system.nodes")) {
      if (nodes->is(Value::Kind::integer) && nodes->as_integer() >= 1 && nodes->as_integer() <= 4096) {
        choice_.nodes = nodes->as_integer();
      } else {
        diagnostics_.error(nodes->place(), "system.nodes", "is not a number of systems", "an integer from 1 to 4096");
      }
    }
    resolved_.push_back(
        {"system.nodes", std::to_string(choice_.nodes),
         document_.find("system.nodes") ? origin_of(document_.find("system.nodes")->place()) : "default"});
    const Value* slowdown = document_.find("system.slowdown");
    if (slowdown == nullptr) return;
    if (!slowdown->is(Value::Kind::table)) {
      diagnostics_.error(slowdown->place(), "system.slowdown", "is " + kind_name(slowdown->kind()),
                         "a table of device names and factors");
      return;
    }
    for (const Value::Member& member : slowdown->members()) read_slowdown(member);
  }

  void read_slowdown(const Value::Member& member) {
    const bool number = member.value.is(Value::Kind::floating) || member.value.is(Value::Kind::integer);
    const double factor = number ? member.value.as_number() : 0;
    const std::string path = "system.slowdown." + member.key;
    if (!(factor >= 1 && factor <= 1000)) {
      diagnostics_.error(member.value.place(), path, "is no slowdown", "a factor on durations, from 1 to 1000");
      return;
    }
    choice_.slowdown[member.key] = factor;
    resolved_.push_back({path, format_number(factor), origin_of(member.value.place())});
  }

  void apply_overlay(const std::string& path) {
    const std::optional<std::string> text = read_text_file(path, {"command line", 0, 0}, "--overlay", diagnostics_);
    if (!text) return;
    const std::optional<Value> overlay = parse_toml(*text, path, diagnostics_);
    if (!overlay) return;
    override_members(*overlay, "");
    mark_fitted(*overlay, "", path);
  }

  // An overlay may say that it was fitted: all other values that replace a shipped one are just the user's.
  void mark_fitted(const Value& table, const std::string& prefix, const std::string& file) {
    for (const Value::Member& member : table.members()) {
      if (!member.value.is(Value::Kind::table)) continue;
      const std::string name = prefix.empty() ? member.key : prefix + "." + member.key;
      const std::optional<ConstantId> id = choice_.constants.find(name);
      if (id && read_text(member.value, "confidence") == "fitted") {
        const std::string source = read_text(member.value, "source").value_or("fitted");
        choice_.constants.mark_fitted(*id, source + "; " + file, read_text(member.value, "spread").value_or(""));
      } else if (member.value.find("value") == nullptr) {
        mark_fitted(member.value, name, file);
      }
    }
  }

  void apply_section(const std::string& section) {
    const Value* table = document_.find(section);
    if (table == nullptr || !table->is(Value::Kind::table)) return;
    override_members(*table, section);
  }

  void override_members(const Value& table, const std::string& prefix) {
    for (const Value::Member& member : table.members()) {
      const std::string name = prefix.empty() ? member.key : prefix + "." + member.key;
      const bool option = (prefix == "system" && std::ranges::count(system_options(), member.key) > 0) ||
                          (prefix == "software" && member.key == "name");
      if (option) continue;
      // A constant may be copied from a shipped file with its source; only its value replaces the old one.
      const Value* full = member.value.is(Value::Kind::table) ? member.value.find("value") : nullptr;
      if (member.value.is(Value::Kind::table) && member.value.members().empty()) {
        diagnostics_.error(member.value.place(), name, "is an empty table", "a value, or constants below it");
      } else if (member.value.is(Value::Kind::table) && full == nullptr) {
        override_members(member.value, name);
      } else {
        allow_optional(name);
        choice_.constants.override_value(name, full != nullptr ? *full : member.value, diagnostics_);
        if (const auto id = choice_.constants.find(name)) {
          const Constant& constant = choice_.constants[*id];
          const bool bare = constant.dimension == "number";
          resolved_.push_back(
              {name, bare ? constant.text : toml_string(constant.text), origin_of(member.value.place())});
        }
      }
    }
  }

  // No file need state it; stated, it replaces the sound value beside its name.
  void allow_optional(const std::string& name) {
    if (choice_.constants.find(name) || !optional_.is(Value::Kind::table)) return;
    for (const Value::Member& member : optional_.members()) {
      if (member.key != name) continue;
      Value only = Value::table(optional_.place());
      only.add(member.key, member.key_place, member.value);
      choice_.constants.add(only, "", {}, diagnostics_);
    }
  }

  const Value& document_;
  const ConfigFiles& configs_;
  std::vector<ResolvedKey>& resolved_;
  Diagnostics& diagnostics_;
  MachineChoice choice_;
  Value optional_ = Value::null({});  // constants of the family that no file need state, by dotted name
};

}  // namespace

ConstantSet with_changes(ConstantSet constants, const std::vector<ConstantChange>& changes) {
  for (const ConstantChange& change : changes) {
    if (const auto id = constants.find(change.name)) constants.vary(*id, change.base_value);
  }
  return constants;
}

Value with_machine_tables(Value document) {
  for (const char* section : {"system", "software"}) {
    const Value* written = document.find(section);
    if (written == nullptr || written->is(Value::Kind::table)) continue;
    Value table = Value::table(written->place());
    table.add("name", written->place(), *written);
    document.set(section, std::move(table));
  }
  return document;
}

MachineChoice choose_machine(const Value& document, const std::vector<std::string>& overlays,
                             const ConfigFiles& configs, std::vector<ResolvedKey>& resolved, Diagnostics& diagnostics,
                             std::vector<MachineFiles>* known) {
  return MachineLoader(document, configs, resolved, diagnostics).load(overlays, known);
}

}  // namespace podsim
