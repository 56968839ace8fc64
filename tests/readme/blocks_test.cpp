// The reading of Markdown itself: what is a command, what is its output, and that differences are found.
#include "tests/readme/blocks.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace podsim::readme;

using Lines = std::vector<std::string>;

TEST_CASE("blocks: a console block has commands with what they print") {
  const std::vector<Block> blocks = fenced_blocks(
      "Text\n```console\n$ one \\\n    more\nprinted\n\nalso\n\n$ two    # exit code 3\n```\n```\na drawing\n```\n");
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[0].line == 2);
  CHECK(commands_in(blocks[1]).empty());
  const std::vector<Command> commands = commands_in(blocks[0]);
  REQUIRE(commands.size() == 2);
  CHECK(commands[0].text == "one     more");
  CHECK(commands[0].line == 3);
  CHECK(commands[0].exit_code == 0);
  CHECK(commands[0].shows_output);
  CHECK(commands[0].shown == Lines{"printed", "", "also"});
  CHECK(commands[1].text == "two");
  CHECK(commands[1].exit_code == 3);
  CHECK(commands[1].shown.empty());
}

TEST_CASE("blocks: a script has a command a line, and some say why no test runs them") {
  const std::vector<Block> blocks = fenced_blocks(
      "```bash\n# a comment\nfirst --x \\\n  --y   # with a remark\n\n"
      "./build  # not run by the tests: takes long\n```\n");
  REQUIRE(blocks.size() == 1);
  const std::vector<Command> commands = commands_in(blocks[0]);
  REQUIRE(commands.size() == 2);
  CHECK(commands[0].text == "first --x   --y   # with a remark");
  CHECK(commands[0].not_run.empty());
  CHECK_FALSE(commands[0].shows_output);
  CHECK(commands[1].text == "./build");
  CHECK(commands[1].not_run == "takes long");
}

TEST_CASE("blocks: commands quoted in the text are found, those in blocks are not") {
  const std::vector<Command> commands =
      quoted_commands("`podsim list keys` and\n```\n`podsim in a drawing`\n```\n`podsim run … --quiet`, `podsim`\n");
  REQUIRE(commands.size() == 2);
  CHECK(commands[0].text == "podsim list keys");
  CHECK(commands[1].text == "podsim run … --quiet");
  CHECK(commands[1].line == 5);
}

TEST_CASE("blocks: a generated part is Markdown without a fence") {
  const std::vector<Command> parts = generated_parts(
      "<!-- generated: podsim y -->\n## One\n| a |\n"
      "<!-- end -->\nmore\n");
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].text == "podsim y");
  CHECK(parts[0].shown == Lines{"## One", "| a |"});
}

TEST_CASE("blocks: the first line of a block of code names its file") {
  CHECK(named_file({"cpp", 1, {"// tests/a/b.cpp", "int x;"}}).name == "tests/a/b.cpp");
  CHECK(named_file({"toml", 1, {"# sweep.toml", "[sweep]"}}).lines == Lines{"[sweep]"});
  CHECK(named_file({"toml", 1, {"[sweep]    # sweep.toml"}}).name.empty());
}

TEST_CASE("blocks: a difference from what is printed is found") {
  const Lines shown = {"one", "two … end"};
  CHECK(differences(shown, {"one", "two 3 end"}).empty());
  CHECK(differences(shown, {"one", "two 3 ends"}).size() == 1);
  CHECK(differences(shown, {"one"}).size() == 1);
  CHECK(differences(shown, {"one", "two 3 end", "three"}).size() == 1);
  CHECK(differences(shown, {"two", "one"}).size() == 2);
}

TEST_CASE("blocks: a line of an ellipsis stands for any number of lines") {
  const Lines shown = {"first", "…", "middle", "…", "last"};
  CHECK(differences(shown, {"first", "middle", "last"}).empty());
  CHECK(differences(shown, {"first", "x", "y", "middle", "z", "last"}).empty());
  CHECK(differences(shown, {"first", "x", "last"}).size() == 1);
  CHECK(differences(shown, {"other", "middle", "last"}).size() == 1);
  CHECK(differences(shown, {"first", "middle", "last", "more"}).size() == 1);
  CHECK(differences({"first", "…"}, {"first", "x", "y"}).empty());
  CHECK(differences({"…", "last"}, {"last"}).empty());
  CHECK(differences({"…", "last"}, {"x"}).size() == 1);
  CHECK(differences({"one", "…", "one"}, {"one"}).size() == 1);
}

TEST_CASE("blocks: an ellipsis stands for any text within its line") {
  CHECK(matches("a … c … e", "a b c d e"));
  CHECK(matches("…", ""));
  CHECK_FALSE(matches("a … c … e", "a b d e"));
  CHECK_FALSE(matches("ab…ba", "aba"));
  CHECK_FALSE(matches("a", "a b"));
}

TEST_CASE("blocks: figures are refreshed, words are left to the writer") {
  const Lines printed = {"rate 6.5 GiB in 2 s", "words", "x", "ipu1  7 %  █▌"};
  CHECK(refreshed({}, printed) == printed);
  CHECK(refreshed({"rate 999 MiB in 1.5 s", "…", "ipu1 10 %  ██"}, printed) ==
        Lines{"rate 6.5 GiB in 2 s", "…", "ipu1  7 %  █▌"});
  CHECK(refreshed({"rate … in 2 s", "other words"}, printed) == Lines{"rate … in 2 s", "other words"});
}

TEST_CASE("blocks: an excerpt stands in its file in order") {
  const Lines text = {"a", "b", "c", "d", "e"};
  CHECK(is_excerpt({"b", "c"}, text));
  CHECK(is_excerpt({"a", "…", "d", "e"}, text));
  CHECK(is_excerpt({"…", "e"}, text));
  CHECK_FALSE(is_excerpt({"b", "d"}, text));
  CHECK_FALSE(is_excerpt({"d", "…", "a"}, text));
}
