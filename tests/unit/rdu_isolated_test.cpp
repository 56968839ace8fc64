// Operators alone on an RDU, as micro-benchmarks run them.

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "models/rdu/rdu_plan.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

const std::string k_matmul = R"(
system = "sn10"
[model]
config = "matmul"
[workload]
mode = "inference"
)";

Ran square(std::int64_t n, const std::string& system = "sn10", const std::string& more = "") {
  const std::string size = std::to_string(n);
  return run_of(k_matmul,
                {"system.name=\"" + system + "\"", "model.rows=" + size, "model.inner=" + size, "model.columns=" + size,
                 "rdu.compile=\"python a.py compile --inference -b 1 --pef-name=a" + more + "\""});
}

double value(const Ran& ran, const std::string& name) {
  for (const ReportedValue& one : ran.plan.family->values(ran.plan, ran.lowered, ran.result)) {
    if (one.name == name) return one.value;
  }
  FAIL("no value " << name);
  return 0;
}

void tells(const std::string& toml, const std::vector<std::string>& overrides, const std::string& text) {
  const std::string problems = problems_of(toml, overrides);
  CAPTURE(problems);
  CHECK(problems.find(text) != std::string::npos);
}

}  // namespace

TEST_CASE("rdu alone: a product takes its arguments' load and the longer of products and operands") {
  for (const double n : {256.0, 1792.0, 12288.0}) {
    CAPTURE(n);
    const double products = 2 * n * n * n / (0.125 * 325e12);
    const double operands = 3 * n * n * 2 / (0.28 * 100e9);
    const Ran ran = square(static_cast<std::int64_t>(n));
    CHECK(ran.step_s() == doctest::Approx(0.03e-3 + std::max(products, operands)).epsilon(1e-6));
    CHECK(value(ran, "achieved_tflops") == doctest::Approx(2 * n * n * n / ran.step_s() / 1e12).epsilon(1e-6));
  }
}

TEST_CASE("rdu alone: products on an SN10 at their published rates") {
  struct Size {
    std::int64_t n;
    double measured;  // TFLOP/s
  };
  double sum = 0;
  const Size sizes[] = {{256, 0.66},   {384, 2.04},  {512, 3.01},   {896, 6.95},   {1280, 11.63}, {1792, 15.49},
                        {3072, 23.06}, {4096, 40.9}, {6144, 42.59}, {12288, 37.9}, {16384, 32.77}};
  for (const Size& size : sizes) sum += std::abs(value(square(size.n), "achieved_tflops") / size.measured - 1);
  CHECK(sum / 11 < 0.10);
}

TEST_CASE("rdu alone: a pass over elements moves them in and out, on every chip by its memory") {
  const auto rate = [](const std::string& system, const std::string& tiles) {
    return value(run_of(R"(
system = "sn10"
[model]
config = "relu"
elements = 31622776
[workload]
mode = "inference"
)",
                        {"system.name=\"" + system + "\"",
                         "rdu.compile=\"python a.py compile --inference -b 1 --pef-name=a" + tiles + "\""}),
                 "achieved_gops");
  };
  // Published: 7.636.
  CHECK(rate("sn10", "") == doctest::Approx(31622776 / (0.03e-3 + 4.0 * 31622776 / 28e9) / 1e9).epsilon(1e-6));
  CHECK(rate("sn30", " --num-tiles 4") > rate("sn10", ""));
}

TEST_CASE("rdu alone: it is run, not trained, without samples, on one RDU") {
  tells(k_matmul, {"workload.mode=\"training\""},
        "workload.mode: is not \"inference\": a single operator is run, not trained; expected \"inference\", or a "
        "compile command with --inference");
  tells(k_matmul, {"workload.micro_batch_size=8"},
        "workload.micro_batch_size: a single operator has no samples: its size is its own; expected 1");
  tells(R"(system = "bow-pod16"
[model]
config = "relu"
)",
        {}, "model.config: a single operator is not placed on IPUs; expected a whole model, or an RDU system");
  CHECK(
      dynamic_cast<const rdu::RduPlan&>(*square(512, "sn10", " --tensor-parallel weight --n-chips 2").plan.family_plan)
          .setup.parts == 1);
}
