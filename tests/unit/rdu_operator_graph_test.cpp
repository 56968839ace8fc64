// The operator list of a step: counts, FLOP and tensors against the shapes written in the test.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

#include "models/rdu/transformer_graph.hpp"
#include "models/workloads/bert.hpp"
#include "models/workloads/gpt2.hpp"
#include "models/workloads/llama.hpp"
#include "models/workloads/vit.hpp"
#include "tests/support/model_shapes.hpp"
#include "tests/support/rdu_scene.hpp"

using namespace podsim;
using namespace podsim::rdu;
using namespace podsim::test;

namespace {

std::map<RduPhase, int> count_phases(const OperatorGraph& graph) {
  std::map<RduPhase, int> counts;
  for (const RduOperator& op : graph.operators) ++counts[op.phase];
  return counts;
}

const RduOperator& find_operator(const OperatorGraph& graph, const std::string& name, int layer) {
  const auto found = std::ranges::find_if(graph.operators,
                                          [&](const RduOperator& op) { return op.name == name && op.layer == layer; });
  REQUIRE_MESSAGE(found != graph.operators.end(), name);
  return *found;
}

Bytes input_bytes(const OperatorGraph& graph, const RduOperator& op) {
  Bytes sum;
  for (const TensorId tensor : op.inputs) sum += graph[tensor].bytes;
  return sum;
}

bool ends_agree(const OperatorGraph& graph) {
  for (std::uint32_t i = 0; i < graph.operators.size(); ++i) {
    for (const TensorId tensor : graph.operators[i].inputs) {
      const RduTensor& read = graph[tensor];
      if (std::ranges::count(read.consumers, OperatorId(i)) != 1) return false;
      if (read.producer.valid() && read.producer.value() >= i) return false;
    }
    for (const TensorId tensor : graph.operators[i].outputs) {
      if (graph[tensor].producer != OperatorId(i)) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("rdu graph: a GPT-2 step has 71 operators per layer and 17 around them") {
  for (const std::int64_t layers : {1, 6, 24}) {
    const OperatorGraph graph = build_transformer_step(gpt2_of(1600, layers, 25), training_step(16, 1024));
    std::map<RduPhase, int> counts = count_phases(graph);
    CHECK(graph.operators.size() == static_cast<std::size_t>(71 * layers + 17));
    CHECK(counts[RduPhase::forward] == 18 * layers + 7);
    CHECK(counts[RduPhase::backward] == 29 * layers + 8);
    CHECK(counts[RduPhase::gradient_norm] == 12 * layers + 1);
    CHECK(counts[RduPhase::optimizer] == 12 * layers + 1);
    CHECK(ends_agree(graph));
  }
}

TEST_CASE("rdu graph: FLOP are three passes over products and attention") {
  const double tokens = 16 * 1024;
  const double h = 1600;
  const double layer = 2 * tokens * 12 * h * h + 4 * tokens * 1024 * h;
  const double head = 2 * tokens * h * 50257;
  const OperatorGraph graph = build_transformer_step(gpt2_of(1600, 6, 25), training_step(16, 1024));
  CHECK(graph.flop().in_base() == doctest::Approx(3 * (6 * layer + head)).epsilon(1e-12));

  StepRequest request = training_step(16, 1024);
  request.training = false;
  const OperatorGraph forward = build_transformer_step(gpt2_of(1600, 6, 25), request);
  CHECK(forward.flop().in_base() == doctest::Approx(6 * layer + head).epsilon(1e-12));
  // Dropout does nothing in inference: 16 operators per layer, and embedding, norm and head.
  CHECK(forward.operators.size() == 16 * 6 + 3);

  request = training_step(16, 1024);
  request.recompute = true;
  const OperatorGraph again = build_transformer_step(gpt2_of(1600, 6, 25), request);
  CHECK(again.flop().in_base() == doctest::Approx(4 * 6 * layer + 3 * head).epsilon(1e-12));
  CHECK(ends_agree(again));
}

TEST_CASE("rdu graph: recompute keeps nothing of a layer but its input") {
  StepRequest request = training_step(2, 128);
  request.recompute = true;
  const OperatorGraph graph = build_transformer_step(gpt2_of(256, 3, 4), request);
  for (std::uint32_t i = 0; i < graph.operators.size(); ++i) {
    const RduOperator& op = graph.operators[i];
    if (op.phase != RduPhase::forward || op.layer < 0) continue;
    for (const TensorId tensor : op.outputs) {
      for (const OperatorId reader : graph[tensor].consumers) {
        const bool in_backward = graph[reader].phase == RduPhase::backward;
        const bool saved = op.name == "ffn_add";
        CHECK((!in_backward || saved));
      }
    }
  }
}

TEST_CASE("rdu graph: the optimizer moves 26 bytes per parameter and reads the gradient") {
  const std::int64_t h = 256;
  const OperatorGraph graph = build_transformer_step(gpt2_of(h, 2, 4), training_step(1, 128));
  Bytes state;
  Bytes gradients;
  for (const RduOperator& op : graph.operators) {
    if (op.phase != RduPhase::optimizer) continue;
    state += op.weight_bytes;
    gradients += input_bytes(graph, op);
  }
  const std::int64_t parameters = 2 * (12 * h * h + 13 * h) + 50257 * h;
  CHECK(state == Bytes(26 * parameters));
  CHECK(gradients == Bytes(2 * parameters));
  CHECK(graph.parameter_count == parameters);
}

TEST_CASE("rdu graph: shared key-value heads narrow keys, values and their product") {
  const OperatorGraph graph = build_transformer_step(gated_decoder(k_llama_3_8b), training_step(1, 512));
  const RduOperator& qkv = find_operator(graph, "qkv", 0);
  CHECK(qkv.weight_elements == 4096 * (4096 + 2 * 1024));
  const RduOperator& scores = find_operator(graph, "scores", 0);
  CHECK(input_bytes(graph, scores) == Bytes(2 * 512 * (4096 + 1024)));
  CHECK(scores.flop.in_base() == 2.0 * 512 * 512 * 4096);
  // Gate and up projection are one product; the activation halves its width.
  const RduOperator& fc = find_operator(graph, "fc", 0);
  CHECK(fc.weight_elements == 4096 * 2 * 14336);
  const RduOperator& activation = find_operator(graph, "activation", 0);
  CHECK(graph[activation.outputs.front()].bytes == Bytes(2 * 512 * 14336));
  CHECK(activation.type == "silu_multiply");
}

TEST_CASE("rdu graph: parameters of published models are counted to the weight") {
  CHECK(gated_decoder(k_llama_2_7b).parameter_count() == 6'738'415'616 - 4096);
  CHECK(gated_decoder(k_llama_3_8b).parameter_count() == 8'030'261'248 - 4096);
  CHECK(gated_decoder(k_llama_3_70b).parameter_count() == 70'553'706'496 - 8192);
}

TEST_CASE("rdu graph: a decoding step reads the static cache and returns its own keys and values") {
  StepRequest request;
  request.training = false;
  request.batch = 2;
  request.sequence = 1;
  request.context = 4096;
  const OperatorGraph graph = build_transformer_step(gated_decoder(k_llama_2_7b), request);
  const RduOperator& scores = find_operator(graph, "scores", 3);
  CHECK(input_bytes(graph, scores) == Bytes(2 * 2 * 4096 * 4096 + 2 * 2 * 4096));
  CHECK(scores.flop.in_base() == 2.0 * 2 * 4096 * 4096);
  const RduOperator& key = find_operator(graph, "rotary_key", 3);
  CHECK(graph[key.outputs.front()].model_output);
}

TEST_CASE("rdu graph: an encoder normalises behind its residual adds and predicts masked rows only") {
  const auto shape = shipped_shape(Bert(), "bert-large-uncased");
  WorkloadSettings settings = settings_for("masked-lm", 128);
  settings.masked_tokens = 20;
  const auto model = describe_transformer(shape, settings);
  REQUIRE(model.has_value());
  const OperatorGraph graph = build_transformer_step(*model, training_step(4, 128));
  CHECK(find_operator(graph, "head", -1).flop.in_base() == 2.0 * 4 * 20 * 1024 * 30522);
  CHECK(find_operator(graph, "norm1", 0).pattern_group == "projection");
  CHECK(find_operator(graph, "norm2", 0).pattern_group == "ffn");
  CHECK(ends_agree(graph));
  const double tokens = 4 * 128;
  const double layer = 2 * tokens * 12 * 1024 * 1024 + 4 * tokens * 128 * 1024;
  const double head = 2.0 * 80 * 1024 * (1024 + 30522);
  CHECK(graph.flop().in_base() == doctest::Approx(3 * (24 * layer + head)).epsilon(1e-12));
}

TEST_CASE("rdu graph: a weight shard has its share of products and weights") {
  const TransformerDescription model = gated_decoder(k_llama_3_70b);
  const TransformerDescription shard = weight_shard(model, 8);
  CHECK(shard.kv_heads == 1);
  StepRequest request;
  request.training = false;
  request.sequence = 128;
  const double whole = build_transformer_step(model, request).flop().in_base();
  CHECK(build_transformer_step(shard, request).flop().in_base() == doctest::Approx(whole / 8).epsilon(1e-12));
  // More chips than key-value heads: each keeps a whole one.
  CHECK(weight_shard(model, 16).kv_heads == 1);
  CHECK(weight_shard(model, 1).parameter_count() == model.parameter_count());
}

TEST_CASE("rdu graph: descriptions follow from published configurations") {
  const auto gpt2 = describe_transformer(shipped_shape(Gpt2(), "gpt2-xl"), settings_for("causal-lm", 1024));
  REQUIRE(gpt2.has_value());
  CHECK(gpt2->layer_parameters() == 12 * 1600 * 1600 + 13 * 1600);
  CHECK(gpt2->tied_embedding);
  const auto classifier =
      describe_transformer(shipped_shape(Gpt2(), "gpt2"), settings_for("sequence-classification", 1024));
  REQUIRE(classifier.has_value());
  CHECK(classifier->head == RduHead::classifier);
  CHECK(classifier->head_rows == 1);
  CHECK(classifier->labels == 2);
  const auto decoder = describe_transformer(shipped_shape(Llama(), "llama-3-8b"), settings_for("causal-lm", 1024));
  REQUIRE(decoder.has_value());
  CHECK(decoder->parameter_count() == gated_decoder(k_llama_3_8b).parameter_count());
  CHECK_FALSE(
      describe_transformer(shipped_shape(Vit(), "vit-base-patch16-224"), settings_for("none", 197)).has_value());
}

TEST_CASE("rdu graph: classifiers and bare models train as well") {
  TransformerDescription model = gpt2_of(256, 2, 4);
  model.head = RduHead::classifier;
  model.head_rows = 1;
  model.labels = 3;
  OperatorGraph graph = build_transformer_step(model, training_step(8, 64));
  CHECK(ends_agree(graph));
  CHECK(find_operator(graph, "head", -1).flop.in_base() == 2.0 * 8 * 256 * 3);
  // The head's weights and the embedding are updated apart.
  CHECK(find_operator(graph, "head.weight_adam", -1).weight_elements == 256 * 3);
  CHECK(find_operator(graph, "embedding.weight_adam", -1).weight_elements == 50257 * 256);
  model.head = RduHead::none;
  graph = build_transformer_step(model, training_step(8, 64));
  CHECK(ends_agree(graph));
  CHECK(graph[find_operator(graph, "ffn_add", 1).outputs.front()].model_output);
}

TEST_CASE("rdu graph: sizes beyond 64 bits are refused") {
  CHECK_THROWS_AS(build_transformer_step(gpt2_of(1600, 2, 25), training_step(1'000'000'000, 10'000'000)),
                  std::range_error);
  CHECK_THROWS_AS(build_transformer_step(gpt2_of(1600, 1000, 25), training_step(1'000'000, 1'000'000)),
                  std::range_error);
}
