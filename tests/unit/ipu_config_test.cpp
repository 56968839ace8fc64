#include <doctest/doctest.h>

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "models/ipu/config/ipu_config_keys.hpp"
#include "tests/support/ipu_config_scene.hpp"

namespace podsim::ipu {
namespace {

using test::Scene;

// A file, the keys over it, and every line that is reported; `accepted` tells whether a configuration comes out.
struct ReadCase {
  std::string about;
  std::string json;
  std::string toml;
  bool accepted;
  std::string report;
};

void check_cases(const std::vector<ReadCase>& cases) {
  for (const ReadCase& c : cases) {
    CAPTURE(c.about);
    Scene scene(c.json, c.toml);
    CHECK(scene.read().has_value() == c.accepted);
    CHECK(scene.text() == c.report);
  }
}

}  // namespace

TEST_CASE("ipu config: without file the documented defaults hold and say so") {
  Scene scene("");
  const std::optional<IpuConfig> config = scene.read();
  REQUIRE(config.has_value());
  CHECK(scene.text() == "");
  CHECK_FALSE(config->version.known());
  CHECK(config->training.matmul_proportion.value == std::vector<double>{0.6});
  CHECK(config->training.matmul_proportion.origin == "default: documented (no file)");
  CHECK(config->optimizer_state_offchip.value);
  CHECK_FALSE(config->replicated_tensor_sharding.value);
  CHECK(config->enable_half_partials.value);
  CHECK_FALSE(config->recompute_checkpoint_every_layer.value);
  CHECK_FALSE(config->auto_loss_scaling.value);
  CHECK(config->output_mode.value == "final");
  CHECK(config->gradient_accumulation_steps.value == 1);
  CHECK(config->training.layers_per_ipu.value == std::vector<std::int64_t>{-1});
  for (const ModeSettings* mode : {&config->training, &config->inference}) {
    CHECK(mode->replication_factor.value == 1);
    CHECK(mode->device_iterations.value == 1);
    CHECK(mode->ipus_per_replica.value == 1);
    CHECK(mode->embedding_serialization_factor.value == 1);
    CHECK(mode->projection_serialization_factor.value == 1);
    CHECK(mode->embedding_splits.value.empty());
    CHECK(mode->projection_splits.value.empty());
  }
}

TEST_CASE("ipu config: an absent table reads as an empty one") {
  Diagnostics diagnostics;
  const std::optional<IpuConfig> config = read_ipu_config(Value(), diagnostics);
  REQUIRE(config.has_value());
  CHECK(config->training.ipus_per_replica.value == 1);
}

TEST_CASE("ipu config: defaults follow the version that is given") {
  struct Expected {
    const char* version;
    double proportion;
    bool offchip, half_partials, checkpoint_every_layer, half_moment;
    std::int64_t layers;
  };
  const std::vector<Expected> table{
      {"0.1", 0.6, true, false, false, false, 1},    {"0.3", 0.6, true, false, false, false, 1},
      {"v0.4.2", 0.6, true, false, false, false, 1}, {"0.4.3", 0.6, true, true, false, true, 1},
      {"0.5", 0.6, true, true, false, true, 1},      {"0.6.0", 0.2, true, true, true, true, -1},
      {"0.6.1", 0.2, false, true, false, true, -1},  {"0.7.1", 0.2, false, true, false, true, -1},
  };
  for (const Expected& expected : table) {
    CAPTURE(expected.version);
    Scene scene("", "version = \"" + std::string(expected.version) + "\"\n");
    const std::optional<IpuConfig> config = scene.read();
    REQUIRE(config.has_value());
    CHECK(config->version.origin == VersionOrigin::given);
    CHECK(config->training.matmul_proportion.value == std::vector<double>{expected.proportion});
    CHECK(config->optimizer_state_offchip.value == expected.offchip);
    CHECK(config->enable_half_partials.value == expected.half_partials);
    CHECK(config->recompute_checkpoint_every_layer.value == expected.checkpoint_every_layer);
    CHECK(config->enable_half_first_order_momentum.value == expected.half_moment);
    CHECK(config->training.layers_per_ipu.value == std::vector<std::int64_t>{expected.layers});
  }
}

TEST_CASE("ipu config: case 3, one layer on one IPU is the default to 0.5 and a wildcard from 0.6") {
  Scene old("", "version = \"0.5\"\n");
  CHECK(old.read()->training.layers_per_ipu.origin == "default: version 0.5.0");
  check_cases({
      {"several IPUs", "", "version = \"0.5\"\nipus_per_replica = 4\n", false,
       "experiment.toml:1:1: ipu.layers_per_ipu: [1] (default: version 0.5.0) has 1 entry, but ipus_per_replica is 4; "
       "expected 4 entries, or ipus_per_replica = 1\n"},
  });
  Scene newer("", "version = \"0.6\"\n");
  CHECK(newer.read()->training.layers_per_ipu.value == std::vector<std::int64_t>{-1});
}

TEST_CASE("ipu config: the version is told by marks in the file") {
  struct Expected {
    const char* json;
    VersionOrigin origin;
    const char* range;
    const char* reason;
  };
  const VersionOrigin inferred = VersionOrigin::inferred;
  const std::vector<Expected> table{
      {R"({"decompose_grad_sum": false})", inferred, "0.3.0 to 0.3.x", "shown by decompose_grad_sum"},
      {R"({"use_popdist": false})", inferred, "0.1.0 to 0.3.x", "shown by use_popdist"},
      {R"({"profile_dir": ""})", inferred, "0.1.0 to 0.3.x", "shown by profile_dir"},
      {R"({"replication_factor": {"default": 2}})", inferred, "0.2.0 to 0.6.0",
       "shown by the pod dictionary of replication_factor"},
      {R"({"profile_dir": "", "replication_factor": {"pod4": 1, "default": 2}})", inferred, "0.2.0 to 0.3.x",
       "shown by the pod dictionary of replication_factor and profile_dir"},
      {R"({"inference_layers_per_ipu": [-1]})", inferred, "0.6.1 to 0.7.1", "shown by inference_layers_per_ipu"},
      {R"({"inference_matmul_proportion": 0.1})", inferred, "0.6.1 to 0.7.1", "shown by inference_matmul_proportion"},
      {R"({"inference_ipus_per_replica": 1})", inferred, "0.6.1 to 0.7.1", "shown by inference_ipus_per_replica"},
      {R"({"serialized_embedding_splits_per_ipu": [1]})", inferred, "0.6.1 to 0.7.1",
       "shown by serialized_embedding_splits_per_ipu"},
      {R"({"explicit_ir_inference": false})", inferred, "0.7.0 to 0.7.1", "shown by explicit_ir_inference"},
      {R"({"inference_replication_factor": 4, "optimum_version": "1.6.1", "transformers_version": "4.25.1"})",
       VersionOrigin::assumed, "0.1.0 to 0.7.1", "the file does not show its version"},
  };
  for (const Expected& expected : table) {
    CAPTURE(expected.json);
    Scene scene(expected.json);
    const std::optional<IpuConfig> config = scene.read();
    REQUIRE(config.has_value());
    CHECK(config->version.origin == expected.origin);
    CHECK(to_text(config->version) == expected.range);
    CHECK(config->version.reason == expected.reason);
  }
}

TEST_CASE("ipu config: a default that changed within an inferred range is the documented one") {
  Scene scene(R"({"replication_factor": {"default": 2}})");
  const std::optional<IpuConfig> config = scene.read();
  REQUIRE(config.has_value());
  CHECK(config->training.matmul_proportion.value == std::vector<double>{0.6});
  CHECK(config->training.matmul_proportion.origin == "default: documented (versions 0.2.0 to 0.6.0 differ)");
  CHECK(config->optimizer_state_offchip.origin == "default: version 0.2.0 to 0.6.0");
}

TEST_CASE("ipu config: a version that was never published and marks that contradict each other are reported") {
  check_cases({
      {"unknown version", "", "version = \"0.8\"\n", false,
       "experiment.toml:2:11: ipu.version: \"0.8\" is no version of optimum-graphcore; expected 0.1 to 0.7.1\n"},
      {"no version", "", "version = \"new\"\n", false,
       "experiment.toml:2:11: ipu.version: \"new\" is no version of optimum-graphcore; expected 0.1 to 0.7.1\n"},
      {"contradiction", R"({"use_popdist": false, "inference_layers_per_ipu": [-1]})", "", true,
       "ipu_config.json:1:1: warning: ipu.version: inference_layers_per_ipu needs version 0.6.1 or later, use_popdist "
       "version 0.3.x or earlier: the documented defaults are used; expected ipu.version to say which it is\n"},
  });
}

TEST_CASE("ipu config: values know where they were written") {
  Scene scene("{\n  \"ipus_per_replica\": 4,\n  \"gradient_accumulation_steps\": 16\n}",
              "gradient_accumulation_steps = 192\n");
  const std::optional<IpuConfig> config = scene.read();
  REQUIRE(config.has_value());
  CHECK(scene.without_folder(config->training.ipus_per_replica.origin) == "ipu_config.json:2:23");
  CHECK(config->gradient_accumulation_steps.value == 192);
  CHECK(scene.without_folder(config->gradient_accumulation_steps.origin) == "experiment.toml:3:31");
}

TEST_CASE("ipu config: a key from the command line says so") {
  Value section = Value::table({});
  section.set("replication_factor", Value::integer(4, {"command line", 0, 0}));
  Diagnostics diagnostics;
  const std::optional<IpuConfig> config = read_ipu_config(section, diagnostics);
  REQUIRE(config.has_value());
  CHECK(config->training.replication_factor.origin == "command line");
}

TEST_CASE("ipu config: a file that is absent hides no other problem and causes none") {
  Scene scene("", "config = \"absent.json\"\nreplication_factor = 0\nlayers_per_ipu = [3, 7, 7, 7]\n");
  CHECK_FALSE(scene.place(test::bert_request(24)).has_value());
  CHECK(scene.text() ==
        "experiment.toml:2:10: ipu.config: cannot read \"absent.json\": no such file\n"
        "experiment.toml:3:22: ipu.replication_factor: 0 is out of range; expected at least 1\n");
}

TEST_CASE("ipu config: a file that is no object is refused") {
  check_cases({{"list", "[1]", "", false,
                "ipu_config.json:1:1: ipu.config: the file holds a list; expected an object of IPUConfig keys\n"}});
}

TEST_CASE("ipu config: unknown keys warn in old files and are refused from 0.7") {
  check_cases({
      {"unknown version", R"({"async_dataloader": true, "gradient_acumulation_steps": 4})", "", true,
       "ipu_config.json:1:2: warning: ipu.async_dataloader: unknown key, ignored\n"
       "ipu_config.json:1:28: warning: ipu.gradient_acumulation_steps: unknown key, ignored; did you mean "
       "\"gradient_accumulation_steps\"?\n"},
      {"0.7", R"({"gradient_acumulation_steps": 4, "transformers_version": "4.25.1"})", "version = \"0.7.1\"\n", false,
       "ipu_config.json:1:2: ipu.gradient_acumulation_steps: unknown key; version 0.7.1 refuses it; did you mean "
       "\"gradient_accumulation_steps\"?\n"},
      {"in the experiment", "", "gradient_acumulation_steps = 4\n", false,
       "experiment.toml:2:1: ipu.gradient_acumulation_steps: unknown key; did you mean "
       "\"gradient_accumulation_steps\"?\n"},
      {"ours in the file", R"({"pod_type": "pod4"})", "", true,
       "ipu_config.json:1:2: warning: ipu.pod_type: unknown key, ignored\n"},
  });
}

TEST_CASE("ipu config: keys of other versions warn in old files and are refused from 0.7") {
  check_cases({
      {"retired", R"({"decompose_grad_sum": false})", "version = \"0.5\"\n", true,
       "ipu_config.json:1:2: warning: ipu.decompose_grad_sum: was retired after 0.3.x; version 0.5.0 ignores it\n"},
      {"refused", R"({"use_popdist": false})", "version = \"0.7\"\n", false,
       "ipu_config.json:1:2: ipu.use_popdist: was retired after 0.3.x; version 0.7.0 refuses it\n"},
      {"later", R"({"inference_layers_per_ipu": [1, 2]})", "version = \"0.5\"\n", true,
       "ipu_config.json:1:2: warning: ipu.inference_layers_per_ipu: came with 0.6.1; version 0.5.0 ignores it\n"},
      {"later, over the file", "", "version = \"0.5\"\ninference_ipus_per_replica = 1\n", true,
       "experiment.toml:3:1: warning: ipu.inference_ipus_per_replica: came with 0.6.1; version 0.5.0 ignores it, used "
       "all the same\n"},
  });
}

TEST_CASE("ipu config: types, bounds and words are checked") {
  check_cases({
      {"bound", R"({"gradient_accumulation_steps": 0})", "", false,
       "ipu_config.json:1:33: ipu.gradient_accumulation_steps: 0 is out of range; expected at least 1\n"},
      {"element", R"({"layers_per_ipu": [3, -2]})", "", false,
       "ipu_config.json:1:24: ipu.layers_per_ipu[1]: -2 is out of range; expected at least -1\n"},
      {"type", R"({"seed": "x"})", "", false, "ipu_config.json:1:10: ipu.seed: is a string; expected an integer\n"},
      {"word", R"({"output_mode": "last"})", "", false,
       "ipu_config.json:1:17: ipu.output_mode: unknown value \"last\"; expected all, sum, final or default\n"},
      {"a whole number", R"({"replication_factor": 4.0})", "", true, ""},
      {"null", R"({"replication_factor": null})", "", false,
       "ipu_config.json:1:24: ipu.replication_factor: null is not allowed; expected a value, or no such key\n"},
      {"null where allowed", R"({"seed": null, "embedding_serialization_factor": null})", "", true, ""},
      {"encoder on the host", R"({"execute_encoder_on_cpu_for_generation": true})", "", false,
       "ipu_config.json:1:43: ipu.execute_encoder_on_cpu_for_generation: no version runs the encoder on the host; "
       "expected false\n"},
  });
}

TEST_CASE("ipu config: case 26, an integer proportion is a number and none is above one") {
  Scene scene(R"({"matmul_proportion": 1})");
  CHECK(scene.read()->training.matmul_proportion.value == std::vector<double>{1.0});
  CHECK(scene.text() == "");
  check_cases({
      {"above", R"({"matmul_proportion": 1.5})", "", false,
       "ipu_config.json:1:23: ipu.matmul_proportion: 1.5 is out of range; expected from 0 to 1\n"},
  });
}

TEST_CASE("ipu config: case 5, one proportion in a list is spread for old files and refused for new ones") {
  const std::string json = R"({"ipus_per_replica": 4, "matmul_proportion": [0.2]})";
  check_cases({
      {"assumed", json, "", true,
       "ipu_config.json:1:46: warning: ipu.matmul_proportion: a list of one value is spread over 4 IPUs; from 0.6.1 it "
       "is refused; expected 0.2, or one per IPU\n"},
      {"0.6.0", json, "version = \"0.6.0\"\n", true,
       "ipu_config.json:1:46: warning: ipu.matmul_proportion: a list of one value is spread over 4 IPUs; from 0.6.1 it "
       "is refused; expected 0.2, or one per IPU\n"},
      {"0.6.1", json, "version = \"0.6.1\"\n", false,
       "ipu_config.json:1:46: ipu.matmul_proportion: 1 value in the list for 4 IPUs; expected one number, or 4 "
       "values\n"},
      {"one IPU", R"({"matmul_proportion": [0.2]})", "version = \"0.7.1\"\n", true, ""},
      {"two of four", R"({"ipus_per_replica": 4, "matmul_proportion": [0.2, 0.3]})", "", false,
       "ipu_config.json:1:46: ipu.matmul_proportion: 2 values in the list for 4 IPUs; expected one number, or 4 "
       "values\n"},
  });
}

TEST_CASE("ipu config: case 6, a training list of the wrong length leaves inference at 0.2") {
  Scene scene(R"({"layers_per_ipu": [3, 7, 7, 7], "inference_layers_per_ipu": [12, 12],
                  "matmul_proportion": [0.1, 0.2, 0.3, 0.4]})");
  const std::optional<IpuConfig> config = scene.read();
  REQUIRE(config.has_value());
  CHECK(config->inference.ipus_per_replica.value == 2);
  CHECK(config->inference.matmul_proportion.value == std::vector<double>{0.2});
  CHECK(config->inference.matmul_proportion.origin == "default: matmul_proportion has 4 values for 2 inference IPUs");
  CHECK(scene.text() ==
        "ipu_config.json:2:40: warning: ipu.inference_matmul_proportion: matmul_proportion has 4 values for 2 "
        "inference "
        "IPUs: inference takes 0.2\n");
}

