#include "tools/podsim/program.hpp"

#include <fmt/format.h>

#include <exception>

#include "sim/core/diagnostics.hpp"
#include "sim/store/database.hpp"
#include "sim/study/evaluate.hpp"
#include "tools/podsim/output.hpp"
#include "tools/podsim/verbs.hpp"
#include "tools/podsim/version.hpp"

namespace podsim {
namespace {

// Short forms of long options.
std::vector<std::string> with_long_options(std::span<const std::string> arguments) {
  std::vector<std::string> words;
  for (const std::string& word : arguments) {
    if (word == "-h")
      words.emplace_back("--help");
    else if (word == "-j")
      words.emplace_back("--jobs");
    else if (word.starts_with("-j") && word.find_first_not_of("0123456789", 2) == std::string::npos)
      words.push_back("--jobs=" + word.substr(2));
    else
      words.push_back(word);
  }
  return words;
}

ExitCode run_verb(const Verb& verb, std::span<const std::string> arguments) {
  try {
    const Arguments parsed = parse_arguments(verb.spec(), with_long_options(arguments));
    if (parsed.has("help")) {
      print(help_text(verb.spec()));
      return ExitCode::done;
    }
    return verb.run(parsed);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{} (see `podsim {} --help`)", error.what(), verb.spec().name));
  }
}

ExitCode run_verb_called(const std::string& word, std::span<const std::string> arguments) {
  const Verb* verb = find_verb(word);
  if (verb == nullptr) {
    throw UsageError(
        fmt::format("unknown verb \"{}\"{}; `podsim help` lists the verbs", word, suggestion_for(word, verb_names())));
  }
  const Verb* kind = arguments.empty() ? nullptr : find_kind(*verb, arguments.front());
  return kind == nullptr ? run_verb(*verb, arguments) : run_verb(*kind, arguments.subspan(1));
}

ExitCode dispatch(std::span<const std::string> arguments) {
  if (arguments.empty()) {
    print_error(overview_text());
    return ExitCode::bad_input;
  }
  const std::string& first = arguments.front();
  if (first == "--version" || first == "version") {
    print(fmt::format("podsim {} ({})\n", version(), commit()));
    return ExitCode::done;
  }
  if (first == "--help" || first == "-h") {
    print(overview_text());
    return ExitCode::done;
  }
  if (first.starts_with("-")) {
    throw UsageError(fmt::format("unknown option {}; options stand behind a verb{}", first,
                                 suggestion_for(first, {"--version", "--help"})));
  }
  return run_verb_called(first, arguments.subspan(1));
}

}  // namespace

ExitCode run_program(std::span<const std::string> arguments) {
  try {
    return dispatch(arguments);
  } catch (const BrokenPipe&) {
    return ExitCode::done;
  } catch (const UsageError& error) {
    print_error(fmt::format("podsim: {}", error.what()));
    return ExitCode::bad_input;
  } catch (const ConfigError& error) {
    print_error(error.diagnostics().to_text());
    return ExitCode::bad_input;
  } catch (const StoreError& error) {
    print_error(fmt::format("podsim: {}", error.what()));
    return ExitCode::bad_input;
  } catch (const std::range_error& error) {
    print_error(fmt::format("podsim: {}", beyond_simulated_time(error)));
    return ExitCode::bad_input;
  } catch (const std::exception& error) {
    print_error(fmt::format("podsim: internal error: {}; please report this with the command and its input files",
                            error.what()));
    return ExitCode::internal;
  }
}

}  // namespace podsim
