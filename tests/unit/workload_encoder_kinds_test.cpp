#include <doctest/doctest.h>

#include "models/workloads/deberta.hpp"
#include "models/workloads/distilbert.hpp"
#include "models/workloads/mpnet.hpp"
#include "models/workloads/roberta.hpp"
#include "tests/support/model_shapes.hpp"

using namespace podsim;
using namespace podsim::test;

TEST_CASE("roberta: masked language models have the published parameters") {
  const Roberta roberta;
  CHECK(parameters_of(roberta, "roberta-base", "masked-lm") == 124'697'433);
  CHECK(parameters_of(roberta, "roberta-large", "masked-lm") == 355'412'057);
}

TEST_CASE("roberta: two of the learned positions are no token's") {
  const Roberta roberta;
  CHECK(roberta.maximum_sequence_length(shipped_shape(roberta, "roberta-base")) == 512);
  CHECK(problems_from(roberta, R"({"max_position_embeddings": 2})") ==
        "config.json:1:29: max_position_embeddings: is 2; expected an integer from 3 to 1000000\n");
}

TEST_CASE("roberta: a sequence classifier has a dense layer of its own and no pooler") {
  const Roberta roberta;
  const std::int64_t h = 768;
  const std::int64_t base = 124'697'433 - (h * h + h + 2 * h + 50265);
  CHECK(parameters_of(roberta, "roberta-base", "sequence-classification") == base + h * h + h + 2 * h + 2);
  CHECK(parameters_of(roberta, "roberta-base", "none") == base + h * h + h);
}

TEST_CASE("distilbert: the encoder has the published parameters and no pooler") {
  const DistilBert distilbert;
  const std::int64_t h = 768;
  CHECK(parameters_of(distilbert, "distilbert-base-uncased", "none") == 66'362'880);
  CHECK(parameters_of(distilbert, "distilbert-base-uncased", "masked-lm") == 66'362'880 + h * h + h + 2 * h + 30522);
  CHECK(parameters_of(distilbert, "distilbert-base-uncased", "multiple-choice") == 66'362'880 + h * h + h + h + 1);
}

TEST_CASE("distilbert: fields have their own names, and a layer is BERT's") {
  const DistilBert distilbert;
  const ModelShape shape = shape_from(distilbert, R"({"dim": 512, "n_layers": 3, "n_heads": 8, "hidden_dim": 1024})");
  CHECK(shape["hidden_size"] == 512);
  CHECK(shape["num_hidden_layers"] == 3);
  CHECK(shape["num_attention_heads"] == 8);
  CHECK(shape["intermediate_size"] == 1024);
  const ModelGraph graph = distilbert.build(shape, settings_for("none", 64));
  CHECK(graph.layers == 3);
  CHECK(graph.notes.empty());
  CHECK(!has_operator(graph.blocks[1].forward, "relative_bias"));
}

TEST_CASE("mpnet: the encoder has the published parameters and one bias table for all layers") {
  const MpNet mpnet;
  CHECK(parameters_of(mpnet, "mpnet-base", "none") == 109'486'464);
  const ModelGraph graph = mpnet.build(shipped_shape(mpnet, "mpnet-base"), settings_for("masked-lm", 128));
  CHECK(graph.blocks[0].parameters.back().elements == 32 * 12);
  CHECK(operator_named(graph.blocks[1].forward, "relative_bias").elements == 12 * 128 * 128);
  CHECK(has_operator(graph.blocks[1].backward, "relative_bias_gradient"));
  CHECK(graph.notes.size() == 1);
}

// Embedding, relative embeddings, and layers with two position projections, of which one has a bias; queries and
// values have biases, keys have none.
TEST_CASE("deberta: parameters follow from relative attention without learned positions") {
  const DeBerta deberta;
  const std::int64_t h = 768;
  const std::int64_t attention = 3 * h * h + 2 * h + (h * h) + (h * h + h) + (h * h + h) + 2 * h;
  const std::int64_t feed_forward = 2 * h * 3072 + 3072 + h + 2 * h;
  const std::int64_t embedding = 50265 * h + 2 * h + 2 * 512 * h;
  CHECK(parameters_of(deberta, "deberta-base", "none") == embedding + 12 * (attention + feed_forward));
}

TEST_CASE("deberta: content attends to positions both ways, over the distances of the sequence") {
  const DeBerta deberta;
  const ModelShape shape = shipped_shape(deberta, "deberta-base");
  const ModelGraph graph = deberta.build(shape, settings_for("none", 128));
  const std::vector<Operator>& forward = graph.blocks[1].forward;
  CHECK(operator_named(forward, "content_position_scores").matmul == MatmulShape{12, 128, 64, 256});
  CHECK(operator_named(forward, "position_content_scores").matmul == MatmulShape{12, 128, 64, 256});
  CHECK(operator_named(forward, "position_key_projection").matmul == MatmulShape{1, 256, 768, 768});
  CHECK(operator_named(forward, "content_position_gather").row_length == 128);
  const ModelGraph whole = deberta.build(shape, settings_for("none", 512));
  CHECK(operator_named(whole.blocks[1].forward, "content_position_scores").matmul.columns == 1024);
  CHECK(graph.notes.size() == 1);
  // Each product of the forward has two in the backward.
  CHECK(graph.backward_flop() == 2.0 * graph.forward_flop());
}

TEST_CASE("deberta: without relative attention it is a plain encoder with learned positions") {
  const DeBerta deberta;
  const ModelGraph graph = deberta.build(shape_from(deberta, "{}"), settings_for("none", 128));
  CHECK(!has_operator(graph.blocks[1].forward, "content_position_scores"));
  CHECK(graph.blocks[0].parameters[1].elements == 512 * 768);
  CHECK(problems_from(deberta, R"({"relative_attention": 1})") ==
        "config.json:1:24: relative_attention: is an integer; expected true or false\n");
}
