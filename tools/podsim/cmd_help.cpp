// podsim help [VERB].

#include <fmt/format.h>

#include "tools/podsim/output.hpp"
#include "tools/podsim/verbs.hpp"

namespace podsim {

const VerbSpec& help_spec() {
  static const VerbSpec k_spec{
      "help", "help [VERB]", "Tell about podsim or one of its verbs.", "", {}, {"podsim help", "podsim help run"}, 2};
  return k_spec;
}

ExitCode cmd_help(const Arguments& arguments) {
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
