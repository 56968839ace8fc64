// Configurations known to fit or not to fit (graphcore/examples v3.3.0, nlp/bert/pytorch).

#include <doctest/doctest.h>

#include <algorithm>
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
  struct Case {
    const char* name;
    std::vector<std::string> changes;
  };
  for (const Case& c :
       {Case{"bert-large-bow-pod16", {}}, Case{"bert-large-squad-bow-pod16", {}}, Case{"gpt2-caraml-pod4", {}},
        Case{"bert-large-bow-pod16", {"ipu.recompute_checkpoint_every_layer=false"}},
        Case{"bert-large-bow-pod16", {"workload.mode=inference", "ipu.version=\"0.7\""}}}) {
    CAPTURE(c.name);
    const Ran ran = run_of(experiment(c.name), c.changes);
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

// graphcore/examples, nlp/bert/popart/bert_model.py: with checkpoints at most one layer's activations live, at the
// price of a stash that grows with the layers.
TEST_CASE("memory: without a checkpoint at every layer a stage keeps the activations of all its layers") {
  const auto entry = [](const Plan& plan, std::size_t ipu, const std::string& category) {
    const MemoryAccount account = plan.family->memory_account(plan);
    for (const MemoryAccountEntry& one : account.memories[ipu].entries) {
      if (one.category == category) return one.bytes;
    }
    return Bytes();
  };
  const Plan checkpoints = plan_of(k_phase1);
  const Plan stages = plan_of(k_phase1, {"ipu.recompute_checkpoint_every_layer=false"});
  const std::int64_t hidden = 8 * 128 * 1024 * 2;      // micro-batch, sequence, width, float16
  const std::int64_t scores = 8 * 16 * 128 * 128 * 2;  // 16 heads
  const Bytes layer(8 * hidden + 2 * scores);
  CHECK(entry(checkpoints, 1, "Variables: activations") == layer);
  CHECK(entry(stages, 1, "Variables: activations") == 7 * layer);
  // Five forward stages: the second keeps 2 (5 - 1 - 1) + 1 micro-batches.
  CHECK(entry(checkpoints, 1, "Variables: activation stash") == Bytes(7 * 7 * hidden));
  CHECK(entry(stages, 1, "Variables: activation stash") == Bytes(7 * hidden));
  // Without recomputation an IPU that has no stage behind it holds what its layers computed until it has turned back.
  const std::vector<std::string> one_ipu = {"ipu.layers_per_ipu=[24]", "ipu.matmul_proportion=0.2"};
  const Plan recomputed = plan_of(k_phase1, one_ipu);
  CHECK(entry(recomputed, 0, "Variables: activations") < 2 * layer);
  std::vector<std::string> changes = one_ipu;
  changes.emplace_back("workload.recompute=false");
  const Plan kept = plan_of(k_phase1, changes);
  CHECK(entry(kept, 0, "Variables: activations") >= 24 * layer);
}

TEST_CASE("memory: near the limit a note says that the verdict may be wrong") {
  const auto close = [](const std::vector<std::string>& changes) {
    const Plan plan = plan_of(experiment("bert-large-squad-bow-pod16"), changes);
    const std::vector<std::string> notes = plan.family->notes(plan);
    return std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
      return note.starts_with("close call: ") &&
             note.ends_with(" of its limit; within 5 % of it the verdict may be wrong either way");
    });
  };
  const auto limit_at = [](double share) {
    const Plan plan = plan_of(experiment("bert-large-squad-bow-pod16"));
    double most = 0;
    for (const DeviceMemoryAccount& memory : plan.family->memory_account(plan).memories) {
      most = std::max(most, static_cast<double>(memory.total().count()) / static_cast<double>(memory.capacity.count()));
    }
    return std::vector<std::string>{"memory.usable_fraction=" + std::to_string(most / share)};
  };
  CHECK_FALSE(close(limit_at(0.94)));
  CHECK(close(limit_at(0.96)));
  CHECK(close(limit_at(1.04)));
  CHECK_FALSE(close(limit_at(1.06)));
}

TEST_CASE("memory: where no single change helps two are tried, and together they make it fit") {
  const std::string toml = R"(
system = "pod4"
[model]
config = "gpt2-medium"
[ipu]
layers_per_ipu = [6, 6, 6, 6]
gradient_accumulation_steps = 64
recompute_checkpoint_every_layer = true
)";
  const Plan plan = plan_of(toml);
  const Verdict verdict = plan.family->verdict(plan, true);
  REQUIRE_FALSE(verdict.fits());
  const std::string remedy = verdict.broken.front().remedy;
  CHECK(remedy == "ipu.matmul_proportion = 0.05 and ipu.embedding_serialization_factor = 5");
  CHECK(fits(toml, {"ipu.matmul_proportion=0.05", "ipu.embedding_serialization_factor=5"}));
}
