#include <doctest/doctest.h>

#include "models/workloads/gptj.hpp"
#include "models/workloads/llama.hpp"
#include "tests/support/model_shapes.hpp"

using namespace podsim;
using namespace podsim::test;

TEST_CASE("llama and mistral: the published sizes have the published parameters") {
  const Llama llama;
  CHECK(parameters_of(llama, "llama-2-7b", "causal-lm") == 6'738'415'616);
  CHECK(parameters_of(llama, "llama-3-8b", "causal-lm") == 8'030'261'248);
  CHECK(parameters_of(llama, "llama-3-70b", "causal-lm") == 70'553'706'496);
  CHECK(parameters_of(llama, "llama-3.1-405b", "causal-lm") == 405'853'388'800);
  CHECK(parameters_of(Mistral(), "mistral-7b", "causal-lm") == 7'241'732'096);
}

TEST_CASE("gptj: the published size has the published parameters") {
  CHECK(parameters_of(GptJ(), "gpt-j-6b", "causal-lm") == 6'050'882'784);
}

TEST_CASE("llama: query heads that share keys make taller products over fewer groups") {
  const Llama llama;
  const ModelShape shape = shipped_shape(llama, "llama-3-8b");
  WorkloadSettings settings = settings_for("causal-lm", 256);
  settings.micro_batch_size = 2;
  const ModelGraph graph = llama.build(shape, settings);
  const Block& attention = graph.blocks[1];
  CHECK(operator_named(attention.forward, "qkv_projection").matmul == MatmulShape{1, 512, 4096, 4096 + 2 * 1024});
  CHECK(operator_named(attention.forward, "query_key_scores").matmul == MatmulShape{2 * 8, 4 * 256, 128, 256});
  CHECK(operator_named(attention.forward, "softmax").elements == 2 * 32 * 256 * 256);
  CHECK(operator_named(attention.backward, "key_gradient").matmul == MatmulShape{2 * 8, 256, 4 * 256, 128});
  CHECK(operator_named(attention.forward, "rotary").elements == 512 * (4096 + 1024));
  CHECK(!has_operator(attention.forward, "qkv_bias"));
  CHECK(!has_operator(attention.forward, "dropout"));
  const Block& feed_forward = graph.blocks[2];
  CHECK(operator_named(feed_forward.forward, "gate_projection").matmul == MatmulShape{1, 512, 4096, 14336});
  CHECK(has_operator(feed_forward.backward, "gate_weight_gradient"));
  CHECK(graph.backward_flop() == 2.0 * graph.forward_flop());
}

TEST_CASE("llama: a head of its own stands on the last device, a tied one returns to the first") {
  const Llama llama;
  const auto built = [&llama](const char* text) {
    return llama.build(shape_from(llama, text), settings_for("causal-lm", 32));
  };
  const ModelGraph own = built(R"({"vocab_size": 1000})");
  const ModelGraph tied = built(R"({"vocab_size": 1000, "tie_word_embeddings": true})");
  CHECK(own.head_placement == HeadPlacement::last_device);
  CHECK(tied.head_placement == HeadPlacement::first_device);
  CHECK(own.parameter_count() - tied.parameter_count() == 1000 * 4096);
  CHECK(own.notes.size() == 1);
}

TEST_CASE("mistral: a sequence beyond the sliding window says that masked scores are costed") {
  const Mistral mistral;
  const ModelShape shape = shipped_shape(mistral, "mistral-7b");
  CHECK(mistral.build(shape, settings_for("causal-lm", 4096)).notes.size() == 1);
  const ModelGraph graph = mistral.build(shape, settings_for("causal-lm", 4100));
  REQUIRE(graph.notes.size() == 2);
  CHECK(graph.notes.back() == "scores outside the sliding window are costed as computed and masked");
}

TEST_CASE("llama: a head width of its own needs no division, shared heads do") {
  const Llama llama;
  CHECK(shape_from(llama, R"({"hidden_size": 4096})")["head_dim"] == 128);
  CHECK(shape_from(llama, R"({"num_attention_heads": 16, "num_key_value_heads": null})")["num_key_value_heads"] == 16);
  CHECK(shape_from(llama, R"({"hidden_size": 1000, "head_dim": 64, "num_attention_heads": 16})")["head_dim"] == 64);
  CHECK(problems_from(llama, R"({"hidden_size": 1000, "num_attention_heads": 16})") ==
        "config.json:1:46: num_attention_heads: hidden_size 1000 is not a multiple of num_attention_heads 16\n");
  CHECK(problems_from(llama, R"({"num_key_value_heads": 5})") ==
        "config.json:1:25: num_key_value_heads: num_attention_heads 32 is not a multiple of num_key_value_heads 5\n");
}

TEST_CASE("gptj: attention and feed-forward share a norm, and a part of each head rotates") {
  const GptJ gptj;
  const ModelGraph graph = gptj.build(shipped_shape(gptj, "gpt-j-6b"), settings_for("causal-lm", 128));
  CHECK(has_operator(graph.blocks[1].forward, "layer_norm"));
  CHECK(!has_operator(graph.blocks[2].forward, "layer_norm"));
  CHECK(operator_named(graph.blocks[1].forward, "rotary").elements == 128 * 2 * 16 * 64);
  CHECK(graph.head_placement == HeadPlacement::last_device);
}
