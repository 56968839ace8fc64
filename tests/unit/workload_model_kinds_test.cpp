#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "models/workloads/bert.hpp"
#include "models/workloads/gpt2.hpp"
#include "sim/core/check.hpp"

using namespace podsim;

namespace {

Value json(const std::string& text, const std::string& file = "config.json") {
  Diagnostics diagnostics;
  std::optional<Value> value = parse_json(text, file, diagnostics);
  REQUIRE(!diagnostics.has_errors());
  return *value;
}

ModelShape shape_of(const ModelKind& kind, const std::string& text, const std::string& overrides = "{}") {
  Diagnostics diagnostics;
  const auto shape = kind.read(json(text), json(overrides, "experiment"), diagnostics);
  INFO(diagnostics.to_text());
  REQUIRE(shape.has_value());
  return *shape;
}

std::string errors_of(const ModelKind& kind, const std::string& text, const std::string& overrides = "{}") {
  Diagnostics diagnostics;
  CHECK(!kind.read(json(text), json(overrides, "experiment"), diagnostics).has_value());
  return diagnostics.to_text();
}

WorkloadSettings settings_of(const std::string& head, std::int64_t sequence_length) {
  WorkloadSettings settings;
  settings.precision = "fp16.16";
  settings.head = head;
  settings.sequence_length = sequence_length;
  return settings;
}

std::int64_t parameters(const ModelKind& kind, const ModelShape& shape, const std::string& head) {
  return kind.build(shape, settings_of(head, 128)).parameter_count();
}

const std::string k_bert_large =
    R"({"model_type": "bert", "num_hidden_layers": 24, "hidden_size": 1024, "num_attention_heads": 16,
        "intermediate_size": 4096})";

std::string gpt2_text(int layers, int width, int heads) {
  return "{\"n_layer\": " + std::to_string(layers) + ", \"n_embd\": " + std::to_string(width) +
         ", \"n_head\": " + std::to_string(heads) + "}";
}

std::string implied_head(const ModelKind& kind, const std::string& architecture) {
  for (const auto& [name, head] : kind.architectures()) {
    if (name == architecture) return head;
  }
  return "unknown";
}

}  // namespace

TEST_CASE("bert: encoder with pooler and with pre-training heads has the published parameters") {
  const Bert bert;
  const ModelShape base = shape_of(bert, "{}");
  CHECK(parameters(bert, base, "none") == 109'482'240);
  CHECK(parameters(bert, base, "pretraining") == 110'106'428);
  const ModelShape large = shape_of(bert, k_bert_large);
  CHECK(parameters(bert, large, "none") == 335'141'888);
  CHECK(parameters(bert, large, "pretraining") == 336'226'108);
}

TEST_CASE("bert: each head adds its own parameters to the encoder") {
  const Bert bert;
  const ModelShape base = shape_of(bert, R"({"id2label": {"0": "a", "1": "b", "2": "c"}})");
  const std::int64_t h = 768;
  const std::int64_t pooler = h * h + h;
  const std::int64_t encoder = 109'482'240 - pooler;
  CHECK(parameters(bert, base, "masked-lm") == encoder + h * h + h + 2 * h + 30522);
  CHECK(parameters(bert, base, "question-answering") == encoder + 2 * h + 2);
  CHECK(parameters(bert, base, "sequence-classification") == encoder + pooler + 3 * h + 3);
  CHECK(parameters(bert, base, "token-classification") == encoder + 3 * h + 3);
  CHECK(parameters(bert, base, "multiple-choice") == encoder + pooler + h + 1);
}

