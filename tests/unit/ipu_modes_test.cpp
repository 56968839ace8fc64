// Keys of the [ipu] table against the mode that runs: how many replicas n_ipu makes, which keys only the other mode
// reads, where IO tiles are allowed, and what a call takes.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "models/ipu/config/idle_keys.hpp"
#include "tests/support/ipu_config_scene.hpp"

namespace podsim::ipu {
namespace {

using test::bert_request;
using test::Scene;

struct ModeCase {
  std::string about;
  std::string json;
  std::string toml;
  RunMode mode;
  bool accepted;
  std::string report;
};

void check_cases(const std::vector<ModeCase>& cases) {
  for (const ModeCase& c : cases) {
    CAPTURE(c.about);
    Scene scene(c.json, c.toml);
    PlacementRequest request = bert_request(24);
    request.mode = c.mode;
    CHECK(scene.place(request).has_value() == c.accepted);
    CHECK(scene.text() == c.report);
  }
}

const std::string k_four = R"({"layers_per_ipu": [3, 7, 7, 7], "gradient_accumulation_steps": 16,
 "matmul_proportion": [0.1, 0.2, 0.3, 0.4], "inference_device_iterations": 5, "inference_replication_factor": 2,
 "replicated_tensor_sharding": true, "replication_factor": 2, "device_iterations": 2})";

}  // namespace

TEST_CASE("n_ipu: case 15, the replicas are what the IPUs hold and the plan says so") {
  Scene scene(R"({"layers_per_ipu": [3, 7, 7, 7], "gradient_accumulation_steps": 16})", "n_ipu = 16\n");
  const std::optional<Placement> placement = scene.place(bert_request(24));
  REQUIRE(placement.has_value());
  CHECK(placement->replication_factor == 4);
  CHECK(placement->used_ipus == 16);
  CHECK(scene.text() ==
        "experiment.toml:3:9: warning: ipu.n_ipu: 16 IPUs make 4 replicas of 4, in place of replication_factor 1 by "
        "default; expected n_ipu = 4 to keep it\n");
  const IpuConfig config = scene.read().value();
  CHECK(config.training.replication_factor.origin == "n_ipu 16 / ipus_per_replica 4");
  CHECK(config.inference.replication_factor.origin == "n_ipu 16 / inference_ipus_per_replica 4");
}

TEST_CASE("n_ipu: what is left of the division, and none at all, are told") {
  const RunMode training = RunMode::training;
  check_cases({
      {"replaces the file's", k_four, "n_ipu = 16\n", training, true,
       "experiment.toml:3:9: warning: ipu.n_ipu: 16 IPUs make 4 replicas of 4, in place of replication_factor 2; "
       "expected n_ipu = 8 to keep it\n"},
      {"says the same", k_four, "n_ipu = 8\n", training, true, ""},
      {"in inference", k_four, "version = \"0.7\"\nn_ipu = 4\n", RunMode::inference, true,
       "ipu_config.json:1:65: warning: ipu.gradient_accumulation_steps: 16 is taken as 1 in inference\n"
       "experiment.toml:4:9: warning: ipu.n_ipu: 4 IPUs make 1 replica of 4, in place of "
       "inference_replication_factor 2; expected n_ipu = 8 to keep it\n"},
      {"not whole", k_four, "n_ipu = 10\n", training, true,
       "experiment.toml:3:9: warning: ipu.n_ipu: 10 IPUs hold 2 replicas of 4 and leave 2 out; expected a multiple of "
       "4\n"},
      {"too few", k_four, "n_ipu = 3\n", training, false,
       "ipu_config.json:3:32: warning: ipu.replicated_tensor_sharding: no effect with replication_factor 1: there are "
       "no replicas to share the state; expected replication_factor above 1\n"
       "experiment.toml:3:9: ipu.n_ipu: 3 IPUs hold no replica of 4; expected at least 4\n"},
      {"none", "", "n_ipu = 0\n", training, false,
       "experiment.toml:2:9: ipu.n_ipu: 0 is out of range; expected at least 1\n"},
      {"more than there are", k_four, "n_ipu = 32\n", training, false,
       "experiment.toml:3:9: warning: ipu.n_ipu: 32 IPUs make 8 replicas of 4, in place of replication_factor 2; "
       "expected n_ipu = 8 to keep it\n"
       "experiment.toml:3:9: ipu.replication_factor: 8 replicas of 4 IPUs do not fit: on a Pod16 with a 4-IPU "
       "pipeline, replication_factor must be between 1 and 4\n"},
  });
}

TEST_CASE("modes: keys that only the other mode reads are told when the ipu table says them and not when a file does") {
  check_cases({
      {"of inference, in the file", k_four, "", RunMode::training, true, ""},
      {"of inference, by hand", k_four,
       "inference_device_iterations = 4\nsharded_execution_for_inference = true\noutput_mode = \"all\"\n",
       RunMode::training, true,
       "experiment.toml:3:31: warning: ipu.inference_device_iterations: no effect in training: inference reads it\n"
       "experiment.toml:5:15: warning: ipu.output_mode: no effect in training: training returns the loss alone\n"
       "experiment.toml:4:35: warning: ipu.sharded_execution_for_inference: no effect in training: inference reads "
       "it\n"},
      {"of training, in the file", k_four, "", RunMode::inference, true,
       "ipu_config.json:1:65: warning: ipu.gradient_accumulation_steps: 16 is taken as 1 in inference\n"},
      {"of training, by hand", "",
       "replication_factor = 4\noptimizer_state_offchip = false\nembedding_serialization_factor = 2\n"
       "attention_layers_per_ipu = [12, 12]\nffn_layers_per_ipu = [12, 12]\n"
       "inference_device_iterations = 4\n",
       RunMode::inference, true,
       "experiment.toml:4:34: warning: ipu.embedding_serialization_factor: no effect in inference: "
       "inference_embedding_serialization_factor counts there\n"
       "experiment.toml:3:27: warning: ipu.optimizer_state_offchip: no effect in inference: training reads it\n"
       "experiment.toml:2:22: warning: ipu.replication_factor: no effect in inference: inference_replication_factor "
       "counts there\n"
       "experiment.toml:5:28: warning: ipu.attention_layers_per_ipu: no effect in inference: half layers are placed "
       "in training only\n"},
  });
}