TEST_CASE("ipu config: case 7, a pod dictionary is resolved by the pod type") {
  const std::string json = R"({"replication_factor": {"pod4": 1, "pod16": 4, "default": 2}})";
  Scene scene(json, "pod_type = \"pod16\"\n");
  CHECK(scene.read()->training.replication_factor.value == 4);
  CHECK(scene.text() == "");
  Scene by_default(json);
  CHECK(by_default.read()->training.replication_factor.value == 2);
  CHECK(by_default.text() ==
        "ipu_config.json:1:24: warning: ipu.replication_factor: a pod dictionary and no pod type: its default is "
        "taken; "
        "expected ipu.pod_type = pod4 or pod16\n");
  check_cases({
      {"no pod and no default", R"({"replication_factor": {"pod4": 1, "pod16": 4}})", "", false,
       "ipu_config.json:1:24: ipu.replication_factor: a pod dictionary without default, and no pod type to choose by; "
       "expected ipu.pod_type = pod4 or pod16\n"},
      {"unknown pod", json, "pod_type = \"pod7\"\n", false,
       "experiment.toml:3:12: ipu.pod_type: unknown value \"pod7\"; expected pod4, pod8, pod16, pod32, pod64, pod128 "
       "or "
       "pod256; did you mean \"pod4\"?\n"},
      {"other keys beside pods", R"({"replication_factor": {"pod4": 1, "rack": 4}})", "", false,
       "ipu_config.json:1:24: ipu.replication_factor: is a table; expected an integer\n"},
      {"pod missing", json, "pod_type = \"pod8\"\n", false,
       "ipu_config.json:1:24: ipu.replication_factor: the pod dictionary has no entry pod8; expected pod4 or pod16\n"},
      {"0.6.1", json, "version = \"0.6.1\"\npod_type = \"pod16\"\n", true,
       "ipu_config.json:1:24: warning: ipu.replication_factor: a pod dictionary; version 0.6.1 takes its default; "
       "expected a plain value\n"},
      {"0.7", json, "version = \"0.7\"\n", false,
       "ipu_config.json:1:24: ipu.replication_factor: a pod dictionary; version 0.7.0 refuses it; expected a plain "
       "value\n"},
  });
}

