#pragma once
// One operator on its own, written as text in the words of its machine family ("conv 4x64x56x56 -> 64 k3"), and what
// the family makes of it. Micro-benchmarks are compared this way, and `explain op` shows one.

#include <optional>
#include <string>
#include <vector>

#include "sim/config/config_files.hpp"
#include "sim/config/constants.hpp"
#include "sim/observe/table.hpp"
#include "sim/plan/catalog.hpp"
#include "sim/plan/experiment.hpp"

namespace podsim {

struct OperatorQuery {
  std::string text;
  Place place;            // of the text; its column is that of the first character
  const Value& document;  // chooses the machine and the settings that an operator heeds
  const ConstantSet& constants;
  std::string system;
  std::string chip;
};

struct OperatorEstimate {
  std::string operation;  // as it was understood, with everything that was left out
  std::string machine;    // and on what
  Cycles cycles;
  Duration time;
  Bytes bytes;                       // on all of the device, temporaries at their peak
  std::optional<double> peak_share;  // FLOP over what the device could do in that time; empty: no FLOP
  std::vector<std::string> notes;    // whole clauses
  std::vector<Table> tables;
  std::vector<ConstantId> constants_read;  // ascending
};

struct OperatorResult {
  std::optional<OperatorEstimate> estimate;  // empty when there are errors
  ConstantSet constants;                     // of the machine
  std::string family;
  std::string chip;
  Diagnostics diagnostics;
};

// `machine`: an experiment of which the sections of the machine are read, and what the family says of single operators.
OperatorResult estimate_operator(const Experiment& machine, const std::string& text, const Place& place,
                                 const Catalog& catalog, const ConfigFiles& configs);

}  // namespace podsim
