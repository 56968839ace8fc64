#pragma once
// The words of a command as a shell would hand them over, each with its place in the text.
//
// Understood: single and double quotes, backslashes and continued lines, $NAME, ${NAME}, ${NAME:-default}, $(command),
// placeholders such as <NUM_PROCESSES> or PATH_TO_PEF, comments, pipes and redirections. Only `defines` and assignments
// in the text itself give values to variables; the environment of this process is never read. Not done: globs, brace
// expansion, arithmetic.

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/diagnostics.hpp"

namespace podsim::rdu {

// Values of shell variables and placeholders, by name without signs: "OUTDIR", "2", "NUM_PROCESSES", "$(hostname)".
using Defines = std::map<std::string, std::string>;

// A variable, substitution or placeholder without a value.
struct UnsetVariable {
  std::string name;  // as it is looked up in Defines
  Place place;
  friend bool operator==(const UnsetVariable&, const UnsetVariable&) = default;
};

struct TextPosition {
  int line = 0;
  int column = 0;
};

struct Word {
  std::string text;  // without quotes, variables filled; what has no value stays as it was written
  Place place;       // of the first character
  std::vector<UnsetVariable> unset;
  std::vector<TextPosition> positions;  // of each byte of `text`
  bool for_shell = false;               // a redirection, a pipe or what follows it: no program sees it

  // Bytes `begin` (at most the size) to `end`, with their own place and those unset variables that stand in them.
  Word part(std::size_t begin, std::size_t end = std::string::npos) const;
};

// The commands of a text, none empty: they are parted by line ends, `;`, `&`, `&&` and `||`.
struct ShellText {
  std::vector<std::vector<Word>> commands;
  std::vector<Word> assignments;  // NAME=value without a command; later commands see them
  std::set<std::string> used;     // names of the values in Defines that were put in
};

// `begin` is the place of the text's first character; with line 0 every place is `begin` itself. Errors: a text or
// values of more than 128 KiB, quotes, braces or parentheses without end, curly quotes, long dashes and no-break spaces
// outside of quotes (pasted from a formatted document), a blank behind the backslash that should continue a line.
ShellText split_shell_text(std::string_view text, const Place& begin, const Defines& defines, Diagnostics& diagnostics);

// "NAME=value" with a NAME that a shell accepts.
bool is_assignment(std::string_view word);

}  // namespace podsim::rdu