TEST_CASE("ipu config: without a pod type the system's own entry of a pod dictionary is taken") {
  const auto taken = [](const char* pod) {
    Scene scene(R"({"replication_factor": {"pod4": 1, "pod64": 16, "default": 2}})");
    const IpuConfig config =
        resolve_ipu_config(merge_ipu_section(scene.section(), scene.diagnostics, pod), scene.diagnostics);
    const Setting<std::int64_t>& factor = config.training.replication_factor;
    return fmt::format("{} from {}; {}", factor.value, scene.without_folder(factor.origin), scene.text());
  };
  CHECK(taken("pod64") == "16 from ipu_config.json:1:45, entry pod64, as the system; ");
  CHECK(taken("pod16") ==
        "2 from ipu_config.json:1:60; ipu_config.json:1:24: warning: ipu.replication_factor: a pod dictionary and no "
        "pod type: its default is taken; expected ipu.pod_type = pod4 or pod64\n");
}

TEST_CASE("ipu config: a pod dictionary may stand at any key") {
  Scene scene(R"({"layers_per_ipu": {"pod4": [6, 6], "default": [12]}})", "pod_type = \"pod4\"\n");
  CHECK(scene.read()->training.layers_per_ipu.value == std::vector<std::int64_t>{6, 6});
}