TEST_CASE("modes: a pod type without a dictionary to choose from has no effect") {
  check_cases({
      {"no dictionary", k_four, "pod_type = \"pod16\"\n", RunMode::training, true,
       "experiment.toml:3:12: warning: ipu.pod_type: no effect: no key has a pod dictionary to choose from\n"},
      {"no file", "", "pod_type = \"pod16\"\n", RunMode::training, true,
       "experiment.toml:2:12: warning: ipu.pod_type: no effect: no key has a pod dictionary to choose from\n"},
  });
}

TEST_CASE("io tiles: case 47, an even number from 32 to 192 and never with a pipeline") {
  const std::string idle =
      ": warning: ipu.io_tiles: no effect on the result: host copies that overlap with compute are not modelled\n";
  const RunMode training = RunMode::training;
  check_cases({
      {"one IPU", "", "io_tiles = 128\n", training, true, "experiment.toml:2:12" + idle},
      {"a pipeline", k_four, "io_tiles = 128\n", training, false,
       "experiment.toml:3:12" + idle +
           "experiment.toml:3:12: ipu.io_tiles: host copies cannot overlap with compute in pipelined execution, and "
           "this pipeline has 9 stages; expected no io_tiles, or one IPU per replica\n"},
      {"pipelined inference", R"({"layers_per_ipu": [12, 12]})", "inference_device_iterations = 4\nio_tiles = 32\n",
       RunMode::inference, false,
       "experiment.toml:4:12" + idle +
           "experiment.toml:4:12: ipu.io_tiles: host copies cannot overlap with compute in pipelined execution, and "
           "this pipeline has 3 stages; expected no io_tiles, or sharded execution\n"},
      {"sharded inference", R"({"layers_per_ipu": [12, 12]})", "version = \"0.7\"\nio_tiles = 192\n",
       RunMode::inference, true, "experiment.toml:4:12" + idle},
      {"odd", "", "io_tiles = 33\n", training, false,
       "experiment.toml:2:12" + idle + "experiment.toml:2:12: ipu.io_tiles: 33 is odd; expected an even number\n"},
      {"few", "", "io_tiles = 30\n", training, false,
       "experiment.toml:2:12: ipu.io_tiles: 30 is out of range; expected from 32 to 192\n"},
      {"many", "", "io_tiles = 194\n", training, false,
       "experiment.toml:2:12: ipu.io_tiles: 194 is out of range; expected from 32 to 192\n"},
  });
}

TEST_CASE("modes: a list of four counts fits eleven layers and not twelve") {
  const std::string toml = "layers_per_ipu = [2, 3, 4, 2]\ngradient_accumulation_steps = 16\n";
  Scene eleven("", toml);
  const std::optional<Placement> placement = eleven.place(bert_request(11));
  REQUIRE(placement.has_value());
  CHECK(placement->layers.attention == std::vector<std::int64_t>{2, 3, 4, 2});
  CHECK(eleven.text() == "");
  Scene twelve("", toml);
  CHECK_FALSE(twelve.place(bert_request(12)).has_value());
  CHECK(twelve.text() ==
        "experiment.toml:2:18: ipu.layers_per_ipu: [2, 3, 4, 2] places 11 layers, but the model has 12 layers; "
        "expected a sum of 12\n");
}

TEST_CASE("ipu config: resolved keys read back as the same configuration") {
  const std::vector<std::string> files{
      R"({"layers_per_ipu": [3, 7, 7, 7], "matmul_proportion": [0.15, 0.18, 0.2, 0.25],
          "replication_factor": {"pod16": 4, "default": 1}, "gradient_accumulation_steps": 16})",
      R"({"layers_per_ipu": [6, 6], "serialized_embedding_splits_per_ipu": [2, 0], "matmul_proportion": [0.1, 0.2],
          "inference_layers_per_ipu": [12], "projection_serialization_factor": 3})",
      R"({"decompose_grad_sum": false, "layers_per_ipu": [3, 3, 3, 3], "matmul_proportion": [0.3]})",
      R"({"output_mode": "all", "auto_loss_scaling": true})"};
  for (const std::string& file : files) {
    CAPTURE(file);
    for (const RunMode mode : {RunMode::training, RunMode::inference}) {
      Scene scene(file);
      const std::vector<ResolvedKey> keys = resolved_keys(scene.read().value(), mode);
      std::string toml;
      for (const ResolvedKey& key : keys) toml += key.path.substr(4) + " = " + key.toml_value + "\n";
      Scene again("", toml);
      const std::optional<IpuConfig> config = again.read();
      CHECK(again.text() == "");
      REQUIRE(config.has_value());
      const std::vector<ResolvedKey> keys_again = resolved_keys(*config, mode);
      REQUIRE(keys_again.size() == keys.size());
      for (std::size_t i = 0; i < keys.size(); ++i) {
        CHECK(keys_again[i].path == keys[i].path);
        CHECK(keys_again[i].toml_value == keys[i].toml_value);
      }
      Diagnostics idle;
      warn_of_other_mode(*config, mode, idle);
      CHECK(idle.to_text() == "");
    }
  }
}

}  // namespace podsim::ipu
