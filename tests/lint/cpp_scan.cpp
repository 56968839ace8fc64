#include "tests/lint/cpp_scan.hpp"

#include <regex>

#include "tests/lint/source_tree.hpp"

namespace podsim::lint {
namespace {

bool lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool digit(char c) {
  return c >= '0' && c <= '9';
}
bool letter(char c) {
  return lower(c) || upper(c);
}

// Whether a new word begins at `i` within a run of letters and digits: bufferSize, CPUConfig, x200Chip, but not CPUs.
bool begins_camel_word(std::string_view text, std::size_t i) {
  if (!upper(text[i])) return false;
  if (!upper(text[i - 1])) return true;
  if (i + 1 >= text.size() || !lower(text[i + 1])) return false;
  const bool plural = text[i + 1] == 's' && (i + 2 >= text.size() || !lower(text[i + 2]));
  return !plural;
}

void add_word(std::vector<std::string>& words, std::string_view word) {
  std::string lowered;
  bool has_digit = false;
  for (const char c : word) {
    lowered += upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
    has_digit = has_digit || digit(c);
  }
  words.push_back(lowered);
  if (!has_digit) return;
  std::string run;
  for (const char c : lowered + '0') {
    if (letter(c)) {
      run += c;
    } else if (!run.empty()) {
      words.push_back(run);
      run.clear();
    }
  }
}

// Reads the string literals from `at` on, put together; escapes of quotes and backslashes are undone.
std::string read_literals(std::string_view text, std::size_t at) {
  std::string value;
  while (at < text.size()) {
    at = text.find_first_not_of(" \t\n", at);
    if (at == std::string_view::npos || text[at] != '"') break;
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\' && at + 1 < text.size()) ++at;
      value += text[at];
    }
    ++at;
  }
  return value;
}

}  // namespace

std::vector<Include> includes_of(std::string_view text) {
  static const std::regex directive(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<Include> includes;
  int number = 0;
  for (const std::string& line : lines_of(text)) {
    ++number;
    std::smatch match;
    if (std::regex_search(line, match, directive)) includes.push_back({match[2], match[1] == "\"", number});
  }
  return includes;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool inside = i < text.size() && (letter(text[i]) || digit(text[i]));
    if (inside && (i == begin || !begins_camel_word(text, i))) continue;
    if (i > begin) add_word(words, text.substr(begin, i - begin));
    begin = inside ? i : i + 1;
  }
  return words;
}

std::vector<std::string> case_names_of(std::string_view text) {
  // The last part of a plain case or the second argument of one with a fixture.
  static const std::regex opening(R"re((^|\n)\s*TEST_CASE(_FIXTURE)?\s*\(\s*([A-Za-z_:0-9]+\s*,\s*)?(?="))re");
  std::vector<std::string> names;
  const std::string source(text);
  for (std::sregex_iterator it(source.begin(), source.end(), opening), end; it != end; ++it) {
    names.push_back(read_literals(text, static_cast<std::size_t>(it->position() + it->length())));
  }
  return names;
}

}  // namespace podsim::lint
