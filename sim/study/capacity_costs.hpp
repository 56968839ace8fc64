#pragma once
// What only the planner knows: prices, power, failures, checkpoints, results measured elsewhere. From a TOML file;
// nothing in it has a default, and what is absent is not counted.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/key_spec.hpp"
#include "sim/config/value.hpp"
#include "sim/units/quantity.hpp"

namespace podsim {

// Of one system of a kind.
struct SystemCosts {
  std::optional<double> price_per_hour;  // in the file's currency
  std::optional<Power> power;            // of the system without hosts; instead of what was published
  std::optional<Power> host_power;       // of one host
  std::optional<Duration> mtbf;          // mean time between failures
};

// A result that the planner typed in.
struct TypedRow {
  std::string name;
  double samples_per_s = 0;
  std::int64_t devices = 0;
  std::int64_t hosts = 0;
  std::optional<std::int64_t> global_batch, sequence_length;
  std::optional<double> packing_factor;
  std::optional<std::string> precision;
  SystemCosts costs;
};

struct CapacityCosts {
  std::string currency;
  std::optional<double> electricity_price_per_kwh;
  std::optional<double> pue;  // power of the site over that of its machines
  std::map<std::string, SystemCosts> systems;
  std::optional<DataSize> checkpoint_size;
  std::optional<Bandwidth> checkpoint_bandwidth;
  std::optional<Duration> restart;
  std::vector<TypedRow> rows;

  bool has_prices_of_machines() const;  // of a system or of a typed row
  bool has_prices() const { return has_prices_of_machines() || electricity_price_per_kwh.has_value(); }
};

// Problems go to `diagnostics`.
CapacityCosts read_capacity_costs(const Value& document, Diagnostics& diagnostics);

}  // namespace podsim
