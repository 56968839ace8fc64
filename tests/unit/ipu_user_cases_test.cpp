// What users, maintainers and published tests ran into, as far as a simulator can show it; models/ipu/facts.md lists
// what it cannot.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "models/ipu/ipu_plan.hpp"
#include "models/ipu/memory/memory.hpp"
#include "models/ipu/operators/operator_estimator.hpp"
#include "models/ipu/operators/operator_text.hpp"
#include "tests/support/operator_constants.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

const std::string k_resnet = R"(
system = "pod4"
software = "poplar-pytorch"
[model]
config = "resnet50"
[workload]
micro_batch_size = 16
optimizer = "sgd-momentum"
[ipu]
gradient_accumulation_steps = 6
matmul_proportion = 0.15
optimizer_state_offchip = false
instances = 1
)";

double step_with_pace(const std::string& pace) {
  return run_of(k_resnet, {"software.convolution.instance_sample_time=\"" + pace + "\""}).step_s();
}

// All bytes of a square product alone on a chip, and those of the chip.
struct Need {
  double need = 0;
  double have = 0;
};

Need square_product(const std::string& chip, std::int64_t side, ipu::AmpMode mode) {
  const OperatorScene scene = operator_scene(chip);
  const std::string size = std::to_string(side);
  Diagnostics diagnostics;
  const auto written = ipu::parse_operator("matmul " + size + "x" + size + "x" + size, {}, diagnostics);
  const ipu::OperatorCost cost =
      ipu::OperatorEstimator(scene.chip, scene.constants).estimate(written.value().description, {mode, 0.6});
  return {static_cast<double>(cost.bytes.count()),
          static_cast<double>((scene.chip.tile_memory * scene.chip.tiles).count())};
}

}  // namespace

// poptorch docs, hostio_optimisation.rst; datamol-io/graphium issue 314.
TEST_CASE("user cases: a quicker loader or more buffers gain nothing once the host is as quick as the IPU") {
  const double waits = step_with_pace("1 ms");  // 16 ms a micro-batch, of which the IPU needs 8 to 9
  CHECK(waits == doctest::Approx(6 * 16 * 1e-3).epsilon(0.05));
  CHECK(step_with_pace("2 ms") == doctest::Approx(2 * waits).epsilon(0.05));
  const double works = step_with_pace("0.1 ms");
  CHECK(works < 0.7 * waits);
  CHECK(step_with_pace("0.01 ms") == works);
  // A buffer evens out the times of single samples; the rate stays that of the slower side, and no key is asked for it.
  CHECK(problems_of(k_resnet + "prefetch_depth = 4\n").find("ipu.prefetch_depth: unknown key") != std::string::npos);
}

// Comments in optimum-graphcore's modeling_t5.py and modeling_mt5.py: a position bias shared by all layers stays live.
TEST_CASE(
    "user cases: a tensor that passes over layers is held by every stage of its span, T5's bias in its own layer") {
  const Plan plan = plan_of(R"(
system = "pod4"
[model]
config = "t5-small"
[workload]
sequence_length = 256
micro_batch_size = 2
[ipu]
ipus_per_replica = 4
layers_per_ipu = [3, 3, 3, 3]
gradient_accumulation_steps = 32
recompute_checkpoint_every_layer = false
)");
  const auto& own = dynamic_cast<const ipu::IpuPlan&>(*plan.family_plan);
  const ipu::Pipeline pipeline = ipu::make_pipeline(plan.graph, own.setup.placement);
  // What the encoder wrote goes through every stage of the decoder beside what the decoder reads.
  for (const ipu::ForwardStage& stage : pipeline.forward()) {
    if (stage.ipu < 2) continue;
    CHECK(ipu::stash_of_stage(plan.graph, plan.settings, own.setup, stage) == Bytes(2 * (256 + 256) * 512 * 2));
    if (stage.ipu == 3) break;
  }
  const auto biased = std::ranges::count_if(plan.graph.blocks, [](const Block& block) {
    return std::ranges::any_of(block.forward,
                               [](const Operator& op) { return op.name.find("relative_bias") != std::string::npos; });
  });
  CHECK(biased == 12);
}

// Jia et al. 2019, section 5.1 (GC2), arXiv 2310.00256 (GC200): the largest square products that fitted, in steps of
// 128. The account of one product is right for the next size in single precision on the GC2 alone: the chip is full
// there. In the other cases three matrices and their temporaries leave much of it free, and what ran out is not known.
TEST_CASE("user cases: of the largest square products one limit is met within a part in two thousand, two are not") {
  const auto fill = [](const char* chip, std::int64_t side, ipu::AmpMode mode) {
    const Need product = square_product(chip, side, mode);
    return product.need / product.have;
  };
  CHECK(fill("gc2", 2944, ipu::AmpMode::single) == doctest::Approx(1.0).epsilon(0.0005));
  CHECK(fill("gc2", 3072, ipu::AmpMode::single) > 1.05);
  CHECK(fill("gc2", 2688, ipu::AmpMode::half_single) < 1);
  CHECK(fill("gc2", 2816, ipu::AmpMode::half_single) < 0.7);  // did not fit
  CHECK(fill("gc200", 3584, ipu::AmpMode::single) < 1);
  CHECK(fill("gc200", 3712, ipu::AmpMode::single) < 0.7);  // did not fit
}
