// What is on disk is built and used: no forgotten file.
#include <doctest/doctest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/lint/cpp_scan.hpp"
#include "tests/lint/source_tree.hpp"
#include "tests/support/paths.hpp"

namespace podsim::lint {
namespace {

// The sources that the CMakeLists.txt files of a tree name, as paths from its root.
std::set<std::string> listed_sources(const std::vector<SourceFile>& files) {
  std::set<std::string> listed;
  for (const SourceFile& file : files) {
    if (file.path != "CMakeLists.txt" && !file.path.ends_with("/CMakeLists.txt")) continue;
    const std::string folder = file.path.substr(0, file.path.size() - std::string("CMakeLists.txt").size());
    for (std::string line : lines_of(file.text)) {
      line = line.substr(0, line.find('#'));
      for (char& c : line) {
        if (c == '(' || c == ')') c = ' ';
      }
      std::istringstream words(line);
      for (std::string word; words >> word;) {
        if (is_source(word)) listed.insert(folder + word);
      }
    }
  }
  return listed;
}

std::vector<std::string> unlisted_sources(const std::vector<SourceFile>& files) {
  const std::set<std::string> listed = listed_sources(files);
  std::vector<std::string> findings;
  for (const SourceFile& file : files) {
    if (is_source(file.path) && !listed.contains(file.path)) findings.push_back(file.path + " is in no CMakeLists.txt");
  }
  return findings;
}

std::vector<std::string> unused_headers(const std::vector<SourceFile>& files) {
  std::set<std::string> used;
  for (const SourceFile& file : files) {
    // Templates of generated sources include headers too.
    if (!is_cpp(file.path) && !file.path.ends_with(".cpp.in")) continue;
    for (const Include& include : includes_of(file.text)) used.insert(include.path);
  }
  std::vector<std::string> findings;
  for (const SourceFile& file : files) {
    if (is_header(file.path) && !used.contains(file.path)) findings.push_back(file.path + " is included by nobody");
  }
  return findings;
}

TEST_CASE("build lists: every source file is in a CMakeLists.txt") {
  const std::vector<std::string> findings = unlisted_sources(read_tree(test::source_dir()));
  INFO(joined(findings));
  CHECK(findings.empty());
}

TEST_CASE("build lists: every header is included by somebody") {
  const std::vector<std::string> findings = unused_headers(read_tree(test::source_dir()));
  INFO(joined(findings));
  CHECK(findings.empty());
}

TEST_CASE("build lists: a planted source that no list names is found") {
  const SourceFile list{"sim/CMakeLists.txt", "add_library(x STATIC core/a.cpp\n  core/b.cpp)  # core/c.cpp\n"};
  CHECK(unlisted_sources({list, {"sim/core/a.cpp", ""}, {"sim/core/b.cpp", ""}}).empty());
  CHECK(unlisted_sources({list, {"sim/core/c.cpp", ""}}) ==
        std::vector<std::string>{"sim/core/c.cpp is in no CMakeLists.txt"});
  CHECK(unlisted_sources({list, {"models/core/a.cpp", ""}}).size() == 1);
}

TEST_CASE("build lists: a planted header that nobody includes is found") {
  const SourceFile header{"sim/core/a.hpp", ""};
  CHECK(unused_headers({header}) == std::vector<std::string>{"sim/core/a.hpp is included by nobody"});
  CHECK(unused_headers({header, {"sim/core/a.cpp", "#include \"sim/core/a.hpp\"\n"}}).empty());
}

}  // namespace
}  // namespace podsim::lint
