// Hydra's spelling: `key=value`, `+key=value`, `++key=value`, `~key`, and Hydra's own options.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "models/rdu/command/command_parser.hpp"
#include "models/rdu/command/model_zoo.hpp"

namespace podsim::rdu {
namespace {

constexpr std::array<std::string_view, 10> k_options_with_value{
    "--config-name", "-cn", "--config-path", "-cp", "--config-dir", "-cd", "--package", "-p", "--cfg", "-c"};

constexpr std::string_view k_training = "training";
constexpr std::string_view k_generation = "generation";

// "training" of "training.batch_size".
std::string_view section_of(std::string_view key) {
  return key.substr(0, key.find('.'));
}

// Without the quotes that Hydra's grammar has inside of the shell's.
Word unquoted(Word word) {
  const std::string& text = word.text;
  const bool quoted = text.size() >= 2 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0];
  if (!quoted) return word;
  return word.part(1, text.size() - 1);
}

// The elements of "[a, b]", or the word itself.
std::vector<Word> elements_of(const Word& word) {
  const std::string& text = word.text;
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return {unquoted(word)};
  std::vector<Word> elements;
  std::size_t begin = 1;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size() - 1);
    const std::size_t first = std::min(text.find_first_not_of(' ', begin), end);
    std::size_t last = end;
    while (last > first && text[last - 1] == ' ') --last;
    if (last > first) elements.push_back(unquoted(word.part(first, last)));
    begin = end + 1;
  }
  return elements;
}

class Parser {
 public:
  Parser(CommandInReading command, std::size_t begin)
      : words_(command.words),
        owners_(command.owners),
        line_(command.line),
        diagnostics_(command.diagnostics),
        at_(begin) {}

  void parse() {
    while (at_ < words_.size()) {
      const Word& word = words_[at_];
      const std::size_t sign = word.text.find('=');
      if (word.text.starts_with("command=")) {
        owners_[at_++] = WordOwner::sambaflow;
      } else if (word.text.starts_with("-")) {
        option(word, sign);
      } else if (word.text.starts_with("~")) {
        owners_[at_++] = WordOwner::application;
        line_.application.push_back({nullptr, word.text, word.place, {}, {}, true});
      } else if (sign == std::string::npos || sign == 0) {
        owners_[at_++] = WordOwner::application;
        line_.positionals.push_back(word);
        diagnostics_.error(word.place, word.text, "is no override", "key=value or +key=value");
      } else {
        override_of(word, sign);
      }
    }
    check_plus();
    drop_other_section();
    add_shipped_defaults(line_);
    std::erase_if(line_.flags, [&](const FlagOccurrence& used) {
      return !used.shipped_in.empty() && std::ranges::count(line_.nulls, used.flag, &FlagOccurrence::flag) > 0;
    });
  }

 private:
  void option(const Word& word, std::size_t sign) {
    FlagOccurrence found{nullptr, word.text.substr(0, sign), word.place, {}, {}, true};
    owners_[at_++] = WordOwner::application;
    if (sign != std::string::npos) {
      found.values.push_back(word.part(sign + 1));
    } else if (std::find(k_options_with_value.begin(), k_options_with_value.end(), found.name) !=
                   k_options_with_value.end() &&
               at_ < words_.size()) {
      owners_[at_] = WordOwner::application;
      found.values.push_back(words_[at_++]);
    }
    line_.application.push_back(std::move(found));
  }

