// What must hold for any plan: the same report however it is simulated, and the sums that readers rely on.

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "sim/core/random.hpp"
#include "tests/support/report_laws.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

std::string list_of(const std::vector<int>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

// A random valid experiment: BERT or GPT-2, one to eight IPUs, any head, all switches.
std::string random_experiment(Random& random) {
  const bool gpt2 = random.below(3) == 0;
  const int ipus = 1 << random.below(4);
  const int replicas = 1 << random.below(ipus == 8 ? 2 : 3);
  std::vector<int> layers(static_cast<std::size_t>(ipus));
  for (int layer = 0; layer < 12; ++layer) ++layers[random.below(layers.size())];
  const std::vector<std::string> bert_heads = {"pretraining", "masked-lm", "question-answering",
                                               "sequence-classification"};
  const auto flag = [&] { return random.below(2) == 0 ? "true" : "false"; };
  return fmt::format(R"(
system = "{}"
software = "poplar-{}"
[model]
config = "{}"
head = "{}"
[workload]
sequence_length = {}
micro_batch_size = {}
optimizer = "{}"
attention_dropout = {}
recompute = {}
[ipu]
layers_per_ipu = {}
ipus_per_replica = {}
replication_factor = {}
gradient_accumulation_steps = {}
device_iterations = {}
matmul_proportion = {}
optimizer_state_offchip = {}
replicated_tensor_sharding = {}
recompute_checkpoint_every_layer = {}
)",
                     random.below(2) == 0 ? "pod16" : "bow-pod16", random.below(2) == 0 ? "popart" : "pytorch",
                     gpt2 ? "gpt2" : "bert-base-uncased",
                     gpt2 ? "causal-lm" : bert_heads[random.below(bert_heads.size())], 64 << random.below(3),
                     1 + random.below(3), random.below(2) == 0 ? "lamb" : "adamw", flag(), flag(), list_of(layers),
                     ipus, replicas, 2 * (ipus + 1) + 1 + static_cast<int>(random.below(6)), 1 + random.below(3),
                     random.below(2) == 0 ? "0.2" : "0.6", flag(), flag(), flag());
}

// The same in inference: sharded or pipelined, all ways of returning results.
std::string random_inference(Random& random) {
  const std::vector<std::string> modes = {"all", "sum", "final"};
  std::string toml = random_experiment(random);
  toml.replace(toml.find("[workload]"), 10, "[workload]\nmode = \"inference\"");
  return toml + fmt::format(
                    "version = \"0.3\"\nsharded_execution_for_inference = {}\noutput_mode = \"{}\"\n"
                    "inference_replication_factor = {}\ninference_device_iterations = {}\n",
                    random.below(2) == 0, modes[random.below(modes.size())], 1 + random.below(2), 9 + random.below(3));
}

// A network of convolutions on small images: one IPU, in segments, or two of them; norms over replicas; or inference.
std::string random_network(Random& random) {
  const std::vector<std::string> models = {"resnet50", "resnext50-32x4d", "mobilenet-v3-small"};
  const std::size_t model = random.below(models.size());
  const int ipus = 1 + static_cast<int>(random.below(2));
  const int replicas = 2 << random.below(3);
  const std::vector<std::string> segments = {"0", "7", "-1"};
  const int units = model == 2 ? 11 : 16;
  const int first = 1 + static_cast<int>(random.below(8));
  std::string toml = fmt::format(R"(
system = "{}"
software = "poplar-tensorflow1"
[model]
config = "{}"
[workload]
mode = "{}"
image_size = {}
micro_batch_size = {}
optimizer = "{}"
[ipu]
matmul_proportion = {}
optimizer_state_offchip = {}
)",
                                 random.below(2) == 0 ? "pod16" : "bow-pod64", models[model],
                                 random.below(4) == 0 ? "inference" : "training", 32 << random.below(2),
                                 1 + random.below(4), random.below(2) == 0 ? "lars" : "sgd-momentum",
                                 random.below(2) == 0 ? "0.15" : "0.6", random.below(2) == 0 ? "true" : "false");
  toml += fmt::format("ipus_per_replica = {}\nreplication_factor = {}\ngradient_accumulation_steps = {}\n", ipus,
                      replicas, 4 + random.below(3));
  toml += fmt::format("distributed_batch_norm_replicas = {}\nrecompute_segments = {}\n", 1 << random.below(2),
                      segments[random.below(segments.size())]);
  toml += "inference_device_iterations = 4\n";
  if (ipus == 2) toml += fmt::format("layers_per_ipu = [{}, {}]\n", first, units - first);
  return toml;
}

// A third of them are networks of convolutions; half of the others train.
std::string random_run(std::uint64_t seed) {
  Random random(seed);
  if (seed % 3 == 2) return random_network(random);
  return seed % 2 == 0 ? random_experiment(random) : random_inference(random);
}

}  // namespace

TEST_CASE("laws: exact, unfolded and merged simulation give the default's report") {
  check_simulations_agree(random_run, 1, 12);
}

TEST_CASE("laws: both engines agree on random plans") {
  check_engines_agree(random_run, 21, 26);
}

TEST_CASE("laws: breakdowns sum to the step, utilisations stay in range, peaks hold what always lives") {
  check_sums(random_run, 31, 60, PeakLaw::at_most_the_account);
}

TEST_CASE("laws: a plan printed as TOML and read again is the same plan") {
  check_printed_plans(random_run, 61, 70);
}
