#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "models/ipu/cost/operator_cost.hpp"
#include "models/workloads/operators.hpp"
#include "models/workloads/transformer.hpp"
#include "tests/support/ipu_constants.hpp"
#include "tests/support/operator_constants.hpp"

using namespace podsim;
using namespace podsim::ipu;

namespace {

OperatorCostModel make_model() {
  return OperatorCostModel(test::gc200_chip(), test::transformer_cost(),
                           test::operator_scene("gc200").constants.passes);
}

TransformerShape make_shape(std::int64_t hidden, std::int64_t heads, std::int64_t vocabulary = 30522) {
  TransformerShape shape;
  shape.layers = 1;
  shape.hidden = hidden;
  shape.heads = heads;
  shape.feed_forward = 4 * hidden;
  shape.vocabulary = vocabulary;
  shape.positions = 1024;
  return shape;
}

TransformerBatch make_batch(const TransformerShape& shape, std::int64_t sequence, std::int64_t samples, int q, bool a) {
  WorkloadSettings settings;
  settings.precision = "fp16.16";
  settings.sequence_length = sequence;
  settings.micro_batch_size = samples;
  settings.split_qkv = q == 3;
  settings.attention_dropout = a;
  return transformer_batch(shape, settings);
}

// From the counts of an operator: its plan, launches, passes, misaligned rows and look-ups.
double counted(const OperatorCostModel& model, const Operator& op, const Execution& execution) {
  const double steps = op.serial == SerialDimension::none ? 1 : static_cast<double>(execution.serial_steps);
  const bool repeated = op.launches_per_serial_step || op.serial != SerialDimension::none;
  double cycles = 608.0 * op.launches * (repeated ? static_cast<double>(execution.serial_steps) : 1.0);
  if (op.kind == OperatorKind::matmul) return cycles + steps * model.plan(op, execution).cost.total().in_base();
  const double visits = static_cast<double>(op.elements) * op.passes / 1472;
  cycles += 1.91 * visits + 100.0 * static_cast<double>(op.lookups);
  if (op.row_length * 2 % 8 != 0) cycles += 9.4 * visits;
  return cycles;
}

struct BlockSetting {
  const char* name;
  std::int64_t hidden, heads, sequence, samples;
  int q;
  double proportion;
};

const std::vector<BlockSetting> k_blocks = {
    {"large 128", 1024, 16, 128, 8, 3, 0.25}, {"large 512 fused", 1024, 16, 512, 3, 1, 0.30},
    {"base 128", 768, 12, 128, 32, 3, 0.28},  {"decoder 1024", 768, 12, 1024, 1, 1, 0.15},
    {"vision 197", 768, 12, 197, 8, 3, 0.3},
};

}  // namespace

TEST_CASE("operator cost: blocks of encoders and decoders cost what their operators are counted for") {
  const OperatorCostModel model = make_model();
  for (const BlockSetting& b : k_blocks) {
    CAPTURE(std::string(b.name));
    const TransformerShape shape = make_shape(b.hidden, b.heads);
    const Execution execution{AmpMode::half_half, b.proportion, 1};
    const TransformerBatch batch = make_batch(shape, b.sequence, b.samples, b.q, true);
    for (const Block& block : {attention_block(shape, batch, 0), feed_forward_block(shape, batch, 0)}) {
      for (const std::vector<Operator>& operators : {block.forward, block.backward}) {
        double expected = 0;
        for (const Operator& op : operators) expected += counted(model, op, execution);
        CHECK(model.cost(operators, execution).total().in_base() == doctest::Approx(expected));
      }
    }
  }
}

TEST_CASE("operator cost: a serialised vocabulary projection repeats its plan and launches") {
  const OperatorCostModel model = make_model();
  const TransformerShape shape = make_shape(768, 12, 50272);
  TransformerHead head;
  head.vocabulary_rows = 1024;
  const std::vector<Block> blocks = head_blocks(shape, make_batch(shape, 1024, 1, 1, true), head);
  REQUIRE(blocks.size() == 1);
  const Execution execution{AmpMode::half_half, 0.15, 4};
  double expected = 0;
  for (const Operator& op : blocks[0].forward) expected += counted(model, op, execution);
  CHECK(model.cost(blocks[0].forward, execution).total().in_base() == doctest::Approx(expected));
}

TEST_CASE("operator cost: an elementwise operator is passes and launches by category") {
  const CycleCost cost = make_model().cost(elementwise_operator("x", 1472 * 100, 3, 2), {});
  CHECK(cost.compute.in_base() == doctest::Approx(300 * 1.41));
  CHECK(cost.exchange.in_base() == doctest::Approx(300 * 0.5));
  CHECK(cost.sync == cycles(2 * 300));
  CHECK(cost.launch == cycles(2 * 308));
}

