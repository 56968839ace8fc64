#pragma once
// Chips and constants of single operators, from the shipped files.

#include <string>

#include "models/ipu/operators/operator_constants.hpp"
#include "sim/config/config_files.hpp"

namespace podsim::test {

struct OperatorScene {
  ipu::ChipConstants chip;
  ipu::OperatorConstants constants;
};

inline OperatorScene operator_scene(const std::string& chip) {
  const ConfigFiles configs = ConfigFiles::embedded();
  ConstantSet set;
  Diagnostics diagnostics;
  const auto add = [&](const std::string& path, const std::string& prefix) {
    const auto document = parse_toml(configs.text(path).value(), path, diagnostics);
    set.add(document.value(), prefix, {"name", "family", "prefix", "summary"}, diagnostics);
  };
  add("chips/" + chip + ".toml", "chip");
  add("constants/ipu-operators.toml", "cost.operators");
  ConstantReader reader(set);
  return {ipu::read_chip_constants(reader), ipu::read_operator_constants(reader)};
}

}  // namespace podsim::test
