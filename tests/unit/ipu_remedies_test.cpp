// What is offered for a plan that does not fit is tried here as a user would: written into the experiment.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

// BERT-Large pre-training, graphcore/examples nlp/bert/pytorch, with one replica and its state on chip.
const std::string k_phase1 = R"(
system = "bow-pod16"
[model]
config = "bert-large-uncased"
[workload]
sequence_length = 128
micro_batch_size = 8
masked_tokens = 20
optimizer = "lamb"
first_moment_format = "float16"
[ipu]
layers_per_ipu = [3, 7, 7, 7]
gradient_accumulation_steps = 2048
matmul_proportion = [0.15, 0.18, 0.2, 0.25]
recompute_checkpoint_every_layer = true
optimizer_state_offchip = false
)";

// "a = 1 and b = 2": as overrides.
std::vector<std::string> changes_in(const std::string& remedy) {
  std::vector<std::string> changes;
  for (std::size_t begin = 0; begin < remedy.size();) {
    const std::size_t end = std::min(remedy.find(" and ", begin), remedy.size());
    std::string change = remedy.substr(begin, end - begin);
    change.replace(change.find(" = "), 3, "=");
    changes.push_back(change);
    begin = end + 5;
  }
  return changes;
}

// The remedy, which must help.
std::string remedy_of(const std::string& toml, std::vector<std::string> overrides) {
  const Plan plan = plan_of(toml, overrides);
  const Verdict verdict = plan.family->verdict(plan, true);
  REQUIRE_FALSE(verdict.fits());
  const std::string remedy = verdict.broken.front().remedy;
  CAPTURE(remedy);
  REQUIRE(remedy.find(" = ") != std::string::npos);
  for (const std::string& change : changes_in(remedy)) overrides.push_back(change);
  const Plan changed = plan_of(toml, overrides);
  CHECK(changed.family->verdict(changed, false).fits());
  return remedy;
}

}  // namespace

TEST_CASE("remedies: BERT-Large with state on chip and one replica fits once its state is split over replicas") {
  CHECK(remedy_of(k_phase1, {}) == "ipu.replication_factor = 4 and ipu.replicated_tensor_sharding = true");
}

TEST_CASE("remedies: where the machine has room for one replica the state moves off the chip") {
  CHECK(remedy_of(k_phase1, {"system=\"bow-pod4\""}) == "ipu.optimizer_state_offchip = true");
}

TEST_CASE("remedies: BERT-Large SQuAD on eight IPUs with one replica fits after what is offered") {
  const std::string squad = experiment("bert-large-squad-bow-pod16");
  CHECK(remedy_of(squad, {"ipu.replication_factor=1"}) == "workload.micro_batch_size = 2");
  // with micro-batches of one there is nothing to make smaller
  remedy_of(squad, {"ipu.replication_factor=1", "workload.micro_batch_size=1", "workload.sequence_length=512",
                    "ipu.matmul_proportion=0.6"});
}

TEST_CASE("remedies: an even split goes before as few moves as fit where it is quicker") {
  CHECK(remedy_of(k_phase1, {"ipu.optimizer_state_offchip=true", "ipu.layers_per_ipu=[1, 3, 8, 12]"}) ==
        "ipu.layers_per_ipu = [6, 6, 6, 6]");
}

TEST_CASE("remedies: a lower proportion keeps what was lower already") {
  const std::string gpt2 = R"(
system = "pod4"
[model]
config = "gpt2-medium"
[ipu]
layers_per_ipu = [6, 6, 6, 6]
gradient_accumulation_steps = 64
matmul_proportion = [0.6, 0.03, 0.6, 0.6]
recompute_checkpoint_every_layer = true
)";
  CHECK(remedy_of(gpt2, {}) ==
        "ipu.matmul_proportion = [0.05, 0.03, 0.05, 0.05] and ipu.embedding_serialization_factor = 5");
}

