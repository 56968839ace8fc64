#pragma once
// Markdown files as a reader follows them: fenced blocks, the commands in them, the output shown.
//
//   ```console    lines with "$ " are commands, run one after another; what follows is what they print
//   ```bash       every line is a command that ends well; its output is not shown
//   ```toml, ```json, ```csv, ```cpp    the first line names a file in a comment. With a folder: an excerpt of that
//   file
//                 of the tree. Without one: the reader's own file, there for the commands that follow
//   ```text, ```  a drawing or a formula
//
// Behind a command, "# exit code N" says that it ends so, "# not run by the tests: REASON" that it is only read. In
// what is shown, an ellipsis (…) stands for any text within its line, and a line of nothing else for any number of
// lines.

#include <string>
#include <string_view>
#include <vector>

namespace podsim::readme {

struct Block {
  std::string language;
  int line = 0;  // of the fence, from 1
  std::vector<std::string> lines;
};

std::vector<Block> fenced_blocks(const std::string& markdown);

struct Command {
  std::string text;  // for the shell, continuation lines joined
  int line = 0;
  int exit_code = 0;
  std::string not_run = {};   // the reason; empty where it is run
  bool shows_output = false;  // whether `shown` is all that it prints
  int first_shown = 0;        // line of shown[0]
  std::vector<std::string> shown = {};
};

// Of a block in console or bash; none of others.
std::vector<Command> commands_in(const Block& block);

// `podsim …` between backticks in the text around the blocks.
std::vector<Command> quoted_commands(const std::string& markdown);

// What the program writes into a page: lines between <!-- generated: COMMAND --> and <!-- end -->.
std::vector<Command> generated_parts(const std::string& markdown);

struct NamedFile {
  std::string name;  // empty where the first line names none
  std::vector<std::string> lines;
};

// Of a block in toml, json, csv or cpp.
NamedFile named_file(const Block& block);

// Whether `line` is `pattern`, where each ellipsis of the pattern is any text.
bool matches(std::string_view pattern, std::string_view line);

// Where `printed` is not what is shown; empty where it is.
std::vector<std::string> differences(const std::vector<std::string>& shown, const std::vector<std::string>& printed);

// What is shown, with the figures that are printed now. A line is taken over where it differs in figures alone, and
// all of it where nothing is shown yet; what else has changed is left to the writer of the page.
std::vector<std::string> refreshed(const std::vector<std::string>& shown, const std::vector<std::string>& printed);

// Whether the lines of `excerpt` stand in `text`, one behind the other; lines of an ellipsis alone are gaps.
bool is_excerpt(const std::vector<std::string>& excerpt, const std::vector<std::string>& text);

}  // namespace podsim::readme
