// The visible top level is fixed, and scripts can be run.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tests/lint/source_tree.hpp"
#include "tests/support/paths.hpp"

namespace podsim::lint {
namespace {

using Names = std::set<std::string>;

const Names k_top_level = {"CMakeLists.txt", "README.md", "bench", "configs", "models", "sim", "tests", "tools"};

// `names` are those of the top level; hidden ones and the build folder are free.
std::vector<std::string> wrong_top_level(const Names& names) {
  std::vector<std::string> findings;
  for (const std::string& name : names) {
    if (!name.starts_with(".") && name != "build" && !k_top_level.contains(name))
      findings.push_back(name + " is extra");
  }
  for (const std::string& name : k_top_level) {
    if (!names.contains(name)) findings.push_back(name + " is missing");
  }
  return findings;
}

bool is_script(const SourceFile& file) {
  return file.text.starts_with("#!") || (file.path.starts_with("tools/") && file.path.find('.') == std::string::npos);
}

std::vector<std::string> wrong_scripts(const std::vector<SourceFile>& files) {
  std::vector<std::string> findings;
  for (const SourceFile& file : files) {
    if (!is_script(file)) {
      if (file.executable) findings.push_back(file.path + " is executable but no script");
      continue;
    }
    if (!file.executable) findings.push_back(file.path + " is not executable");
    if (!file.text.starts_with("#!/usr/bin/env bash\n")) findings.push_back(file.path + " is no bash script");
    if (file.text.find("\nset -euo pipefail\n") == std::string::npos) {
      findings.push_back(file.path + " goes on after errors");
    }
    if (file.text.find("--help") == std::string::npos) findings.push_back(file.path + " has no --help");
  }
  return findings;
}

TEST_CASE("tree: the visible top level is exactly as fixed") {
  Names names;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_dir())) {
    names.insert(entry.path().filename().string());
  }
  const std::vector<std::string> findings = wrong_top_level(names);
  INFO(joined(findings));
  CHECK(findings.empty());
}

TEST_CASE("tree: scripts are executable, strict and have help") {
  const std::vector<SourceFile> files = read_tree(test::source_dir());
  CHECK(std::count_if(files.begin(), files.end(), is_script) >= 5);
  const std::vector<std::string> findings = wrong_scripts(files);
  INFO(joined(findings));
  CHECK(findings.empty());
}

TEST_CASE("tree: a planted extra or missing entry of the top level is found") {
  Names names = k_top_level;
  names.insert({".ci", ".gitignore", "build"});
  CHECK(wrong_top_level(names).empty());
  names.insert("docs");
  names.erase("bench");
  CHECK(wrong_top_level(names) == std::vector<std::string>{"docs is extra", "bench is missing"});
}

TEST_CASE("tree: a planted careless script is found") {
  const std::string good = "#!/usr/bin/env bash\nset -euo pipefail\n# --help\n";
  CHECK(wrong_scripts({{"tools/x", good, true}}).empty());
  CHECK(wrong_scripts({{"tools/x", good, false}}).size() == 1);
  CHECK(wrong_scripts({{"tools/x", "#!/bin/sh\nset -euo pipefail\n# --help\n", true}}).size() == 1);
  CHECK(wrong_scripts({{"tools/x", "#!/usr/bin/env bash\n# --help\n", true}}).size() == 1);
  CHECK(wrong_scripts({{"tools/x", "#!/usr/bin/env bash\nset -euo pipefail\n", true}}).size() == 1);
  CHECK(wrong_scripts({{"sim/a.cpp", "int a;\n", true}}).size() == 1);
}

}  // namespace
}  // namespace podsim::lint
