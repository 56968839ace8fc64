// Several models on one node: how many it holds, how long it takes to change to another, and what a request waits for.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "models/rdu/memory.hpp"
#include "models/rdu/rdu_plan.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

const std::string k_llama = R"(
system = "sn40l-8"
[model]
config = "llama-2-7b"
[workload]
mode = "generation"
input_tokens = 200
output_tokens = 20
[rdu]
)";

double value(const Ran& ran, const std::string& name) {
  const std::vector<ReportedValue> values = ran.plan.family->values(ran.plan, ran.lowered, ran.result);
  const auto found = std::ranges::find(values, name, &ReportedValue::name);
  REQUIRE_MESSAGE(found != values.end(), name);
  return found->value;
}

double weights(const Plan& plan) {
  return 2.0 * static_cast<double>(dynamic_cast<const rdu::RduPlan&>(*plan.family_plan).model.parameter_count());
}

}  // namespace

// Published: about 15 ms for a model of 13.5 GB on eight RDUs; 200 GB/s of DDR each, 0.56 of it reached.
TEST_CASE("rdu experts: a model moves from DDR to HBM in about fifteen milliseconds on eight RDUs") {
  const Ran ran = run_of(k_llama);
  const double seconds = value(ran, "model_switch_time_s");
  CHECK(seconds == doctest::Approx(weights(ran.plan) / (8 * 200e9 * 0.56)));
  CHECK(seconds == doctest::Approx(0.015).epsilon(0.05));
  constexpr double k_gib = 1024.0 * 1024 * 1024;
  CHECK(value(ran, "experts_in_hbm") == std::floor(8 * 64 * k_gib / weights(ran.plan)));
  CHECK(value(ran, "experts_in_ddr") == std::floor(8 * 1536 * k_gib / weights(ran.plan)));
}

TEST_CASE("rdu experts: a switch in front of each request lengthens it and its first token by just that") {
  const Ran base = run_of(k_llama, {"rdu.experts=100"});
  const Ran with = run_of(k_llama, {"rdu.experts=100", "rdu.switch_every_request=true"});
  const double seconds = value(base, "model_switch_time_s");
  CHECK(with.step_s() - base.step_s() == doctest::Approx(seconds).epsilon(1e-9));
  CHECK(value(with, "time_to_first_token_s") - value(base, "time_to_first_token_s") == doctest::Approx(seconds));
  CHECK(value(with, "time_per_output_token_s") == value(base, "time_per_output_token_s"));
  CHECK(with.part_s(CostCategory::off_chip_memory) - base.part_s(CostCategory::off_chip_memory) ==
        doctest::Approx(seconds));
}

TEST_CASE("rdu experts: DDR holds them all, or the verdict says how many it would") {
  const auto most = static_cast<std::int64_t>(value(run_of(k_llama), "experts_in_ddr"));
  const Plan fits = plan_of(k_llama, {"rdu.experts=" + std::to_string(most)});
  CHECK(fits.family->verdict(fits, true).fits());
  const MemoryAccount account = fits.family->memory_account(fits);
  CHECK(account.memories.front().entries.front().category == rdu::k_experts);
  const Plan more = plan_of(k_llama, {"rdu.experts=" + std::to_string(most + 1)});
  const Verdict verdict = more.family->verdict(more, true);
  REQUIRE_FALSE(verdict.fits());
  CHECK(verdict.broken.front().limit == "DDR");
  CHECK(verdict.broken.front().remedy == "rdu.experts = " + std::to_string(most));
}

TEST_CASE("rdu experts: keys that change nothing are told") {
  const std::string alone = problems_of(k_llama, {"rdu.switch_every_request=true"});
  CAPTURE(alone);
  CHECK(alone.find("rdu.switch_every_request: with one model: rdu.experts does not say how many there are, nor that "
                   "DDR holds them") != std::string::npos);
  std::string old = k_llama;
  old.replace(old.find("sn40l-8"), 7, "sn30");
  const std::string without = problems_of(old, {"rdu.experts=2"});
  CAPTURE(without);
  CHECK(without.find("rdu.experts: has no effect: it is of a chip with HBM alone") != std::string::npos);
  CHECK(problems_of(k_llama, {"rdu.experts=0"}).find("rdu.experts: 0 ") != std::string::npos);
}

TEST_CASE("rdu: a model beyond what is simulated is refused with a reason") {
  const std::string problems = problems_of(k_llama, {"model.num_hidden_layers=10000", "model.hidden_size=1048576"});
  CAPTURE(problems);
  CHECK(problems.find("model.config: about ") != std::string::npos);
  CHECK(problems.find("e+16 weights are more than the 1e+13 that are simulated; expected a smaller model") !=
        std::string::npos);
}

TEST_CASE("rdu: tensors beyond 64-bit byte counts are refused and not thrown") {
  const std::string problems = problems_of(R"(
system = "sn30"
[model]
config = "gpt2"
[workload]
sequence_length = 1024
[rdu]
compile = "python app.py compile -b 100000000000 -o3 --num-tiles 4 --pef-name=gpt"
)");
  CAPTURE(problems);
  CHECK(problems.find("model.config: the ") != std::string::npos);
  CHECK(problems.find("exceed 64-bit") != std::string::npos);
  const std::string cache = problems_of(
      k_llama, {"model.max_position_embeddings=1000000", "rdu.static_sequence_length=1000000",
                "rdu.compile=\"python app.py compile -b 10000000 --inference --tensor-parallel weight --n-chips 8\""});
  CAPTURE(cache);
  CHECK(cache.find("model.config: the key-value cache exceeds 64-bit byte counts") != std::string::npos);
}
