#include <doctest/doctest.h>

#include <span>
#include <string>

#include "models/workloads/transformer.hpp"
#include "sim/core/check.hpp"

using namespace podsim;

namespace {

constexpr std::int64_t k_hidden = 64;
constexpr std::int64_t k_heads = 4;
constexpr std::int64_t k_width = 192;
constexpr std::int64_t k_vocabulary = 1000;

TransformerShape make_shape() {
  TransformerShape shape;
  shape.name = "small";
  shape.layers = 2;
  shape.hidden = k_hidden;
  shape.heads = k_heads;
  shape.feed_forward = k_width;
  shape.vocabulary = k_vocabulary;
  shape.positions = 128;
  return shape;
}

WorkloadSettings make_settings(int q, int a, int g = 0) {
  WorkloadSettings settings;
  settings.precision = "fp16.16";
  settings.sequence_length = 32;
  settings.micro_batch_size = 3;
  settings.split_qkv = q == 3;
  settings.attention_dropout = a == 1;
  settings.ffn_dropout = g == 1;
  return settings;
}

// Elements times passes of aligned (or, with `scores`, of row-wise) operators.
std::int64_t passes(std::span<const Operator> operators, bool scores) {
  std::int64_t sum = 0;
  for (const Operator& op : operators) {
    if ((op.row_length > 0) == scores) sum += op.elements * op.passes;
  }
  return sum;
}

std::int64_t launches(std::span<const Operator> operators, std::int64_t serial_steps = 1) {
  std::int64_t sum = 0;
  for (const Operator& op : operators) sum += op.launches * (op.launches_per_serial_step ? serial_steps : 1);
  return sum;
}

std::int64_t lookups(std::span<const Operator> operators) {
  std::int64_t sum = 0;
  for (const Operator& op : operators) sum += op.lookups;
  return sum;
}

}  // namespace

TEST_CASE("transformer: passes and launches of a layer are those the costs were fitted with") {
  const TransformerShape shape = make_shape();
  const std::int64_t h = k_hidden;
  const std::int64_t f = k_width;
  for (const int q : {1, 3}) {
    for (const int a : {0, 1}) {
      for (const int g : {0, 1}) {
        const TransformerBatch batch = transformer_batch(shape, make_settings(q, a, g));
        const std::int64_t t = batch.tokens;
        const std::int64_t x = batch.scores;
        CHECK(t == 96);
        CHECK(x == 3 * k_heads * 32 * 32);
        const Block attention = attention_block(shape, batch, 0);
        CHECK(passes(attention.forward, false) == 15 * t * h);
        CHECK(passes(attention.forward, true) == (7 + a) * x);
        CHECK(launches(attention.forward) == 2 * q + 20 + a);
        CHECK(passes(attention.backward, false) == 18 * t * h + 4 * h * h);
        CHECK(passes(attention.backward, true) == (5 + a) * x);
        CHECK(launches(attention.backward) == 5 * q + 25 + a);
        const Block feed_forward = feed_forward_block(shape, batch, 0);
        CHECK(passes(feed_forward.forward, false) == (4 + g) * t * f + 8 * t * h);
        CHECK(launches(feed_forward.forward) == 11);
        CHECK(passes(feed_forward.backward, false) == (5 + g) * t * f + 11 * t * h + 2 * h * f);
        CHECK(launches(feed_forward.backward) == 19);
        CHECK(passes(feed_forward.forward, true) + passes(feed_forward.backward, true) == 0);
      }
    }
  }
}

TEST_CASE("transformer: embedding and heads launch once per serial step what the costs were fitted with") {
  const TransformerShape shape = make_shape();
  const TransformerBatch batch = transformer_batch(shape, make_settings(1, 1));
  const std::int64_t th = batch.tokens * k_hidden;
  const std::int64_t rows = 60;
  TransformerHead head;
  head.transform_rows = rows;
  head.vocabulary_rows = rows;
  head.classifier = true;
  const Block embedding = embedding_block(shape, batch);
  const std::vector<Block> heads = head_blocks(shape, batch, head);
  REQUIRE(heads.size() == 3);
  CHECK(passes(embedding.forward, false) == 8 * th);
  CHECK(passes(embedding.backward, false) == 9 * th);
  CHECK(lookups(embedding.forward) == batch.tokens);
  CHECK(lookups(embedding.backward) == batch.tokens);
  CHECK(passes(heads[0].forward, false) == 9 * rows * k_hidden);
  CHECK(passes(heads[0].backward, false) == 13 * rows * k_hidden);
  CHECK(lookups(heads[0].forward) == rows);
  CHECK(lookups(heads[0].backward) == rows);
  CHECK(passes(heads[1].forward, false) == 6 * rows * k_vocabulary);
  CHECK(passes(heads[1].backward, false) == 3 * rows * k_vocabulary + k_vocabulary * k_hidden);
  CHECK(passes(heads[2].forward, false) == 2 * th);
  CHECK(passes(heads[2].backward, false) == 2 * th);
  for (const std::int64_t f : {1, 2, 4, 5}) {
    CHECK(launches(embedding.forward, f) == 10 + f);
    CHECK(launches(embedding.backward, f) == 10 + f);
    CHECK(launches(heads[0].forward, f) == 10);
    CHECK(launches(heads[0].backward, f) == 16);
    CHECK(launches(heads[1].forward, f) == f + 8);
    CHECK(launches(heads[1].backward, f) == 3 * f + 5);
    CHECK(launches(heads[2].forward, f) == 10);
    CHECK(launches(heads[2].backward, f) == 15);
  }
}

