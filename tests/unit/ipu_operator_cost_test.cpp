#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "models/ipu/operator_cost.hpp"
#include "models/workloads/operators.hpp"
#include "models/workloads/transformer.hpp"
#include "tests/support/ipu_constants.hpp"

using namespace podsim;
using namespace podsim::ipu;

namespace {

OperatorCostModel make_model() {
  return OperatorCostModel(test::gc200_chip(), test::transformer_cost());
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

long rounded(Cycles value) {
  return std::lround(value.in_base());
}

struct BlockVector {
  const char* name;
  std::int64_t hidden, heads, sequence, samples;
  int q;
  double proportion;
  long forward[2], backward[2];  // attention, without and with dropout
  long ffn_forward, ffn_backward;
};

const std::vector<BlockVector> k_block_vectors = {
    {"large 128", 1024, 16, 128, 8, 3, 0.25, {193'432, 196'982}, {342'238, 345'788}, 228'475, 432'882},
    {"large 512", 1024, 16, 512, 2, 3, 0.23, {274'488, 286'543}, {428'031, 440'087}, 229'875, 434'282},
    {"large 512 fused", 1024, 16, 512, 3, 1, 0.30, {353'619, 371'345}, {524'941, 542'667}, 309'574, 592'175},
    {"base 128", 768, 12, 128, 32, 3, 0.28, {394'171, 403'391}, {665'870, 675'090}, 469'962, 876'710},
    {"decoder 1024", 768, 12, 1024, 1, 1, 0.15, {258'682, 276'408}, {348'061, 365'787}, 143'925, 274'011},
};

}  // namespace

TEST_CASE("operator cost: blocks of known encoders and decoders cost what was published of them") {
  const OperatorCostModel model = make_model();
  for (const BlockVector& v : k_block_vectors) {
    CAPTURE(std::string(v.name));
    const TransformerShape shape = make_shape(v.hidden, v.heads);
    const Execution execution{AmpMode::half_half, v.proportion, 1};
    for (int a = 0; a < 2; ++a) {
      const TransformerBatch batch = make_batch(shape, v.sequence, v.samples, v.q, a == 1);
      const Block attention = attention_block(shape, batch, 0);
      CHECK(rounded(model.cost(attention.forward, execution).total()) == v.forward[a]);
      CHECK(rounded(model.cost(attention.backward, execution).total()) == v.backward[a]);
      const Block feed_forward = feed_forward_block(shape, batch, 0);
      CHECK(rounded(model.cost(feed_forward.forward, execution).total()) == v.ffn_forward);
      CHECK(rounded(model.cost(feed_forward.backward, execution).total()) == v.ffn_backward);
    }
  }
}

TEST_CASE("operator cost: a serialised vocabulary projection costs what was published of it") {
  const OperatorCostModel model = make_model();
  const TransformerShape shape = make_shape(768, 12, 50272);
  TransformerHead head;
  head.vocabulary_rows = 1024;
  const std::vector<Block> blocks = head_blocks(shape, make_batch(shape, 1024, 1, 1, true), head);
  REQUIRE(blocks.size() == 1);
  const Execution execution{AmpMode::half_half, 0.15, 4};
  CHECK(rounded(model.cost(blocks[0].forward, execution).total()) == 1'233'568);
  CHECK(rounded(model.cost(blocks[0].backward, execution).total()) == 2'201'612);
}

TEST_CASE("operator cost: an elementwise operator is passes and launches by category") {
  const CycleCost cost = make_model().cost(elementwise_operator("x", 1472 * 100, 3, 2), {});
  CHECK(cost.compute.in_base() == doctest::Approx(300 * 1.49));
  CHECK(cost.exchange.in_base() == doctest::Approx(300 * 0.5));
  CHECK(cost.sync == cycles(2 * 300));
  CHECK(cost.launch == cycles(2 * 415));
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
  CHECK(cost.sync + cost.launch == cycles(5 * 715));
}

TEST_CASE("operator cost: the parts of a matmul are those of its plan, for each serial step") {
  const OperatorCostModel model = make_model();
  const Operator op = matmul_operator("x", {1, 160, 1024, 30522}, SerialDimension::columns);
  const Execution execution{AmpMode::half_half, 0.15, 4};
  const MatmulPlan one = model.planner().plan({1, 160, 1024, 7631}, AmpMode::half_half, 0.15);
  const CycleCost cost = model.cost(op, execution);
  CHECK(cost.compute == 4.0 * (one.vertex + one.reduction_compute + one.layout));
  CHECK(cost.exchange == 4.0 * (one.exchange + one.reduction_exchange));
  CHECK(cost.sync == 4.0 * (one.sync + one.reduction_sync) + cycles(4 * 300));
  CHECK(cost.launch == cycles(4 * 415));
  CHECK(model.temporary(std::vector<Operator>{op}, execution, 0.0) == one.temporary * 1472);
}

TEST_CASE("operator cost: each serial dimension divides its own side, rounded up") {
  const OperatorCostModel model = make_model();
  const auto planned = [&model](SerialDimension serial, const MatmulShape& part) {
    const Execution execution{AmpMode::half_half, 0.6, 3};
    const MatmulPlan whole = model.plan(matmul_operator("x", {1, 1000, 2000, 500}, serial), execution);
    return whole.total() == model.planner().plan(part, AmpMode::half_half, 0.6).total();
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
