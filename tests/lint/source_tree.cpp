#include "tests/lint/source_tree.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace podsim::lint {
namespace fs = std::filesystem;

std::vector<SourceFile> read_tree(const std::string& root) {
  std::vector<SourceFile> files;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string path = fs::relative(entry->path(), root).generic_string();
    if (path == ".git" || path == "build") {
      entry.disable_recursion_pending();
      continue;
    }
    if (!entry->is_regular_file()) continue;
    std::ostringstream text;
    text << std::ifstream(entry->path(), std::ios::binary).rdbuf();
    const bool executable = (entry->status().permissions() & fs::perms::owner_exec) != fs::perms::none;
    files.push_back({path, text.str(), executable});
  }
  std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

bool starts_with_any(std::string_view text, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& p) { return text.starts_with(p); });
}

bool is_header(std::string_view path) {
  return path.ends_with(".hpp");
}

bool is_source(std::string_view path) {
  return path.ends_with(".cpp");
}

bool is_cpp(std::string_view path) {
  return is_header(path) || is_source(path);
}

std::string joined(const std::vector<std::string>& findings) {
  std::string text;
  for (const std::string& finding : findings) text += finding + "\n";
  return text;
}

void append(std::vector<std::string>& findings, const std::vector<std::string>& more) {
  findings.insert(findings.end(), more.begin(), more.end());
}

}  // namespace podsim::lint