TEST_CASE("operator cost: single precision doubles a pass by its bytes") {
  const Operator op = elementwise_operator("x", 1472 * 100, 1, 0);
  const OperatorCostModel model = make_model();
  const double half = model.cost(op, {AmpMode::half_half, 0.6, 1}).total().in_base();
  CHECK(model.cost(op, {AmpMode::single, 0.6, 1}).total().in_base() == doctest::Approx(2 * half));
}

TEST_CASE("operator cost: rows off an 8-byte boundary cost exchange, aligned rows nothing more") {
  const OperatorCostModel model = make_model();
  const CycleCost aligned = model.cost(score_operator("x", 1472 * 196, 196, 2), {});
  const CycleCost off = model.cost(score_operator("x", 1472 * 196, 197, 2), {});
  CHECK(off.exchange.in_base() - aligned.exchange.in_base() == doctest::Approx(2 * 196 * 9.4));
  CHECK(off.compute == aligned.compute);
  // In single precision every second row is a boundary already.
  const CycleCost single = model.cost(score_operator("x", 1472 * 196, 198, 2), {AmpMode::single, 0.6, 1});
  CHECK(single.exchange == 2 * aligned.exchange);
}

TEST_CASE("operator cost: look-ups are compute and are launched once per serial step") {
  Operator op = lookup_operator("x", 1000);
  op.launches_per_serial_step = true;
  const CycleCost cost = make_model().cost(op, {AmpMode::half_half, 0.6, 5});
  CHECK(cost.compute == cycles(100 * 1000));
  CHECK(cost.sync + cost.launch == cycles(5 * 608));
}

TEST_CASE("operator cost: the parts of a matmul are those of its plan, for each serial step") {
  const OperatorCostModel model = make_model();
  const Operator op = matmul_operator("x", {1, 160, 1024, 30522}, SerialDimension::columns);
  const Execution execution{AmpMode::half_half, 0.15, 4};
  const PassPlan one = model.planner().plan(matmul_pass({1, 160, 1024, 7631}), {AmpMode::half_half, 0.15});
  const CycleCost cost = model.cost(op, execution);
  CHECK(cost.compute == 4.0 * one.cost.compute());
  CHECK(cost.exchange == 4.0 * one.cost.transfer());
  CHECK(cost.sync == 4.0 * one.cost.sync + cycles(4 * 300));
  CHECK(cost.launch == cycles(4 * 308));
  CHECK(model.temporary(std::vector<Operator>{op}, execution, 0.0) == one.cost.temporary * 1472);
}

TEST_CASE("operator cost: each serial dimension divides its own side, rounded up") {
  const OperatorCostModel model = make_model();
  const auto planned = [&model](SerialDimension serial, const MatmulShape& part) {
    const Execution execution{AmpMode::half_half, 0.6, 3};
    const PassPlan whole = model.plan(matmul_operator("x", {1, 1000, 2000, 500}, serial), execution);
    return whole.cost.total() == model.planner().plan(matmul_pass(part), {AmpMode::half_half, 0.6}).cost.total();
  };
  CHECK(planned(SerialDimension::none, {1, 1000, 2000, 500}));
  CHECK(planned(SerialDimension::rows, {1, 334, 2000, 500}));
  CHECK(planned(SerialDimension::inner, {1, 1000, 667, 500}));
  CHECK(planned(SerialDimension::columns, {1, 1000, 2000, 167}));
}

TEST_CASE("operator cost: the parts of a cost vector sum to one rounding of the total") {
  for (int i = 1; i < 200; ++i) {
    const CycleCost cost{cycles(i * 7.3), cycles(i * 0.71), cycles(i * 300), cycles(415)};
    const CostVector vector = to_cost_vector(cost, hertz(1.325e9), 1.128, Repetition::first);
    SimTime sum;
    for (const SimTime part : vector.part) sum += part;
    CHECK(sum == to_sim_time(1.128 * (cost.total() / hertz(1.325e9))));
  }
}

TEST_CASE("operator cost: of a recomputation only the compute part is charged as such") {
  const CycleCost cost{cycles(1000), cycles(200), cycles(300), cycles(400)};
  const CostVector first = to_cost_vector(cost, hertz(1e9), 1.0, Repetition::first);
  const CostVector again = to_cost_vector(cost, hertz(1e9), 1.0, Repetition::recompute);
  CHECK(first[CostCategory::compute] == SimTime(1'000'000));
  CHECK(first[CostCategory::recompute] == SimTime(0));
  CHECK(again[CostCategory::compute] == SimTime(0));
  CHECK(again[CostCategory::recompute] == SimTime(1'000'000));
  CHECK(again[CostCategory::exchange] == SimTime(200'000));
  CHECK(again[CostCategory::sync] == SimTime(300'000));
  CHECK(again[CostCategory::launch] == SimTime(400'000));
}
