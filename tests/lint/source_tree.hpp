#pragma once
// The source tree as the lint cases see it.

#include <string>
#include <string_view>
#include <vector>

namespace podsim::lint {

struct SourceFile {
  std::string path;  // from the root of the tree, with '/'
  std::string text;
  bool executable = false;
};

// Every file of ours, sorted by path; the version control's own and the build folder are left out.
std::vector<SourceFile> read_tree(const std::string& root);

std::vector<std::string> lines_of(std::string_view text);
bool starts_with_any(std::string_view text, const std::vector<std::string>& prefixes);
bool is_header(std::string_view path);
bool is_source(std::string_view path);
bool is_cpp(std::string_view path);
// A finding a line, for messages of failing cases.
std::string joined(const std::vector<std::string>& findings);
void append(std::vector<std::string>& findings, const std::vector<std::string>& more);

}  // namespace podsim::lint
