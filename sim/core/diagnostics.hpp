#pragma once
// What is wrong with the user's input, all problems at once, each with its place and remedy.

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace podsim {

// Where a value was written. `file` may also be a phrase such as "command line"; line 0 means no line.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

enum class Severity { warning, error };

struct Diagnostic {
  Severity severity = Severity::error;
  Place place;
  std::string key;         // dotted path; may be empty
  std::string problem;     // what is wrong
  std::string expected;    // what was expected; may be empty
  std::string suggestion;  // a near valid word; printed as: did you mean "x"?; may be empty
};

// The text with a question mark for each control character, so that input cannot steer a terminal.
std::string printable(std::string text);

// "file:line:column: key: problem; expected …; did you mean "x"?", warnings with "warning: " before the key.
std::string to_text(const Diagnostic& diagnostic);

class Diagnostics {
 public:
  void error(Place place, std::string key, std::string problem, std::string expected = {}, std::string suggestion = {});
  void warning(Place place, std::string key, std::string problem, std::string expected = {},
               std::string suggestion = {});
  void append(const Diagnostics& other);
  bool has_errors() const;
  const std::vector<Diagnostic>& all() const { return all_; }
  std::string to_text() const;  // a line each

 private:
  std::vector<Diagnostic> all_;
};

// Thrown where the caller cannot go on without valid input; carries every problem found so far.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(Diagnostics diagnostics);
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  Diagnostics diagnostics_;
};

// The candidate nearest to `word` by edit distance, or empty when none is near enough to be meant
// (distance above max(1, length/3)); then the shortest one that begins so. Ties go to the first candidate.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace podsim
