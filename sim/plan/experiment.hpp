#pragma once
// What the user wrote, from a file, from command-line flags or both: one document in which every value knows its
// place. It may be wrong; make_plan finds out.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/config_files.hpp"
#include "sim/config/value.hpp"

namespace podsim {

struct Experiment {
  Value document;                     // a table
  std::vector<std::string> overlays;  // constant files given by the user, applied in order
  std::string source_text;            // the bytes of every file read so far, for the inputs' hash
};

// Reads an experiment: a file, or a shipped one by its bare name. Errors go to `diagnostics`; the document is an empty
// table then.
Experiment read_experiment(const std::string& path, const ConfigFiles& configs, Diagnostics& diagnostics);

// "section.key=value", read once to be applied to many experiments.
struct Override {
  std::string path;
  Value value;
};
// Empty when the form is bad, which goes to `diagnostics`.
std::optional<Override> parse_override(const std::string& assignment, Diagnostics& diagnostics);
void apply_override(Experiment& experiment, const Override& override, Diagnostics& diagnostics);

// Applies "section.key=value" as given on the command line; a bad form goes to `diagnostics`.
void apply_override(Experiment& experiment, const std::string& assignment, Diagnostics& diagnostics);

}  // namespace podsim
