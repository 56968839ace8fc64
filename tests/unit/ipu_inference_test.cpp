// Inference and generation on IPUs: how long a call takes written down a second time, what it returns, what is refused.

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "models/ipu/cost/estimate_inference.hpp"
#include "models/ipu/ipu_plan.hpp"
#include "models/ipu/lowering/stage_work.hpp"
#include "models/ipu/memory/memory.hpp"
#include "models/ipu/report/inference_report.hpp"
#include "sim/report/report.hpp"
#include "sim/study/evaluate.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

constexpr double k_layer_ratio_tolerance = 1e-7;

const std::string k_squad = R"(
system = "bow-pod16"
[model]
config = "bert-large-uncased"
head = "question-answering"
[workload]
mode = "inference"
sequence_length = 384
micro_batch_size = 4
[ipu]
layers_per_ipu = [3, 7, 7, 7]
matmul_proportion = [0.2, 0.2, 0.2, 0.2]
inference_device_iterations = 5
)";

const std::string k_gpt2 = R"(
system = "bow-pod16"
[model]
config = "gpt2"
[workload]
mode = "inference"
sequence_length = 1024
[ipu]
version = "0.7"
inference_layers_per_ipu = [2, 10]
inference_matmul_proportion = 0.2
)";

const char* const k_sharded = "ipu.sharded_execution_for_inference=true";

const ipu::IpuPlan& own(const Ran& ran) {
  return dynamic_cast<const ipu::IpuPlan&>(*ran.plan.family_plan);
}

bool same(double a, double b) {
  return std::abs(a - b) < k_layer_ratio_tolerance;
}

double throughput(const Ran& ran) {
  return static_cast<double>(ran.plan.family->step_facts(ran.plan).global_batch) / ran.step_s();
}

// What a call consists of, in seconds.
struct Parts {
  std::vector<double> stages;
  double input = 0;
  double copy = 0;
  double results = 0;
  double call = 0;
};

