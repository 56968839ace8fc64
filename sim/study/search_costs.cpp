#include "sim/study/search_costs.hpp"

#include <optional>

namespace podsim {

void add_costs(const Plan& plan, const CapacityCosts& costs, SearchScenario& scenario) {
  constexpr double k_kilowatt = 1000;
  const MachineFacts machine = plan.family->machine_facts(plan);
  const auto found = costs.systems.find(plan.system);
  const SystemCosts known = found != costs.systems.end() ? found->second : SystemCosts{};
  const double systems = static_cast<double>(plan.nodes);
  std::optional<Power> power = machine.power;
  if (known.power) power = *known.power * systems;
  if (power && known.host_power) *power += *known.host_power * static_cast<double>(machine.hosts);
  if (power && costs.pue) power = *power * *costs.pue;
  if (power) scenario.power_w = power->in_base();
  const bool needs_power = costs.electricity_price_per_kwh.has_value();
  if (!known.price_per_hour || (needs_power && !power)) return;
  scenario.price_per_hour = *known.price_per_hour * systems;
  if (needs_power) scenario.price_per_hour += *costs.electricity_price_per_kwh * scenario.power_w / k_kilowatt;
}

}  // namespace podsim
