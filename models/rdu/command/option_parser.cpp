// Options by the rules of Python's argparse: `-b 16`, `-b=16`, `-b16`, `--flag=value`, words behind a single dash
// (`-ws 2`), beginnings of long options that fit only one. What SambaFlow does not know is the application's own.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "models/rdu/command/command_parser.hpp"

namespace podsim::rdu {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

bool is_option(const Word& word) {
  if (word.text.size() < 2 || word.text[0] != '-') return false;
  return !is_digit(word.text[1]) && word.text[1] != '.';  // a negative number is a value
}

std::string joined_names(const std::vector<const FlagSpec*>& specs) {
  std::string text;
  for (const FlagSpec* spec : specs) text += (text.empty() ? "" : " or ") + spec->name();
  return text;
}

class Parser {
 public:
  Parser(CommandInReading command, std::size_t begin, std::size_t sub_command)
      : words_(command.words),
        owners_(command.owners),
        line_(command.line),
        diagnostics_(command.diagnostics),
        use_(line_.use()),
        sub_command_(sub_command),
        at_(begin) {}

  void parse() {
    while (at_ < words_.size()) {
      if (at_ == sub_command_) {
        ++at_;
      } else if (words_[at_].text == "--") {
        rest_is_positional();
      } else if (is_option(words_[at_])) {
        option();
      } else {
        positional();
      }
    }
  }

 private:
  void rest_is_positional() {
    owners_[at_++] = WordOwner::application;
    while (at_ < words_.size()) positional();
  }

  void positional() {
    owners_[at_] = WordOwner::application;
    line_.positionals.push_back(words_[at_++]);
    const bool of_application = sub_command_ < words_.size();
    if (of_application) {
      diagnostics_.warning(line_.positionals.back().place, line_.positionals.back().text,
                           "stands alone: no flag takes it");
    }
  }

  void option() {
    const Word& word = words_[at_];
    const std::size_t sign = word.text.find('=');
    const std::string name = word.text.substr(0, sign);
    std::optional<Word> attached;
    if (sign != std::string::npos) attached = word.part(sign + 1);
    if (const FlagSpec* flag = find_flag(name, use_)) return known(*flag, name, std::move(attached));
    if (level(name) || glued(word) || beginning(name, attached)) return;
    own(name, std::move(attached));
  }

  bool has_value(std::size_t at) const {
    return at < words_.size() && at != sub_command_ && !is_option(words_[at]) && words_[at].text != "--";
  }

  // Takes the word and returns it.
  Word take(WordOwner owner) {
    owners_[at_] = owner;
    return words_[at_++];
  }

  void known(const FlagSpec& flag, const std::string& name, std::optional<Word> attached) {
    const bool ours = flag.owner == FlagOwner::sambaflow;
    const WordOwner owner = ours ? WordOwner::sambaflow : WordOwner::application;
    FlagOccurrence found{&flag, name, words_[at_].place, {}, {}, true};
    take(owner);
    if (!flag.takes_value()) {
      if (attached) {
        diagnostics_.error(attached->place, name, "takes no value", name + " alone");
        found.valid = false;
      }
    } else if (attached && attached->text.empty()) {
      empty_value(found, ours);
    } else if (attached) {
      found.values.push_back(std::move(*attached));
    } else {
      while (has_value(at_) && (flag.takes_several() || found.values.empty())) found.values.push_back(take(owner));
      if (found.values.empty()) no_value(found, ours);
    }
    add(std::move(found), ours);
  }

  void add(FlagOccurrence found, bool ours) {
    if (ours && !found.flag->used_by(use_)) {
      const bool compiles = use_ == FlagUse::compile;
      diagnostics_.warning(found.place, found.name,
                           compiles ? "has no effect on a compile" : "has no effect on a run: it is fixed in the PEF");
    }
    if (const FlagOccurrence* earlier = line_.find(found.flag->key.path)) {
      diagnostics_.warning(found.place, found.name,
                           fmt::format("is given again; the first is {} and the last one counts", earlier->name));
    }
    if (!ours) line_.application.push_back(found);
    line_.flags.push_back(std::move(found));
  }

  // `--pef-name= x`: a blank parts the value from its flag.
  void empty_value(FlagOccurrence& found, bool ours) {
    found.valid = false;
    const bool strays = has_value(at_);
    const std::string problem =
        strays ? fmt::format("has an empty value, and \"{}\" stands alone behind a blank", words_[at_].text)
               : std::string("has an empty value");
    const std::string expected = strays ? found.name + "=" + words_[at_].text : found.name + "=value";
    if (strays) take(ours ? WordOwner::sambaflow : WordOwner::application);
    diagnostics_.error(found.place, found.name, problem, expected);
  }