TEST_CASE("gpt2: the four published sizes have the published parameters") {
  const Gpt2 gpt2;
  CHECK(parameters(gpt2, shape_of(gpt2, "{}"), "causal-lm") == 124'439'808);
  CHECK(parameters(gpt2, shape_of(gpt2, gpt2_text(24, 1024, 16)), "causal-lm") == 354'823'168);
  CHECK(parameters(gpt2, shape_of(gpt2, gpt2_text(36, 1280, 20)), "causal-lm") == 774'030'080);
  CHECK(parameters(gpt2, shape_of(gpt2, gpt2_text(48, 1600, 25)), "causal-lm") == 1'557'611'200);
  CHECK(parameters(gpt2, shape_of(gpt2, "{}"), "none") == 124'439'808);
  CHECK(parameters(gpt2, shape_of(gpt2, "{}"), "sequence-classification") == 124'439'808 + 2 * 768);
  CHECK(parameters(gpt2, shape_of(gpt2, "{}"), "token-classification") == 124'439'808 + 2 * 768 + 2);
}

TEST_CASE("model kinds: an attention block has ten tensors in an encoder and six in a decoder") {
  const Bert bert;
  const Gpt2 gpt2;
  const ModelGraph encoder = bert.build(shape_of(bert, "{}"), settings_of("none", 128));
  const ModelGraph decoder = gpt2.build(shape_of(gpt2, "{}"), settings_of("none", 128));
  CHECK(encoder.blocks[1].parameters.size() == 10);
  CHECK(decoder.blocks[1].parameters.size() == 6);
  CHECK(encoder.blocks[2].parameters.size() == 6);
  CHECK(decoder.blocks[2].parameters.size() == 6);
}

TEST_CASE("model kinds: language-model heads return to the first device, others stay on the last") {
  const Bert bert;
  const Gpt2 gpt2;
  const ModelShape encoder = shape_of(bert, "{}");
  const ModelShape decoder = shape_of(gpt2, "{}");
  for (const std::string& head : bert.heads()) {
    const bool first = head == "pretraining" || head == "masked-lm";
    CHECK((bert.build(encoder, settings_of(head, 128)).head_placement == HeadPlacement::first_device) == first);
  }
  for (const std::string& head : gpt2.heads()) {
    const bool first = head == "causal-lm";
    CHECK((gpt2.build(decoder, settings_of(head, 128)).head_placement == HeadPlacement::first_device) == first);
  }
}

TEST_CASE("model kinds: an unknown head is our fault") {
  const Bert bert;
  const Gpt2 gpt2;
  CHECK_THROWS_AS(bert.build(shape_of(bert, "{}"), settings_of("ctc", 128)), InternalError);
  CHECK_THROWS_AS(gpt2.build(shape_of(gpt2, "{}"), settings_of("masked-lm", 128)), InternalError);
}

TEST_CASE("bert: masked tokens default to the published counts, two more in a pack") {
  const Bert bert;
  WorkloadSettings settings = settings_of("pretraining", 128);
  CHECK(bert.default_masked_tokens(settings) == 20);
  settings.packing_factor = 1.17;
  CHECK(bert.default_masked_tokens(settings) == 22);
  CHECK(bert.default_masked_tokens(settings_of("masked-lm", 384)) == 56);
  CHECK(bert.default_masked_tokens(settings_of("pretraining", 512)) == 76);
  CHECK(bert.default_masked_tokens(settings_of("pretraining", 256)) == 256 * 15 / 100);
  CHECK(bert.default_masked_tokens(settings_of("pretraining", 1)) == 1);
  CHECK(bert.default_masked_tokens(settings_of("question-answering", 384)) == 0);
  CHECK(Gpt2().default_masked_tokens(settings_of("causal-lm", 1024)) == 0);
}

TEST_CASE("bert: the masked rows of the head are those of the workload, for the whole micro-batch") {
  const Bert bert;
  WorkloadSettings settings = settings_of("pretraining", 128);
  settings.micro_batch_size = 8;
  settings.masked_tokens = 22;
  const ModelGraph graph = bert.build(shape_of(bert, "{}"), settings);
  CHECK(graph.blocks.back().forward.front().matmul == MatmulShape{1, 8 * 22, 768, 30522});
  settings.masked_tokens = 0;
  CHECK(bert.build(shape_of(bert, "{}"), settings).blocks.back().forward.front().matmul.rows == 8 * 20);
}

TEST_CASE("model kinds: fields a file leaves out take the class default and are listed") {
  const ModelShape bert = shape_of(Bert(), R"({"hidden_size": 1024, "num_attention_heads": 16})");
  CHECK(bert["num_hidden_layers"] == 12);
  CHECK(bert["intermediate_size"] == 3072);
  CHECK(bert["type_vocab_size"] == 2);
  CHECK(Bert().maximum_sequence_length(bert) == 512);
  const auto listed = [&bert](const char* name) {
    return std::find(bert.defaulted.begin(), bert.defaulted.end(), name) != bert.defaulted.end();
  };
  CHECK(listed("num_hidden_layers"));
  CHECK(!listed("hidden_size"));
  const ModelShape gpt2 = shape_of(Gpt2(), "{}");
  CHECK(gpt2["vocab_size"] == 50257);
  CHECK(gpt2["intermediate_size"] == 3072);
  CHECK_THROWS_AS(gpt2["type_vocab_size"], InternalError);
}

TEST_CASE("gpt2: an inner width of null means four times the hidden size, and old files say n_ctx") {
  CHECK(shape_of(Gpt2(), R"({"n_embd": 1024, "n_head": 16, "n_inner": null})")["intermediate_size"] == 4096);
  CHECK(shape_of(Gpt2(), R"({"n_inner": 1000})")["intermediate_size"] == 1000);
  CHECK(Gpt2().maximum_sequence_length(shape_of(Gpt2(), R"({"n_ctx": 512})")) == 512);
  CHECK(Gpt2().maximum_sequence_length(shape_of(Gpt2(), R"({"n_ctx": 512, "n_positions": 256})")) == 256);
}

TEST_CASE("model kinds: overrides go before the file, by either name") {
  CHECK(shape_of(Bert(), R"({"vocab_size": 30522})", R"({"vocab_size": 30912})")["vocab_size"] == 30912);
  const ModelShape gpt2 = shape_of(Gpt2(), "{}", R"({"max_position_embeddings": 2048, "n_layer": 6})");
  CHECK(gpt2["max_position_embeddings"] == 2048);
  CHECK(gpt2["num_hidden_layers"] == 6);
}

TEST_CASE("model kinds: class names imply the head, pipelined ones too") {
  CHECK(implied_head(Bert(), "BertForPreTraining") == "pretraining");
  CHECK(implied_head(Bert(), "PoptorchPipelinedBertForPreTraining") == "pretraining");
  CHECK(implied_head(Bert(), "PipelinedBertForMaskedLM") == "masked-lm");
  CHECK(implied_head(Bert(), "BertModel") == "none");
  CHECK(implied_head(Gpt2(), "GPT2LMHeadModel") == "causal-lm");
  for (const auto& [name, head] : Bert().architectures()) {
    const std::vector<std::string> heads = Bert().heads();
    CHECK(std::find(heads.begin(), heads.end(), head) != heads.end());
  }
}

TEST_CASE("model kinds: wrong types and ranges are told at their place, all at once") {
  CHECK(errors_of(Bert(), "{\"hidden_size\": \"1024\",\n \"vocab_size\": 0,\n \"num_hidden_layers\": 10001}") ==
        "config.json:1:17: hidden_size: is a string; expected an integer from 1 to 10000000\n"
        "config.json:3:23: num_hidden_layers: is 10001; expected an integer from 1 to 10000\n"
        "config.json:2:16: vocab_size: is 0; expected an integer from 1 to 10000000\n");
  CHECK(errors_of(Bert(), "{}", R"({"vocab_size": 1.5})") ==
        "experiment:1:16: model.vocab_size: is a number; expected an integer from 1 to 10000000\n");
  CHECK(errors_of(Gpt2(), R"({"n_positions": 100000000})") ==
        "config.json:1:17: n_positions: is 100000000; expected an integer from 1 to 1000000\n");
}

TEST_CASE("model kinds: a hidden size that the heads do not divide is told at the heads") {
  CHECK(errors_of(Bert(), R"({"hidden_size": 1000, "num_attention_heads": 16})") ==
        "config.json:1:46: num_attention_heads: hidden_size 1000 is not a multiple of num_attention_heads 16\n");
  CHECK(errors_of(Gpt2(), R"({"n_embd": 1000})") ==
        "config.json:1:12: n_embd: hidden_size 1000 is not a multiple of num_attention_heads 12\n");
}

TEST_CASE("model kinds: a configuration of another type or of no table is refused") {
  CHECK(errors_of(Bert(), R"({"model_type": "gpt2"})") ==
        "config.json:1:16: model_type: is \"gpt2\"; expected \"bert\"\n");
  CHECK(errors_of(Bert(), R"({"model_type": 3})") ==
        "config.json:1:16: model_type: is an integer; expected a string\n");
  CHECK(errors_of(Gpt2(), "[1]") == "config.json:1:1: the model configuration is a list; expected an object\n");
}
