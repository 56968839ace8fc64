// Rules of writing that a compiler does not check.
#include <doctest/doctest.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/lint/source_tree.hpp"
#include "tests/support/paths.hpp"

namespace podsim::lint {
namespace {

constexpr std::size_t k_source_lines = 500;
constexpr std::size_t k_header_lines = 250;
constexpr std::size_t k_line_length = 120;

// Files in which no order of an unordered container can reach a result, each with the reason.
const std::set<std::string> k_unordered_allowed = {
    "sim/program/builder.hpp",  // looked up only; ids follow the order of first use
};

std::size_t length_in_characters(const std::string& line) {
  std::size_t count = 0;
  for (const char c : line) {
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++count;  // UTF-8: continuation bytes are no characters
  }
  return count;
}

std::vector<std::string> too_long(const std::string& path, const std::string& text) {
  std::vector<std::string> findings;
  const std::vector<std::string> lines = lines_of(text);
  const std::size_t most = is_header(path) ? k_header_lines : k_source_lines;
  if (lines.size() > most) {
    findings.push_back(path + " has " + std::to_string(lines.size()) + " lines; at most " + std::to_string(most));
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (length_in_characters(lines[i]) > k_line_length) {
      findings.push_back(path + ":" + std::to_string(i + 1) + ": longer than " + std::to_string(k_line_length));
    }
  }
  return findings;
}

std::vector<std::string> lines_with(const std::string& path, const std::string& text, const std::regex& pattern) {
  std::vector<std::string> findings;
  int number = 0;
  for (const std::string& line : lines_of(text)) {
    ++number;
    if (std::regex_search(line, pattern)) findings.push_back(path + ":" + std::to_string(number) + ": " + line);
  }
  return findings;
}

// The patterns are cut in two so that this file does not match them.
std::vector<std::string> postponed_work(const std::string& path, const std::string& text) {
  return lines_with(path, text,
                    std::regex("\\b(TO"
                               "DO|FIX"
                               "ME|X"
                               "XX|HA"
                               "CK)\\b"));
}

std::vector<std::string> machine_paths(const std::string& path, const std::string& text) {
  return lines_with(path, text,
                    std::regex("(^|[^A-Za-z0-9_.}])/(wo"
                               "rk|ho"
                               "me|ro"
                               "ot|Us"
                               "ers|work"
                               "space)/"));
}

std::vector<std::string> unwanted_cpp(const std::string& path, const std::string& text) {
  std::vector<std::string> findings;
  if (is_header(path)) append(findings, lines_with(path, text, std::regex(R"(^\s*using\s+namespace\b)")));
  if (is_header(path) && !text.starts_with("#pragma once\n")) findings.push_back(path + " lacks #pragma once");
  if (!k_unordered_allowed.contains(path)) {
    append(findings, lines_with(path, text,
                                std::regex("std::un"
                                           "ordered_|#include <un"
                                           "ordered_")));
  }
  // Libraries return values: only the program prints and ends.
  if (path.starts_with("sim/") || path.starts_with("models/")) {
    append(findings,
           lines_with(path, text, std::regex(R"(\b(std::cout|std::cerr|std::clog|f?printf|f?puts|fmt::print)\b)")));
    append(findings, lines_with(path, text, std::regex(R"((^|[^A-Za-z0-9_.:>])(std::)?(_?exit|quick_exit|abort)\()")));
  }
  return findings;
}

bool is_text(const SourceFile& file) {
  return file.text.find('\0') == std::string::npos;
}

using Rule = std::vector<std::string> (*)(const std::string& path, const std::string& text);

std::vector<std::string> findings_in_tree(Rule rule, bool cpp_only) {
  std::vector<std::string> findings;
  for (const SourceFile& file : read_tree(test::source_dir())) {
    if (cpp_only ? is_cpp(file.path) : is_text(file)) append(findings, rule(file.path, file.text));
  }
  return findings;
}

TEST_CASE("style: files and lines are short") {
  const std::vector<std::string> findings = findings_in_tree(too_long, true);
  INFO(joined(findings));
  CHECK(findings.empty());
}

TEST_CASE("style: no work is postponed in a comment") {
  const std::vector<std::string> findings = findings_in_tree(postponed_work, false);
  INFO(joined(findings));
  CHECK(findings.empty());
}

TEST_CASE("style: no file names a folder of the machine it was written on") {
  const std::vector<std::string> findings = findings_in_tree(machine_paths, false);
  INFO(joined(findings));
  CHECK(findings.empty());
}

TEST_CASE("style: no unwanted construct in C++ files") {
  const std::vector<std::string> findings = findings_in_tree(unwanted_cpp, true);
  INFO(joined(findings));
  CHECK(findings.empty());
}

TEST_CASE("style: a planted long file or line is found") {
  std::string text;
  for (std::size_t i = 0; i < k_header_lines; ++i) text += "\n";
  CHECK(too_long("a.hpp", text).empty());
  CHECK(too_long("a.hpp", text + "\n").size() == 1);
  CHECK(too_long("a.cpp", text + text).empty());
  CHECK(too_long("a.cpp", text + text + "\n").size() == 1);
  std::string line;
  for (std::size_t i = 0; i < k_line_length; ++i) line += "µ";
  CHECK(too_long("a.cpp", line).empty());
  CHECK(too_long("a.cpp", line + "x").size() == 1);
}

TEST_CASE("style: a planted note of postponed work is found") {
  CHECK(postponed_work("a.cpp",
                       "x\n// TO"
                       "DO: later")
            .size() == 1);
  CHECK(postponed_work("a.md",
                       "FIX"
                       "ME")
            .size() == 1);
  CHECK(postponed_work("a.cpp", "TODOLIST mastodon").empty());
}

TEST_CASE("style: a planted path of a machine is found") {
  CHECK(machine_paths("a.cpp",
                      "open(\"/ho"
                      "me/someone/x\")")
            .size() == 1);
  CHECK(machine_paths("a.sh",
                      "cd /wo"
                      "rk/x")
            .size() == 1);
  CHECK(machine_paths("a.md",
                      "the frame/wo"
                      "rk/force")
            .empty());
  CHECK(machine_paths("a.md", "/usr/bin/env, /proc/self/exe, /etc/apt").empty());
}

TEST_CASE("style: a planted unwanted construct is found") {
  const std::string once = "#pragma once\n";
  CHECK(unwanted_cpp("a.hpp", once + "using namespace std;\n").size() == 1);
  CHECK(unwanted_cpp("a.cpp", "using namespace podsim;\n").empty());
  CHECK(unwanted_cpp("a.hpp", "// no guard\n").size() == 1);
  CHECK(unwanted_cpp("a.cpp",
                     "std::un"
                     "ordered_map<int, int> m;\n")
            .size() == 1);
  for (const std::string& line :
       std::vector<std::string>{"std::cout << 1;", "printf(\"\");", "std::exit(1);", "  exit(2);", "abort();"}) {
    CAPTURE(line);
    CHECK(unwanted_cpp("sim/a.cpp", line).size() == 1);
    CHECK(unwanted_cpp("tools/podsim/a.cpp", line).empty());
  }
  CHECK(unwanted_cpp("sim/a.cpp", "on_exit(1); loop.exit(); snprintf(b, 1, \"\");").empty());
}

}  // namespace
}  // namespace podsim::lint