TEST_CASE("ipu config: case 8, a serialization factor of zero is one for old files and refused for new ones") {
  Scene scene(R"({"embedding_serialization_factor": 0})");
  CHECK(scene.read()->training.embedding_serialization_factor.value == 1);
  CHECK(scene.text() ==
        "ipu_config.json:1:36: warning: ipu.embedding_serialization_factor: 0 is taken as 1; from 0.6.1 it is refused; "
        "expected at least 1\n");
  check_cases({
      {"new", R"({"embedding_serialization_factor": 0})", "version = \"0.7.1\"\n", false,
       "ipu_config.json:1:36: ipu.embedding_serialization_factor: 0 is out of range; expected at least 1\n"},
  });
}

TEST_CASE("ipu config: a bare number of layers, as 0.1 wrote it, is a list of one") {
  Scene scene(R"({"layers_per_ipu": 1})");
  CHECK(scene.read()->training.layers_per_ipu.value == std::vector<std::int64_t>{1});
  CHECK(scene.text() ==
        "ipu_config.json:1:20: warning: ipu.layers_per_ipu: a bare number is taken as a list of one; expected a "
        "list\n");
}

TEST_CASE("ipu config: case 4, the IPUs of a replica are the length of the layer list") {
  Scene scene(R"({"layers_per_ipu": [3, 7, 7, 7]})");
  const std::optional<IpuConfig> config = scene.read();
  CHECK(config->training.ipus_per_replica.value == 4);
  CHECK(config->training.ipus_per_replica.origin == "default: length of layers_per_ipu");
  check_cases({
      {"both, different", R"({"layers_per_ipu": [3, 7, 7, 7], "ipus_per_replica": 8})", "", false,
       "ipu_config.json:1:20: ipu.layers_per_ipu: [3, 7, 7, 7] has 4 entries, but ipus_per_replica is 8; expected 8 "
       "entries, or ipus_per_replica = 4\n"},
      {"both, a wildcard", R"({"layers_per_ipu": [-1], "ipus_per_replica": 8})", "", true, ""},
  });
}

