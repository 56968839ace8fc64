// Configurations known to fit or not to fit (graphcore/examples v3.3.0, nlp/bert/pytorch).

#include <doctest/doctest.h>

#include <string>

#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

bool fits(const std::string& toml, const std::vector<std::string>& overrides = {}) {
  const Plan plan = plan_of(toml, overrides);
  return plan.family->verdict(plan, false).fits();
}

const std::string k_phase1 = R"(
system = "bow-pod16"
[model]
config = "bert-large-uncased"
[workload]
sequence_length = 128
micro_batch_size = 8
optimizer = "lamb"
[ipu]
layers_per_ipu = [3, 7, 7, 7]
gradient_accumulation_steps = 2048
matmul_proportion = [0.15, 0.18, 0.2, 0.25]
recompute_checkpoint_every_layer = true
)";

}  // namespace

TEST_CASE("memory: BERT-Large SQuAD with state on chip fits with two replicas and sharding") {
  CHECK(fits(experiment("bert-large-squad-bow-pod16")));
}

TEST_CASE("memory: BERT-Large SQuAD with state on chip does not fit with one replica") {
  CHECK_FALSE(fits(experiment("bert-large-squad-bow-pod16"), {"ipu.replication_factor=1"}));
}

TEST_CASE("memory: BERT-Large at sequence length 128 with state on chip does not fit with one replica") {
  CHECK_FALSE(fits(k_phase1, {"ipu.optimizer_state_offchip=false"}));
}

TEST_CASE("memory: BERT-Large at sequence length 128 with state off chip and sharding fits") {
  CHECK(fits(k_phase1, {"ipu.replicated_tensor_sharding=true", "ipu.replication_factor=4",
                        "ipu.embedding_serialization_factor=2"}));
}

TEST_CASE("memory: BERT-base at sequence length 128 fits") {
  CHECK(fits(R"(
system = "bow-pod16"
[model]
config = "bert-base-uncased"
[workload]
sequence_length = 128
micro_batch_size = 32
optimizer = "lamb"
[ipu]
layers_per_ipu = [0, 4, 4, 4]
replication_factor = 4
gradient_accumulation_steps = 512
matmul_proportion = 0.25
replicated_tensor_sharding = true
recompute_checkpoint_every_layer = true
)"));
}

TEST_CASE("memory: what does not fit names need, have and a remedy that makes it fit") {
  const Plan plan = plan_of(k_phase1, {"ipu.optimizer_state_offchip=false"});
  const Verdict verdict = plan.family->verdict(plan, true);
  REQUIRE_FALSE(verdict.fits());
  const BrokenLimit& broken = verdict.broken.front();
  CHECK(broken.limit == "tile memory");
  CHECK(broken.need > broken.have);
  CHECK(broken.remedy == "ipu.replication_factor = 4 and ipu.replicated_tensor_sharding = true");
  CHECK(fits(k_phase1,
             {"ipu.optimizer_state_offchip=false", "ipu.replication_factor=4", "ipu.replicated_tensor_sharding=true"}));
}

// The account is an upper bound, since its largest terms may belong to different instants.
TEST_CASE("memory: the simulated peak lies between what always lives and the account") {
  for (const char* name : {"bert-large-bow-pod16", "bert-large-squad-bow-pod16", "gpt2-caraml-pod4"}) {
    CAPTURE(name);
    const Ran ran = run_of(experiment(name));
    for (const DeviceMemoryAccount& account : ran.plan.family->memory_account(ran.plan).memories) {
      CAPTURE(account.memory);
      bool found = false;
      for (std::size_t i = 0; i < ran.lowered.platform.memories().size(); ++i) {
        if (ran.lowered.platform.memories()[i].name != account.memory) continue;
        found = true;
        const MemoryUse& use = ran.result.memories[i];
        CHECK(use.always_live == account.always_live());
        CHECK(use.peak >= account.always_live());
        CHECK(use.peak <= account.total());
        CHECK(use.peak.count() >= account.total().count() * 9 / 10);
      }
      CHECK(found);
    }
  }
}

TEST_CASE("memory: where no single change helps two are tried, and together they make it fit") {
  const std::string toml = R"(
system = "pod4"
[model]
config = "gpt2-medium"
[ipu]
layers_per_ipu = [6, 6, 6, 6]
gradient_accumulation_steps = 64
)";
  const Plan plan = plan_of(toml);
  const Verdict verdict = plan.family->verdict(plan, true);
  REQUIRE_FALSE(verdict.fits());
  const std::string remedy = verdict.broken.front().remedy;
  CHECK(remedy == "ipu.matmul_proportion = 0.1 and ipu.embedding_serialization_factor = 7");
  CHECK(fits(toml, {"ipu.matmul_proportion=0.1", "ipu.embedding_serialization_factor=7"}));
}
