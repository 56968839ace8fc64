#include "models/ipu/operators/operator_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "models/ipu/operators/operator_estimator.hpp"
#include "models/ipu/operators/operator_text.hpp"
#include "sim/config/key_spec.hpp"
#include "sim/units/text.hpp"

namespace podsim::ipu {

namespace {

constexpr double k_default_proportion = 0.6;  // of Optimum Graphcore

constexpr std::array<std::string_view, 4> k_heeded = {"workload.precision", "ipu.enable_half_partials",
                                                      "ipu.matmul_proportion", "system.name"};

bool is_heeded(std::string_view path) {
  return path == "name" || path.starts_with("chip.") || path.starts_with("cost.") ||
         std::ranges::count(k_heeded, path) > 0;
}

void warn_without_effect(const Value& table, const std::string& prefix, Diagnostics& diagnostics) {
  for (const Value::Member& member : table.members()) {
    const std::string path = prefix.empty() ? member.key : prefix + "." + member.key;
    if (member.value.is(Value::Kind::table)) {
      warn_without_effect(member.value, path, diagnostics);
    } else if (!is_heeded(path)) {
      diagnostics.warning(member.value.place(), path, "has no effect on a single operator");
    }
  }
}

std::string precision_of(const Value& document, const ChipConstants& chip, Diagnostics& diagnostics) {
  const bool half_partials = chip.half_partials && read_boolean(document, "ipu.enable_half_partials").value_or(true);
  std::string implied = half_partials ? "fp16.16" : "fp16.32";
  std::string precision = read_text(document, "workload.precision").value_or(implied);
  if (precision == "fp16.32" || precision == "fp32" || (precision == "fp16.16" && chip.half_partials)) return precision;
  diagnostics.error(document.find("workload.precision")->place(), "workload.precision",
                    fmt::format("\"{}\" is not a multiply mode of this chip for a single operator", precision),
                    chip.half_partials ? "fp16.16, fp16.32 or fp32" : "fp16.32 or fp32");
  return implied;
}

double proportion_of(const Value& document, Diagnostics& diagnostics) {
  const Value* written = document.find("ipu.matmul_proportion");
  if (written == nullptr) return k_default_proportion;
  const bool number = written->is(Value::Kind::floating) || written->is(Value::Kind::integer);
  if (number && written->as_number() > 0 && written->as_number() <= 1) return written->as_number();
  diagnostics.error(written->place(), "ipu.matmul_proportion", "is not the one proportion of a single operator",
                    "a number above 0 and up to 1");
  return k_default_proportion;
}

Cell rounded(Cycles value) {
  return static_cast<std::int64_t>(std::llround(value.in_base()));
}

std::vector<Cell> cost_row(const std::string& name, std::int64_t count, const CostByPart& cost) {
  return {name,
          count,
          rounded(cost.total()),
          rounded(cost.vertex),
          rounded(cost.exchange),
          rounded(cost.reduction + cost.reduction_exchange),
          rounded(cost.serial),
          rounded(cost.sync),
          rounded(cost.layout),
          rounded(cost.launch)};
}

// What an operator costs beside its passes: the part of each that the passes do not explain.
CostByPart around(const OperatorCost& cost) {
  CostByPart passes;
  for (const NamedPass& pass : cost.passes) passes += static_cast<double>(pass.count) * pass.plan.cost;
  return cost.cost + -1.0 * passes;
}

Table cycles_table(const OperatorCost& cost) {
  Table table;
  table.name = "Cycles of the tile clock";
  table.columns = {{"", ""},          {"runs", ""},   {"cycles", ""}, {"vertex", ""}, {"exchange", ""},
                   {"reduction", ""}, {"serial", ""}, {"sync", ""},   {"layout", ""}, {"launch", ""}};
  for (const NamedPass& pass : cost.passes) {
    table.rows.push_back(cost_row(pass.name, pass.count, static_cast<double>(pass.count) * pass.plan.cost));
  }
  for (const NamedPooling& pooling : cost.poolings) table.rows.push_back(cost_row(pooling.name, 1, pooling.plan.cost));
  if (!cost.passes.empty()) table.rows.push_back(cost_row("around the passes", 1, around(cost)));
  table.rows.push_back(cost_row("all", 1, cost.cost));
  return table;
}

Table variants_table(const OperatorCost& cost) {
  Table table;
  table.name = "How each pass runs";
  table.columns = {{"", ""}, {"variant", ""}, {"tiles", ""}, {"temporary bytes a tile", "byte"}};
  for (const NamedPass& pass : cost.passes) {
    table.rows.push_back(
        {pass.name, describe(pass.plan.variant), pass.plan.split.tiles(), pass.plan.cost.temporary.count()});
  }
  return table;
}

Table splits_table(const OperatorCost& cost) {
  Table table;
  table.name = "Parts each axis is cut into";
  table.columns = {{"", ""},        {"groups", ""},      {"batch", ""},        {"rows", ""},
                   {"columns", ""}, {"channels in", ""}, {"channels out", ""}, {"kernel rows", ""},
                   {"serial", ""}};
  for (const NamedPass& pass : cost.passes) {
    const PassSplit& split = pass.plan.split;
    table.rows.push_back({pass.name, split.groups, split.batch, split.rows, split.columns, split.input_channels,
                          split.output_channels, split.kernel_rows, split.serial_steps});
  }
  return table;
}

Table shares_table(const OperatorCost& cost) {
  Table table;
  table.name = "What the fullest tile holds at a time";
  table.columns = {{"", ""},        {"groups", ""},      {"batch", ""},        {"rows", ""},
                   {"columns", ""}, {"channels in", ""}, {"channels out", ""}, {"kernel rows", ""}};
  for (const NamedPass& pass : cost.passes) {
    const PassPlan& plan = pass.plan;
    table.rows.push_back({pass.name, plan.share.groups, plan.share.batch, plan.share.rows, plan.share.columns,
                          plan.input_channels, plan.output_channels,
                          plan.share.kernel_rows * plan.variant.packed_rows});
  }
  return table;
}

Table poolings_table(const OperatorCost& cost, AmpMode mode) {
  Table table;
  table.name = "What the fullest tile writes";
  table.columns = {{"", ""},       {"channels together", ""}, {"such groups", ""}, {"batch", ""}, {"rows", ""},
                   {"columns", ""}};
  for (const NamedPooling& pooling : cost.poolings) {
    const PoolingShare& share = pooling.plan.share;
    table.rows.push_back(
        {pooling.name, share.channels(element_bytes(mode)), share.groups, share.batch, share.rows, share.columns});
  }
  return table;
}

}  // namespace

std::optional<OperatorEstimate> answer(const OperatorQuery& query, Diagnostics& diagnostics) {
  const std::optional<WrittenOperator> written = parse_operator(query.text, query.place, diagnostics);
  warn_without_effect(query.document, "", diagnostics);
  ConstantReader reader(query.constants);
  ChipConstants chip = read_chip_constants(reader);
  const std::string precision = precision_of(query.document, chip, diagnostics);
  const double proportion = proportion_of(query.document, diagnostics);
  const OperatorConstants constants = read_operator_constants(reader);
  if (!written || diagnostics.has_errors()) return std::nullopt;
  const std::int64_t tiles = written->description.tiles;
  if (tiles > chip.tiles) {
    diagnostics.error(query.place, "tiles", fmt::format("is {}, more than the chip has", tiles),
                      fmt::format("up to {}", chip.tiles));
    return std::nullopt;
  }
  if (tiles > 0) chip.tiles = tiles;
  const PassExecution execution{amp_mode(precision), proportion};
  const OperatorCost cost = OperatorEstimator(chip, constants).estimate(written->description, execution);

  OperatorEstimate estimate;
  estimate.operation = written->text;
  estimate.machine = fmt::format("one {} of {} at {}, {}, matmul_proportion {}", query.chip, query.system,
                                 format_clock(chip.clock), precision, format_number(proportion));
  estimate.cycles = cost.cost.total();
  estimate.time = estimate.cycles / chip.clock;
  estimate.bytes = cost.bytes;
  const FlopRate peak = chip.peak[static_cast<std::size_t>(execution.mode)];
  if (cost.flop > FlopCount()) estimate.peak_share = (cost.flop / estimate.time) / peak;
  const Bytes memory(chip.tile_memory.count() * chip.tiles);
  if (estimate.bytes > memory) {
    estimate.notes.push_back(fmt::format("does not fit: needs {}, {} has {}", format_bytes(estimate.bytes),
                                         tiles > 0 ? "what is used of the chip" : "the chip", format_bytes(memory)));
  }
  const double bound = proportion * chip.tile_memory.size().in_base();
  for (const NamedPass& pass : cost.passes) {
    if (pass.plan.cost.temporary.size().in_base() <= bound) continue;
    estimate.notes.push_back(fmt::format("no plan of the {} keeps its temporaries within the proportion ({} of a tile)",
                                         pass.name, format_bytes(Bytes(static_cast<std::int64_t>(bound)))));
  }
  estimate.tables.push_back(cycles_table(cost));
  if (!cost.passes.empty()) {
    estimate.tables.push_back(variants_table(cost));
    estimate.tables.push_back(splits_table(cost));
    estimate.tables.push_back(shares_table(cost));
  }
  if (!cost.poolings.empty()) estimate.tables.push_back(poolings_table(cost, execution.mode));
  estimate.constants_read = reader.read_ids();
  return estimate;
}

}  // namespace podsim::ipu