  void no_value(FlagOccurrence& found, bool ours) {
    found.valid = false;
    std::string expected = "a value behind it";
    if (!found.flag->key.choices.empty()) {
      const std::vector<std::string>& words = found.flag->key.choices;
      expected = fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
    }
    const bool application = !ours;
    if (!application) diagnostics_.error(found.place, found.name, "has no value", expected);
    if (application) diagnostics_.warning(found.place, found.name, "has no value");
  }

  // -o followed by something else than 0, 1 or 3.
  bool level(const std::string& name) {
    const bool spelled = name.size() > 2 && (name.starts_with("-o") || name.starts_with("-O"));
    const bool parted = (name == "-o" || name == "-O") && at_ + 1 < words_.size() && words_[at_ + 1].text.size() == 1 &&
                        all_digits(words_[at_ + 1].text);
    if (!(spelled && all_digits(name.substr(2))) && !parted) return false;
    const std::string written = parted ? name + " " + words_[at_ + 1].text : name;
    const std::string digits = parted ? words_[at_ + 1].text : name.substr(2);
    const bool exists = digits == "0" || digits == "1" || digits == "3";
    diagnostics_.error(words_[at_].place, written, "is no optimisation level", "-o0, -o1 or -o3",
                       exists ? "-o" + digits : "");
    take(WordOwner::sambaflow);
    if (parted) take(WordOwner::sambaflow);
    return true;
  }

  // `-b16` is read as `-b 16`; argparse does so only for names of one letter.
  bool glued(const Word& word) {
    if (word.text.starts_with("--")) return false;
    const std::size_t letters =
        static_cast<std::size_t>(std::find_if(word.text.begin() + 1, word.text.end(), is_digit) - word.text.begin());
    const std::string name = word.text.substr(0, letters);
    const FlagSpec* flag = find_flag(name, use_);
    const bool number = flag != nullptr && flag->key.type == KeyType::integer && all_digits(word.text.substr(letters));
    if (!number) return false;
    if (name.size() == 2) {
      known(*flag, name, word.part(letters));
      return true;
    }
    diagnostics_.error(word.place, word.text, "is not read as a flag with a value",
                       name + " " + word.text.substr(letters));
    take(WordOwner::sambaflow);
    return true;
  }

  // Whether a flag could be what is written: a boolean alone, another with a value of its type.
  bool fits(const FlagSpec& flag, const std::optional<Word>& attached) const {
    const bool valued = attached.has_value() || has_value(at_ + 1);
    if (!flag.takes_value()) return !valued;
    if (!valued) return false;
    const std::string& value = attached ? attached->text : words_[at_ + 1].text;
    if (flag.key.type == KeyType::integer) return all_digits(value) || value.find('$') != std::string::npos;
    const std::vector<std::string>& choices = flag.key.choices;
    return choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end();
  }

  bool beginning(const std::string& name, const std::optional<Word>& attached) {
    if (!name.starts_with("--") || name.size() < 4) return false;
    std::vector<const FlagSpec*> flags = flags_beginning_with(name, use_);
    std::erase_if(flags, [&](const FlagSpec* flag) { return !fits(*flag, attached); });
    if (flags.empty()) return false;
    if (flags.size() > 1) {
      diagnostics_.warning(words_[at_].place, name,
                           "is read as the application's own flag; as a beginning it fits " + joined_names(flags));
      return false;
    }
    const std::vector<std::string>& names = flags.front()->names;
    const auto full =
        std::find_if(names.begin(), names.end(), [&](const std::string& n) { return n.starts_with(name); });
    diagnostics_.warning(words_[at_].place, name, fmt::format("is read as {}, the only flag that begins so", *full));
    known(*flags.front(), name, attached);
    return true;
  }

  // A flag of the application: what follows up to the next flag are its values.
  void own(const std::string& name, std::optional<Word> attached) {
    const std::string meant = likely_flag(name, use_);
    if (!meant.empty()) {
      diagnostics_.warning(words_[at_].place, name, "is read as the application's own flag", "", meant);
    }
    FlagOccurrence found{nullptr, name, words_[at_].place, {}, {}, true};
    take(WordOwner::application);
    if (attached && attached->text.empty() && has_value(at_)) {
      diagnostics_.warning(found.place, name,
                           fmt::format("has an empty value, and \"{}\" stands alone behind a blank", words_[at_].text),
                           name + "=" + words_[at_].text);
      found.valid = false;
    }
    if (attached) {
      found.values.push_back(std::move(*attached));
      if (!found.valid) line_.positionals.push_back(take(WordOwner::application));
    } else {
      while (has_value(at_)) found.values.push_back(take(WordOwner::application));
    }
    line_.application.push_back(std::move(found));
  }

  const std::vector<Word>& words_;
  std::vector<WordOwner>& owners_;
  CommandLine& line_;
  Diagnostics& diagnostics_;
  const FlagUse use_;
  const std::size_t sub_command_;
  std::size_t at_;
};

}  // namespace

void read_options(CommandInReading command, std::size_t begin, std::size_t sub_command) {
  Parser(command, begin, sub_command).parse();
}

}  // namespace podsim::rdu
