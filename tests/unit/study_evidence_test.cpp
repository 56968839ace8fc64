#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "models/catalog.hpp"
#include "sim/study/evidence.hpp"
#include "tests/support/run_experiment.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

const std::string k_header =
    "id,measured,predicted,model,head,mode,precision,chip,software,hidden_size,layers,sequence_length,micro_batch,"
    "ipus_per_replica,replicas,accumulation,loss_scaling\n";
// What the shipped BERT-Large experiment is, with a measured and a predicted rate in front.
const std::string k_same = ",pretraining,training,fp16.16,bow,poplar-popart,1024,24,128,8,4,4,2048,fixed\n";

EvidenceReport evidence_of(const std::string& table, const std::vector<std::string>& changes = {}) {
  const TemporaryFolder folder;
  folder.write("references/evidence.csv", table);
  const Catalog catalog = make_catalog();
  return evidence_for(plan_of(experiment("bert-large-bow-pod16"), changes), catalog,
                      ConfigFiles::from_folder(folder.path()));
}

std::string problem_of(const std::string& table) {
  try {
    evidence_of(table);
  } catch (const ConfigError& error) {
    const Diagnostic& first = error.diagnostics().all().front();
    CHECK(first.expected == "the table that `podsim validate --evidence FILE` writes");
    return first.problem;
  }
  return "";
}

}  // namespace

TEST_CASE("evidence: the nearest case is named with the model's error there") {
  const EvidenceReport report =
      evidence_of(k_header + "far,100,150,other" + k_same + "near,200,190,bert" + k_same + "tie,10,20,bert" + k_same);
  CHECK(report.nearest_case == "near");
  CHECK(*report.its_error_pct == doctest::Approx(-5));
  CHECK(report.outside.empty());
}

// Micro-batch 8 against 16 is one doubling of weight 0.5; another chip weighs 1.
TEST_CASE("evidence: a factor of two in the micro-batch is nearer than another chip") {
  const std::string chip =
      "chip,1,1,bert,pretraining,training,fp16.16,gc200,poplar-popart,1024,24,128,8,4,4,2048,fixed\n";
  const std::string batch =
      "batch,1,1,bert,pretraining,training,fp16.16,bow,poplar-popart,1024,24,128,16,4,4,2048,fixed\n";
  CHECK(evidence_of(k_header + chip + batch).nearest_case == "batch");
}

TEST_CASE("evidence: what lies outside of the compared cases is named with their range") {
  const std::string other = "o,1,1,gpt2,causal-lm,training,fp16.16,gc200,poplar-pytorch,768,12,1024,1,4,1,16,fixed\n";
  const std::string same = "a,1,1,bert" + k_same;
  const std::string twin = "b,1,1,bert,pretraining,training,fp16.16,bow,poplar-popart,1024,24,128,16,4,4,2048,fixed\n";
  const EvidenceReport report =
      evidence_of(k_header + other + same + twin, {"workload.sequence_length=256", "workload.micro_batch_size=4",
                                                   "software=\"poplar-tensorflow2\"", "ipu.auto_loss_scaling=true"});
  CHECK(report.outside == std::vector<std::string>{"software poplar-tensorflow2", "sequence_length 256 (compared: 128)",
                                                   "micro_batch 4 (compared: 8 to 16)", "loss_scaling automatic"});
}

TEST_CASE("evidence: what was compared with other models alone lies outside, too") {
  const std::string other = "o,1,1,gpt2,causal-lm,training,fp16.16,gc200,poplar-pytorch,768,12,1024,1,4,1,16,fixed\n";
  const EvidenceReport report = evidence_of(k_header + other + "a,1,1,bert" + k_same, {"software=\"poplar-pytorch\""});
  CHECK(report.outside == std::vector<std::string>{"software poplar-pytorch with bert"});
}

TEST_CASE("evidence: without a table, or with an empty one, none is claimed") {
  const TemporaryFolder folder;
  folder.write("systems/none.toml", "");
  const Plan plan = plan_of(experiment("bert-large-bow-pod16"));
  CHECK(evidence_for(plan, make_catalog(), ConfigFiles::from_folder(folder.path())).nearest_case.empty());
  const EvidenceReport report = evidence_of(k_header);
  CHECK(report.nearest_case.empty());
  CHECK_FALSE(report.its_error_pct.has_value());
}

TEST_CASE("evidence: a broken table is refused") {
  CHECK(problem_of("id,measured\n1,2\n") == "the columns are not those of the evidence");
  CHECK(problem_of(k_header + "a,0,1,bert" + k_same) == "measured \"0\" is no positive number");
  CHECK(problem_of(k_header + "a,1,x,bert" + k_same) == "predicted \"x\" is no positive number");
}

TEST_CASE("evidence: the shipped experiment has its own measurement as evidence and nothing outside") {
  const EvidenceReport report =
      evidence_for(plan_of(experiment("bert-large-bow-pod16")), make_catalog(), ConfigFiles::embedded());
  CHECK(report.nearest_case == "perf-a-bertL-ph1-popart-pod16");
  CHECK(std::abs(*report.its_error_pct) < 6);
  CHECK(report.outside.empty());
}