Parts parts_of(const Ran& ran) {
  const ipu::IpuPlan& plan = own(ran);
  const ipu::Pipeline pipeline = ipu::make_pipeline(ran.plan.graph, plan.setup.placement);
  const ipu::MemoryInputs inputs{ran.plan.graph, ran.plan.settings, plan.setup, pipeline, plan.constants};
  const std::vector<ipu::BlockWork> works = ipu::prepare_work(inputs, *plan.costs);
  const ipu::LinkConstants& links = plan.constants.system.links;
  Parts parts;
  for (const ipu::ForwardStage& stage : pipeline.forward()) {
    double total = 0;
    for (const std::size_t block : stage.blocks) {
      for (const ipu::WorkOp& op : works[block].forward) total += op.cost.total().duration().in_base();
    }
    parts.stages.push_back(total);
  }
  parts.input = ran.plan.graph.host_input.size() / links.host_bandwidth / seconds(1);
  parts.copy = (ran.plan.graph.boundary.size() / links.neighbour_bandwidth + links.message_latency) / seconds(1);
  parts.results = plan.setup.inference.results.size() / links.host_output_bandwidth / seconds(1);
  parts.call = links.host_latency / seconds(1);
  return parts;
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

Report report_of(const std::string& toml, const std::vector<std::string>& overrides = {}) {
  const Plan plan = plan_of(toml, overrides);
  Engine engine = make_engine("native", build_dir());
  return simulate_plan(plan, engine, {});
}

const Table& table_of(const Report& report, const std::string& name) {
  const auto found =
      std::find_if(report.tables.begin(), report.tables.end(), [&](const Table& table) { return table.name == name; });
  REQUIRE(found != report.tables.end());
  return *found;
}

bool warns(const Report& report, const std::string& text) {
  return std::any_of(report.warnings.begin(), report.warnings.end(),
                     [&](const std::string& warning) { return warning.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("inference: a sharded call is iterations of input, stages, copies and results, and the host call") {
  const Ran ran = run_of(k_squad, {k_sharded});
  const Parts parts = parts_of(ran);
  REQUIRE(parts.stages.size() == 4);
  const double iteration = parts.input + sum(parts.stages) + 3 * parts.copy + parts.results;
  CHECK(same(ran.step_s(), 5 * iteration + parts.call));
  CHECK(same(ran.part_s(CostCategory::inter_device), 5 * 3 * parts.copy));
  CHECK(same(ran.part_s(CostCategory::host_io), 5 * (parts.input + parts.results) + parts.call));
}

// Stages 3, 7, 7, 7 and a head: stage 0 is never the fullest once another one works; the last one, with the head, is
// as soon as it works.
TEST_CASE("inference: a pipelined call is cycles of the fullest stage with its results and a copy") {
  const Ran ran = run_of(k_squad);
  const Parts parts = parts_of(ran);
  double call = parts.call;
  const int stages = 4;
  const int iterations = 5;
  for (int cycle = 0; cycle < iterations + stages - 1; ++cycle) {
    double fullest = 0;
    for (int stage = 0; stage < stages; ++stage) {
      if (stage > cycle || cycle >= stage + iterations) continue;
      fullest = std::max(fullest, parts.stages[static_cast<std::size_t>(stage)] + (stage == 0 ? parts.input : 0));
    }
    call += fullest + parts.copy + (cycle >= stages - 1 ? parts.results : 0);
  }
  CHECK(same(ran.step_s(), call));
}

TEST_CASE("inference: the closed form of both ways agrees with the simulation") {
  for (const std::string& toml : {k_squad, k_gpt2}) {
    for (const bool sharded : {true, false}) {
      for (const char* mode : {"all", "final"}) {
        CAPTURE(sharded);
        CAPTURE(mode);
        std::vector<std::string> changes = {"ipu.version=\"0.3\"", fmt::format("ipu.output_mode=\"{}\"", mode),
                                            "ipu.inference_device_iterations=6", "ipu.inference_replication_factor=4"};
        if (sharded) changes.emplace_back(k_sharded);
        const Ran ran = run_of(toml, changes);
        const ipu::IpuPlan& plan = own(ran);
        REQUIRE(plan.setup.inference.sharded == sharded);
        const ipu::Pipeline pipeline = ipu::make_pipeline(ran.plan.graph, plan.setup.placement);
        const ipu::MemoryInputs inputs{ran.plan.graph, ran.plan.settings, plan.setup, pipeline, plan.constants};
        CHECK(same(ran.step_s(), ipu::estimate_call(inputs, *plan.costs, sharded).call.duration().in_base()));
      }
    }
  }
}

TEST_CASE("inference: BERT-Large on 3, 7, 7 and 7 layers gains from its pipeline with the iterations") {
  struct Expected {
    const char* iterations;
    double low, high;
  };
  for (const Expected& expected : {Expected{"5", 2.2, 2.4}, Expected{"1000", 3.3, 3.5}}) {
    CAPTURE(expected.iterations);
    const std::string iterations = std::string("ipu.inference_device_iterations=") + expected.iterations;
    const double ratio =
        throughput(run_of(k_squad, {iterations})) / throughput(run_of(k_squad, {iterations, k_sharded}));
    CHECK(ratio > expected.low);
    CHECK(ratio < expected.high);
  }
}

TEST_CASE("inference: fewer device iterations than stages are refused when pipelined, not when sharded") {
  CHECK(problems_of(k_squad, {"ipu.inference_device_iterations=3"})
            .find("inference_device_iterations: 3 is below the pipeline's stages, 4; expected at least 4, or "
                  "sharded_execution_for_inference = true") != std::string::npos);
  CHECK(problems_of(k_squad, {"ipu.inference_device_iterations=3", k_sharded}).find("below") == std::string::npos);
  CHECK(plan_of(k_squad, {"ipu.inference_device_iterations=3", k_sharded}).settings.mode == RunMode::inference);
}

TEST_CASE("inference: results per call are one per replica, in mode all for each iteration") {
  struct Expected {
    const char* mode;
    std::int64_t results;
  };
  for (const Expected& expected : {Expected{"all", 5 * 2}, Expected{"sum", 2}, Expected{"final", 2}}) {
    CAPTURE(expected.mode);
    const std::string mode = fmt::format("ipu.output_mode=\"{}\"", expected.mode);
    const Report report = report_of(k_squad, {mode, "ipu.inference_replication_factor=2"});
    const Table& table = table_of(report, "results per call");
    const std::int64_t bytes = 4 * 2 * 384 * 2;  // micro-batch 4, two scores per token in half precision
    bool found = false;
    for (const auto& row : table.rows) {
      const bool own_row = std::get<std::string>(row[0]) == expected.mode;
      CHECK(std::get<bool>(row[1]) == own_row);
      if (!own_row) continue;
      found = true;
      CHECK(std::get<std::int64_t>(row[2]) == expected.results);
      CHECK(std::get<std::int64_t>(row[3]) == bytes);
      CHECK(std::get<std::int64_t>(row[4]) == bytes * expected.results);
    }
    CHECK(found);
    // The links carry what the table says.
    std::int64_t carried = 0;
    for (const LinkReport& link : report.links) {
      if (link.name.ends_with(".result_port")) carried += link.bytes.count();
    }
    CHECK(carried == bytes * expected.results);
  }
}

TEST_CASE("inference: results default to all, and another mode is followed with a warning") {
  CHECK(own(run_of(k_squad)).setup.inference.output == ipu::OutputMode::all);
  CHECK(own(run_of(k_squad, {"ipu.output_mode=\"default\""})).setup.inference.output == ipu::OutputMode::all);
  CHECK(problems_of(k_squad, {"ipu.output_mode=\"final\""})
            .find("ipu.output_mode: \"final\" is followed, but Optimum Graphcore returns all results in inference") !=
        std::string::npos);
}

TEST_CASE("inference: a mode that the library does not use is told beside the rate") {
  const Report followed = report_of(k_squad, {"ipu.output_mode=\"final\""});
  CHECK(followed.batch.condition == "output_mode final, which Optimum Graphcore does not use here");
  CHECK(to_text(followed).find("only with") != std::string::npos);
  CHECK(report_of(k_squad).batch.condition.empty());
}

TEST_CASE("inference: where the version decides and nobody says it both rates stand at the key") {
  const std::string told = problems_of(k_squad);
  const double pipelined = throughput(run_of(k_squad));
  const double sharded = throughput(run_of(k_squad, {k_sharded}));
  CHECK(told.find(fmt::format("ipu.sharded_execution_for_inference: false by default is followed, which makes about "
                              "{:.4g} samples/s; from 0.4.0 inference is sharded all the same, which makes about "
                              "{:.4g}, and the version is not known; expected ipu.version to say which it is",
                              pipelined, sharded)) != std::string::npos);
  CHECK(problems_of(k_squad, {"ipu.version=\"0.3\""}).find("is not known") == std::string::npos);
  CHECK(problems_of(k_squad, {k_sharded}).find("is not known") == std::string::npos);
  CHECK(to_text(report_of(k_squad)).find("version of optimum-graphcore not known: documented defaults") !=
        std::string::npos);
}

TEST_CASE("inference: a version that ignores the key runs sharded and reports both throughputs") {
  const Report report = report_of(k_squad, {"ipu.version=\"0.7\"", "ipu.sharded_execution_for_inference=false"});
  CHECK(report.schedule.kind == "sharded, one IPU at a time");
  CHECK(warns(report, "ipu.sharded_execution_for_inference: no effect from 0.4.0: inference is always sharded"));
  const Table& table = table_of(report, "inference execution");
  REQUIRE(table.rows.size() == 2);
  CHECK(std::get<std::string>(table.rows[0][0]) == "sharded");
  CHECK(std::get<bool>(table.rows[0][1]));
  CHECK(std::get<std::string>(table.rows[0][5]) == "this version always shards");
  CHECK(std::get<std::string>(table.rows[1][5]) == "not offered by this version");
  CHECK(same(std::get<double>(table.rows[0][2]), run_of(k_squad, {k_sharded}).step_s()));
  CHECK(same(std::get<double>(table.rows[1][2]), run_of(k_squad).step_s()));
  CHECK(std::get<double>(table.rows[1][3]) > 2.2 * std::get<double>(table.rows[0][3]));
}

TEST_CASE("inference: pipelining that would be refused is still estimated and called so") {
  const Report report = report_of(k_squad, {"ipu.inference_device_iterations=2", k_sharded});
  const Table& table = table_of(report, "inference execution");
  CHECK(std::get<std::string>(table.rows[1][5]) == "refused: device iterations below the pipeline's stages");
  CHECK(std::get<double>(table.rows[1][2]) < std::get<double>(table.rows[0][2]));
}

TEST_CASE("inference: latency is an iteration when sharded and as many cycles as stages when pipelined") {
  const Parts parts = parts_of(run_of(k_squad));
  const Report sharded = report_of(k_squad, {k_sharded});
  const Report pipelined = report_of(k_squad);
  REQUIRE(sharded.latency.has_value());
  REQUIRE(pipelined.latency.has_value());
  CHECK(same(*sharded.latency->request_s, parts.input + sum(parts.stages) + 3 * parts.copy + parts.results));
  const double cycle = *std::max_element(parts.stages.begin(), parts.stages.end()) + parts.copy + parts.results;
  CHECK(same(*pipelined.latency->request_s, 4 * cycle));
  CHECK_FALSE(sharded.latency->time_to_first_token_s.has_value());
}

TEST_CASE("inference: half the host bandwidth doubles the input and nothing else") {
  const Ran base = run_of(k_squad, {k_sharded});
  const Ran slow = run_of(k_squad, {k_sharded, "system.host.bandwidth=\"3 GB/s\""});
  const double added = 5 * base.plan.graph.host_input.size().in_base() * (1 / 3e9 - 1 / 6e9);
  CHECK(same(slow.step_s() - base.step_s(), added));
  CHECK(same(slow.part_s(CostCategory::host_io) - base.part_s(CostCategory::host_io), added));
}

TEST_CASE("inference: half the bandwidth to the host doubles the results and nothing else") {
  const Ran base = run_of(k_gpt2);
  const Ran slow = run_of(k_gpt2, {"system.host.output_bandwidth=\"2.75 GB/s\""});
  const double bytes = 1024.0 * 50257 * 2;  // a vocabulary of scores per token, in half precision
  const double added = bytes * (1 / 2.75e9 - 1 / 5.5e9);
  CHECK(same(slow.step_s() - base.step_s(), added));
  CHECK(same(slow.part_s(CostCategory::host_io) - base.part_s(CostCategory::host_io), added));
}

TEST_CASE("inference: a run that waits for the host says so") {
  const Report slow = report_of(k_squad, {k_sharded, "system.host.bandwidth=\"100 kB/s\""});
  CHECK(slow.bottleneck.starts_with("host io on ipu"));
  CHECK(slow.bottleneck_pct > 50);
  CHECK(warns(slow, "host-bound: host io on ipu"));
  CHECK_FALSE(warns(report_of(k_squad, {k_sharded}), "host-bound"));
}

TEST_CASE("inference: it says that no measurement stands behind it") {
  CHECK(problems_of(k_squad).find("warning: workload.mode: not validated: no public inference measurement exists for "
                                  "IPUs") != std::string::npos);
}

TEST_CASE("inference: published GPT-2 placements fit") {
  CHECK(plan_of(k_gpt2).family->verdict(plan_of(k_gpt2), false).fits());
  const std::vector<std::string> xl = {"model.config=\"gpt2-xl\"",
                                       "ipu.inference_layers_per_ipu=[1, 6, 6, 7, 7, 7, 7, 7]"};
  const Plan plan = plan_of(k_gpt2, xl);
  CHECK(plan.family->verdict(plan, false).fits());
}

TEST_CASE("inference: memory is weights, half the code, one layer's activations and temporaries") {
  const Ran ran = run_of(k_squad, {k_sharded});
  const ipu::IpuPlan& plan = own(ran);
  const MemoryAccount account = ran.plan.family->memory_account(ran.plan);
  REQUIRE(account.memories.size() == 4);  // nothing lies off the chip
  const auto placed = ipu::place_parameters(ran.plan.graph, plan.setup, plan.constants);
  const std::vector<MemoryAccountEntry>& entries = account.memories[1].entries;
  REQUIRE(entries.size() == 4);
  CHECK(entries[0].category == ipu::k_weights);
  CHECK(entries[0].bytes.count() == 2 * placed[1].elements);
  CHECK(entries[1].category == ipu::k_activations);
  CHECK(entries[2].category == ipu::k_temporaries);
  CHECK(entries[3].category == ipu::k_code);
  CHECK(entries[3].bytes.count() == (40'000'000 + 7 * 3'000'000) / 2);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(ran.result.memories[i].peak <= account.memories[i].total());
    CHECK(ran.result.memories[i].always_live == account.memories[i].always_live());
  }
}

TEST_CASE("inference: what does not fit names inference keys as remedies") {
  const Plan plan = plan_of(k_gpt2, {"workload.micro_batch_size=16"});
  const Verdict verdict = plan.family->verdict(plan, true);
  REQUIRE_FALSE(verdict.fits());
  CHECK(verdict.broken.front().remedy.find("optimizer") == std::string::npos);
  CHECK((verdict.broken.front().remedy.starts_with("workload.micro_batch_size") ||
         verdict.broken.front().remedy.starts_with("ipu.inference_")));
}

TEST_CASE("generation: each token is a host call over the static length") {
  const std::vector<std::string> changes = {"workload.mode=\"generation\"", "workload.input_tokens=896",
                                            "workload.output_tokens=128"};
  const Ran ran = run_of(k_gpt2, changes);
  const Parts parts = parts_of(ran);
  REQUIRE(parts.stages.size() == 3);
  CHECK(own(ran).setup.inference.results.count() == 2 * 50257);  // the scores of one position
  const double token = parts.input + sum(parts.stages) + 2 * parts.copy + parts.results + parts.call;
  CHECK(same(ran.step_s() / 128, token));
  const Report report = report_of(k_gpt2, changes);
  REQUIRE(report.latency.has_value());
  CHECK(same(*report.latency->request_s, ran.step_s()));
  CHECK(same(*report.latency->time_to_first_token_s, token));
  CHECK(same(*report.latency->time_per_output_token_s, token));
  CHECK(warns(report, "generation is assumed and uncalibrated"));
}

TEST_CASE("generation: tokens that are missing, too many or impossible are refused") {
  const std::string mode = "workload.mode=\"generation\"";
  CHECK(
      problems_of(k_gpt2, {mode, "workload.input_tokens=8"})
          .find("workload.output_tokens: is missing in mode \"generation\"; expected how many tokens a request brings "
                "and how many it asks for") != std::string::npos);
  CHECK(problems_of(k_gpt2, {mode, "workload.input_tokens=1000", "workload.output_tokens=25"})
            .find("1000 tokens of input and 25 of output do not fit into a length of 1024; expected at most 1024 "
                  "together") != std::string::npos);
  CHECK(problems_of(k_squad, {mode, "workload.input_tokens=8", "workload.output_tokens=8"})
            .find("workload.mode: a \"question-answering\" head generates no tokens; expected workload.mode = "
                  "\"inference\"") != std::string::npos);
  CHECK(problems_of(k_gpt2,
                    {mode, "workload.input_tokens=8", "workload.output_tokens=8", "ipu.inference_device_iterations=4"})
            .find("ipu.inference_device_iterations: 4 is taken as 1 in generation: each token is a host call") !=
        std::string::npos);
}
