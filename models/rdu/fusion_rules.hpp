#pragma once
// Operator fusion rules for o1 as SambaFlow reads them: YAML with, per rule, a priority, maybe a heuristic, and a
// pattern of connected operators. Source: SambaFlow documentation, Operator fusion rule yaml syntax;
// sambanova/modelzoo, sambanova_modelzoo/models/*/heuristics.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/diagnostics.hpp"

namespace podsim::rdu {

struct FusionNode {
  std::string name;
  Place place;
  std::vector<std::string> types;       // any of them; empty: a choice
  std::vector<std::uint32_t> children;  // nodes of the same pattern that read it
  std::vector<std::uint32_t> options;   // of a choice: the first that matches stands here
  bool required = true;                 // false: matches without it, too; then what is before it feeds what is behind
  bool included = true;                 // false: must be there, is not fused
};

struct FusionRule {
  std::string name;
  Place place;
  double priority = 0;            // where matches overlap, the higher one wins; of equal ones the first in the file
  std::vector<FusionNode> nodes;  // in the order of the file; connected, without cycles
};

// Of rules with the same name the first counts; published files have such, and which one the compiler takes is not
// told. `file` names the text in places. Problems, all of them, go to `diagnostics`; empty when there are any.
std::optional<std::vector<FusionRule>> read_fusion_rules(std::string_view text, const std::string& file,
                                                         Diagnostics& diagnostics);

}  // namespace podsim::rdu
