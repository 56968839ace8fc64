// U-Net on RDUs: its operators, where statistics over a batch end a section, and the published programs.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "models/rdu/rdu_plan.hpp"
#include "tests/support/rdu_scene.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::rdu;
using namespace podsim::test;

namespace {

UnetDescription brain_segmentation() {
  UnetDescription model;
  model.name = "U-Net";
  model.sizes = {1, 256, 3, 1, 32, 4};
  return model;
}

OperatorGraph unet_step(std::int64_t batch, bool training) {
  StepRequest request;
  request.training = training;
  request.batch = batch;
  return build_unet_step(brain_segmentation(), request);
}

std::size_t count_of(const OperatorGraph& graph, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::count(graph.operators, name, &RduOperator::name));
}

// Sections whose first operator waits for statistics.
std::size_t parted_by_statistics(const OperatorGraph& graph, const Partition& cut) {
  return static_cast<std::size_t>(std::ranges::count_if(cut.sections, [&](const RduSection& section) {
    return !section.operators.empty() && graph[section.operators.front()].waits_for > Bytes();
  }));
}

// As argonne-lcf/user-guides shows them, with values for their variables.
std::string published(const std::string& more) {
  return R"(
system = "sn30"
[model]
config = "unet"
[rdu]
define = { UNET = "unet", "2" = "256", BS = "256", NUM_TILES = "4", OUTDIR = "out" }
compile = '''python ${UNET}/compile.py compile --mac-v2 --in-channels=3 --in-width=${2} --in-height=${2} \
--batch-size=${BS} --enable-conv-tiling --num-tiles=4 --pef-name=unet_train_${BS}_${2}_single_${NUM_TILES} \
--output-folder=${OUTDIR}'''
)" + more;
}

const char* const k_half = R"(
system = "sn30"
[model]
config = "unet"
[rdu]
compile = "python u.py compile -b 256 --num-tiles 4"
)";

void tells(const std::string& toml, const std::vector<std::string>& overrides, const std::string& text) {
  const std::string problems = problems_of(toml, overrides);
  CAPTURE(problems);
  CAPTURE(text);
  CHECK(problems.find(text) != std::string::npos);
}

}  // namespace

TEST_CASE("rdu unet: training has statistics and their gradients, inference streams through its normalisations") {
  const OperatorGraph training = unet_step(256, true);
  const OperatorGraph inference = unet_step(256, false);
  CHECK(count_of(training, "statistics") == 18);
  CHECK(count_of(training, "statistics_gradient") == 18);
  CHECK(count_of(inference, "statistics") == 0);
  CHECK(count_of(inference, "normalisation") == 18);
  CHECK(training.parameter_count == 7'763'041);
  // Three passes, less the input gradient of the first convolution.
  const double forward = inference.flop().in_base();
  const double first = 2.0 * 9 * 256 * 256 * 3 * 32 * 256;
  CHECK(training.flop().in_base() == doctest::Approx(3 * forward - first).epsilon(1e-12));
  std::int64_t updated = 0;
  for (const RduOperator& op : training.operators) {
    if (op.phase == RduPhase::optimizer) updated += op.weight_elements;
  }
  CHECK(updated == training.parameter_count);
}

TEST_CASE("rdu unet: statistics end a section where the chip cannot hold what they are made of") {
  const HalfSn30 half;
  // 320 MiB hold 256 samples of at most 16 384 x 64 / 2 values: two levels are more than that, and their way up.
  const OperatorGraph large = unet_step(256, true);
  std::size_t waiting = 0;
  for (const RduOperator& op : large.operators) waiting += op.waits_for > half.capacity.sram ? 1 : 0;
  CHECK(waiting == 2 * 2 * 4);  // forward and backward of two convolutions, down and up, of two levels
  const Partition cut = half.partition(large, OptimizationLevel::o3);
  CHECK(parted_by_statistics(large, cut) >= waiting);
  // Of one sample everything stays.
  const OperatorGraph small = unet_step(1, true);
  std::size_t off_chip = 0;
  for (const RduOperator& op : small.operators) off_chip += op.waits_for > half.capacity.sram ? 1 : 0;
  CHECK(off_chip == 0);
  // What waits on chip takes its place there: demand grows by its share of the SRAM.
  RduOperator op;
  op.waits_for = Bytes(half.capacity.sram.count() / 4);
  CHECK(section_demand(op, {}, half.capacity) == doctest::Approx(1.0 / 16 + 0.25));
}

TEST_CASE("rdu unet: o3 takes what another program computed from the same rules") {
  const HalfSn30 half;
  const OperatorGraph graph = unet_step(256, true);
  const DeviceTime o3 = half.time(graph, OptimizationLevel::o3);
  CHECK(o3.sections == 36);
  CHECK(o3.total.in_base() == doctest::Approx(0.834).epsilon(0.002));
  CHECK(half.time(graph, OptimizationLevel::o0).total > 2 * o3.total);
}

TEST_CASE("rdu unet: published commands run, with the image size and features that they name") {
  const Ran one = run_of(published(
      R"(launch = '''srun python hook.py run --in-channels=3 --in-width=${2} --in-height=${2} --init-features 32 \
--batch-size=${BS} --epochs 10 --pef=out/unet_train_256_256_single_4/unet_train_256_256_single_4.pef'''
host_model = "profiled"
)"));
  CHECK(one.plan.settings.image_size == 256);
  CHECK(one.plan.settings.micro_batch_size == 256);
  const StepFacts facts = one.plan.family->step_facts(one.plan);
  CHECK(facts.images);
  CHECK(facts.tokens_per_sample == 0);
  // Measured: 88.8 images/s, of a run that its input holds up (facts.md).
  CHECK(256 / one.step_s() == doctest::Approx(111.3).epsilon(0.01));
  const Ran inference = run_of(k_half, {"rdu.compile=\"python u.py compile --inference -b 256 --num-tiles 4\""});
  CHECK(inference.step_s() < one.step_s() / 10);
}

TEST_CASE("rdu unet: what contradicts the commands, or is not known of image networks, is told") {
  tells(
      k_half, {"workload.image_size=256", "rdu.compile=\"python u.py compile -b 8 --num-tiles 4 --in-width 512\""},
      "workload.image_size: is 256, but the compile command says --in-width 512; expected one of them, or both equal");
  tells(k_half,
        {"model.init_features=64", "rdu.launch=\"python u.py run --init-features 32 -b 256 --pef=out/u/u.pef\""},
        "model.init_features: is 64, but the launch command says --init-features 32; expected one of them, or both "
        "equal");
  tells(k_half, {"rdu.compile=\"python u.py compile -b 8 --tensor-parallel weight --n-chips 2\""},
        "the kernels of an image network are not cut over RDUs; expected --tensor-parallel batch");
  tells(k_half, {"workload.recompute=true"},
        "workload.recompute: has no effect: no recomputation is known of image networks on RDUs");
  tells(k_half, {"workload.mode=\"generation\""}, "a unet with head none generates no tokens");
}
