#pragma once
// Just enough reading of C++ text for the lint cases; no parser.

#include <string>
#include <string_view>
#include <vector>

namespace podsim::lint {

struct Include {
  std::string path;
  bool quoted = false;
  int line = 0;
};

// The #include directives of a text.
std::vector<Include> includes_of(std::string_view text);

// The words of a text, in lower case: cut at every sign that is no letter or digit and at camelCase boundaries. A word
// with digits is followed by its runs of letters ("gc200" gives "gc200" and "gc").
std::vector<std::string> words_of(std::string_view text);

// The names of the doctest cases of a text; adjacent string literals are put together.
std::vector<std::string> case_names_of(std::string_view text);

}  // namespace podsim::lint