TEST_CASE("transformer: inference has no backward pass, no dropout and no loss") {
  const TransformerShape shape = make_shape();
  WorkloadSettings settings = make_settings(1, 1, 1);
  settings.mode = RunMode::inference;
  TransformerHead head;
  head.vocabulary_rows = 10;
  const ModelGraph graph = build_transformer(shape, transformer_batch(shape, settings), head);
  for (const Block& block : graph.blocks) {
    CHECK(block.backward.empty());
    for (const Operator& op : block.forward) {
      CHECK(op.name.find("dropout") == std::string::npos);
      CHECK(op.name != "loss");
    }
  }
  CHECK(graph.backward_flop() == flop(0));
  CHECK(graph.blocks.back().live_forward == Bytes(10 * k_vocabulary * 2));
}

TEST_CASE("transformer: the FLOP of a step are two per multiply-add, backward twice forward") {
  const TransformerShape shape = make_shape();
  const TransformerBatch batch = transformer_batch(shape, make_settings(3, 1));
  TransformerHead head;
  head.vocabulary_rows = 10;
  const ModelGraph graph = build_transformer(shape, batch, head);
  const double t = 96;
  const double h = k_hidden;
  const double layer = 2 * (t * h * 3 * h + t * h * h + 2 * t * h * k_width) + 2 * 2 * 3 * 32.0 * 32 * h;
  CHECK(graph.forward_flop().in_base() == doctest::Approx(2 * layer + 2 * 10 * h * k_vocabulary));
  CHECK(graph.backward_flop().in_base() == doctest::Approx(2 * graph.forward_flop().in_base()));
  CHECK(make_settings(3, 1).micro_batch_size == graph.samples);
}

TEST_CASE("transformer: query, key and value as one product or as three are the same FLOP") {
  const TransformerShape shape = make_shape();
  const ModelGraph one = build_transformer(shape, transformer_batch(shape, make_settings(1, 1)), {});
  const ModelGraph three = build_transformer(shape, transformer_batch(shape, make_settings(3, 1)), {});
  CHECK(one.forward_flop() == three.forward_flop());
  CHECK(one.backward_flop() == three.backward_flop());
}

TEST_CASE("transformer: live activations of a layer are eight copies and two of the scores") {
  const TransformerShape shape = make_shape();
  const TransformerBatch batch = transformer_batch(shape, make_settings(1, 1));
  const Block attention = attention_block(shape, batch, 1);
  const Block feed_forward = feed_forward_block(shape, batch, 1);
  CHECK(attention.live_forward + feed_forward.live_forward ==
        Bytes(8 * 96 * k_hidden * 2 + 2 * 3 * k_heads * 32 * 32 * 2));
  CHECK(attention.name == "layer 1 attention");
  CHECK(feed_forward.name == "layer 1 feed-forward");
}

TEST_CASE("transformer: a graph runs embedding, layers, then heads, and says what crosses and enters") {
  const TransformerShape shape = make_shape();
  TransformerHead head;
  head.transform_rows = 6;
  head.vocabulary_rows = 6;
  head.placement = HeadPlacement::first_device;
  const ModelGraph graph = build_transformer(shape, transformer_batch(shape, make_settings(1, 1)), head);
  std::vector<BlockKind> kinds;
  for (const Block& block : graph.blocks) kinds.push_back(block.kind);
  const std::vector<BlockKind> expected = {BlockKind::embedding, BlockKind::attention,    BlockKind::feed_forward,
                                           BlockKind::attention, BlockKind::feed_forward, BlockKind::head,
                                           BlockKind::head};
  CHECK(kinds == expected);
  CHECK(graph.blocks[5].holds_vocabulary == false);
  CHECK(graph.blocks[6].holds_vocabulary == true);
  CHECK(graph.blocks[6].live_forward == Bytes(2 * 6 * k_vocabulary * 2));
  CHECK(graph.boundary == Bytes(96 * k_hidden * 2));
  CHECK(graph.host_input == Bytes(12 * 96));
  CHECK(graph.head_placement == HeadPlacement::first_device);
}

TEST_CASE("transformer: single precision doubles what crosses between layers") {
  WorkloadSettings settings = make_settings(1, 1);
  settings.precision = "fp32";
  const TransformerShape shape = make_shape();
  const ModelGraph graph = build_transformer(shape, transformer_batch(shape, settings), {});
  CHECK(graph.boundary == Bytes(96 * k_hidden * 4));
}

TEST_CASE("transformer: a micro-batch without tokens or heads that do not divide are our fault") {
  TransformerShape shape = make_shape();
  WorkloadSettings settings = make_settings(1, 1);
  const TransformerBatch batch = transformer_batch(shape, settings);
  settings.sequence_length = 0;
  CHECK_THROWS_AS(transformer_batch(shape, settings), InternalError);
  shape.heads = 5;
  CHECK_THROWS_AS(build_transformer(shape, batch, {}), InternalError);
}
