// What a README shows as output is what the program prints. A block is marked by a comment in front of its fence:
//   <!-- output: build/release/podsim … -->
// and is compared line by line; an ellipsis (…) in the README stands for any text within the line. Markdown that the
// program writes itself stands without a fence between <!-- generated: build/release/podsim … --> and <!-- end -->.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/lint/source_tree.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/run_command.hpp"

namespace podsim::lint {
namespace {

constexpr std::string_view k_mark = "<!-- output: ";
constexpr std::string_view k_generated = "<!-- generated: ";
constexpr std::string_view k_generated_end = "<!-- end -->";
constexpr std::string_view k_mark_end = " -->";
constexpr std::string_view k_program = "build/release/podsim";
constexpr std::string_view k_ellipsis = "…";

struct OutputBlock {
  std::string command;
  std::vector<std::string> lines;
};

std::vector<OutputBlock> output_blocks(const std::string& text) {
  std::vector<OutputBlock> blocks;
  const std::vector<std::string> lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].ends_with(k_mark_end)) continue;
    const bool generated = lines[i].starts_with(k_generated);
    if (!generated && !lines[i].starts_with(k_mark)) continue;
    const std::size_t mark = generated ? k_generated.size() : k_mark.size();
    OutputBlock block;
    block.command = lines[i].substr(mark, lines[i].size() - mark - k_mark_end.size());
    if (generated) {
      for (++i; i < lines.size() && lines[i] != k_generated_end; ++i) block.lines.push_back(lines[i]);
      blocks.push_back(block);
      continue;
    }
    while (i + 1 < lines.size() && !lines[i].starts_with("```")) ++i;
    for (++i; i < lines.size() && !lines[i].starts_with("```"); ++i) block.lines.push_back(lines[i]);
    blocks.push_back(block);
  }
  return blocks;
}

// Whether `line` is `pattern`, where each ellipsis of the pattern is any text.
bool matches(std::string_view pattern, std::string_view line) {
  std::size_t cut = pattern.find(k_ellipsis);
  if (cut == std::string_view::npos) return pattern == line;
  if (!line.starts_with(pattern.substr(0, cut))) return false;
  line.remove_prefix(cut);
  for (pattern.remove_prefix(cut + k_ellipsis.size()); (cut = pattern.find(k_ellipsis)) != std::string_view::npos;
       pattern.remove_prefix(cut + k_ellipsis.size())) {
    const std::size_t found = line.find(pattern.substr(0, cut));
    if (found == std::string_view::npos) return false;
    line.remove_prefix(found + cut);
  }
  return line.ends_with(pattern);
}

std::vector<std::string> differences(const OutputBlock& block, const std::vector<std::string>& printed) {
  std::vector<std::string> findings;
  for (std::size_t i = 0; i < std::max(block.lines.size(), printed.size()); ++i) {
    const std::string shown = i < block.lines.size() ? block.lines[i] : "(nothing)";
    const std::string real = i < printed.size() ? printed[i] : "(nothing)";
    const bool both = i < block.lines.size() && i < printed.size();
    if (both && matches(shown, real)) continue;
    findings.push_back("line " + std::to_string(i + 1) + "\n  README:  " + shown + "\n  printed: " + real);
  }
  return findings;
}

// Runs the block's command with the program of this build.
std::vector<std::string> printed_by(const OutputBlock& block) {
  std::string command = block.command;
  const std::size_t at = command.find(k_program);
  if (at != std::string::npos) command.replace(at, k_program.size(), test::shell_quoted(test::program()));
  return lines_of(test::run_command(command, test::source_dir()).out);
}

TEST_CASE("readme: output blocks are what the program prints") {
  int blocks = 0;
  for (const SourceFile& file : read_tree(test::source_dir())) {
    if (!file.path.ends_with(".md")) continue;
    for (const OutputBlock& block : output_blocks(file.text)) {
      ++blocks;
      const std::vector<std::string> findings = differences(block, printed_by(block));
      INFO(file.path << ": " << block.command << "\n" << joined(findings));
      CHECK(findings.empty());
    }
  }
  if (blocks == 0) MESSAGE("skipped: no README has an output block");
}

TEST_CASE("readme: a planted difference from the output is found") {
  const std::string text = "Text\n<!-- output: build/release/podsim x -->\n\n```text\none\ntwo … end\n```\nmore\n";
  const std::vector<OutputBlock> blocks = output_blocks(text);
  REQUIRE(blocks.size() == 1);
  CHECK(blocks[0].command == "build/release/podsim x");
  CHECK(blocks[0].lines == std::vector<std::string>{"one", "two … end"});
  CHECK(differences(blocks[0], {"one", "two 3 end"}).empty());
  CHECK(differences(blocks[0], {"one", "two 3 ends"}).size() == 1);
  CHECK(differences(blocks[0], {"one"}).size() == 1);
  CHECK(differences(blocks[0], {"one", "two 3 end", "three"}).size() == 1);
  CHECK(differences(blocks[0], {"two", "one"}).size() == 2);
}

TEST_CASE("readme: generated Markdown is a block without a fence") {
  const std::vector<OutputBlock> blocks =
      output_blocks("<!-- generated: build/release/podsim y -->\n## One\n| a |\n<!-- end -->\nmore\n");
  REQUIRE(blocks.size() == 1);
  CHECK(blocks[0].command == "build/release/podsim y");
  CHECK(blocks[0].lines == std::vector<std::string>{"## One", "| a |"});
}

TEST_CASE("readme: an ellipsis stands for any text within its line") {
  CHECK(matches("a … c … e", "a b c d e"));
  CHECK(matches("…", ""));
  CHECK_FALSE(matches("a … c … e", "a b d e"));
  CHECK_FALSE(matches("ab…ba", "aba"));
  CHECK_FALSE(matches("a", "a b"));
}

}  // namespace
}  // namespace podsim::lint
