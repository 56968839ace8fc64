#pragma once
// The command line of one verb: what it accepts, what was given. Help texts come from the same tables.

#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace podsim {

// A fault in how the program was called; printed with a hint to the verb's help, exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct OptionSpec {
  std::string_view name;      // "system", without dashes
  std::string_view argument;  // "NAME|FILE"; empty: a flag
  std::string_view help;
  bool repeatable = false;
  std::vector<std::string_view> choices = {};  // all values there are, the default first; empty: anything
  std::string_view listed_as = {};             // the kind of `podsim list` that has its names; empty: none
};

struct VerbSpec {
  std::string_view name;
  std::string_view usage;    // behind "podsim": "run [EXPERIMENT.toml] [options]"
  std::string_view summary;  // one line
  std::string_view details;  // further lines of its help; may be empty
  std::vector<OptionSpec> options;
  std::vector<std::string_view> examples;  // two
  std::size_t most_words = 1;              // positional arguments
  std::string_view words_listed_as =
      {};                     // the kinds of `podsim list` that have their names, blanks between; may be empty
  bool dashed_words = false;  // they may look like options: "--num-tiles"
};

class Arguments {
 public:
  bool has(std::string_view option) const;
  std::optional<std::string> value(std::string_view option) const;
  std::vector<std::string> values(std::string_view option) const;
  const std::vector<std::string>& words() const { return words_; }

 private:
  friend Arguments parse_arguments(const VerbSpec& verb, std::span<const std::string> arguments);
  std::map<std::string, std::vector<std::string>, std::less<>> options_;
  std::vector<std::string> words_;
};

// Throws UsageError: an unknown option (with a suggestion), a missing value, an option given twice, too many words.
Arguments parse_arguments(const VerbSpec& verb, std::span<const std::string> arguments);

// What an option does, with its choices in words: "text (default), json or csv".
std::string option_help(const OptionSpec& option);

// Those of the verb and those that every verb has.
std::vector<OptionSpec> all_options(const VerbSpec& verb);

// The help of a verb: at most forty lines, two examples at its end.
std::string help_text(const VerbSpec& verb);

// `; did you mean "x"?` or nothing.
std::string suggestion_for(std::string_view word, const std::vector<std::string>& candidates);

// A whole number option; throws UsageError for anything else.
std::optional<std::int64_t> integer_option(const Arguments& arguments, std::string_view option);

// The value of an option that names its choices; the first of them when it is not given. Throws UsageError.
std::string choice_option(const Arguments& arguments, const OptionSpec& option);

// The value of an option when it is one of `choices`, the first of them when it is not given; throws UsageError.
std::string choice_option(const Arguments& arguments, std::string_view option, const std::vector<std::string>& choices);

}  // namespace podsim
