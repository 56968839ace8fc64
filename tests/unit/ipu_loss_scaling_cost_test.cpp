// Automatic loss scaling: histograms of gradients, their time, their memory (graphcore/popart,
// automaticlossscaling.cpp; graphcore/poplibs, HistogramPerformanceEstimation.cpp; graphcore/examples
// nlp/bert/pytorch/configs_pretraining.yml).

#include "models/ipu/cost/loss_scaling_cost.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "models/ipu/memory/memory.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::ipu;
using namespace podsim::test;

namespace {

const std::string k_bert = R"(
system = "bow-pod16"
[model]
config = "bert-large-uncased"
head = "pretraining"
[workload]
sequence_length = 128
micro_batch_size = 8
masked_tokens = 20
optimizer = "lamb"
[ipu]
layers_per_ipu = [3, 7, 7, 7]
replication_factor = 4
gradient_accumulation_steps = 2048
matmul_proportion = [0.13, 0.2, 0.2, 0.2]
embedding_serialization_factor = 2
replicated_tensor_sharding = true
recompute_checkpoint_every_layer = true
)";

const char* const k_scaling = "ipu.auto_loss_scaling=true";

const IpuPlan& own(const Plan& plan) {
  return dynamic_cast<const IpuPlan&>(*plan.family_plan);
}

double full_cycle_s(const Ran& ran) {
  double time = 0;
  for (const SegmentId segment : ran.lowered.program.marks.at("full cycle")) {
    time += ran.result.segment_duration[segment.index()].duration().in_base();
  }
  return time;
}

Bytes total(const Plan& plan, std::size_t ipu) {
  return plan.family->memory_account(plan).memories[ipu].total();
}

}  // namespace

TEST_CASE("loss scaling: cycles of one histogram are those of the library's formula") {
  const Plan plan = plan_of(k_bert);
  const LossScalingConstants& constants = own(plan).constants.loss_scaling;
  // 1024 halves, six workers: ceil(256 / 6) = 43 vectors each
  CHECK(histogram_cycles(1024, constants).in_base() == 6 * (57 + 4 * 43));
  CHECK(histogram_cycles(1024, constants).in_base() == 1374);
  // an odd element and a pair are left of 7; one vector is counted against the limit sooner than shared out
  CHECK(histogram_cycles(7, constants).in_base() == 6 * (49 + 4 + 4 + 4));
  CHECK(histogram_cycles(0, constants).in_base() == 6 * 49);
}

// Cycles worked out by hand from the library's estimate: six workers share out the data, or each takes a limit.
TEST_CASE("loss scaling: a histogram is shared out by data but for the smallest") {
  struct Case {
    std::int64_t elements;
    double by_data, by_limit;
  };
  const Plan plan = plan_of(k_bert);
  const LossScalingConstants& constants = own(plan).constants.loss_scaling;
  for (const Case& row :
       {Case{1, 366, 318}, Case{4, 366, 318}, Case{16, 366, 390}, Case{24, 366, 438}, Case{64, 414, 678},
        Case{1024, 1374, 6438}, Case{4097, 4470, 24894}, Case{65536, 65886, 393510}}) {
    CAPTURE(row.elements);
    CHECK(histogram_cycles(row.elements, constants).in_base() == std::min(row.by_data, row.by_limit));
    const double remainder = (row.elements % 2 == 1 ? 4 : 0) + (row.elements % 4 >= 2 ? 4 : 0);
    const double vectors = std::floor(static_cast<double>(row.elements) / 4);
    CHECK(6 * (57 + remainder + 4 * std::ceil(vectors / 6)) == row.by_data);
    CHECK(6 * (49 + remainder + 4 * vectors) == row.by_limit);
  }
}

// 1024 tokens: weight gradients 12 h^2, input gradients 8 t h, gradients of scores, of context and of elementwise work.
TEST_CASE("loss scaling: a layer of BERT-Large has about 43 million tracked elements in a micro-batch of 1024 tokens") {
  const Plan plan = plan_of(k_bert);
  TrackedGradients layer;
  for (const Block& block : plan.graph.blocks) {
    if (block.layer != 5) continue;
    layer.elements += tracked_gradients(block).elements;
    layer.tensors += tracked_gradients(block).tensors;
  }
  CAPTURE(layer.elements);
  CHECK(std::abs(static_cast<double>(layer.elements) / 43e6 - 1) < 0.05);
  CHECK(layer.tensors >= 12);
  CHECK(layer.tensors <= 24);
}

TEST_CASE("loss scaling: a full cycle takes longer by the histograms of the fullest IPU and by the counts it sends") {
  const Ran without = run_of(k_bert);
  const Ran with = run_of(k_bert, {k_scaling});
  const IpuPlan& plan = own(with.plan);
  Cycles histograms;  // of the seven layers of IPU 1
  for (const Block& block : with.plan.graph.blocks) {
    if (block.layer < 3 || block.layer >= 10) continue;
    histograms += loss_scaling_cost(block, plan.setup.execution(1, block.kind), plan.constants).total();
  }
  // Stages on IPUs 1 to 3 send two counts of four bytes a gradient; the hop to IPU 0 carries them all.
  std::int64_t tensors = 0;
  for (const Block& block : with.plan.graph.blocks) {
    if (block.layer >= 3) tensors += tracked_gradients(block).tensors;
  }
  const double counts = 8.0 * static_cast<double>(tensors) / plan.constants.system.links.neighbour_bandwidth.in_base();
  const double expected =
      plan.constants.software.framework_factor * (histograms / plan.constants.chip.clock).in_base() + counts;
  CHECK(std::abs((full_cycle_s(with) - full_cycle_s(without)) / expected - 1) < 1e-6);
}

