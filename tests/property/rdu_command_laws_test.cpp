// Laws of reading commands that hold for any bytes, and for commands put together or broken at random.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/rdu/command/command_checks.hpp"
#include "models/rdu/command/script.hpp"
#include "sim/core/random.hpp"

namespace podsim::rdu {
namespace {

const std::vector<std::string> k_pieces{"python",
                                        "a.py",
                                        "compile",
                                        "run",
                                        "measure-performance",
                                        "command=compile",
                                        "mpirun",
                                        "srun",
                                        "sbatch",
                                        "-np",
                                        "-n",
                                        "8",
                                        "-b",
                                        "16",
                                        "-b16",
                                        "-b=3",
                                        "-o1",
                                        "-o3",
                                        "-o9",
                                        "--",
                                        "--pef-name=",
                                        "--pef-name",
                                        "--pef",
                                        "x.pef",
                                        "'",
                                        "\"",
                                        "\\",
                                        "\\\n",
                                        "\n",
                                        ";",
                                        "&&",
                                        "|",
                                        ">",
                                        "2>&1",
                                        "<NP>",
                                        "<",
                                        "$",
                                        "${",
                                        "${A}",
                                        "${A:-2}",
                                        "$(a",
                                        "$(b)",
                                        "`",
                                        "#",
                                        "A=1",
                                        "A=",
                                        "=",
                                        "--n",
                                        "--num",
                                        "--tensor",
                                        "--data-par",
                                        "-ws",
                                        "2",
                                        "-1",
                                        "0.8",
                                        "nan",
                                        "--wrap=",
                                        "a.b=c",
                                        "+a.b=[1,2",
                                        "[",
                                        "samba_compile.num_tiles=4",
                                        "-",
                                        "\u201c",
                                        "\u2013b",
                                        "\u00a0",
                                        "\xff",
                                        "99999999999999999999",
                                        "--resources-scaling-factors",
                                        "1",
                                        "PATH_TO_X",
                                        "--inference"};

std::string random_command(Random& random) {
  std::string text;
  for (std::int64_t count = random.between(0, 24); count > 0; --count) {
    text += k_pieces[static_cast<std::size_t>(random.below(k_pieces.size()))];
    if (random.below(4) != 0) text += ' ';
  }
  return text;
}

std::string random_bytes(Random& random) {
  std::string text;
  for (std::int64_t count = random.between(0, 200); count > 0; --count) text += static_cast<char>(random.below(256));
  return text;
}

// Everything that is said of a text as either command, on a system.
std::string everything(const std::string& text) {
  Diagnostics diagnostics;
  const Defines defines{{"A", "-b 4 'x"}};
  const CommandSystem system{"SN30", "sn30", 1, 8, 8, Release{1, 17, 0}};
  const auto compile = read_compile_command(text, {"c", 1, 1}, defines, diagnostics);
  const auto launch = read_launch_command(text, {"c", 1, 1}, defines, diagnostics);
  if (compile) {
    check_compile(*compile, system, diagnostics);
    CHECK(compile->batch_size.value >= 1);
    CHECK(compile->n_chips.value >= 1);
    CHECK_FALSE(expected_pef(*compile).text().empty());
  }
  if (launch) {
    check_launch(*launch, system, diagnostics);
    CHECK(launch->ranks.value >= 1);
  }
  if (compile && launch) check_pair(*compile, *launch, system, diagnostics);
  // What yields no command has said why.
  CHECK((compile.has_value() || diagnostics.has_errors()));
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    CHECK_FALSE(diagnostic.problem.empty());
    CHECK(diagnostic.place.line >= 1);
  }
  return diagnostics.to_text();
}

void check_words(const std::string& text) {
  Diagnostics diagnostics;
  const ShellText split = split_shell_text(text, {"c", 1, 1}, {}, diagnostics);
  const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
  for (const std::vector<Word>& words : split.commands) {
    REQUIRE_FALSE(words.empty());
    for (const Word& word : words) {
      CHECK(word.positions.size() == word.text.size());
      CHECK((word.place.line >= 1 && word.place.line <= lines && word.place.column >= 1));
      CHECK(word.text.size() <= text.size() + 1);
    }
    // Every word is somebody's, in order, none is lost.
    const CommandLine line = read_command_line(words, diagnostics);
    REQUIRE(line.words.size() == words.size());
    for (std::size_t i = 0; i < words.size(); ++i) CHECK(line.words[i].text == words[i].text);
  }
}

}  // namespace

TEST_CASE("rdu commands: any bytes are read without a crash, the same each time") {
  Random random(1);
  for (int i = 0; i < 1500; ++i) {
    const std::string text = i % 2 == 0 ? random_command(random) : random_bytes(random);
    CAPTURE(text);
    check_words(text);
    CHECK(everything(text) == everything(text));
  }
}

TEST_CASE("rdu commands: every cut of a command is read without a crash") {
  const std::string text =
      "A=1 srun -n 2 --mpi=pmi2 python3 -u hook.py run -b=16 --pef-name= x --resources-scaling-factors 1 0.8 \\\n"
      "'q q' \"$A ${B:-c}\" $(d e) <NP> --tensor-par batch -o1 2>&1 | tee x; mpirun -np 4 python b.py compile -b16";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    CAPTURE(length);
    check_words(text.substr(0, length));
    (void)everything(text.substr(0, length));
  }
}

TEST_CASE("rdu commands: long texts of one repeated piece are read too") {
  const std::string repeated[] = {"-b ",  "$(",   "${A}", "<a",   "[,",   "x=[1,",
                                  "a/./", "--x=", "'\"",  "\\\n", "A=1;", "--pef //"};
  for (const std::string& piece : repeated) {
    CAPTURE(piece);
    for (const std::string& start :
         {std::string("python a.py compile "), std::string("python a.py run --pef="),
          std::string("python a.py command=compile samba_compile.resources_scaling_factors=")}) {
      std::string text = start;
      while (text.size() < 100'000) text += piece;
      CHECK_FALSE(everything(text).empty());
    }
  }
}

TEST_CASE("rdu commands: quoting a word does not change what it says") {
  Random random(2);
  for (int i = 0; i < 300; ++i) {
    std::string word;
    for (std::int64_t count = random.between(1, 12); count > 0; --count) {
      const std::string letters = "abc-_=/.0189";
      word += letters[static_cast<std::size_t>(random.below(letters.size()))];
    }
    CAPTURE(word);
    Diagnostics diagnostics;
    std::vector<std::string> forms{word, "'" + word + "'", "\"" + word + "\"",
                                   word.substr(0, 1) + "''" + word.substr(1)};
    for (const std::string& form : forms) {
      const ShellText split = split_shell_text("x " + form, {"c", 1, 1}, {}, diagnostics);
      REQUIRE(split.commands.size() == 1);
      REQUIRE(split.commands[0].size() == 2);
      CHECK(split.commands[0][1].text == word);
    }
    CHECK(diagnostics.to_text() == "");
  }
}

}  // namespace podsim::rdu
