// Where generation cuts a replica between encoder and decoder, on which side splits may stand, and in how many passes
// the vocabulary runs.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "models/ipu/placement/encoder_decoder_cut.hpp"
#include "tests/support/ipu_config_scene.hpp"

namespace podsim::ipu {
namespace {

using test::bert_request;
using test::Scene;

// A model of `encoder` and `decoder` layers without a vocabulary, generating.
PlacementRequest generating(std::int64_t encoder, std::int64_t decoder) {
  PlacementRequest request = bert_request(encoder + decoder);
  request.model_type = "t5";
  request.encoder_layers = encoder;
  request.mode = RunMode::generation;
  return request;
}

PlacementRequest inferring(PlacementRequest request) {
  request.mode = RunMode::inference;
  return request;
}

// An encoder-decoder model in training, with a vocabulary and a projection back to it.
PlacementRequest training(std::int64_t vocabulary, bool tied) {
  PlacementRequest request = generating(8, 8);
  request.mode = RunMode::training;
  request.vocabulary = vocabulary;
  request.projects = true;
  request.tied_projection = tied;
  return request;
}

struct CutCase {
  std::string about;
  std::string toml;
  PlacementRequest request;
  bool accepted;
  std::string report;
};

void check_cases(const std::vector<CutCase>& cases) {
  for (const CutCase& c : cases) {
    CAPTURE(c.about);
    Scene scene("", "version = \"0.7\"\n" + c.toml);
    CHECK(scene.place(c.request).has_value() == c.accepted);
    CHECK(scene.text() == c.report);
  }
}

const char* const k_wanted = "expected the first 1, 2, 4, 8 … counts to sum to ";

}  // namespace

TEST_CASE("encoder-decoder cut: case 10, it falls on the largest power of two where the encoder's layers end") {
  struct Expected {
    std::vector<std::int64_t> layers;
    std::int64_t encoder;
    std::optional<std::int64_t> ipus;
  };
  const std::vector<Expected> table{
      {{1, 2, 3, 0, 5, 6, 7, 8}, 6, 4},
      {{3, 0, 3, 0, 0, 7}, 6, 4},
      {{0, 6, 0, 6}, 6, 2},
      {{1, 2}, 1, 1},
      {{2, 4, 3, 3, 3, 3, 3, 3, 2, 4, 3, 3, 3, 3, 3, 3}, 24, 8},
      {{1, 2, 3, 3, 3, 0, 6, 6}, 12, std::nullopt},  // after five IPUs, or six
      {{4, 3}, 3, std::nullopt},
      {{2, 2, 2, 6}, 6, std::nullopt},
      {{6}, 3, std::nullopt},
  };
  for (const Expected& expected : table) {
    CAPTURE(list_text(expected.layers));
    CHECK(encoder_ipus(expected.layers, expected.encoder) == expected.ipus);
  }
}

TEST_CASE("encoder-decoder cut: case 11, a prefix of the counts must sum to the encoder's layers") {
  const std::string wildcard = "inference_layers_per_ipu = [-1]\ninference_ipus_per_replica = 4\n";
  check_cases({
      {"equal halves", wildcard, generating(12, 12), true, ""},
      {"unequal halves", wildcard, generating(4, 12), true, ""},
      {"halves that do not end together", wildcard, generating(9, 13), false,
       "experiment.toml:3:28: ipu.inference_layers_per_ipu: [-1], spread as [5, 5, 5, 7], places encoder and decoder "
       "layers on IPU 1; " +
           std::string(k_wanted) + "9, the layers of the encoder\n"},
      {"on one IPU", "inference_layers_per_ipu = [4, 3]\n", generating(3, 4), false,
       "experiment.toml:3:28: ipu.inference_layers_per_ipu: [4, 3] places encoder and decoder layers on IPU 0; " +
           std::string(k_wanted) + "3, the layers of the encoder\n"},
      {"three IPUs", "inference_layers_per_ipu = [2, 2, 2, 6]\n", generating(6, 6), false,
       "experiment.toml:3:28: ipu.inference_layers_per_ipu: [2, 2, 2, 6] gives the encoder a number of IPUs that is "
       "no power of two; " +
           std::string(k_wanted) + "6, the layers of the encoder\n"},
      {"one IPU in all", "", generating(6, 6), false,
       "experiment.toml:1:1: ipu.inference_ipus_per_replica: generation runs the encoder and the decoder on IPUs of "
       "their own, and a replica has one; expected at least 2\n"},
      {"a forward pass needs no cut", "inference_layers_per_ipu = [4, 3]\n", inferring(generating(3, 4)), true,
       "experiment.toml:3:28: warning: ipu.inference_layers_per_ipu: text generation would be refused: [4, 3] places "
       "encoder and decoder layers on IPU 0; " +
           std::string(k_wanted) + "3, the layers of the encoder\n"},
  });
}

TEST_CASE(
    "encoder-decoder cut: case 12, splits of the embedding stand on the encoder's side, the projection's behind") {
  PlacementRequest request = generating(2, 2);
  request.vocabulary = 32128;
  request.projects = true;
  const std::string layers = "inference_layers_per_ipu = [0, 2, 2, 0]\n";
  const std::string embedding = "inference_serialized_embedding_splits_per_ipu";
  const std::string projection = "inference_serialized_projection_splits_per_ipu";
  const std::string whole = ": the 4 passes count, their places do not: the ";
  check_cases({
      {"embedding", layers + embedding + " = [0, 2, 2, 0]\n", request, false,
       "experiment.toml:4:49: ipu." + embedding +
           ": [0, 2, 2, 0] places splits of the embedding on the decoder's IPUs 2 to 3; expected all of them on the "
           "encoder's IPUs 0 to 1\n"
           "experiment.toml:4:49: warning: ipu." +
           embedding + whole + "embedding is modelled whole, on IPU 0\n"},
      {"projection", layers + projection + " = [0, 2, 2, 0]\n", request, false,
       "experiment.toml:4:50: ipu." + projection +
           ": [0, 2, 2, 0] places splits of the projection on the encoder's IPUs 0 to 1; expected all of them on the "
           "decoder's IPUs 2 to 3\n"
           "experiment.toml:4:50: warning: ipu." +
           projection + whole + "projection is modelled whole, on IPU 0\n"},
      {"each on its side", layers + embedding + " = [4, 0, 0, 0]\n" + projection + " = [0, 0, 2, 2]\n", request, true,
       "experiment.toml:5:50: warning: ipu." + projection + whole + "projection is modelled whole, on IPU 0\n"},
  });
}

TEST_CASE("encoder-decoder cut: case 24, Whisper with a conditional encoder takes one IPU") {
  PlacementRequest request = generating(4, 4);
  request.model_type = "whisper";
  const std::string condition = "inference_parallelize_kwargs = { use_cond_encoder = true }\n";
  const std::string idle =
      "experiment.toml:3:32: warning: ipu.inference_parallelize_kwargs: no effect on the result: its arguments differ "
      "from model to model and have no published cost\n";
  check_cases({
      {"two", condition + "inference_ipus_per_replica = 2\n", request, false,
       idle + "experiment.toml:4:30: ipu.inference_ipus_per_replica: is 2, but with use_cond_encoder the encoder and "
              "the decoder share one IPU; expected inference_ipus_per_replica = 1\n"},
      {"two by default", condition + "layers_per_ipu = [4, 4]\n", inferring(request), false,
       idle + "experiment.toml:4:18: ipu.inference_ipus_per_replica: is 2 by default, but with use_cond_encoder the "
              "encoder and the decoder share one IPU; expected inference_ipus_per_replica = 1\n"},
      {"one", condition + "inference_ipus_per_replica = 1\n", request, true, idle},
      {"off", "inference_parallelize_kwargs = { use_cond_encoder = false }\ninference_ipus_per_replica = 2\n", request,
       true, idle},
  });
}

TEST_CASE("vocabulary passes: the sum of the splits must divide the vocabulary") {
  const std::string four = "layers_per_ipu = [0, 8, 8, 0]\ngradient_accumulation_steps = 16\n";
  check_cases({
      {"embedding", four + "serialized_embedding_splits_per_ipu = [2, 1, 0, 0]\n", training(32128, false), false,
       "experiment.toml:5:39: ipu.serialized_embedding_splits_per_ipu: a vocabulary of 32128 is not divisible by 3, "
       "the sum of [2, 1, 0, 0]; expected a divisor, or model.vocab_size = 32130\n"
       "experiment.toml:5:39: warning: ipu.serialized_embedding_splits_per_ipu: the 3 passes count, their places do "
       "not: the embedding is modelled whole, on IPU 0\n"},
      {"projection", four + "projection_serialization_factor = 5\n", training(32128, true), true,
       "experiment.toml:5:35: warning: ipu.projection_serialization_factor: a vocabulary of 32128 is not divisible by "
       "5, and PopART refuses such a product; expected a divisor, or model.vocab_size = 32130\n"},
      {"both divide",
       four + "serialized_embedding_splits_per_ipu = [4, 0, 0, 0]\nprojection_serialization_factor = 8\n",
       training(32128, false), true, ""},
  });
}

TEST_CASE("vocabulary passes: a table that embedding and projection share is not spread") {
  const std::string four = "layers_per_ipu = [0, 8, 8, 0]\ngradient_accumulation_steps = 16\n";
  check_cases({
      {"tied, case 36", four + "serialized_projection_splits_per_ipu = [0, 0, 2, 2]\n", training(32128, true), false,
       "experiment.toml:5:40: ipu.serialized_projection_splits_per_ipu: [0, 0, 2, 2] spreads a table that embedding "
       "and projection share, which must stand on one IPU; expected all splits on one IPU\n"},
      {"on one IPU", four + "serialized_projection_splits_per_ipu = [0, 0, 4, 0]\n", training(32128, true), true,
       "experiment.toml:5:40: warning: ipu.serialized_projection_splits_per_ipu: the 4 passes count, their places do "
       "not: the projection is modelled whole, on IPU 0\n"},
      {"untied", four + "serialized_projection_splits_per_ipu = [0, 0, 2, 2]\n", training(32128, false), true,
       "experiment.toml:5:40: warning: ipu.serialized_projection_splits_per_ipu: the 4 passes count, their places do "
       "not: the projection is modelled whole, on IPU 0\n"},
  });
}

TEST_CASE("vocabulary passes: keys of a model without vocabulary or projection have no effect") {
  PlacementRequest image = bert_request(12);
  image.model_type = "vit";
  PlacementRequest answers = bert_request(12);
  answers.vocabulary = 30522;
  check_cases({
      {"no embedding", "embedding_serialization_factor = 2\n", image, true,
       "experiment.toml:3:34: warning: ipu.embedding_serialization_factor: no effect: this model has no "
       "vocabulary\n"},
      {"one pass of nothing", "embedding_serialization_factor = 1\nprojection_serialization_factor = 1\n", image, true,
       ""},
      {"no projection", "projection_serialization_factor = 2\n", answers, true,
       "experiment.toml:3:35: warning: ipu.projection_serialization_factor: no effect: this head projects to no "
       "vocabulary\n"},
  });
}

TEST_CASE("vocabulary passes: the projection follows the embedding unless it has its own") {
  struct Expected {
    const char* json;
    std::int64_t embedding, projection;
  };
  const std::vector<Expected> table{
      {R"({"embedding_serialization_factor": 2})", 2, 2},
      {R"({"embedding_serialization_factor": 2, "projection_serialization_factor": 1})", 2, 1},
      {R"({"projection_serialization_factor": 4})", 1, 4},
      {R"({"layers_per_ipu": [6, 6], "serialized_embedding_splits_per_ipu": [3, 1]})", 4, 4},
      {R"({"layers_per_ipu": [6, 6], "serialized_projection_splits_per_ipu": [0, 3]})", 1, 3},
  };
  for (const Expected& expected : table) {
    CAPTURE(expected.json);
    Scene scene(expected.json);
    const std::optional<IpuConfig> config = scene.read();
    REQUIRE(config.has_value());
    CHECK(config->training.embedding_passes() == expected.embedding);
    CHECK(config->training.projection_passes() == expected.projection);
  }
}

}  // namespace podsim::ipu
