#pragma once
// One command, taken apart but not yet typed: environment, launchers, program, sub-command, flags. Two spellings of
// flags exist: options read by Python's argparse (`compile -b 16 -o3`), and Model Zoo's overrides read by Hydra
// (`command=compile training.batch_size=16 +samba_compile.arch=sn30`).
// Sources: Python documentation, argparse; Hydra documentation, Basic override syntax.

#include <string>
#include <string_view>
#include <vector>

#include "models/rdu/command/flags.hpp"
#include "models/rdu/command/launcher.hpp"
#include "models/rdu/command/tokenizer.hpp"

namespace podsim::rdu {

enum class Spelling { options, overrides };

// Whose a word is. Whether it holds a variable without value is told beside it.
enum class WordOwner { sambaflow, application, launcher, program, environment, shell };

std::string_view to_text(WordOwner owner);

struct ClassifiedWord {
  std::string text;
  Place place;
  WordOwner owner = WordOwner::application;
  std::vector<UnsetVariable> unset;
};

// A flag as it was used.
struct FlagOccurrence {
  const FlagSpec* flag = nullptr;  // null: the application's own and unknown here
  std::string name;                // as written: "-b", "--batch-size", "samba_compile.arch"
  Place place;
  std::vector<Word> values;
  std::string shipped_in;  // not written by the user: the shipped file whose default it is
  bool valid = true;       // false: a problem with its form was reported
};

struct EnvironmentVariable {
  std::string name;
  Word value;
};

struct CommandLine {
  Place place;  // of its first word
  std::vector<EnvironmentVariable> environment;
  std::vector<LauncherCall> launchers;  // outermost first
  Word program;                         // the script behind the interpreter; no text when there is none
  Word sub_command;                     // "compile", "run", "test", "measure-performance"; no text when there is none
  Spelling spelling = Spelling::options;
  std::vector<FlagOccurrence> flags;        // in order, ours and those of the application that are known
  std::vector<FlagOccurrence> nulls;        // Hydra's null: not given, whatever a shipped file sets
  std::vector<FlagOccurrence> application;  // in order, every flag that SambaFlow itself does not read
  std::vector<Word> positionals;            // behind the sub-command, taken by no flag
  std::vector<ClassifiedWord> words;        // every word of the command

  bool compiles() const { return sub_command.text == "compile"; }
  FlagUse use() const;
  // The file name of the program: "hook.py".
  std::string program_name() const;
  // Variables without value anywhere, each name once.
  std::vector<UnsetVariable> unset() const;
  // The last use of a flag of the table; null when it is not there.
  const FlagOccurrence* find(std::string_view flag_path) const;
};

// Problems of form go to `diagnostics`; always returns what could be read.
CommandLine read_command_line(const std::vector<Word>& words, Diagnostics& diagnostics);

}  // namespace podsim::rdu