TEST_CASE("remedies: the projection of a model with a decoder is serialised by a factor of its own") {
  const std::string t5 = R"(
system = "pod4"
[model]
config = "t5-base"
[workload]
sequence_length = 512
micro_batch_size = 4
[ipu]
layers_per_ipu = [6, 6, 6, 6]
gradient_accumulation_steps = 64
matmul_proportion = 0.1
recompute_checkpoint_every_layer = true
)";
  CHECK(remedy_of(t5, {}).starts_with("ipu.projection_serialization_factor = "));
  const Plan serialised = plan_of(t5, {"ipu.projection_serialization_factor=2"});
  const Plan whole = plan_of(t5);
  const auto activations = [](const Plan& plan) {
    return plan.family->memory_account(plan).memories.front().entries[4].bytes;
  };
  CHECK(2 * activations(serialised) == activations(whole));  // logits and their gradient, half of them at a time
}

TEST_CASE("remedies: moving state off the chip must not overfill Streaming Memory") {
  const Plan plan = plan_of(k_phase1, {"system=\"bow-pod4\"", "system.streaming.memory=\"1 GB\""});
  const Verdict verdict = plan.family->verdict(plan, true);
  REQUIRE_FALSE(verdict.fits());
  CHECK(verdict.broken.front().remedy.find("optimizer_state_offchip") == std::string::npos);
}

namespace {

const std::string k_bert = R"(
system = "pod16"
[model]
config = "bert-large-uncased"
[workload]
sequence_length = 128
micro_batch_size = 2
[ipu]
gradient_accumulation_steps = 64
matmul_proportion = 0.2
)";

}  // namespace

TEST_CASE("remedies: layers on one of four IPUs are split evenly where the batch fills the pipeline that it makes") {
  const std::vector<std::string> crowded = {"ipu.layers_per_ipu=[24, 0, 0, 0]"};
  CHECK(remedy_of(k_bert, crowded) == "ipu.layers_per_ipu = [6, 6, 6, 6]");
  // five forward stages and their backward ones need nine micro-batches
  std::vector<std::string> shallow = crowded;
  shallow.emplace_back("ipu.gradient_accumulation_steps=8");
  const Plan plan = plan_of(k_bert, shallow);
  CHECK(plan.family->verdict(plan, true).broken.front().remedy.find("[6, 6, 6, 6]") == std::string::npos);
}

TEST_CASE("remedies: an encoder and a decoder are each given IPUs of their own") {
  const std::string t5 = R"(
system = "pod4"
[model]
config = "t5-base"
[workload]
sequence_length = 128
[ipu]
layers_per_ipu = [0, 24]
gradient_accumulation_steps = 64
matmul_proportion = 0.1
)";
  CHECK(remedy_of(t5, {"ipu.embedding_serialization_factor=4", "ipu.replicated_tensor_sharding=true",
                       "ipu.replication_factor=2"}) == "ipu.layers_per_ipu = [12, 12]");
}

TEST_CASE("remedies: lists of half layers are answered by lists of half layers") {
  CHECK(remedy_of(k_bert, {"ipu.attention_layers_per_ipu=[24, 0, 0, 0]", "ipu.ffn_layers_per_ipu=[24, 0, 0, 0]"}) ==
        "ipu.attention_layers_per_ipu = [6, 6, 6, 6] and ipu.ffn_layers_per_ipu = [6, 6, 6, 6]");
}

TEST_CASE("remedies: a run whose replicas follow from its IPUs is offered more IPUs") {
  CHECK(remedy_of(k_phase1, {"ipu.n_ipu=4"}) == "ipu.n_ipu = 16 and ipu.replicated_tensor_sharding = true");
}

TEST_CASE("remedies: stated instances share the offered replicas out") {
  // three instances divide neither four nor eight
  const Plan plan = plan_of(k_phase1, {"ipu.replication_factor=3", "ipu.instances=3"});
  const Verdict verdict = plan.family->verdict(plan, true);
  REQUIRE_FALSE(verdict.fits());
  CHECK(verdict.broken.front().remedy.find("replication_factor") == std::string::npos);
  remedy_of(k_phase1, {"ipu.replication_factor=3", "ipu.instances=3"});
}

