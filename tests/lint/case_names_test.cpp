// Names of cases pass through CMake lists and through the framework's filter; a name that either misreads would match
// no case and count as passed.
#include <doctest/doctest.h>

#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/lint/cpp_scan.hpp"
#include "tests/lint/source_tree.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/run_command.hpp"

namespace podsim::lint {
namespace {

std::string lowered(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// "unit" of "tests/unit/core_check_test.cpp"; empty for other files.
std::string suite_of(const std::string& path) {
  if (!path.starts_with("tests/") || !is_source(path)) return "";
  const std::size_t end = path.find('/', 6);
  return end == std::string::npos ? "" : path.substr(6, end - 6);
}

std::vector<std::string> bad_case_names(const std::vector<SourceFile>& files) {
  std::vector<std::string> findings;
  std::map<std::string, std::string> file_of;  // by suite and name; the filter ignores case
  for (const SourceFile& file : files) {
    const std::string suite = suite_of(file.path);
    if (suite.empty()) continue;
    for (const std::string& name : case_names_of(file.text)) {
      if (name.empty() || name != name.substr(name.find_first_not_of(' '), name.find_last_not_of(' ') + 1)) {
        findings.push_back(file.path + ": \"" + name + "\" is empty or has blanks at an end");
      } else if (name.find_first_of(";[]\\\"*$") != std::string::npos) {
        findings.push_back(file.path + ": \"" + name + "\" has one of ; [ ] \\ \" * $");
      }
      const auto [first, is_new] = file_of.emplace(suite + ": " + lowered(name), file.path);
      if (!is_new) findings.push_back(file.path + ": \"" + name + "\" is in " + first->second + " already");
    }
  }
  return findings;
}

// How many tests `ctest --show-only` lists per suite.
std::map<std::string, int> counts_in_ctest(const std::string& listing) {
  static const std::regex test_line(R"(^\s*Test\s+#\d+: ([a-z]+)/)");
  std::map<std::string, int> counts;
  for (const std::string& line : lines_of(listing)) {
    std::smatch match;
    if (std::regex_search(line, match, test_line)) ++counts[match[1]];
  }
  return counts;
}

// The number in what a suite's binary prints for --count; -1 when there is none.
int count_in_binary(const std::string& output) {
  static const std::regex count_line(R"(unskipped test cases passing the current filters: (\d+))");
  std::smatch match;
  return std::regex_search(output, match, count_line) ? std::stoi(match[1]) : -1;
}

std::set<std::string> suites_of(const std::vector<SourceFile>& files) {
  std::set<std::string> suites;
  for (const SourceFile& file : files) {
    if (!case_names_of(file.text).empty() && !suite_of(file.path).empty()) suites.insert(suite_of(file.path));
  }
  return suites;
}

TEST_CASE("case names: all are unique in their suite and survive CMake and the filter") {
  const std::vector<std::string> findings = bad_case_names(read_tree(test::source_dir()));
  INFO(joined(findings));
  CHECK(findings.empty());
}

TEST_CASE("case names: ctest runs as many tests as each suite has cases") {
  const std::string ctest = "ctest --show-only";
  const test::CommandResult listing = test::run_command(ctest, test::build_dir());
  REQUIRE(listing.exit_code == 0);
  std::map<std::string, int> in_ctest = counts_in_ctest(listing.out);
  const std::set<std::string> suites = suites_of(read_tree(test::source_dir()));
  CHECK(suites.contains("lint"));
  for (const std::string& suite : suites) {
    CAPTURE(suite);
    const std::string binary = test::build_dir() + "/tests/" + suite + "_tests";
    const test::CommandResult count = test::run_command(test::shell_quoted(binary) + " --count", test::build_dir());
    CHECK(count_in_binary(count.out) > 0);
    CHECK(count_in_binary(count.out) == in_ctest[suite]);
  }
}

TEST_CASE("case names: a planted bad or repeated name is found") {
  const auto file = [](const std::string& path, const std::string& name) {
    return SourceFile{path,
                      "TEST_"
                      "CASE(\"" +
                          name + "\") {}\n"};
  };
  CHECK(bad_case_names({file("tests/unit/a_test.cpp", "a, b: c (d)?")}).empty());
  for (const std::string& name : std::vector<std::string>{"a; b", "a [b", "a] b", "a * b", "", " a", "a "}) {
    CAPTURE(name);
    CHECK(bad_case_names({file("tests/unit/a_test.cpp", name)}).size() == 1);
  }
  CHECK(bad_case_names({file("tests/unit/a_test.cpp", "same"), file("tests/unit/b_test.cpp", "Same")}).size() == 1);
  CHECK(bad_case_names({file("tests/unit/a_test.cpp", "same"), file("tests/cli/b_test.cpp", "same")}).empty());
}

TEST_CASE("case names: a name over two lines or behind a fixture is read whole") {
  const std::string macro =
      "TEST_"
      "CASE";
  CHECK(case_names_of(macro + "(\"one \"\n   \"name\") {") == std::vector<std::string>{"one name"});
  CHECK(case_names_of(macro + "_FIXTURE(Some::Thing, \"other\") {") == std::vector<std::string>{"other"});
  CHECK(case_names_of("  // " + macro + "(\"not one\")").empty());
}

TEST_CASE("case names: counts are read from what ctest and the framework print") {
  const auto counts = counts_in_ctest("Test project x\n  Test  #1: unit/a\n  Test #12: unit/b: c\n  Test #13: cli/a\n");
  CHECK(counts == std::map<std::string, int>{{"cli", 1}, {"unit", 2}});
  CHECK(count_in_binary("[doctest] unskipped test cases passing the current filters: 42\n") == 42);
  CHECK(count_in_binary("Segmentation fault\n") == -1);
}

}  // namespace
}  // namespace podsim::lint
