#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/ipu_config_scene.hpp"

namespace podsim::ipu {
namespace {

using test::bert_request;
using test::Scene;

// An [ipu] table against a request, and every line that is reported.
struct PlaceCase {
  std::string about;
  std::string toml;
  PlacementRequest request;
  bool accepted;
  std::string report;
};

void check_cases(const std::vector<PlaceCase>& cases) {
  for (const PlaceCase& c : cases) {
    CAPTURE(c.about);
    Scene scene("", c.toml);
    CHECK(scene.place(c.request).has_value() == c.accepted);
    CHECK(scene.text() == c.report);
  }
}

PlacementRequest with_outer(PlacementRequest request, OuterBlocks outer) {
  request.outer = outer;
  return request;
}

PlacementRequest in_mode(PlacementRequest request, RunMode mode) {
  request.mode = mode;
  return request;
}

}  // namespace

TEST_CASE("ipu placement: wildcards share what is left and the last takes the remainder") {
  struct Expected {
    std::string list;
    std::int64_t ipus, layers;
    std::vector<std::int64_t> counts;
  };
  const std::vector<Expected> table{
      {"[-1]", 4, 24, {6, 6, 6, 6}}, {"[-1]", 4, 23, {5, 5, 5, 8}},         {"[-1, -1]", 2, 5, {2, 3}},
      {"[3, -1]", 2, 12, {3, 9}},    {"[-1, 3, -1]", 3, 12, {4, 3, 5}},     {"[0, -1, -1, 2]", 4, 5, {0, 1, 2, 2}},
      {"[5, -1]", 2, 5, {5, 0}},     {"[3, 7, 7, 7]", 4, 24, {3, 7, 7, 7}}, {"[-1]", 1, 12, {12}},
  };
  for (const Expected& expected : table) {
    CAPTURE(expected.list);
    Scene scene("", "gradient_accumulation_steps = 64\nlayers_per_ipu = " + expected.list +
                        "\nipus_per_replica = " + std::to_string(expected.ipus) + "\n");
    const std::optional<Placement> placement = scene.place(bert_request(expected.layers));
    REQUIRE(placement.has_value());
    CHECK(placement->layers.attention == expected.counts);
    CHECK(placement->ipus_per_replica == expected.ipus);
  }
}

TEST_CASE("ipu placement: case 1, a sum that differs from the model is refused with both numbers") {
  const std::string toml = "layers_per_ipu = [1, 2]\ngradient_accumulation_steps = 8\n";
  check_cases({
      {"too few", toml, bert_request(4), false,
       "experiment.toml:2:18: ipu.layers_per_ipu: [1, 2] places 3 layers, but the model has 4 layers; expected a sum "
       "of "
       "4\n"},
      {"too many", toml, bert_request(2), false,
       "experiment.toml:2:18: ipu.layers_per_ipu: [1, 2] places 3 layers, but the model has 2 layers; expected a sum "
       "of "
       "2\n"},
      {"right", toml, bert_request(3), true, ""},
  });
}

TEST_CASE("ipu placement: case 2, a mixed list must be as long as the replica") {
  check_cases({
      {"mix", "layers_per_ipu = [1, -1]\nipus_per_replica = 4\ngradient_accumulation_steps = 16\n", bert_request(24),
       false,
       "experiment.toml:2:18: ipu.layers_per_ipu: [1, -1] mixes wildcards and counts, with 2 entries for 4 IPUs; "
       "expected 4 entries, or [-1]\n"},
      {"only wildcards", "layers_per_ipu = [-1, -1]\nipus_per_replica = 4\ngradient_accumulation_steps = 16\n",
       bert_request(24), true,
       "experiment.toml:2:18: warning: ipu.layers_per_ipu: [-1, -1] is spread evenly over 4 IPUs; expected [-1]\n"},
  });
}

TEST_CASE("ipu placement: case 25, fixed entries above the model leave nothing for a wildcard") {
  check_cases({
      {"negative", "layers_per_ipu = [5, -1]\ngradient_accumulation_steps = 8\n", bert_request(3), false,
       "experiment.toml:2:18: ipu.layers_per_ipu: the counts of [5, -1] place 5 layers, but the model has 3 layers; "
       "expected at most 3 beside the wildcards\n"},
  });
}

TEST_CASE("ipu placement: with one IPU the layer list is ignored") {
  check_cases({
      {"other sum", "layers_per_ipu = [3]\n", bert_request(12), true,
       "experiment.toml:2:18: warning: ipu.layers_per_ipu: [3] is ignored: with one IPU per replica all 12 layers "
       "stand "
       "on it\n"},
      {"same sum", "layers_per_ipu = [12]\n", bert_request(12), true, ""},
  });
}

TEST_CASE("ipu placement: case 23, wav2vec2 counts its convolutions and projections as layers") {
  PlacementRequest request = with_outer(bert_request(23), OuterBlocks::in_list);
  request.model_type = "wav2vec2";
  request.layer_names = "7 convolutions, 1 positional, 12 encoder, 3 projection";
  const std::string rest = "gradient_accumulation_steps = 32\n";
  check_cases({
      {"all", "layers_per_ipu = [6, 5, 5, 7]\n" + rest, request, true, ""},
      {"encoder only", "layers_per_ipu = [3, 3, 3, 3]\n" + rest, request, false,
       "experiment.toml:2:18: ipu.layers_per_ipu: [3, 3, 3, 3] places 12 layers, but the model has 23 layers (7 "
       "convolutions, 1 positional, 12 encoder, 3 projection); expected a sum of 23\n"},
  });
}

TEST_CASE("ipu placement: stages are the changes of IPU in execution order") {
  struct Expected {
    std::string list;
    std::int64_t layers;
    OuterBlocks outer;
    std::int64_t forward, training;
  };
  const OuterBlocks first = OuterBlocks::head_on_first_ipu;
  const OuterBlocks last = OuterBlocks::head_on_last_ipu;
  const OuterBlocks in_list = OuterBlocks::in_list;
  const std::vector<Expected> table{
      {"[24]", 24, first, 1, 1},           {"[12, 12]", 24, last, 2, 3},
      {"[3, 7, 7, 7]", 24, last, 4, 7},    {"[3, 7, 7, 7]", 24, first, 5, 9},
      {"[0, 4, 4, 4]", 12, first, 5, 9},   {"[0, 4, 4, 4]", 12, last, 4, 7},
      {"[4, 4, 4, 0]", 12, first, 4, 7},   {"[4, 4, 4, 0]", 12, last, 4, 7},
      {"[4, 4, 4, 0]", 12, in_list, 3, 5}, {"[4, 0, 4, 4]", 12, last, 3, 5},
      {"[12, 0]", 12, first, 1, 1},        {"[3, 3, 3, 3, 3, 3, 3, 3]", 24, last, 8, 15},
  };
  for (const Expected& expected : table) {
    CAPTURE(expected.list);
    CAPTURE(static_cast<int>(expected.outer));
    Scene scene("", "gradient_accumulation_steps = 64\ninference_device_iterations = 8\nlayers_per_ipu = " +
                        expected.list + "\n");
    const PlacementRequest request = with_outer(bert_request(expected.layers), expected.outer);
    const std::optional<Placement> training = scene.place(request);
    REQUIRE(training.has_value());
    CHECK(training->forward_stages == expected.forward);
    CHECK(training->stages == expected.training);
    const std::optional<Placement> inference = scene.place(in_mode(request, RunMode::inference));
    REQUIRE(inference.has_value());
    CHECK(inference->stages == expected.forward);
  }
}

TEST_CASE("ipu placement: case 16, accumulation below the stages says where the fifth comes from") {
  const std::string toml = "layers_per_ipu = [3, 7, 7, 7]\ngradient_accumulation_steps = 8\n";
  check_cases({
      {"head returns", toml, bert_request(24), false,
       "experiment.toml:3:31: ipu.gradient_accumulation_steps: gradient_accumulation_steps is 8, but this pipeline "
       "has 5 "
       "forward and 9 training stages; expected at least 9 (the head returns to IPU 0 and makes the 5th forward "
       "stage)\n"},
      {"legal for question answering", toml, with_outer(bert_request(24), OuterBlocks::head_on_last_ipu), true, ""},
      {"just enough", "layers_per_ipu = [3, 7, 7, 7]\ngradient_accumulation_steps = 9\n", bert_request(24), true, ""},
      {"default, straight line", "layers_per_ipu = [12, 12]\n",
       with_outer(bert_request(24), OuterBlocks::head_on_last_ipu), false,
       "experiment.toml:1:1: ipu.gradient_accumulation_steps: gradient_accumulation_steps is 1 by default, but this "
       "pipeline has 2 forward and 3 training stages; expected at least 3\n"},
  });
}

TEST_CASE("ipu placement: case 17, pipelined inference needs as many device iterations as stages") {
  const PlacementRequest request =
      in_mode(with_outer(bert_request(24), OuterBlocks::head_on_last_ipu), RunMode::inference);
  const std::string toml = "layers_per_ipu = [6, 6, 6, 6]\ninference_device_iterations = 3\n";
  check_cases({
      {"pipelined", "version = \"0.3\"\n" + toml, request, false,
       "experiment.toml:4:31: ipu.inference_device_iterations: 3 is below the pipeline's "
       "stages, 4; expected at least 4, or sharded_execution_for_inference = true\n"},
      {"unknown version, as documented", "layers_per_ipu = [6, 6, 6, 6]\n", request, false,
       "experiment.toml:1:1: ipu.inference_device_iterations: 1 by default is below the "
       "pipeline's stages, 4; expected at least 4, or sharded_execution_for_inference = true\n"},
      {"sharded", "version = \"0.3\"\n" + toml + "sharded_execution_for_inference = true\n", request, true, ""},
      {"always sharded", "version = \"0.4\"\n" + toml, request, true, ""},
  });
}

TEST_CASE("ipu placement: case 18, accumulation is taken as one in inference and said so") {
  Scene scene("", "gradient_accumulation_steps = 16\n");
  const std::optional<Placement> placement = scene.place(in_mode(bert_request(12), RunMode::inference));
  REQUIRE(placement.has_value());
  CHECK(placement->gradient_accumulation == 1);
  CHECK(scene.text() ==
        "experiment.toml:2:31: warning: ipu.gradient_accumulation_steps: 16 is taken as 1 in inference\n");
}

TEST_CASE("ipu placement: automatic loss scaling is refused in inference") {
  check_cases({
      {"inference", "auto_loss_scaling = true\n", in_mode(bert_request(12), RunMode::inference), false,
       "experiment.toml:2:21: ipu.auto_loss_scaling: inference has no loss to scale; expected false\n"},
      {"training", "auto_loss_scaling = true\n", bert_request(12), true, ""},
  });
}

TEST_CASE("ipu placement: case 19, idle IPUs are reserved up to a power of two") {
  Scene scene("", "layers_per_ipu = [4, 4, 4]\ngradient_accumulation_steps = 16\n");
  const std::optional<Placement> placement = scene.place(bert_request(12));
  REQUIRE(placement.has_value());
  CHECK(placement->used_ipus == 3);
  CHECK(placement->reserved_ipus == 4);
  CHECK(scene.text() ==
        "experiment.toml:2:18: warning: ipu.ipus_per_replica: 4 IPUs are reserved for the 3 in use, since device "
        "counts "
        "are powers of two: 1 IPU idle\n");
}

TEST_CASE("ipu placement: replicas and pipelines larger than the system are refused") {
  const std::string pipeline = "layers_per_ipu = [3, 7, 7, 7]\ngradient_accumulation_steps = 16\n";
  PlacementRequest small = bert_request(24);
  small.system_name = "Pod4";
  small.system_ipus = 4;
  check_cases({
      {"replicas", pipeline + "replication_factor = 8\n", bert_request(24), false,
       "experiment.toml:4:22: ipu.replication_factor: 8 replicas of 4 IPUs do not fit: on a Pod16 with a 4-IPU "
       "pipeline, "
       "replication_factor must be between 1 and 4\n"},
      {"all of them", pipeline + "replication_factor = 4\n", bert_request(24), true, ""},
      {"pipeline", "layers_per_ipu = [-1]\nipus_per_replica = 8\ngradient_accumulation_steps = 64\n", small, false,
       "experiment.toml:3:20: ipu.ipus_per_replica: a pipeline of 8 IPUs does not fit on a Pod4 with 4 IPUs; "
       "expected at "
       "most 4\n"},
      {"inference", pipeline + "inference_replication_factor = 5\ninference_device_iterations = 5\n",
       in_mode(bert_request(24), RunMode::inference), false,
       "experiment.toml:3:31: warning: ipu.gradient_accumulation_steps: 16 is taken as 1 in inference\n"
       "experiment.toml:4:32: ipu.inference_replication_factor: 5 replicas of 4 IPUs do not fit: on a Pod16 with a "
       "4-IPU "
       "pipeline, inference_replication_factor must be between 1 and 4\n"},
  });
}

TEST_CASE("ipu placement: case 20, more than 64 IPUs need several instances") {
  PlacementRequest request = bert_request(24);
  request.system_name = "Pod128";
  request.system_ipus = 128;
  const std::string toml = "layers_per_ipu = [3, 7, 7, 7]\ngradient_accumulation_steps = 16\nreplication_factor = 32\n";
  check_cases({
      {"one instance", toml + "instances = 1\n", request, false,
       "experiment.toml:5:13: ipu.instances: 128 IPUs in 1 instance; one drives at most 64; expected a distributed run "
       "of at least 2 instances\n"},
      {"two instances", toml + "instances = 2\n", request, true, ""},
      {"as many as needed", toml, request, true, ""},
      {"uneven", toml + "instances = 3\n", request, false,
       "experiment.toml:5:13: ipu.instances: 32 replicas do not share out among 3 instances; expected a divisor of "
       "32\n"},
  });
  Scene scene("", toml);
  CHECK(scene.place(request)->instances == 2);
}

TEST_CASE("ipu placement: case 9, sharding without replicas is kept, unused and warned about") {
  Scene one("", "replicated_tensor_sharding = true\n");
  const std::optional<Placement> placement = one.place(bert_request(12));
  REQUIRE(placement.has_value());
  CHECK_FALSE(placement->replicated_tensor_sharding);
  CHECK(one.text() ==
        "experiment.toml:2:30: warning: ipu.replicated_tensor_sharding: no effect with replication_factor 1: there "
        "are no "
        "replicas to share the state; expected replication_factor above 1\n");
  Scene two("", "replicated_tensor_sharding = true\nreplication_factor = 2\n");
  CHECK(two.place(bert_request(12))->replicated_tensor_sharding);
  CHECK(two.text() == "");
}

TEST_CASE("ipu placement: case 21, GPT-2 pads its vocabulary and BERT refuses it") {
  const std::string toml = "embedding_serialization_factor = 4\n";
  PlacementRequest bert = bert_request(12);
  bert.vocabulary = 30522;
  PlacementRequest padded = bert;
  padded.vocabulary = 30524;
  PlacementRequest gpt2 = bert;
  gpt2.model_type = "gpt2";
  gpt2.vocabulary = 50257;
  check_cases({
      {"bert", toml, bert, false,
       "experiment.toml:2:34: ipu.embedding_serialization_factor: a vocabulary of 30522 is not divisible by 4; "
       "expected a "
       "divisor, or model.vocab_size = 30524\n"},
      {"divisible", toml, padded, true, ""},
  });
  Scene scene("", toml);
  CHECK(scene.place(gpt2)->vocabulary == 50260);
  CHECK(scene.text() == "");
}

TEST_CASE("ipu placement: case 22, a data set below one host call never yields a batch") {
  PlacementRequest request = bert_request(12);
  request.micro_batch_size = 2;
  request.dataset_samples = 1000;
  request.dataset_place = {"experiment.toml", 9, 19};
  const std::string toml = "replication_factor = 4\ngradient_accumulation_steps = 16\ndevice_iterations = 8\n";
  PlacementRequest enough = request;
  enough.dataset_samples = 2 * 4 * 16 * 8;
  check_cases({
      {"small", toml, request, true,
       "experiment.toml:9:19: warning: workload.dataset_samples: 1000 samples are fewer than one host call takes: "
       "micro-batch 2 × 4 replicas × accumulation 16 × device iterations 8 = 1024; the incomplete batch is dropped and "
       "nothing runs\n"},
      {"enough", toml, enough, true, ""},
  });
}

TEST_CASE("ipu placement: one proportion holds for every IPU") {
  Scene scene("", "layers_per_ipu = [12, 12]\nmatmul_proportion = 0.3\ngradient_accumulation_steps = 8\n");
  CHECK(scene.place(bert_request(24))->matmul_proportion == std::vector<double>{0.3, 0.3});
}

TEST_CASE("ipu placement: published half-layer lists are placed in the order of the layers") {
  struct Expected {
    std::string attention, ffn;
    bool moved;
    std::int64_t forward;
  };
  const std::vector<Expected> table{
      {"[4, 7, 6, 7]", "[5, 6, 7, 6]", true, 5},
      {"[1, 3, 3, 3, 4, 3, 4, 3]", "[1, 3, 3, 3, 3, 4, 3, 4]", false, 9},
      {"[0, 3, 4, 3, 3, 4, 3, 4]", "[1, 3, 3, 3, 4, 3, 4, 3]", true, 9},
      {"[12, 12]", "[12, 12]", false, 3},
  };
  for (const Expected& expected : table) {
    CAPTURE(expected.attention);
    Scene scene("", "attention_layers_per_ipu = " + expected.attention + "\nffn_layers_per_ipu = " + expected.ffn +
                        "\ngradient_accumulation_steps = 64\n");
    const std::optional<Placement> placement = scene.place(bert_request(24));
    REQUIRE(placement.has_value());
    CHECK(placement->last_ffn_on_first_ipu == expected.moved);
    CHECK(placement->forward_stages == expected.forward);
    CHECK(placement->layers.attention.size() == placement->layers.feed_forward.size());
  }
}

TEST_CASE("ipu placement: half layers out of order or of another sum are refused") {
  const std::string rest = "gradient_accumulation_steps = 64\n";
  check_cases({
      {"sum", "attention_layers_per_ipu = [12, 12]\nffn_layers_per_ipu = [12, 11]\n" + rest, bert_request(24), false,
       "experiment.toml:3:22: ipu.ffn_layers_per_ipu: [12, 11] places 23 half layers, but the model has 24 layers; "
       "expected a sum of 24\n"},
      {"order", "attention_layers_per_ipu = [12, 12]\nffn_layers_per_ipu = [10, 14]\n" + rest, bert_request(24), false,
       "experiment.toml:3:22: ipu.ffn_layers_per_ipu: [10, 14] does not follow [12, 12]: after IPU 0 the attention "
       "halves must be as many as the feed-forward halves, or one more; expected halves in the order of the layers\n"},
      {"head not on IPU 0", "attention_layers_per_ipu = [4, 7, 6, 7]\nffn_layers_per_ipu = [5, 6, 7, 6]\n" + rest,
       with_outer(bert_request(24), OuterBlocks::head_on_last_ipu), false,
       "experiment.toml:3:22: ipu.ffn_layers_per_ipu: [5, 6, 7, 6] does not follow [4, 7, 6, 7]: after IPU 0 the "
       "attention halves must be as many as the feed-forward halves, or one more; expected halves in the order of the "
       "layers\n"},
  });
}

TEST_CASE("ipu placement: all problems are reported at once and follow-ups are not") {
  Scene scene("",
              "layers_per_ipu = [3, 7, 7]\nipus_per_replica = 4\nmatmul_proportion = [0.1, 0.2]\n"
              "replication_factor = 8\nembedding_serialization_factor = 5\n");
  PlacementRequest request = bert_request(24);
  request.vocabulary = 30522;
  CHECK_FALSE(scene.place(request).has_value());
  CHECK(scene.text() ==
        "experiment.toml:4:21: ipu.matmul_proportion: 2 values in the list for 4 IPUs; expected one number, or 4 "
        "values\n"
        "experiment.toml:2:18: ipu.layers_per_ipu: [3, 7, 7] has 3 entries, but ipus_per_replica is 4; expected 4 "
        "entries, or ipus_per_replica = 3\n"
        "experiment.toml:6:34: ipu.embedding_serialization_factor: a vocabulary of 30522 is not divisible by 5; "
        "expected "
        "a divisor, or model.vocab_size = 30525\n"
        "experiment.toml:5:22: ipu.replication_factor: 8 replicas of 4 IPUs do not fit: on a Pod16 with a 4-IPU "
        "pipeline, replication_factor must be between 1 and 4\n");
}

TEST_CASE("ipu placement: every published shape reads and fits its model") {
  struct Published {
    std::string about;
    std::string json;
    std::int64_t layers;
    OuterBlocks outer;
    RunMode mode = RunMode::training;
  };
  const OuterBlocks first = OuterBlocks::head_on_first_ipu;
  const OuterBlocks last = OuterBlocks::head_on_last_ipu;
  const OuterBlocks in_list = OuterBlocks::in_list;
  const std::string pods = R"({"pod4": 1, "pod8": 2, "pod16": 4, "pod32": 8, "pod64": 16, "default": 1})";
  const std::vector<Published> table{
      {"bert-large", R"({"layers_per_ipu": [3, 7, 7, 7], "ipus_per_replica": 4, "gradient_accumulation_steps": 16,
         "replication_factor": 1, "device_iterations": 1, "inference_device_iterations": 5,
         "matmul_proportion": [0.15, 0.18, 0.20, 0.25], "embedding_serialization_factor": 2,
         "recompute_checkpoint_every_layer": true, "optimizer_state_offchip": true,
         "replicated_tensor_sharding": true})",
       24, first},
      {"roberta-large, old", R"({"layers_per_ipu": [3, 7, 7, 7], "ipus_per_replica": 4, "replication_factor": 4,
         "gradient_accumulation_steps": 32, "device_iterations": 4, "inference_device_iterations": 4,
         "matmul_proportion": [0.1, 0.2, 0.25, 0.25], "embedding_serialization_factor": 1,
         "enable_half_first_order_momentum": true})",
       24, first},
      {"gpt2-medium, old", R"({"layers_per_ipu": [3, 7, 7, 7], "ipus_per_replica": 4, "replication_factor": 4,
         "gradient_accumulation_steps": 16, "device_iterations": 2, "inference_device_iterations": 4,
         "matmul_proportion": [0.15, 0.12, 0.15, 0.2], "embedding_serialization_factor": 0})",
       24, first},
      {"vit-base", R"({"layers_per_ipu": [3, 3, 3, 3], "ipus_per_replica": 4, "gradient_accumulation_steps": 128,
         "replication_factor": 1, "device_iterations": 1, "inference_device_iterations": 4, "matmul_proportion": 0.3,
         "recompute_checkpoint_every_layer": true, "optimizer_state_offchip": true,
         "replicated_tensor_sharding": true})",
       12, last},
      {"hubert-base", R"({"layers_per_ipu": [0, 4, 4, 4], "ipus_per_replica": 4, "gradient_accumulation_steps": 512,
         "replication_factor": 1, "device_iterations": 1, "inference_device_iterations": 4,
         "matmul_proportion": [0.25, 0.25, 0.25, 0.25]})",
       12, last},
      {"wav2vec2-base, old", R"({"layers_per_ipu": [2, 1, 4, 3, 3, 3, 3, 0], "ipus_per_replica": 8,
         "gradient_accumulation_steps": 16, "replication_factor": 2, "device_iterations": 2,
         "inference_device_iterations": 4, 
         "matmul_proportion": [0.1, 0.1, 0.1, 0.3, 0.3, 0.3, 0.3, 0.1]})",
       19, in_list},
      {"wav2vec2-base, new", R"({"layers_per_ipu": [6, 5, 5, 7], "ipus_per_replica": 4,
         "gradient_accumulation_steps": 32, "replication_factor": 1, "device_iterations": 1,
         "inference_device_iterations": 4, "matmul_proportion": [0.2, 1.0, 1.0, 1.0]})",
       23, in_list},
      {"wav2vec2-ctc-base, old",
       R"({"layers_per_ipu": [9, 4, 4, 4], "ipus_per_replica": 4,
         "gradient_accumulation_steps": 32, "replication_factor": )" +
           pods + R"(, "device_iterations": 1,
         "inference_replication_factor": )" +
           pods + R"(, "inference_device_iterations": 4,
         "matmul_proportion": [0.1, 0.1, 0.1, 0.1], "embedding_serialization_factor": 0})",
       21, in_list},
      {"t5-small, old",
       R"({"layers_per_ipu": [0, 4, 4, 4], "ipus_per_replica": 4,
         "gradient_accumulation_steps": 512, "replication_factor": )" +
           pods + R"(, "device_iterations": 1,
         "inference_device_iterations": 5, "matmul_proportion": [0.25, 0.20, 0.20, 0.25],
         "embedding_serialization_factor": 2})",
       12, first},
      {"mt5-small", R"({"layers_per_ipu": [0, 8, 8, 0], "ipus_per_replica": 4, "gradient_accumulation_steps": 128,
         "device_iterations": 10, "matmul_proportion": 0.25, "inference_matmul_proportion": 0.6,
         "embedding_serialization_factor": null, "serialized_embedding_splits_per_ipu": [4, 4, 0, 0],
         "projection_serialization_factor": 4})",
       16, first},
      {"whisper-small", R"({"layers_per_ipu": [1, 2, 3, 3, 3, 0, 6, 6], "gradient_accumulation_steps": 32,
         "matmul_proportion": [0.6, 0.6, 0.2, 0.2, 0.2, 0.6, 0.2, 0.2],
         "serialized_projection_splits_per_ipu": [0, 0, 0, 0, 0, 4, 0, 0]})",
       24, first},
      {"inference lists only", R"({"inference_layers_per_ipu": [2, 4, 3, 3], "enable_half_partials": true,
         "inference_matmul_proportion": [0.1, 0.05, 0.2, 0.2]})",
       12, first, RunMode::inference},
  };
  for (const Published& published : table) {
    CAPTURE(published.about);
    Scene scene(published.json, "pod_type = \"pod16\"\n");
    PlacementRequest request = with_outer(bert_request(published.layers), published.outer);
    request.mode = published.mode;
    const std::optional<Placement> placement = scene.place(request);
    CAPTURE(scene.text());
    CHECK_FALSE(scene.diagnostics.has_errors());
    REQUIRE(placement.has_value());
    std::int64_t placed = 0;
    for (const std::int64_t count : placement->layers.attention) placed += count;
    CHECK(placed == published.layers);
  }
}

}  // namespace podsim::ipu
