#pragma once
// The verbs of the program. Each has a file of its own; to add one, declare it here and list it in verbs.cpp.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/podsim/exit_code.hpp"
#include "tools/podsim/options.hpp"

namespace podsim {

struct Verb {
  const VerbSpec& (*spec)();
  ExitCode (*run)(const Arguments& arguments);
  std::vector<Verb> kinds = {};  // by a second word: "sweep run"
};

const VerbSpec& calibrate_spec();
const VerbSpec& capacity_spec();
const VerbSpec& check_spec();
const VerbSpec& compare_spec();
const VerbSpec& explain_spec();
const VerbSpec& help_spec();
const VerbSpec& list_spec();
const VerbSpec& loss_scale_spec();
const VerbSpec& run_spec();
const VerbSpec& search_spec();
const VerbSpec& sweep_spec();
const VerbSpec& sweep_export_spec();
const VerbSpec& sweep_merge_spec();
const VerbSpec& sweep_run_spec();
const VerbSpec& sweep_show_spec();
const VerbSpec& validate_spec();

ExitCode cmd_calibrate(const Arguments& arguments);
ExitCode cmd_capacity(const Arguments& arguments);
ExitCode cmd_check(const Arguments& arguments);
ExitCode cmd_compare(const Arguments& arguments);
ExitCode cmd_explain(const Arguments& arguments);
ExitCode cmd_help(const Arguments& arguments);
ExitCode cmd_list(const Arguments& arguments);
ExitCode cmd_loss_scale(const Arguments& arguments);
ExitCode cmd_run(const Arguments& arguments);
ExitCode cmd_search(const Arguments& arguments);
ExitCode cmd_sweep(const Arguments& arguments);
ExitCode cmd_sweep_export(const Arguments& arguments);
ExitCode cmd_sweep_merge(const Arguments& arguments);
ExitCode cmd_sweep_run(const Arguments& arguments);
ExitCode cmd_sweep_show(const Arguments& arguments);
ExitCode cmd_validate(const Arguments& arguments);

// In the order of the overview.
const std::vector<Verb>& verbs();

// Null: unknown.
const Verb* find_verb(std::string_view name);
const Verb* find_kind(const Verb& verb, std::string_view word);  // null: unknown

std::vector<std::string> verb_names();

// What the exit codes of the program mean, in ascending order.
const std::vector<std::pair<int, std::string_view>>& exit_codes();

// What `podsim`, `podsim --help` and `podsim help` print.
std::string overview_text();

}  // namespace podsim
