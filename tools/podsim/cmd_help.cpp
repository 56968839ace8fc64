// podsim help [VERB].

#include <fmt/format.h>

#include "tools/podsim/manual.hpp"
#include "tools/podsim/output.hpp"
#include "tools/podsim/verbs.hpp"

namespace podsim {
namespace {

const OptionSpec& completion_option() {
  static const OptionSpec k_option{"completion", "SHELL", "print a completion script: source it", false, {"bash"}};
  return k_option;
}

}  // namespace

const VerbSpec& help_spec() {
  static const VerbSpec k_spec{
      "help",
      "help [VERB] [options]",
      "Tell about podsim or one of its verbs.",
      "",
      {{"man", "", "print the manual page: podsim help --man | man -l -"}, completion_option()},
      {"podsim help run", "source <(podsim help --completion bash)"},
      2,
      "verbs"};
  return k_spec;
}

ExitCode cmd_help(const Arguments& arguments) {
  if (arguments.has("man") && arguments.has("completion")) {
    throw UsageError("--man and --completion are two texts: ask for one");
  }
  if (arguments.has("man") || arguments.has("completion")) {
    if (!arguments.words().empty()) throw UsageError("--man and --completion tell about all verbs: name none");
    if (arguments.has("completion")) choice_option(arguments, completion_option());
    print(arguments.has("man") ? manual_page() : bash_completion());
    return ExitCode::done;
  }
  if (arguments.words().empty()) {
    print(overview_text());
    return ExitCode::done;
  }
  const std::string& word = arguments.words().front();
  const Verb* verb = find_verb(word);
  if (verb == nullptr) {
    throw UsageError(fmt::format("unknown verb \"{}\"{}", word, suggestion_for(word, verb_names())));
  }
  if (arguments.words().size() > 1) {
    const Verb* kind = find_kind(*verb, arguments.words()[1]);
    if (kind == nullptr) throw UsageError(fmt::format("no kind of {} is called \"{}\"", word, arguments.words()[1]));
    verb = kind;
  }
  print(help_text(verb->spec()));
  return ExitCode::done;
}

}  // namespace podsim
