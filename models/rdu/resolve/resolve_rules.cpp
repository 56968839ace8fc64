// Fusion rules of o1: the user's file, and what became of each rule.

#include <fmt/format.h>

#include "models/rdu/resolve/resolution.hpp"
#include "sim/config/value.hpp"
#include "sim/plan/settings_reader.hpp"

namespace podsim::rdu {

void read_rules(Resolution& resolution) {
  RduSetup& setup = resolution.setup();
  Diagnostics& diagnostics = resolution.diagnostics;
  const Argument<std::string>& file = resolution.compile().optimization_rules;
  const Argument<bool>& built_in = resolution.compile().use_o1_default_rules;
  setup.built_in_rules = !built_in.known || built_in.value;
  if (!file.given || !file.valid || setup.level != OptimizationLevel::o1) return;
  if (file.unset) {
    diagnostics.error(file.place, file.name, "holds a variable without value", "its value in rdu.define");
    return;
  }
  if (setup.fused_generation) {
    diagnostics.warning(file.place, file.name, "has no effect: generation on this chip has a section per layer");
    return;
  }
  const std::string path = path_from(Value::string(file.value, file.place));
  const std::optional<std::string> text = read_text_file(path, file.place, file.name, diagnostics);
  if (!text) return;
  resolution.plan->contents += "optimization_rules = " + toml_string(*text) + "\n";
  if (auto rules = read_fusion_rules(*text, path, diagnostics)) resolution.plan->fusion_rules = std::move(*rules);
}

void warn_of_idle_rules(Resolution& resolution) {
  const RduPlan& plan = *resolution.plan;
  for (std::size_t i = 0; i < plan.compiled.rule_uses.size(); ++i) {
    const RuleUse& use = plan.compiled.rule_uses[i];
    const FusionRule& rule = plan.fusion_rules[i];
    if (use.gave_up) {
      resolution.diagnostics.warning(rule.place, rule.name, "stands for more patterns than are looked for",
                                     "fewer operators that are optional or alternatives");
    } else if (use.matches == 0) {
      resolution.diagnostics.warning(
          rule.place, rule.name,
          use.overlapped ? "matches only what rules of higher priority have fused" : "matches nothing in this model");
    } else if (use.cut > 0) {
      resolution.diagnostics.warning(
          rule.place, rule.name,
          fmt::format("{} of its {} matches are cut: their operators do not follow each other in the order of "
                      "execution",
                      use.cut, use.matches));
    }
  }
}

}  // namespace podsim::rdu