// By hop of replica 0, towards the IPU of the first stage; the head stands there, too, and sends nothing.
TEST_CASE("loss scaling: counts cross every boundary once a micro-batch, their sum and the factor once an update") {
  const Ran without = run_of(k_bert);
  const Ran with = run_of(k_bert, {k_scaling});
  const auto bytes = [](const Ran& ran, const std::string& name) {
    const auto& links = ran.lowered.platform.links();
    const auto found = std::find_if(links.begin(), links.end(), [&](const Link& link) { return link.name == name; });
    REQUIRE(found != links.end());
    return ran.result.links[static_cast<std::size_t>(found - links.begin())].bytes.count();
  };
  const auto more = [&](const std::string& name) { return bytes(with, name) - bytes(without, name); };
  const auto tensors_from = [&](int layer) {
    std::int64_t tensors = 0;
    for (const Block& block : with.plan.graph.blocks) {
      if (block.layer >= layer) tensors += tracked_gradients(block).tensors;
    }
    return tensors;
  };
  // 2048 micro-batches; copies of 8 more cycles carry fill and drain.
  const std::int64_t cycles = 2048 + 8;
  CHECK(more("ipu1-ipu0.gradient") == 8 * tensors_from(3) * cycles);
  CHECK(more("ipu2-ipu1.gradient") == 8 * tensors_from(10) * cycles);
  CHECK(more("ipu3-ipu2.gradient") == 8 * tensors_from(17) * cycles);
  CHECK(more("ipu0-ipu3.gradient") == 0);
  for (const char* hop : {"ipu0-ipu1", "ipu1-ipu2", "ipu2-ipu3", "ipu3-ipu0"}) CHECK(more(hop) == 4);
  // A ring of four replicas: 2 x 3 steps, each of one of the two counts.
  CHECK(more("ring.replica0-replica1") == 6 * 4);
  const std::vector<std::string> one = {"ipu.layers_per_ipu=[24]", "ipu.ipus_per_replica=1",
                                        "ipu.matmul_proportion=0.2"};
  const Plan alone = plan_of(k_bert, one);
  const IpuPlan& plan = own(alone);
  CHECK(count_traffic(alone.graph, make_pipeline(alone.graph, plan.setup.placement)).empty());
}

TEST_CASE("loss scaling: BERT-Large becomes 3 to 10 % slower") {
  for (const auto& [length, micro_batch] : {std::pair{128, 8}, std::pair{512, 2}}) {
    CAPTURE(length);
    const std::vector<std::string> changes = {"workload.sequence_length=" + std::to_string(length),
                                              "workload.micro_batch_size=" + std::to_string(micro_batch)};
    std::vector<std::string> scaled = changes;
    scaled.emplace_back(k_scaling);
    const double ratio = run_of(k_bert, scaled).step_s() / run_of(k_bert, changes).step_s();
    CHECK(ratio > 1.03);
    CHECK(ratio < 1.10);
  }
}

TEST_CASE("loss scaling: 60 MB more always live on an IPU and 100 MB more on that of the embedding") {
  const Plan without = plan_of(k_bert);
  const Plan with = plan_of(k_bert, {k_scaling});
  CHECK(total(with, 0) - total(without, 0) == Bytes(100'000'000));
  for (const std::size_t ipu : {1U, 2U, 3U}) CHECK(total(with, ipu) - total(without, ipu) == Bytes(60'000'000));
}

TEST_CASE("loss scaling: the published settings with it fit") {
  CHECK(plan_of(k_bert, {k_scaling}).family->verdict(plan_of(k_bert, {k_scaling}), false).fits());
  const std::vector<std::string> pod64 = {k_scaling,
                                          "system=\"bow-pod64\"",
                                          "ipu.replication_factor=16",
                                          "ipu.gradient_accumulation_steps=512",
                                          "ipu.matmul_proportion=[0.05, 0.13, 0.13, 0.13]",
                                          "ipu.embedding_serialization_factor=6"};
  const Plan plan = plan_of(k_bert, pod64);
  CHECK(plan.family->verdict(plan, false).fits());
}

TEST_CASE("loss scaling: single precision has nothing to track") {
  CHECK(problems_of(k_bert, {k_scaling, "workload.precision=\"fp32\""}) ==
        "command line: ipu.auto_loss_scaling: tracks float16 gradients, and fp32 has none; expected false\n");
}

TEST_CASE("loss scaling: a plan with it says that it is experimental") {
  const Plan plan = plan_of(k_bert, {k_scaling});
  const std::vector<std::string> notes = plan.family->notes(plan);
  REQUIRE(notes.size() == 1);
  CHECK(
      notes.front() ==
      "ipu.auto_loss_scaling: experimental, says PopART; its memory here is assumed from published settings, its time "
      "estimated from PopLibs; no run with it was published with a rate");
  CHECK(plan_of(k_bert).family->notes(plan_of(k_bert)).empty());
}
