#pragma once
// Every flag of a SambaFlow command that is known, described once: parsing, suggestions, explanations and the table of
// flags without effect read this. Applications add flags of their own; the few that change what is simulated stand
// here too, as do the environment variables that published commands set.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/rdu/command/release.hpp"
#include "sim/config/key_spec.hpp"

namespace podsim::rdu {

enum class FlagOwner { sambaflow, application, environment };
// Which sub-commands take it: `compile`; `run`, `test` and `measure-performance`; all of them.
enum class FlagUse { compile, run, both };

struct FlagSpec {
  KeySpec key;  // path: the name without dashes; a boolean takes no value, a number_list several, others take one
  FlagOwner owner = FlagOwner::sambaflow;
  FlagUse use = FlagUse::both;
  std::vector<std::string> names;     // as written on a command line, the usual one first; empty: Model Zoo only
  std::vector<std::string> zoo_keys;  // Model Zoo's dotted keys beside samba_compile.<name with underscores>
  std::optional<Release> since;       // the first release that knows it; empty: all here considered
  bool same_at_run = false;           // part of the static graph: compile and run must agree
  std::string without_effect;         // why nothing that is simulated depends on it; empty: something does
  bool only_checked = false;          // without effect on what is simulated, but commands are checked by it
  bool zoo_key_needs_plus = false;    // in none of Model Zoo's shipped YAML files: Hydra wants "+key=value"

  const std::string& name() const { return names.empty() ? zoo_keys.front() : names.front(); }
  // Whether its value must be known: others may hold a variable without value.
  bool needs_value() const {
    return key.type != KeyType::text && key.type != KeyType::path && (without_effect.empty() || only_checked);
  }
  bool takes_value() const { return key.type != KeyType::boolean; }
  bool takes_several() const { return key.type == KeyType::number_list; }
  bool used_by(FlagUse what) const { return use == FlagUse::both || what == FlagUse::both || use == what; }
};

// All of them, in the order of the documentation.
const std::vector<FlagSpec>& flag_table();

// By path ("batch-size"); fails a check when there is none.
const FlagSpec& flag(std::string_view path);

// By a name as written ("-b", "--batch-size"); prefers one that `use` takes; null when unknown.
const FlagSpec* find_flag(std::string_view name, FlagUse use);

// argparse accepts a beginning of a long option that fits only one: the flags of `use` that `beginning` fits.
std::vector<const FlagSpec*> flags_beginning_with(std::string_view beginning, FlagUse use);

// By a dotted key of Model Zoo ("samba_compile.num_tiles", "training.batch_size"); null when unknown.
const FlagSpec* find_zoo_key(std::string_view key);

// By name; null when unknown.
const FlagSpec* find_environment_variable(std::string_view name);

// Name and reason of every flag that changes nothing that is simulated, in the order of the table.
std::vector<std::pair<std::string, std::string>> flags_without_effect();

// The long option of `use` that a wrong one was most likely meant to be: one edit away, or the same but for dashes,
// underscores and case. Empty when there is none.
std::string likely_flag(std::string_view wrong, FlagUse use);

}  // namespace podsim::rdu
