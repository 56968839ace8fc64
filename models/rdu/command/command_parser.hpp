#pragma once
// The two spellings of flags, for read_command_line.

#include <cstddef>
#include <vector>

#include "models/rdu/command/command_line.hpp"

namespace podsim::rdu {

// A command that is being read: its words, and what came out of them so far.
struct CommandInReading {
  const std::vector<Word>& words;
  std::vector<WordOwner>& owners;  // one per word
  CommandLine& line;
  Diagnostics& diagnostics;
};

// Options by argparse's rules, from words[begin] on; words[sub_command] is passed over (words.size(): none).
void read_options(CommandInReading command, std::size_t begin, std::size_t sub_command);

// Hydra's overrides and options, from words[begin] on.
void read_overrides(CommandInReading command, std::size_t begin);

}  // namespace podsim::rdu
