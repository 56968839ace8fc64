#include "models/rdu/command/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "models/rdu/command/command_parser.hpp"

namespace podsim::rdu {
namespace {

constexpr std::array<std::string_view, 4> k_sub_commands{"compile", "run", "test", "measure-performance"};
const char* const k_expected_sub_command = "compile, run, test or measure-performance";

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// Commands of a script beside the one that matters; their words mean nothing here.
bool is_of_shell(const std::string& program) {
  constexpr std::array<std::string_view, 14> k_names{".",    "[",     "cd",     "cp", "date", "echo",   "ls",
                                                     "make", "mkdir", "module", "mv", "rm",   "source", "set"};
  return std::find(k_names.begin(), k_names.end(), program) != k_names.end();
}

bool is_sub_command(const Word& word) {
  return std::find(k_sub_commands.begin(), k_sub_commands.end(), word.text) != k_sub_commands.end();
}

class Reader {
 public:
  Reader(const std::vector<Word>& all, Diagnostics& diagnostics) : diagnostics_(diagnostics) {
    for (const Word& word : all) {
      line_.words.push_back(
          {word.text, word.place, word.for_shell ? WordOwner::shell : WordOwner::program, word.unset});
      if (word.for_shell) continue;
      index_.push_back(line_.words.size() - 1);
      words_.push_back(word);
    }
    owners_.assign(words_.size(), WordOwner::program);
    const auto shell = std::find_if(all.begin(), all.end(), [](const Word& word) { return word.for_shell; });
    if (shell != all.end()) {
      diagnostics.warning(shell->place, "command", "pipes and redirections have no effect and are not looked at");
    }
    if (!all.empty()) line_.place = all.front().place;
  }

  CommandLine read() {
    start();
    program();
    arguments();
    for (std::size_t i = 0; i < words_.size(); ++i) line_.words[index_[i]].owner = owners_[i];
    return std::move(line_);
  }

 private:
  // NAME=value and launchers, in any order, as in `A=1 srun env B=2 python`.
  void start() {
    // Documentation shows commands behind a prompt.
    const bool prompt = !words_.empty() && (words_[0].text == "$" || words_[0].text == "%");
    if (prompt) owners_[at_++] = WordOwner::shell;
    while (at_ < words_.size()) {
      const Word& word = words_[at_];
      if (is_assignment(word.text)) {
        const std::size_t sign = word.text.find('=');
        line_.environment.push_back({word.text.substr(0, sign), word.part(sign + 1)});
        owners_[at_++] = WordOwner::environment;
      } else if (const auto kind = launcher_kind(word.text)) {
        LauncherCall call;
        call.kind = *kind;
        const std::size_t end = read_launcher(words_, at_, call, diagnostics_);
        line_.launchers.push_back(std::move(call));
        for (; at_ < end; ++at_) owners_[at_] = WordOwner::launcher;
      } else {
        break;
      }
    }
  }

  // An interpreter with its options, and the script; or a program by its own name.
  void program() {
    if (at_ < words_.size() && file_name(words_[at_].text).starts_with("python")) {
      ++at_;
      while (at_ < words_.size() && words_[at_].text.starts_with("-")) {
        const std::string& option = words_[at_].text;
        if (option == "-m" || option == "-c") {
          ++at_;
          break;
        }
        at_ += option == "-W" || option == "-X" ? 2 : 1;
      }
      at_ = std::min(at_, words_.size());
    }
    if (at_ < words_.size()) line_.program = words_[at_++];
  }

  void arguments() {
    if (is_of_shell(line_.program.text)) {
      std::fill(owners_.begin() + static_cast<std::ptrdiff_t>(at_), owners_.end(), WordOwner::shell);
      return;
    }
    const CommandInReading command{words_, owners_, line_, diagnostics_};
    const auto rest = words_.begin() + static_cast<std::ptrdiff_t>(at_);
    const auto override_word =
        std::find_if(rest, words_.end(), [](const Word& word) { return word.text.starts_with("command="); });
    if (override_word != words_.end()) {
      line_.spelling = Spelling::overrides;
      line_.sub_command = override_word->part(std::string_view("command=").size());
      if (!is_sub_command(line_.sub_command)) wrong_sub_command(line_.sub_command);
      return read_overrides(command, at_);
    }
    const auto found = std::find_if(rest, words_.end(), is_sub_command);
    const std::size_t at_sub_command = static_cast<std::size_t>(found - words_.begin());
    if (found != words_.end()) {
      line_.sub_command = *found;
      owners_[at_sub_command] = WordOwner::sambaflow;
    } else if (rest != words_.end() && line_.launchers.empty() && nearly_sub_command(*rest)) {
      wrong_sub_command(*rest);
    }
    read_options(command, at_, at_sub_command);
  }

  static bool nearly_sub_command(const Word& word) {
    return !nearest(word.text, {k_sub_commands.begin(), k_sub_commands.end()}).empty();
  }

  void wrong_sub_command(const Word& word) {
    diagnostics_.error(word.place, "command", fmt::format("unknown sub-command \"{}\"", word.text),
                       k_expected_sub_command, nearest(word.text, {k_sub_commands.begin(), k_sub_commands.end()}));
  }

  Diagnostics& diagnostics_;
  CommandLine line_;
  std::vector<Word> words_;         // without the shell's own
  std::vector<std::size_t> index_;  // of each in line_.words
  std::vector<WordOwner> owners_;
  std::size_t at_ = 0;
};

}  // namespace

std::string_view to_text(WordOwner owner) {
  switch (owner) {
    case WordOwner::sambaflow:
      return "SambaFlow";
    case WordOwner::application:
      return "application";
    case WordOwner::launcher:
      return "launcher";
    case WordOwner::program:
      return "program";
    case WordOwner::environment:
      return "environment";
    case WordOwner::shell:
      return "shell";
  }
  return {};
}

FlagUse CommandLine::use() const {
  if (sub_command.text.empty()) return FlagUse::both;
  return compiles() ? FlagUse::compile : FlagUse::run;
}

std::string CommandLine::program_name() const {
  return file_name(program.text);
}

std::vector<UnsetVariable> CommandLine::unset() const {
  std::vector<UnsetVariable> all;
  std::set<std::string> names;
  for (const ClassifiedWord& word : words) {
    for (const UnsetVariable& variable : word.unset) {
      if (names.insert(variable.name).second) all.push_back(variable);
    }
  }
  return all;
}

const FlagOccurrence* CommandLine::find(std::string_view flag_path) const {
  const auto it = std::find_if(flags.rbegin(), flags.rend(), [&](const FlagOccurrence& occurrence) {
    return occurrence.flag->key.path == flag_path;
  });
  return it == flags.rend() ? nullptr : &*it;
}

CommandLine read_command_line(const std::vector<Word>& words, Diagnostics& diagnostics) {
  return Reader(words, diagnostics).read();
}

}  // namespace podsim::rdu