TEST_CASE("ipu config: inference takes its IPUs from its own layer list") {
  struct Expected {
    const char* json;
    std::int64_t ipus;
  };
  const std::vector<Expected> table{
      {R"({"layers_per_ipu": [3, 7, 7, 7]})", 4},
      {R"({"layers_per_ipu": [-1], "ipus_per_replica": 4})", 4},
      {R"({"layers_per_ipu": [-1], "ipus_per_replica": 4, "inference_layers_per_ipu": [12, 12]})", 2},
      {R"({"layers_per_ipu": [3, 7, 7, 7], "inference_layers_per_ipu": [-1]})", 1},
      {R"({"inference_layers_per_ipu": [6, 6, 6, 6]})", 4},
      {R"({"inference_layers_per_ipu": [-1], "inference_ipus_per_replica": 2})", 2},
  };
  for (const Expected& expected : table) {
    CAPTURE(expected.json);
    Scene scene(expected.json);
    const std::optional<IpuConfig> config = scene.read();
    REQUIRE(config.has_value());
    CHECK(config->inference.ipus_per_replica.value == expected.ipus);
  }
}

TEST_CASE("ipu config: case 13, splits with a gap and without any split are told apart") {
  const std::string four = R"("layers_per_ipu": [3, 7, 7, 7], )";
  check_cases({
      {"gap", "{" + four + R"("serialized_embedding_splits_per_ipu": [3, 0, 2, 0]})", "", false,
       "ipu_config.json:1:73: ipu.serialized_embedding_splits_per_ipu: [3, 0, 2, 0] has a gap between its splits; "
       "expected splits on consecutive IPUs\n"},
      {"none", "{" + four + R"("serialized_projection_splits_per_ipu": [0, 0, 0, 0]})", "", false,
       "ipu_config.json:1:74: ipu.serialized_projection_splits_per_ipu: [0, 0, 0, 0] has no split; expected at least "
       "one\n"},
      {"length", "{" + four + R"("serialized_embedding_splits_per_ipu": [1, 1]})", "", false,
       "ipu_config.json:1:73: ipu.serialized_embedding_splits_per_ipu: 2 entries for 4 IPUs; expected one entry per "
       "IPU\n"},
      {"good", "{" + four + R"("serialized_embedding_splits_per_ipu": [0, 2, 2, 0]})", "", true, ""},
  });
}

