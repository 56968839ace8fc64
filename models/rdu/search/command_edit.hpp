#pragma once
// A command with some of its words said otherwise: what a search hands back is the user's own command, changed in
// place.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/rdu/command/command_line.hpp"

namespace podsim::rdu {

class CommandEdit {
 public:
  // Each word of the line must have a place of its own: read it from a text that begins on a numbered line.
  explicit CommandEdit(const CommandLine& line) : line_(line) {}

  // Takes out every use of a flag; `path` as in the table of flags.
  void remove(std::string_view path);
  // In place of all uses; a flag without a value where it is empty.
  void set(std::string_view path, const std::string& value = "");
  // Another word at that place; false when no whole word begins there.
  bool replace(const Place& place, const std::string& text);

  // The command in one line, its words quoted where a shell needs it.
  std::string text() const;

 private:
  std::vector<Place> removed_;
  std::vector<std::pair<Place, std::string>> replaced_;
  std::vector<std::string> added_;
  const CommandLine& line_;
};

}  // namespace podsim::rdu
