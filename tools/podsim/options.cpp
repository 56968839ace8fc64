#include "tools/podsim/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>
#include <charconv>

#include "sim/core/diagnostics.hpp"

namespace podsim {
namespace {

namespace po = boost::program_options;

constexpr const char* k_words = "podsim-words";

const std::vector<OptionSpec>& common_options() {
  static const std::vector<OptionSpec> k_options{{"help", "", "print this help"}};
  return k_options;
}

po::options_description description(const std::vector<OptionSpec>& options) {
  po::options_description result;
  for (const OptionSpec& option : options) {
    const std::string name(option.name);
    if (option.argument.empty())
      result.add_options()(name.c_str(), "");
    else
      result.add_options()(name.c_str(), po::value<std::vector<std::string>>(), "");
  }
  result.add_options()(k_words, po::value<std::vector<std::string>>(), "");
  return result;
}

[[noreturn]] void unknown_option(const std::string& option, const std::vector<OptionSpec>& options) {
  std::vector<std::string> names;
  for (const OptionSpec& known : options) names.emplace_back("--" + std::string(known.name));
  const std::string word = option.substr(0, option.find('='));
  throw UsageError(fmt::format("unknown option {}{}", word, suggestion_for(word, names)));
}

}  // namespace

std::vector<OptionSpec> all_options(const VerbSpec& verb) {
  std::vector<OptionSpec> options = verb.options;
  options.insert(options.end(), common_options().begin(), common_options().end());
  return options;
}

bool Arguments::has(std::string_view option) const {
  return options_.find(option) != options_.end();
}

std::optional<std::string> Arguments::value(std::string_view option) const {
  const auto found = options_.find(option);
  if (found == options_.end()) return std::nullopt;
  return found->second.back();
}

std::vector<std::string> Arguments::values(std::string_view option) const {
  const auto found = options_.find(option);
  return found == options_.end() ? std::vector<std::string>() : found->second;
}

namespace {

constexpr char k_dashed = '\x01';  // in front of a word, so that it does not look like an option

// Hides the dashes of words that are no options of the verb.
std::vector<std::string> with_dashes_hidden(const std::vector<OptionSpec>& options,
                                            std::span<const std::string> arguments) {
  std::vector<std::string> hidden(arguments.begin(), arguments.end());
  for (std::string& word : hidden) {
    const std::string name = word.substr(0, word.find('='));
    const bool option =
        std::ranges::any_of(options, [&](const OptionSpec& known) { return name == "--" + std::string(known.name); });
    if (word.size() > 1 && word.front() == '-' && !option) word.insert(word.begin(), k_dashed);
  }
  return hidden;
}

}  // namespace

Arguments parse_arguments(const VerbSpec& verb, std::span<const std::string> arguments) {
  const std::vector<OptionSpec> options = all_options(verb);
  const std::vector<std::string> words_as_given(arguments.begin(), arguments.end());
  po::positional_options_description words;
  words.add(k_words, -1);
  po::parsed_options parsed(nullptr);
  const po::options_description known = description(options);
  try {
    namespace style = po::command_line_style;
    parsed = po::command_line_parser(verb.dashed_words ? with_dashes_hidden(options, arguments) : words_as_given)
                 .options(known)
                 .positional(words)
                 .style(style::allow_long | style::long_allow_adjacent | style::long_allow_next)
                 .run();
  } catch (const po::unknown_option& error) {
    unknown_option(error.get_option_name(), options);
  } catch (const po::error& error) {
    throw UsageError(error.what());
  }
  Arguments result;
  for (const po::option& option : parsed.options) {
    if (option.string_key == k_words) {
      for (const std::string& word : option.value) {
        if (word.size() > 1 && word.front() == '-') unknown_option(word, options);
      }
      for (const std::string& word : option.value) {
        result.words_.push_back(word.starts_with(k_dashed) ? word.substr(1) : word);
      }
      continue;
    }
    const auto spec = std::find_if(options.begin(), options.end(),
                                   [&](const OptionSpec& candidate) { return candidate.name == option.string_key; });
    auto& values = result.options_[option.string_key];
    if (!values.empty() && !spec->repeatable) throw UsageError("option --" + option.string_key + " is given twice");
    const bool flag = spec->argument.empty();
    if (!flag && (option.value.empty() || option.value.front().empty())) {
      throw UsageError(fmt::format("option --{} needs a value: {}", option.string_key, spec->argument));
    }
    values.push_back(flag ? std::string() : option.value.front());
  }
  if (result.words_.size() > verb.most_words && !result.has("help")) {
    throw UsageError(fmt::format("unexpected argument \"{}\"", result.words_[verb.most_words]));
  }
  return result;
}

std::string option_help(const OptionSpec& option) {
  if (option.choices.empty()) return std::string(option.help);
  std::string text;
  for (std::size_t i = 0; i < option.choices.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == option.choices.size() ? " or " : ", ") + std::string(option.choices[i]);
    if (i == 0) text += " (default)";
  }
  return text + (option.help.empty() ? "" : ": " + std::string(option.help));
}

std::string help_text(const VerbSpec& verb) {
  std::string text = fmt::format("Usage: podsim {}\n\n{}\n", verb.usage, verb.summary);
  if (!verb.details.empty()) text += fmt::format("{}\n", verb.details);
  text += "\nOptions:\n";
  for (const OptionSpec& option : all_options(verb)) {
    const std::string left = fmt::format("--{} {}", option.name, option.argument);
    text += fmt::format("  {:<28} {}{}\n", left, option_help(option), option.repeatable ? " (repeatable)" : "");
  }
  text += "\nExamples:\n";
  for (const std::string_view example : verb.examples) text += fmt::format("  {}\n", example);
  return text;
}

std::string suggestion_for(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near);
}

std::optional<std::int64_t> integer_option(const Arguments& arguments, std::string_view option) {
  const std::optional<std::string> text = arguments.value(option);
  if (!text) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size()) {
    throw UsageError(fmt::format("option --{}: \"{}\" is no whole number", option, *text));
  }
  return number;
}

std::string choice_option(const Arguments& arguments, const OptionSpec& option) {
  return choice_option(arguments, option.name, std::vector<std::string>(option.choices.begin(), option.choices.end()));
}

std::string choice_option(const Arguments& arguments, std::string_view option,
                          const std::vector<std::string>& choices) {
  const std::string choice = arguments.value(option).value_or(choices.front());
  if (std::find(choices.begin(), choices.end(), choice) != choices.end()) return choice;
  throw UsageError(fmt::format("option --{}: unknown {} \"{}\"; expected {}{}", option, option, choice,
                               fmt::join(choices, ", "), suggestion_for(choice, choices)));
}

}  // namespace podsim