TEST_CASE("ipu config: case 14, a factor and splits for the same layer are refused") {
  check_cases({
      {"both",
       R"({"layers_per_ipu": [6, 6], "embedding_serialization_factor": 2,
           "serialized_embedding_splits_per_ipu": [1, 1]})",
       "", false,
       "ipu_config.json:2:51: ipu.serialized_embedding_splits_per_ipu: embedding_serialization_factor is set too; "
       "they "
       "say the same thing; expected only one of them\n"},
  });
}

TEST_CASE("ipu config: half-layer lists come in pairs and replace the layer list") {
  Scene scene(R"({"layers_per_ipu": [3, 7, 7, 7]})",
              "attention_layers_per_ipu = [4, 7, 6, 7]\nffn_layers_per_ipu = [5, 6, 7, 6]\n");
  const std::optional<IpuConfig> config = scene.read();
  REQUIRE(config.has_value());
  CHECK(scene.text() == "");
  CHECK(config->half_layers());
  CHECK(config->training.ipus_per_replica.value == 4);
  check_cases({
      {"alone", "", "ffn_layers_per_ipu = [5, 6, 7, 6]\n", false,
       "experiment.toml:2:22: ipu.ffn_layers_per_ipu: attention_layers_per_ipu is missing; expected both or none\n"},
      {"length", "", "attention_layers_per_ipu = [12, 12]\nffn_layers_per_ipu = [24]\n", false,
       "experiment.toml:3:22: ipu.ffn_layers_per_ipu: 1 entry for 2 IPUs; expected one entry per IPU\n"},
      {"twice", "", "layers_per_ipu = [6, 6]\nattention_layers_per_ipu = [6, 6]\nffn_layers_per_ipu = [6, 6]\n", false,
       "experiment.toml:3:28: ipu.attention_layers_per_ipu: layers_per_ipu is set too; they say the same thing; "
       "expected only one of them\n"},
  });
}

