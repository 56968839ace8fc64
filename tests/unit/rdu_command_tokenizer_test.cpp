#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "models/rdu/command/tokenizer.hpp"

namespace podsim::rdu {
namespace {

const Place k_begin{"c", 1, 1};

struct Split {
  ShellText text;
  Diagnostics diagnostics;
};

Split split(const std::string& text, const Defines& defines = {}, const Place& begin = k_begin) {
  Split result;
  result.text = split_shell_text(text, begin, defines, result.diagnostics);
  return result;
}

using Texts = std::vector<std::string>;

// The words of the first command.
Texts words(const std::string& text, const Defines& defines = {}) {
  const Split result = split(text, defines);
  CHECK(result.diagnostics.to_text() == "");
  Texts texts;
  if (result.text.commands.empty()) return texts;
  for (const Word& word : result.text.commands.front()) texts.push_back(word.text);
  return texts;
}

std::string at(const Place& place) {
  return std::to_string(place.line) + ":" + std::to_string(place.column);
}

}  // namespace

TEST_CASE("rdu tokenizer: blanks part words, quotes and backslashes join them") {
  CHECK(words("python  app.py\tcompile") == Texts{"python", "app.py", "compile"});
  CHECK(words("--pef-name='a b' --x=\"c d\"e") == Texts{"--pef-name=a b", "--x=c de"});
  CHECK(words("a\\ b \\\"c \\\\") == Texts{"a b", "\"c", "\\"});
  CHECK(words("'a\\b$C' \"d\\e\\$F\\\"\"") == Texts{"a\\b$C", "d\\e$F\""});
  CHECK(words("'' \"\"") == Texts{"", ""});
  CHECK(words("") == Texts{});
}

TEST_CASE("rdu tokenizer: a backslash at the end of a line continues it") {
  CHECK(words("python a.py \\\n  compile \\\r\n -b 16") == Texts{"python", "a.py", "compile", "-b", "16"});
  CHECK(words("--pef-na\\\nme=x") == Texts{"--pef-name=x"});
  CHECK(words("\"a \\\nb\"") == Texts{"a b"});
}

TEST_CASE("rdu tokenizer: each word knows its line and column, in characters") {
  const Split result = split("a bc \\\n  'd'\nµ e");
  REQUIRE(result.text.commands.size() == 2);
  const std::vector<Word>& first = result.text.commands[0];
  CHECK(at(first[0].place) == "1:1");
  CHECK(at(first[1].place) == "1:3");
  CHECK(at(first[2].place) == "2:3");
  const std::vector<Word>& second = result.text.commands[1];
  CHECK(at(second[0].place) == "3:1");
  CHECK(at(second[1].place) == "3:3");
}

TEST_CASE("rdu tokenizer: the text may begin anywhere in a file, or at no line") {
  const Split later = split("a b\nc", {}, {"experiment.toml", 9, 12});
  CHECK(at(later.text.commands[0][1].place) == "9:14");
  CHECK(at(later.text.commands[1][0].place) == "10:1");
  const Split nowhere = split("a b", {}, {"command line", 0, 0});
  CHECK(nowhere.text.commands[0][1].place == Place{"command line", 0, 0});
}

TEST_CASE("rdu tokenizer: a part of a word has its own place and its own variables") {
  const Split result = split("x ${A}=\"b c\"$D");
  const Word& word = result.text.commands[0][1];
  CHECK(word.text == "${A}=b c$D");
  CHECK(word.unset.size() == 2);
  const Word value = word.part(5);
  CHECK(value.text == "b c$D");
  CHECK(at(value.place) == "1:9");
  REQUIRE(value.unset.size() == 1);
  CHECK(value.unset[0].name == "D");
  CHECK(word.part(0, 4).text == "${A}");
  CHECK(word.part(word.text.size()).text == "");
}

TEST_CASE("rdu tokenizer: variables are filled by defines only, and unset ones are named") {
  const Defines defines{{"OUT", "out"}, {"2", "64"}, {"N", "-np 4"}, {"$(hostname)", "sn30-r1"}, {"EMPTY", ""}};
  CHECK(words("$OUT/a ${OUT}b $2 ${2}", defines) == Texts{"out/a", "outb", "64", "64"});
  CHECK(words("x $N \"$N\"", defines) == Texts{"x", "-np", "4", "-np 4"});
  CHECK(words("$(hostname) `hostname`", defines) == Texts{"sn30-r1", "sn30-r1"});
  CHECK(words("${NO:-16} ${NO-x} ${OUT:-y}", defines) == Texts{"16", "x", "out"});
  CHECK(words("a $EMPTY b", defines) == Texts{"a", "b"});
  CHECK(words("'$OUT' \\$OUT $ a$", defines) == Texts{"$OUT", "$OUT", "$", "a$"});

  const Split result = split("mpirun -np ${NP} $(date +%s) \"$HOME/x\" $(a $(b))");
  const std::vector<Word>& unset = result.text.commands[0];
  CHECK(unset[2].text == "${NP}");
  CHECK(unset[2].unset == std::vector<UnsetVariable>{{"NP", {"c", 1, 12}}});
  CHECK(unset[3].unset == std::vector<UnsetVariable>{{"$(date +%s)", {"c", 1, 18}}});
  CHECK(unset[4].text == "$HOME/x");
  CHECK(unset[4].unset == std::vector<UnsetVariable>{{"HOME", {"c", 1, 31}}});
  CHECK(unset[5].unset[0].name == "$(a $(b))");
}

TEST_CASE("rdu tokenizer: placeholders of documentation are variables") {
  const Split result = split("-np <NUM_PROCESSES> a=PATH_TO_PEF v=MAJOR.MINOR.PATCH");
  const std::vector<Word>& unset = result.text.commands[0];
  CHECK(unset[1].unset == std::vector<UnsetVariable>{{"NUM_PROCESSES", {"c", 1, 5}}});
  CHECK(unset[2].unset == std::vector<UnsetVariable>{{"PATH_TO_PEF", {"c", 1, 23}}});
  CHECK(unset[3].unset[0].name == "MAJOR.MINOR.PATCH");
  const Defines defines{{"NUM_PROCESSES", "8"}, {"PATH_TO_PEF", "/x.pef"}, {"MAJOR.MINOR.PATCH", "1.19.1"}};
  CHECK(words("-np <NUM_PROCESSES> a=PATH_TO_PEF v=MAJOR.MINOR.PATCH", defines) ==
        Texts{"-np", "8", "a=/x.pef", "v=1.19.1"});
}

TEST_CASE("rdu tokenizer: assignments of the text itself hold for what follows, defines come first") {
  CHECK(words("OUT=x\nexport BS=8 N=2; run $OUT $BS") == Texts{"run", "x", "8"});
  CHECK(words("OUT=x\nrun $OUT", {{"OUT", "y"}}) == Texts{"run", "y"});
  CHECK(words("A=1; A=2; run $A") == Texts{"run", "2"});
  CHECK(words("OUT=x run") == Texts{"OUT=x", "run"});
  const Split result = split("A=$B\nrun $A");
  CHECK(result.text.assignments.size() == 1);
  CHECK(result.text.commands[0][1].unset[0].name == "A");
}

TEST_CASE("rdu tokenizer: commands are parted, comments left out, pipes and redirections marked") {
  const Split result = split("#!/bin/bash\n# note\ncd x && a b#c # d\ne 2>&1 > log | tee 'f'; g & h || i");
  const std::vector<Texts> expected{{"cd", "x"}, {"a", "b#c"}, {"e", "2>&", "1", ">", "log", "|", "tee", "f"},
                                    {"g"},       {"h"},        {"i"}};
  REQUIRE(result.text.commands.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    Texts texts;
    for (const Word& word : result.text.commands[i]) texts.push_back(word.text);
    CHECK(texts == expected[i]);
  }
  for (std::size_t i = 0; i < 8; ++i) {
    CAPTURE(i);
    CHECK(result.text.commands[2][i].for_shell == (i > 0));
  }
  CHECK_FALSE(result.text.commands[3][0].for_shell);
}

TEST_CASE("rdu tokenizer: what a shell would stumble over is reported with its place") {
  struct Case {
    std::string text;
    std::string report;
  };
  const std::vector<Case> cases{
      {"a 'b", "c:1:3: command: single quote without end; expected a second '\n"},
      {"a \"b", "c:1:3: command: double quote without end; expected a second \"\n"},
      {"a ${b", "c:1:3: command: ${ without }\n"},
      {"a $(b", "c:1:3: command: $( without )\n"},
      {"a `b", "c:1:3: command: back quote without end\n"},
      {"--pef-name=\u201cgpt\u201d",
       "c:1:12: command: has a curly quote; expected straight quotes\n"
       "c:1:16: command: has a curly quote; expected straight quotes\n"},
      {"\u2018a", "c:1:1: command: has a curly quote; expected straight quotes\n"},
      {"a\u00a0b", "c:1:2: command: has a no-break space; expected a plain blank\n"},
      {"x \u2013b 4", "c:1:3: command: begins with a long dash; expected - or --\n"},
      {"x \u2212b 4", "c:1:3: command: begins with a minus sign; expected - or --\n"},
      {"a \\ \nb",
       "c:1:3: command: a blank stands behind the backslash, so that the command ends here; expected the backslash as "
       "last character of the line\n"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(split(c.text).diagnostics.to_text() == c.report);
  }
  CHECK(split("\u2013b \u2014pef-name=x").text.commands[0][0].text == "-b");
  CHECK(split("\u2013b \u2014pef-name=x").text.commands[0][1].text == "--pef-name=x");
  CHECK(split("'\u201c'").diagnostics.to_text() == "");
  CHECK(split(std::string(200'000, 'a')).diagnostics.to_text() ==
        "c:1:1: command: has 200000 bytes; expected at most 128 KiB\n");
}

TEST_CASE("rdu tokenizer: values that hold values cannot fill the memory") {
  std::string text = "A=" + std::string(1000, 'a') + "\n";
  for (char name = 'B'; name <= 'Z'; ++name) {
    text += std::string(1, name) + "=";
    for (int i = 0; i < 10; ++i) text += "$" + std::string(1, static_cast<char>(name - 1));
    text += "\n";
  }
  const Split result = split(text + "run $Z");
  CHECK(result.diagnostics.to_text() ==
        "c:4:3: command: the values of all variables together are too long; expected at most 128 KiB\n");
}

TEST_CASE("rdu tokenizer: only names that a shell accepts can be assigned") {
  CHECK(is_assignment("A=1"));
  CHECK(is_assignment("_a1="));
  CHECK_FALSE(is_assignment("1A=1"));
  CHECK_FALSE(is_assignment("a.b=1"));
  CHECK_FALSE(is_assignment("=1"));
  CHECK_FALSE(is_assignment("-b=1"));
  CHECK_FALSE(is_assignment("A"));
}

}  // namespace podsim::rdu
