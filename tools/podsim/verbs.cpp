#include "tools/podsim/verbs.hpp"

#include <fmt/format.h>

namespace podsim {

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> k_verbs{{run_spec, cmd_run},
                                         {check_spec, cmd_check},
                                         {sweep_spec,
                                          cmd_sweep,
                                          {{sweep_run_spec, cmd_sweep_run},
                                           {sweep_show_spec, cmd_sweep_show},
                                           {sweep_export_spec, cmd_sweep_export},
                                           {sweep_merge_spec, cmd_sweep_merge}}},
                                         {search_spec, cmd_search},
                                         {capacity_spec, cmd_capacity},
                                         {compare_spec, cmd_compare},
                                         {validate_spec, cmd_validate},
                                         {calibrate_spec, cmd_calibrate},
                                         {loss_scale_spec, cmd_loss_scale},
                                         {list_spec, cmd_list},
                                         {explain_spec, cmd_explain},
                                         {help_spec, cmd_help}};
  return k_verbs;
}

const Verb* find_verb(std::string_view name) {
  for (const Verb& verb : verbs()) {
    if (verb.spec().name == name) return &verb;
  }
  return nullptr;
}

const Verb* find_kind(const Verb& verb, std::string_view word) {
  for (const Verb& kind : verb.kinds) {
    const std::string_view name = kind.spec().name;
    if (name.substr(name.find(' ') + 1) == word) return &kind;
  }
  return nullptr;
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) names.emplace_back(verb.spec().name);
  return names;
}

const std::vector<std::pair<int, std::string_view>>& exit_codes() {
  static const std::vector<std::pair<int, std::string_view>> k_codes{
      {0, "done"},         {1, "out of tolerance"}, {2, "bad input"},
      {3, "does not fit"}, {70, "internal error"},  {130, "interrupted"}};
  return k_codes;
}

std::string overview_text() {
  std::string text =
      "Usage: podsim VERB [arguments]\n\n"
      "Predicts how fast a model trains or runs on an accelerator pod, whether it fits, and what limits it.\n\n"
      "Verbs:\n";
  for (const Verb& verb : verbs()) text += fmt::format("  {:<10} {}\n", verb.spec().name, verb.spec().summary);
  std::string codes = "Exit codes: ";
  for (const auto& [code, meaning] : exit_codes()) {
    codes += fmt::format("{}{} {}", code == 0 ? "" : ", ", code, meaning);
  }
  return text + "\n`podsim help VERB` or `podsim VERB --help` tells more; `podsim --version` prints the version.\n" +
         codes +
         ".\n\n"
         "Examples:\n"
         "  podsim run bert-large-bow-pod16\n"
         "  podsim list systems\n";
}

}  // namespace podsim