TEST_CASE("ipu config: keys without effect warn when they are set to something") {
  check_cases({
      {"set", R"({"seed": 42, "executable_cache_dir": "./cache"})", "", true,
       "ipu_config.json:1:10: warning: ipu.seed: no effect on the result: random numbers cost the same whatever the "
       "seed\n"
       "ipu_config.json:1:38: warning: ipu.executable_cache_dir: no effect on the result: compiling stands outside the "
       "simulated step\n"},
      {"off", R"({"seed": null, "executable_cache_dir": "", "use_popdist": false})", "", true, ""},
      {"overtaken", R"({"enable_half_first_order_momentum": false, "sharded_execution_for_inference": true})",
       "version = \"0.5\"\n", true,
       "ipu_config.json:1:38: warning: ipu.enable_half_first_order_momentum: no effect from 0.4.3: the first moment is "
       "kept in half precision\n"
       "ipu_config.json:1:80: warning: ipu.sharded_execution_for_inference: no effect from 0.4.0: inference is always "
       "sharded\n"},
  });
}

TEST_CASE("ipu config: every key without effect is described, with its reason") {
  for (const auto& [key, reason] : keys_without_effect()) {
    CAPTURE(key);
    CHECK(key_history(key) != nullptr);
    CHECK_FALSE(reason.empty());
  }
}

TEST_CASE("ipu config: every key acts on something, is checked, or stands among those without effect") {
  // What chooses how the others are read, and what is only checked.
  const std::set<std::string> choosing{"config", "version", "pod_type", "execute_encoder_on_cpu_for_generation"};
  std::set<std::string> idle;
  for (const auto& [key, reason] : keys_without_effect()) idle.insert(key);
  for (const KeySpec& spec : ipu_config_keys()) {
    CAPTURE(spec.path);
    const bool acts = !spec.time_effect.empty() || !spec.memory_effect.empty();
    CHECK((acts ? 1 : 0) + idle.count(spec.path) + choosing.count(spec.path) == 1);
  }
}

TEST_CASE("ipu config: every key has a summary and a source") {
  CHECK(ipu_config_keys().size() == 50);
  for (const KeySpec& spec : ipu_config_keys()) {
    CAPTURE(spec.path);
    CHECK_FALSE(spec.summary.empty());
    CHECK_FALSE(spec.source.empty());
    REQUIRE(key_history(spec.path) != nullptr);
  }
}

}  // namespace podsim::ipu
