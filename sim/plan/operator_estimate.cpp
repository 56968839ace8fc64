#include "sim/plan/operator_estimate.hpp"

#include <fmt/format.h>

#include "sim/config/key_spec.hpp"
#include "sim/plan/constants_loader.hpp"
#include "sim/plan/workload_settings.hpp"

namespace podsim {

namespace {

void check_sections(const Value& document, const Catalog& catalog, const Family& own, Diagnostics& diagnostics) {
  std::vector<KeySpec> keys = shared_keys();
  for (const auto& family : catalog.families) {
    KeySpec section;
    section.path = std::string(family->name());
    section.type = KeyType::table;
    keys.push_back(section);
  }
  check_keys(document, "", keys, diagnostics);
  if (const Value* section = document.find(own.name())) {
    check_keys(*section, own.name(), own.keys(), diagnostics);
  }
}

}  // namespace

std::optional<OperatorEstimate> Family::estimate_operator(const OperatorQuery& query, Diagnostics& diagnostics) const {
  diagnostics.error(query.place, "", fmt::format("single operators are not estimated on systems like {}", query.system),
                    "a system of another family");
  return std::nullopt;
}

OperatorResult estimate_operator(const Experiment& machine, const std::string& text, const Place& place,
                                 const Catalog& catalog, const ConfigFiles& configs) {
  OperatorResult result;
  const Value document = with_machine_tables(machine.document);
  std::vector<ResolvedKey> resolved;
  MachineChoice choice = choose_machine(document, machine.overlays, configs, resolved, result.diagnostics);
  result.family = choice.family;
  result.chip = choice.chip;
  result.constants = std::move(choice.constants);
  const Family* family = catalog.family(choice.family);
  if (family == nullptr) return result;
  check_sections(document, catalog, *family, result.diagnostics);
  if (!choice.complete) return result;
  const OperatorQuery query{text, place, document, result.constants, choice.system, choice.chip};
  try {
    std::optional<OperatorEstimate> estimate = family->estimate_operator(query, result.diagnostics);
    if (!result.diagnostics.has_errors()) result.estimate = std::move(estimate);
  } catch (const ConfigError& unusable_constant) {
    result.diagnostics.append(unusable_constant.diagnostics());
  }
  return result;
}

}  // namespace podsim
