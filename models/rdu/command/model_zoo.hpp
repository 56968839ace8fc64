#pragma once
// Model Zoo's programs read a YAML file of theirs before the command's overrides. The files that it ships for RDUs are
// known here as far as they set flags.
// Source: sambanova/modelzoo, examples/nlp/{text_generation,training}/config/*_rdu*.yaml and
// sambanova_modelzoo/libs/nlp/args/nlp_default_args.yaml.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/rdu/command/command_line.hpp"

namespace podsim::rdu {

using Settings = std::vector<std::pair<std::string, std::string>>;  // path of a flag, value

struct ShippedConfig {
  std::string path;                   // below examples/nlp
  std::string program;                // that reads it
  bool is_default = true;             // read without --config-name
  bool includes_nlp_defaults = true;  // those of libs/nlp/args/nlp_default_args.yaml hold below its own
  Settings settings;
};

// The shipped file that a command reads; null when the program or the file is none of them.
const ShippedConfig* shipped_config(const CommandLine& line);

// Whether a program of Model Zoo, by its file name, generates tokens; else it trains. Empty: none of its programs.
std::optional<bool> shipped_program_generates(std::string_view program);

// Adds what the shipped file sets and the command does not, marked with `shipped_in`.
void add_shipped_defaults(CommandLine& line);

}  // namespace podsim::rdu
