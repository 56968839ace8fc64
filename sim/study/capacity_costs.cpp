#include "sim/study/capacity_costs.hpp"

#include <algorithm>
#include <utility>

namespace podsim {
namespace {

// Far beyond any machine, so that products of all of them can be counted.
constexpr double k_most_price = 1e12;
constexpr double k_most_quantity = 1e24;

KeySpec key(std::string path, KeyType type, std::string unit = {}, std::optional<double> minimum = 0.0) {
  KeySpec spec;
  spec.path = std::move(path);
  spec.type = type;
  spec.unit = std::move(unit);
  if (type == KeyType::text || type == KeyType::table) return spec;
  spec.minimum = minimum;
  if (type != KeyType::integer) spec.maximum = type == KeyType::number ? k_most_price : k_most_quantity;
  return spec;
}

std::vector<KeySpec> root_keys() {
  return {key("currency", KeyType::text),
          key("electricity_price_per_kwh", KeyType::number),
          key("pue", KeyType::number, "", 1.0),
          key("systems", KeyType::table),
          key("checkpoint.size", KeyType::quantity, "data"),
          key("checkpoint.bandwidth", KeyType::quantity, "bandwidth"),
          key("checkpoint.restart", KeyType::quantity, "time")};
}

std::vector<KeySpec> system_keys() {
  return {key("price_per_hour", KeyType::number), key("power", KeyType::quantity, "power"),
          key("host_power", KeyType::quantity, "power"), key("mtbf", KeyType::quantity, "time", 1.0)};
}

std::vector<KeySpec> row_keys() {
  std::vector<KeySpec> keys = system_keys();
  for (KeySpec& spec : std::vector<KeySpec>{
           key("name", KeyType::text), key("samples_per_s", KeyType::number, "", 1e-9),
           key("devices", KeyType::integer, "", 1.0), key("hosts", KeyType::integer), key("precision", KeyType::text),
           key("global_batch", KeyType::integer, "", 1.0), key("sequence_length", KeyType::integer, "", 1.0),
           key("packing_factor", KeyType::number, "", 1.0)}) {
    keys.push_back(std::move(spec));
  }
  return keys;
}

template <class T>
std::optional<T> quantity(const Value& table, std::string_view path, std::string_view dimension) {
  const std::optional<double> value = read_quantity(table, path, dimension);
  return value ? std::optional(T::base(*value)) : std::nullopt;
}

SystemCosts system_costs(const Value& table) {
  return {read_number(table, "price_per_hour"), quantity<Power>(table, "power", "power"),
          quantity<Power>(table, "host_power", "power"), quantity<Duration>(table, "mtbf", "time")};
}

TypedRow typed_row(const Value& table, Diagnostics& diagnostics) {
  for (const char* needed : {"name", "samples_per_s", "devices"}) {
    if (table.find(needed) == nullptr) {
      diagnostics.error(table.place(), std::string("rows.") + needed, "is missing", "name, samples_per_s and devices");
    }
  }
  TypedRow row;
  row.name = read_text(table, "name").value_or("");
  row.samples_per_s = read_number(table, "samples_per_s").value_or(0);
  row.devices = read_integer(table, "devices").value_or(0);
  row.hosts = read_integer(table, "hosts").value_or(0);
  row.global_batch = read_integer(table, "global_batch");
  row.sequence_length = read_integer(table, "sequence_length");
  row.packing_factor = read_number(table, "packing_factor");
  row.precision = read_text(table, "precision");
  row.costs = system_costs(table);
  return row;
}

void read_rows(const Value& rows, CapacityCosts& costs, Diagnostics& diagnostics) {
  if (!rows.is(Value::Kind::array)) {
    diagnostics.error(rows.place(), "rows", "is " + kind_name(rows.kind()), "tables, each under [[rows]]");
    return;
  }
  for (const Value& row : rows.elements()) {
    check_keys(row, "rows", row_keys(), diagnostics);
    if (row.is(Value::Kind::table)) costs.rows.push_back(typed_row(row, diagnostics));
  }
}

}  // namespace

bool CapacityCosts::has_prices_of_machines() const {
  const auto priced = [](const SystemCosts& costs) { return costs.price_per_hour.has_value(); };
  return std::ranges::any_of(systems, [&](const auto& system) { return priced(system.second); }) ||
         std::ranges::any_of(rows, [&](const TypedRow& row) { return priced(row.costs); });
}

CapacityCosts read_capacity_costs(const Value& document, Diagnostics& diagnostics) {
  CapacityCosts costs;
  Value rest = Value::table(document.place());
  for (const Value::Member& member : document.members()) {
    if (member.key == "rows")
      read_rows(member.value, costs, diagnostics);
    else
      rest.add(member.key, member.key_place, member.value);
  }
  check_keys(rest, "", root_keys(), diagnostics);
  costs.currency = read_text(rest, "currency").value_or("");
  costs.electricity_price_per_kwh = read_number(rest, "electricity_price_per_kwh");
  costs.pue = read_number(rest, "pue");
  costs.checkpoint_size = quantity<DataSize>(rest, "checkpoint.size", "data");
  costs.checkpoint_bandwidth = quantity<Bandwidth>(rest, "checkpoint.bandwidth", "bandwidth");
  costs.restart = quantity<Duration>(rest, "checkpoint.restart", "time");
  const Value* systems = rest.find("systems");
  if (systems == nullptr || !systems->is(Value::Kind::table)) return costs;
  for (const Value::Member& system : systems->members()) {
    check_keys(system.value, "systems." + system.key, system_keys(), diagnostics);
    if (system.value.is(Value::Kind::table)) costs.systems.emplace(system.key, system_costs(system.value));
  }
  return costs;
}

}  // namespace podsim
