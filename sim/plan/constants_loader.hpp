#pragma once
// Collects the constants of a run: the system's, its chip's, the software profile's, the family's models', then the
// user's overrides. Part of make_plan.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/config/config_files.hpp"
#include "sim/config/constants.hpp"
#include "sim/config/value.hpp"
#include "sim/plan/experiment.hpp"
#include "sim/plan/family.hpp"

namespace podsim {

struct MachineChoice {
  std::string system;  // as its file names itself, else as chosen
  std::string family;  // named by the system's file
  Place family_named_at;
  std::string chip;
  std::string software;
  std::int64_t nodes = 1;
  std::map<std::string, double> slowdown;  // by device name: factors on the duration of its own work, at least 1
  ConstantSet constants;
  bool complete = false;  // every file was found and read; overrides may still be wrong
};

// `constants` with the changes applied; those of constants that it does not have are left out.
ConstantSet with_changes(ConstantSet constants, const std::vector<ConstantChange>& changes);

// `system = "x"` is short for `[system] name = "x"`, and so for software; the rest of the code sees only the table.
Value with_machine_tables(Value document);

// What the files say that a document chooses, before the user changes anything; read without a problem.
struct MachineFiles {
  Value system;  // its name as written; null: absent
  Value software;
  MachineChoice choice;
  Value optional = Value::null({});  // constants of the family that no file need state, by dotted name
  std::vector<ResolvedKey> resolved;
};

// Reads the files that `document` chooses by its `system` and `software` tables. Problems go to `diagnostics`; the
// result is usable only without errors. `overlays` are constant files of the user. Files that are among the `known` are
// not read again, and those read now join them; null: none are kept.
MachineChoice choose_machine(const Value& document, const std::vector<std::string>& overlays,
                             const ConfigFiles& configs, std::vector<ResolvedKey>& resolved, Diagnostics& diagnostics,
                             std::vector<MachineFiles>* known = nullptr);

}  // namespace podsim