TEST_CASE("remedies: splits of an embedding are answered by splits") {
  const std::string gpt2 = R"(
system = "pod4"
[model]
config = "gpt2-medium"
[ipu]
layers_per_ipu = [6, 6, 6, 6]
gradient_accumulation_steps = 64
matmul_proportion = 0.1
recompute_checkpoint_every_layer = true
serialized_embedding_splits_per_ipu = [2, 0, 0, 0]
)";
  // from the fullest IPU, which has the embedding, to the last
  CHECK(remedy_of(gpt2, {}) == "ipu.layers_per_ipu = [4, 6, 7, 7]");
  CHECK(remedy_of(gpt2, {"ipu.matmul_proportion=[0.6, 0.05, 0.6, 0.6]"}) ==
        "ipu.matmul_proportion = 0.05 and ipu.serialized_embedding_splits_per_ipu = [5, 0, 0, 0]");
}

TEST_CASE("remedies: in generation the key that decides the batch is offered") {
  const std::string gpt2 = R"(
system = "pod4"
[model]
config = "gpt2"
[workload]
mode = "generation"
input_tokens = 896
output_tokens = 128
[ipu]
inference_layers_per_ipu = [0, 4, 4, 4]
matmul_proportion = 0.1
)";
  CHECK(remedy_of(gpt2, {"workload.batch_size=3000"}).find("workload.batch_size = ") != std::string::npos);
  CHECK(remedy_of(gpt2, {"workload.micro_batch_size=3000"}).find("workload.micro_batch_size = ") != std::string::npos);
  CHECK(problems_of(gpt2, {"workload.batch_size=2", "workload.micro_batch_size=3"})
            .find("command line: warning: workload.micro_batch_size: has no effect: in mode \"generation\" "
                  "workload.batch_size decides\n") != std::string::npos);
  CHECK(problems_of(gpt2, {"workload.batch_size=2"}).find("decides") == std::string::npos);
}

TEST_CASE("remedies: a replica on all IPUs of its system is not told to take more") {
  const std::string gpt2 =
      "system = \"pod4\"\n[model]\nconfig = \"gpt2-xl\"\n[workload]\nmicro_batch_size = 1\n[ipu]\n"
      "gradient_accumulation_steps = 64\n";
  const auto advice = [&](const char* layers) {
    const Plan plan = plan_of(gpt2, {layers});
    return plan.family->verdict(plan, true).broken.front().remedy;
  };
  CHECK(advice("ipu.layers_per_ipu=[12, 12, 12, 12]").starts_with("a smaller model or a system with more IPUs: "));
  CHECK(advice("ipu.layers_per_ipu=[24, 24]").starts_with("more IPUs per replica: "));
}

TEST_CASE("remedies: results of masked tokens that are too long a stream are answered by fewer of them") {
  const std::string bert = R"(
system = "pod4"
[model]
config = "bert-base-uncased"
head = "masked-lm"
vocab_size = 1000000
[workload]
mode = "inference"
sequence_length = 128
masked_tokens = 100
[ipu]
inference_layers_per_ipu = [3, 3, 3, 3]
sharded_execution_for_inference = true
matmul_proportion = 0.1
)";
  const Plan plan = plan_of(bert, {"memory.host_stream=\"100 MB\""});
  CHECK(plan.family->verdict(plan, true).broken.back().limit == "host stream");
}

TEST_CASE("remedies: an even split that is too full as it is goes with a smaller micro-batch") {
  const std::vector<std::string> crowded = {"ipu.layers_per_ipu=[24, 0, 0, 0]", "workload.sequence_length=512",
                                            "workload.micro_batch_size=8", "ipu.recompute_checkpoint_every_layer=true"};
  CHECK(remedy_of(k_bert, crowded) == "ipu.layers_per_ipu = [6, 6, 6, 6] and workload.micro_batch_size = 1");
}