  void override_of(const Word& word, std::size_t sign) {
    const std::size_t plus = std::min(word.text.find_first_not_of('+'), sign);
    const std::string key = word.text.substr(plus, sign - plus);
    FlagOccurrence found{find_zoo_key(key), key, word.place, {}, {}, true};
    const bool ours = found.flag != nullptr && found.flag->owner == FlagOwner::sambaflow;
    const WordOwner owner = ours ? WordOwner::sambaflow : WordOwner::application;
    owners_[at_++] = owner;
    const Word value = word.part(sign + 1);
    if (plus == 0 && found.flag != nullptr && found.flag->zoo_key_needs_plus)
      without_plus_.push_back({key, word.place});
    if (value.text.empty() && at_ < words_.size() && words_[at_].text.find('=') == std::string::npos &&
        !words_[at_].text.starts_with("-")) {
      diagnostics_.error(word.place, key,
                         fmt::format("has an empty value, and \"{}\" stands alone behind a blank", words_[at_].text),
                         key + "=" + words_[at_].text);
      owners_[at_++] = owner;
      found.valid = false;
    }
    if (found.flag == nullptr) {
      unknown_compiler_key(word, key);
    } else if (value.text == "null") {
      std::erase_if(line_.flags, [&](const FlagOccurrence& used) { return used.flag == found.flag; });
      line_.nulls.push_back(std::move(found));
      return;
    } else if (value.text.empty() && value.unset.empty()) {
      if (found.valid) diagnostics_.error(word.place, key, "has an empty value", "a value, or " + key + "=null");
      return;
    }
    found.values =
        found.flag != nullptr && found.flag->takes_several() ? elements_of(value) : std::vector<Word>{unquoted(value)};
    const FlagOccurrence* earlier = found.flag != nullptr ? line_.find(found.flag->key.path) : nullptr;
    if (earlier != nullptr && section_of(earlier->name) == section_of(key)) {
      diagnostics_.warning(word.place, key, "is given again; the last one counts");
    }
    if (!ours) line_.application.push_back(found);
    if (found.flag != nullptr) line_.flags.push_back(std::move(found));
  }

  void unknown_compiler_key(const Word& word, const std::string& key) {
    const std::string_view section = "samba_compile.";
    if (!key.starts_with(section)) return;
    std::string option = "--" + key.substr(section.size());
    std::replace(option.begin(), option.end(), '_', '-');
    std::string meant = likely_flag(option, FlagUse::compile);
    if (!meant.empty()) {
      meant = std::string(section) + meant.substr(2);
      std::replace(meant.begin(), meant.end(), '-', '_');
    }
    diagnostics_.warning(word.place, key, "is no key of the compiler that is known here; it has no effect", "", meant);
  }

  // Programs that train read training.*, those that generate generation.*: what is given to the others acts on nothing.
  void drop_other_section() {
    const std::string_view read = section_that_is_read();
    std::erase_if(line_.flags, [&](const FlagOccurrence& used) {
      const std::string_view section = section_of(used.name);
      const bool other = section != read && (section == k_training || section == k_generation);
      if (!other || !used.flag->without_effect.empty()) return false;
      const std::string instead = std::string(read) + used.name.substr(section.size());
      diagnostics_.warning(used.place, used.name,
                           fmt::format("has no effect: {} reads {}", line_.program_name(), instead));
      return true;
    });
  }

  // Of a program that is not Model Zoo's: that of its mode where both are given, else the one that is.
  std::string_view section_that_is_read() const {
    if (const std::optional<bool> generates = shipped_program_generates(line_.program_name())) {
      return *generates ? k_generation : k_training;
    }
    const auto given = [&](std::string_view section) {
      return std::ranges::any_of(line_.flags, [&](const auto& used) { return section_of(used.name) == section; });
    };
    if (!given(k_generation)) return k_training;
    if (!given(k_training)) return k_generation;
    return line_.find("inference") != nullptr ? k_generation : k_training;
  }

  // Only the shipped files are known; with a file of the user's own, any key may stand in it.
  void check_plus() {
    if (shipped_config(line_) == nullptr) {
      diagnostics_.warning(line_.program.place, line_.program_name(),
                           "the YAML file that it reads is not looked at; what it sets is not known");
      return;
    }
    for (const auto& [key, place] : without_plus_) {
      diagnostics_.error(place, key, "stands in none of Model Zoo's files, so Hydra does not accept it",
                         "+" + key + "=…");
    }
  }

  const std::vector<Word>& words_;
  std::vector<WordOwner>& owners_;
  CommandLine& line_;
  Diagnostics& diagnostics_;
  std::size_t at_;
  std::vector<std::pair<std::string, Place>> without_plus_;
};

}  // namespace

void read_overrides(CommandInReading command, std::size_t begin) {
  Parser(command, begin).parse();
}

}  // namespace podsim::rdu
