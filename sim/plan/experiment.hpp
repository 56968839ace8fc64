#pragma once
// What the user wrote, from a file, from command-line flags or both: one document in which every value knows its
// place. It may be wrong; make_plan finds out.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/config_files.hpp"
#include "sim/config/value.hpp"

namespace podsim {

// Another value of a constant, in its base units.
struct ConstantChange {
  std::string name;
  double base_value = 0;
};

struct Experiment {
  Value document;                           // a table
  std::vector<std::string> overlays;        // constant files given by the user, applied in order
  std::string source_text;                  // the bytes of every file read so far, for the inputs' hash
  std::vector<ConstantChange> varied = {};  // by a study, after all that is written; those that the machine does not
                                            // have are left out
};

// Reads an experiment: a file, or a shipped one by its bare name. Errors go to `diagnostics`; the document is an empty
// table then.
Experiment read_experiment(const std::string& path, const ConfigFiles& configs, Diagnostics& diagnostics);

// Whether a text may be a dotted key: no empty steps, no blanks, quotes or brackets, at most 64 dots.
bool is_dotted_path(std::string_view path);

// Sets a key, given as a dotted path; a path that leads through something else than a table goes to `diagnostics`. A
// name for `system` or `software` leaves the constants set below it.
void apply_value(Experiment& experiment, const std::string& path, Value value, Diagnostics& diagnostics);

// Applies "section.key=value" as given on the command line; a bad form goes to `diagnostics`.
void apply_override(Experiment& experiment, const std::string& assignment, Diagnostics& diagnostics);

}  // namespace podsim
