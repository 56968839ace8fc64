#include "models/ipu/operators/pass_constants.hpp"

#include <string>

namespace podsim::ipu {

namespace {

constexpr std::array<const char*, k_amp_modes> k_mode_names = {"fp16_16", "fp16_32", "fp32"};
constexpr std::array<const char*, 3> k_packed_names = {"one", "two", "four"};

// What a chip multiplies otherwise stands in the file of the chip.
std::string of_chip_or(ConstantReader& reader, const std::string& mode, const std::string& figure) {
  const std::string chip = "chip.operators." + mode + "." + figure;
  return reader.has(chip) ? chip : "cost.operators." + mode + "." + figure;
}

PassMode read_mode(ConstantReader& reader, const std::string& name) {
  const std::string prefix = "cost.operators." + name + ".";
  PassMode mode;
  mode.input_grain = reader.count(prefix + "input_grain");
  mode.output_grain = reader.count(of_chip_or(reader, name, "output_grain"));
  mode.element_bytes = reader.data(prefix + "element").count();
  mode.partial_bytes = reader.data(prefix + "partial").count();
  mode.weight_load = reader.cycle_count(of_chip_or(reader, name, "weight_load"));
  mode.row_slots = reader.number(prefix + "row_slots");
  mode.worker_start = reader.number(prefix + "worker_start");
  mode.adds_per_cycle = reader.number(prefix + "adds_per_cycle");
  return mode;
}

FlatVertexConstants read_flat(ConstantReader& reader) {
  FlatVertexConstants flat;
  flat.start = reader.cycle_count("cost.operators.flat.start");
  flat.group = reader.cycle_count("cost.operators.flat.group");
  flat.input_grain = reader.cycle_count("cost.operators.flat.input_grain");
  flat.output_grain = reader.cycle_count("cost.operators.flat.output_grain");
  flat.shortest = reader.cycle_count("cost.operators.flat.shortest");
  flat.zeroing = reader.cycle_count("cost.operators.flat.zeroing");
  flat.zeroing_position = reader.cycle_count("cost.operators.flat.zeroing_position");
  return flat;
}

FieldVertexConstants read_field(ConstantReader& reader) {
  FieldVertexConstants field;
  field.start = reader.cycle_count("cost.operators.field.start");
  field.group = reader.cycle_count("cost.operators.field.group");
  field.input_grain = reader.cycle_count("cost.operators.field.input_grain");
  field.output_grain = reader.cycle_count("cost.operators.field.output_grain");
  field.kernel_row = reader.cycle_count("cost.operators.field.kernel_row");
  field.kernel_position = reader.cycle_count("cost.operators.field.kernel_position");
  field.kernel_columns = reader.cycle_count("cost.operators.field.kernel_columns");
  for (std::size_t i = 0; i < k_packed_names.size(); ++i) {
    field.packed_rows[i] = reader.cycle_count(std::string("cost.operators.field.packed_rows.") + k_packed_names[i]);
  }
  field.worker_start = reader.number("cost.operators.field.worker_start");
  field.worker_segment = reader.number("cost.operators.field.worker_segment");
  field.zeroing = reader.cycle_count("cost.operators.field.zeroing");
  return field;
}

WindowVertexConstants read_window(ConstantReader& reader) {
  WindowVertexConstants window;
  window.start = reader.cycle_count("cost.operators.window.start");
  window.group = reader.cycle_count("cost.operators.window.group");
  window.sub_kernel = reader.cycle_count("cost.operators.window.sub_kernel");
  window.worker_start = reader.number("cost.operators.window.worker_start");
  window.worker_segment = reader.number("cost.operators.window.worker_segment");
  return window;
}

}  // namespace

PassConstants read_pass_constants(ConstantReader& reader) {
  PassConstants constants;
  for (std::size_t i = 0; i < k_amp_modes; ++i) constants.modes[i] = read_mode(reader, k_mode_names[i]);
  constants.flat = read_flat(reader);
  constants.field = read_field(reader);
  constants.window = read_window(reader);
  constants.exchange_bytes_per_cycle = reader.number("cost.operators.exchange_bytes_per_cycle");
  constants.pair_broadcast_factor = reader.number("cost.operators.pair_broadcast_factor");
  constants.superstep_sync = reader.cycle_count("cost.operators.superstep_sync");
  constants.reduction_start = reader.cycle_count("cost.operators.reduction_start");
  constants.serial_start = reader.cycle_count("cost.operators.serial.start");
  constants.serial_weight_share = reader.number("cost.operators.serial.weight_share");
  constants.serial_output = reader.cycle_count("cost.operators.serial.output");
  constants.fold_byte = reader.cycle_count("cost.operators.fold_byte");
  return constants;
}

}  // namespace podsim::ipu
