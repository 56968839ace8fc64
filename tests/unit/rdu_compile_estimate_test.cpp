// How long a compile is estimated to take: the formula, what counts as a section to compile, and the public points.

#include <doctest/doctest.h>

#include <string>

#include "models/rdu/compile_estimate.hpp"
#include "sim/plan/plan.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

const std::string k_gpt2 = R"(
system = "sn30"
[model]
config = "gpt2-xl"
num_hidden_layers = 6
[workload]
sequence_length = 1024
[rdu]
)";

CompileEstimate estimate(const std::string& flags, const std::vector<std::string>& overrides = {}) {
  const Plan plan = plan_of(
      k_gpt2 + "compile = \"python app.py compile -b 16 --num-tiles 4 --pef-name=gpt " + flags + "\"\n", overrides);
  const auto compile = plan.family->compile_estimate(plan);
  REQUIRE(compile.has_value());
  return *compile;
}

double of_sections(std::int64_t count, double each) {
  return 60 + static_cast<double>(count) * each;
}

}  // namespace

TEST_CASE("rdu compile: equal sections count once at o1 and with hypersections, else each counts") {
  const CompileEstimate o0 = estimate("-o0");
  CHECK(o0.estimate.in_base() == doctest::Approx(of_sections(o0.sections, 10)));
  const CompileEstimate o1 = estimate("-o1");
  CHECK(o1.unique_sections < o1.sections);
  CHECK(o1.estimate.in_base() == doctest::Approx(of_sections(o1.unique_sections, 60)));
  const CompileEstimate o3 = estimate("-o3");
  CHECK(o3.estimate.in_base() == doctest::Approx(of_sections(o3.sections, 60)));
  const CompileEstimate hyper = estimate("-o3 --enable-hypersection");
  CHECK(hyper.sections == o3.sections);
  CHECK(hyper.unique_sections < hyper.sections);
  CHECK(hyper.estimate.in_base() == doctest::Approx(of_sections(hyper.unique_sections, 60)));
}

TEST_CASE("rdu compile: more equal layers cost nothing at o1 and much at o3") {
  const std::vector<std::string> deeper = {"model.num_hidden_layers=24"};
  CHECK(estimate("-o1", deeper).estimate == estimate("-o1").estimate);
  CHECK(estimate("-o3", deeper).estimate > 3 * estimate("-o3").estimate);
}

TEST_CASE("rdu compile: the interval is wide, and constants move it") {
  const CompileEstimate base = estimate("-o3");
  CHECK_FALSE(base.cached);
  CHECK(base.low.in_base() == doctest::Approx(base.estimate.in_base() / 3));
  CHECK(base.high.in_base() == doctest::Approx(base.estimate.in_base() * 3));
  const CompileEstimate wide = estimate("-o3", {"cost.compile.spread=10"});
  CHECK(wide.high.in_base() == doctest::Approx(base.estimate.in_base() * 10));
}

TEST_CASE("rdu compile: a placement that is used again takes a part of the time") {
  const CompileEstimate first = estimate("-o3");
  const CompileEstimate again = estimate("-o3", {"rdu.placement_reused=true"});
  CHECK(again.cached);
  CHECK(again.estimate.in_base() == doctest::Approx(0.18 * first.estimate.in_base()));
}

// Published: about 20 minutes (V140).
TEST_CASE("rdu compile: Llama-2-7B generation at o1 on half an SN30 is near its published time") {
  const Plan plan = plan_of(R"(
system = "sn30"
[model]
config = "llama-2-7b"
[workload]
mode = "generation"
input_tokens = 100
output_tokens = 100
[rdu]
static_sequence_length = 4096
compile = "python app.py compile -b 1 -o1 --inference --num-tiles 4 --pef-name=llama"
)");
  const auto compile = plan.family->compile_estimate(plan);
  REQUIRE(compile.has_value());
  CHECK(compile->low.in_base() < 1200);
  CHECK(compile->high.in_base() > 1200);
  CHECK(compile->unique_sections == 14);
}

TEST_CASE("rdu compile: other families give no estimate") {
  const Plan plan = plan_of(experiment("bert-large-bow-pod16"));
  CHECK_FALSE(plan.family->compile_estimate(plan).has_value());
}
