#pragma once
// How much a prediction may be trusted: the nearest published measurement, the model's error there, and in what a run
// lies outside of everything that was compared.
//
// distance = Σ over features: weight · (texts differ ? 1 : 0) or weight · |log2(number / number)|
//
// The compared cases with their features and predictions stand in a generated table, so that a run does not simulate
// them again; a test holds the table to the model.

#include <string>
#include <string_view>

#include "sim/config/config_files.hpp"
#include "sim/plan/catalog.hpp"
#include "sim/report/report.hpp"
#include "sim/study/validate.hpp"

namespace podsim {

struct Plan;

inline constexpr std::string_view k_evidence_table = "references/evidence.csv";

// Empty when the configs have no table or no reader knows the plan. Throws ConfigError for a broken table.
EvidenceReport evidence_for(const Plan& plan, const Catalog& catalog, const ConfigFiles& configs);

// The table, of the rates that count.
std::string evidence_table(const Validation& validation);

}  // namespace podsim
