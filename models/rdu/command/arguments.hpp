#pragma once
// Typed values of flags, each with its place and origin.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/rdu/command/command_line.hpp"

namespace podsim::rdu {

template <class T>
struct Argument {
  T value{};
  std::string origin;  // "experiment.toml:9:40", "default: documented", "default: Model Zoo, training/config/…"
  Place place;         // of the value; of the command for a default
  std::string name;    // of the flag, as written; the usual name for a default
  bool given = false;  // written in the command
  bool known = false;  // given, or set by a file that the program is known to read
  bool valid = true;   // false: a problem was reported, do not compute with it
  bool unset = false;  // a text that holds a variable without value
};

// "9:40" of a place becomes "experiment.toml:9:40"; without a line the file's name alone.
std::string origin_text(const Place& place);

// Reads flags of one command by the path of the table; problems go to `diagnostics`, one for each use.
class ArgumentReader {
 public:
  ArgumentReader(const CommandLine& line, Diagnostics& diagnostics) : line_(line), diagnostics_(diagnostics) {}

  Argument<bool> boolean(std::string_view flag_path) const;  // default: false
  Argument<std::int64_t> integer(std::string_view flag_path, std::int64_t otherwise) const;
  Argument<std::string> word(std::string_view flag_path, std::string otherwise) const;  // text, path or choice
  Argument<std::vector<double>> numbers(std::string_view flag_path) const;              // default: none

  // Flags of the application that shape the static graph, by path ("max-seq-length", "in-width"): those in the command.
  std::map<std::string, Argument<std::int64_t>> shapes() const;

 private:
  const CommandLine& line_;
  Diagnostics& diagnostics_;
};

// Reports a variable without value where a value is needed: "the variable BS has no value; expected …".
void report_unset(const UnsetVariable& variable, const std::string& key, Diagnostics& diagnostics);

// Warns once for all flags, variables and words of a command that change nothing, and once for all variables without
// value that do not matter.
void report_without_effect(const CommandLine& line, Diagnostics& diagnostics);

}  // namespace podsim::rdu
