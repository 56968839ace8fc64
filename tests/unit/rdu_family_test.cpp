// RDU runs end to end: events against closed forms, published runs, and what changes of the machine change.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "models/rdu/memory.hpp"
#include "models/rdu/rdu_plan.hpp"
#include "models/rdu/section_cost.hpp"
#include "tests/support/rdu_closed_forms.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

// GPT-2 of hidden size 1600 on half an SN30, as DABench-LLM measured it under the profiler.
const std::string k_gpt2 = R"(
name = "GPT-2"
system = "sn30"
software = "sambaflow-1.18"
[model]
config = "gpt2-xl"
num_hidden_layers = 6
[workload]
sequence_length = 1024
[rdu]
compile = "python app.py compile -b 16 -o3 --num-tiles 4 --pef-name=gpt"
host_model = "profiled"
)";

std::string level(const std::string& name) {
  return "rdu.compile=\"python app.py compile -b 16 -" + name + " --num-tiles 4 --pef-name=gpt\"";
}

const rdu::RduPlan& own(const Ran& ran) {
  return dynamic_cast<const rdu::RduPlan&>(*ran.plan.family_plan);
}

double value(const Ran& ran, const std::string& name) {
  const std::vector<ReportedValue> values = ran.plan.family->values(ran.plan, ran.lowered, ran.result);
  const auto found = std::ranges::find(values, name, &ReportedValue::name);
  REQUIRE_MESSAGE(found != values.end(), name);
  return found->value;
}

bool near(double a, double b, double relative) {
  return std::abs(a / b - 1) <= relative;
}

double tokens_per_s(const Ran& ran) {
  const StepFacts facts = ran.plan.family->step_facts(ran.plan);
  return static_cast<double>(facts.global_batch * facts.tokens_per_sample) / ran.step_s();
}

}  // namespace

TEST_CASE("rdu: simulated sections take what the closed form says, at every level") {
  for (const char* name : {"o0", "o1", "o3"}) {
    for (const int layers : {1, 6, 24}) {
      CAPTURE(name);
      CAPTURE(layers);
      const Ran ran = run_of(k_gpt2, {level(name), "model.num_hidden_layers=" + std::to_string(layers)});
      const rdu::RduPlan& plan = own(ran);
      const double device = device_time(plan.compiled.partition, plan.compiled.work, plan.rates).total.in_base();
      const double around = value(ran, "host_latency_s") + plan.constants.host.profiled_rest.in_base();
      CHECK(near(value(ran, "rdu_latency_s"), device, 1e-12));
      CHECK(near(ran.step_s() - around, device, 1e-6));
    }
  }
}

TEST_CASE("rdu: GPT-2 1.5B on 32 halves of SN30s reaches the published rate, and asks for the count without one") {
  const Ran ran = run_of(experiment("gpt2-xl-two-sn30"));
  CHECK(near(tokens_per_s(ran), 192467, 0.05));
  CHECK(near(ran.step_s(), 2.72, 0.05));
  std::string text = experiment("gpt2-xl-two-sn30");
  text.replace(text.find("replicas = 32"), 13, "");
  const std::string problems = problems_of(text);
  CAPTURE(problems);
  CHECK(problems.find("rdu.replicas: is missing: a data-parallel program runs as many copies as it is launched with; "
                      "expected rdu.replicas, or a launch command with its number of ranks") != std::string::npos);
  const Ran launched = run_of(text, {"rdu.launch=\"mpirun -np 32 python hook.py run -b 16 --data-parallel "
                                     "--reduce-on-rdu --pef=out/gpt15/gpt15.pef\""});
  CHECK(launched.result.total == ran.result.total);
}

TEST_CASE("rdu: o0 and o3 of 24 layers take the published time on the device, o1 lies between") {
  const std::vector<std::string> layers = {"model.num_hidden_layers=24"};
  const auto device_s = [&](const char* name) {
    return value(run_of(k_gpt2, {level(name), layers.front()}), "rdu_latency_s");
  };
  const double o0 = device_s("o0");
  const double o1 = device_s("o1");
  const double o3 = device_s("o3");
  CHECK(near(o0, 6.60, 0.06));
  CHECK(near(o3, 1.93, 0.06));
  CHECK(o1 < o0);
  CHECK(o1 > o3);
}

TEST_CASE("rdu: fewer visible resources cut more sections and take longer") {
  const Ran whole = run_of(k_gpt2);
  const Ran less = run_of(k_gpt2, {"rdu.compile=\"python app.py compile -b 16 -o3 --num-tiles 4 --pef-name=gpt "
                                   "--resources-scaling-factors 1 0.8 0.8\""});
  CHECK(value(less, "total_sections") > value(whole, "total_sections"));
  CHECK(less.step_s() > whole.step_s());
}

// 80 layers, two reductions forward and two backward, each of 2 · 4096 tokens · 8192 · 2 bytes at 50 GB/s.
TEST_CASE("rdu: activation reductions of Llama-2-70B on two RDUs come out of transfers") {
  const Ran ran = run_of(experiment("llama-2-70b-sn30-tensor-parallel"));
  const double bytes = 2.0 * 4096 * 8192 * 2;
  CHECK(near(ran.part_s(CostCategory::collective), 320 * 2 * (bytes / 2) / 50e9, 1e-6));
  CHECK(near(ran.part_s(CostCategory::collective), 0.86, 0.10));
  const Ran slow = run_of(experiment("llama-2-70b-sn30-tensor-parallel"), {"chip.peer_link.bandwidth=\"25 GB/s\""});
  CHECK(near(slow.part_s(CostCategory::collective), 2 * ran.part_s(CostCategory::collective), 1e-6));
}

TEST_CASE("rdu: one SN30 does not hold Llama-2-70B in training, two that share the weights do") {
  const std::string text = experiment("llama-2-70b-sn30-tensor-parallel");
  const Plan one = plan_of(text, {"rdu.compile=\"python app.py compile -b 2 -o1 --num-tiles 8 --tensor-parallel weight "
                                  "--n-chips 1 --pef-name=llama\""});
  const Verdict verdict = one.family->verdict(one, true);
  REQUIRE_FALSE(verdict.fits());
  CHECK(verdict.broken.front().limit == "DDR");
  CHECK(verdict.broken.front().remedy == "--tensor-parallel weight --n-chips 2");
  const auto& plan = dynamic_cast<const rdu::RduPlan&>(*one.family_plan);
  std::int64_t resident = 0;
  for (const MemoryAccountEntry& entry : rdu::resident_entries(plan, one.settings)) resident += entry.bytes.count();
  CHECK(resident == 16 * plan.model.parameter_count());
  const Plan two = plan_of(text);
  CHECK(two.family->verdict(two, false).fits());
  const std::string nine = problems_of(text, {"rdu.compile=\"python app.py compile -b 2 -o1 --num-tiles 8 "
                                              "--tensor-parallel weight --n-chips 9 --pef-name=llama\""});
  CAPTURE(nine);
  CHECK(nine.find("9 RDUs are more than a node of sn30 has") != std::string::npos);
}

TEST_CASE("rdu: sharing the batch never cuts the bytes of weights") {
  const std::string compile = "rdu.compile=\"python app.py compile -b 16 -o1 --num-tiles 8 --tensor-parallel batch ";
  const auto weights = [&](const std::string& chips) {
    const Plan plan = plan_of(k_gpt2, {compile + "--n-chips " + chips + " --pef-name=gpt\""});
    const auto& own_plan = dynamic_cast<const rdu::RduPlan&>(*plan.family_plan);
    return rdu::resident_entries(own_plan, plan.settings).front().bytes;
  };
  CHECK(weights("1") == weights("4"));
}

TEST_CASE("rdu: eight SN40L serve Llama-3-70B at the published rates") {
  const Ran one = run_of(experiment("llama-3-70b-sn40l-8"));
  CHECK(near(value(one, "total_tokens_per_s"), 172.2, 0.10));
  const Ran sixteen =
      run_of(experiment("llama-3-70b-sn40l-8"),
             {"rdu.compile=\"python app.py compile -b 16 --inference --tensor-parallel weight --n-chips 8 "
              "--pef-name=llama\""});
  CHECK(near(value(sixteen, "total_tokens_per_s"), 1839, 0.15));
  const auto request = one.plan.family->memory_account(one.plan);
  CHECK(request.memories.front().entries.empty());  // DDR
  CHECK(request.memories[1].entries[0].category == rdu::k_weights);
  CHECK(request.memories[1].entries[1].category == rdu::k_key_value_cache);
}

TEST_CASE("rdu: weights that stand in DDR stream from DDR") {
  const std::string one = "rdu.compile=\"python app.py compile -b 1 --inference --n-chips 1 --pef-name=llama\"";
  const Ran ran = run_of(experiment("llama-3-70b-sn40l-8"), {one});
  const double weights = 2.0 * static_cast<double>(own(ran).model.parameter_count());
  CHECK(near(value(ran, "time_per_output_token_s"), weights / 200e9 + 80 * 5e-6, 1e-3));
}

TEST_CASE("rdu: the device time of the tables is that of the events, whichever tier holds the tensors") {
  const Ran ran = run_of(
      "system = \"sn40l-8\"\n[model]\nconfig = \"llama-2-7b\"\n[rdu]\ncompile = \"python app.py compile -b 8 -o1 "
      "--num-tiles 8 --pef-name=p\"\n");
  const double host = own(ran).constants.host.production_gap.in_base();
  CHECK(near(value(ran, "rdu_latency_s"), ran.step_s() - host, 1e-6));
  CHECK_FALSE(own(ran).tiers.tensors_in_hbm);
}

// 140 GB of weights beside 64 GB of HBM: their port is the slower one, and both work at a time.
TEST_CASE("rdu: sections read weights from the tier that holds them, beside their tensors") {
  const Ran ran = run_of(
      "system = \"sn40l-8\"\n[model]\nconfig = \"llama-2-70b\"\n[workload]\nsequence_length = 128\n[rdu]\ncompile = "
      "\"python app.py compile -b 1 -o1 --num-tiles 8 --inference --pef-name=p\"\n");
  const rdu::RduPlan& plan = own(ran);
  REQUIRE(plan.tiers.tensors_in_hbm);
  REQUIRE_FALSE(plan.tiers.weights_in_hbm);
  Bytes weights;
  Bytes tensors;
  for (std::size_t i = 0; i < plan.compiled.work.size(); ++i) {
    const rdu::SectionWork& work = plan.compiled.work[i];
    const double from_ddr = work.weights.size().in_base() / 200e9;
    const double from_hbm = (work.read + work.written).size().in_base() / 1.8e12;
    CHECK(near(plan.compiled.times[i].memory.in_base(), std::max(from_ddr, from_hbm), 1e-12));
    weights += work.weights;
    tensors += work.read + work.written;
  }
  CHECK(near(value(ran, "rdu_latency_s"), ran.step_s(), 1e-6));
  CHECK(value(ran, "ddr_traffic_bytes") == static_cast<double>(weights.count()));
  CHECK(value(ran, "hbm_traffic_bytes") == static_cast<double>(tensors.count()));
}

TEST_CASE("rdu: copies reduce gradients only where they train one model") {
  const std::string four = "rdu.replicas=4";
  const Ran alone = run_of(k_gpt2);
  CHECK(run_of(k_gpt2, {four}).result.total == alone.result.total);
  const std::string shared =
      "rdu.compile=\"python app.py compile -b 16 -o3 --num-tiles 4 --data-parallel -ws 2 "
      "--pef-name=gpt\"";
  CHECK(run_of(k_gpt2, {shared, four}).result.total > alone.result.total);
}

TEST_CASE("rdu: wider sums lower the rate of products by the published factor") {
  const auto zoo = [](const std::string& more) {
    return run_of(
        "system = \"sn40l-8\"\n[model]\nconfig = \"llama-2-7b\"\n[rdu]\ncompile = \"python x.py command=compile "
        "training.batch_size=8" +
        more + "\"\n");
  };
  const Ran base = zoo("");
  const Ran wide = zoo(" samba_compile.tiling_accum=fp32");
  CHECK(near(own(wide).rates.efficiency, own(base).rates.efficiency * own(base).constants.precision.single_accumulation,
             1e-12));
  CHECK(wide.step_s() > base.step_s());
}

TEST_CASE("rdu: a token costs the bytes of weights and static cache over the usable bandwidth, and its layers") {
  const Ran ran = run_of(experiment("llama-3-70b-sn40l-8"));
  const rdu::RduPlan& plan = own(ran);
  const double cache = 2.0 * 2 * 80 * 1024 * 4096;  // key and value, 8 heads of 128, 4096 positions
  const double bytes = 2.0 * static_cast<double>(plan.model.parameter_count()) + cache;
  const double layers = 80 * (4.7e-6 + 2.3e-6);  // turn-around, and the attention of one request
  const double expected = bytes / (0.85 * 8 * 1.8e12) + layers;
  CHECK(near(value(ran, "time_per_output_token_s"), expected, 1e-5));
  const Ran fast = run_of(experiment("llama-3-70b-sn40l-8"), {"chip.hbm.bandwidth=\"3.6 TB/s\""});
  CHECK(near(value(fast, "time_per_output_token_s"), bytes / (0.85 * 8 * 3.6e12) + layers, 1e-5));
}

TEST_CASE("rdu: a shorter launch interval takes the difference from every section that waits for it") {
  const Ran base = run_of(k_gpt2, {level("o0")});
  const Ran quick = run_of(k_gpt2, {level("o0"), "cost.section.issue_interval=\"0.5 ms\""});
  double saved = 0;
  for (const rdu::SectionTime& time : own(base).compiled.times) {
    const double work = time.loads.in_base() + time.execute.in_base();
    saved += std::max(own(base).rates.issue_interval.in_base(), work) - std::max(0.5e-3, work);
  }
  CHECK(std::abs(value(base, "rdu_latency_s") - value(quick, "rdu_latency_s") - saved) < 1e-9);
}

TEST_CASE("rdu: half the DDR bandwidth lengthens the sections that it bounds") {
  const Ran base = run_of(k_gpt2);
  const Ran slow = run_of(k_gpt2, {"chip.ddr.bandwidth=\"102.4 GB/s\""});
  double added = 0;
  const rdu::RduPlan& plan = own(base);
  for (std::size_t i = 0; i < plan.compiled.times.size(); ++i) {
    const rdu::SectionTime& time = plan.compiled.times[i];
    const auto total = [&](double memory) {
      const double execute = std::max(time.compute.in_base(), memory);
      return std::max(plan.rates.issue_interval.in_base(), time.loads.in_base() + execute);
    };
    added += total(2 * time.memory.in_base()) - total(time.memory.in_base());
  }
  CHECK(added > 0.1);
  CHECK(std::abs(value(slow, "rdu_latency_s") - value(base, "rdu_latency_s") - added) < 1e-9);
}

TEST_CASE("rdu: a slow half lengthens its own products, and is not folded") {
  const std::string two =
      "rdu.compile=\"python app.py compile -b 16 -o3 --num-tiles 4 --data-parallel -ws 2 "
      "--pef-name=gpt\"";
  const std::string launch =
      "rdu.launch=\"mpirun -np 2 python app.py run -b 16 --data-parallel --reduce-on-rdu "
      "--pef=out/gpt/gpt.pef\"";
  const Ran base = run_of(k_gpt2, {two, launch});
  const Ran slow = run_of(k_gpt2, {two, launch, "system.slowdown.rdu0-tiles4-7=2"});
  double added = 0;
  for (const rdu::SectionTime& time : own(base).compiled.times) {
    const auto total = [&](double factor) {
      const double loads = factor * time.loads.in_base();
      return std::max(own(base).rates.issue_interval.in_base(),
                      loads + std::max(factor * time.compute.in_base(), time.memory.in_base()));
    };
    added += total(2) - total(1);
  }
  CHECK(slow.lowered.not_folded == std::vector<std::string>{"replicas: rdu0-tiles4-7 has another speed"});
  CHECK(slow.step_s() > base.step_s());
  CHECK(near(slow.step_s() - base.step_s(), added, 0.05));
}

TEST_CASE("rdu: copies on several nodes exchange gradients over the nodes' network, which they share") {
  const std::string two_nodes = "system.nodes=2";
  const auto compile = [](const std::string& more) {
    return "rdu.compile=\"python app.py compile -b 16 -o3 --data-parallel -ws 2 --pef-name=gpt " + more + "\"";
  };
  const auto launch = [](const std::string& spread) {
    return "rdu.launch=\"" + spread +
           " python app.py run -b 16 --data-parallel --reduce-on-rdu --pef=out/gpt/gpt.pef\"";
  };
  const std::string half = "system.node_network.bandwidth=\"30 GB/s\"";
  const auto exchange_s = [&](std::vector<std::string> overrides) {
    overrides.push_back(two_nodes);
    return run_of(k_gpt2, overrides).part_s(CostCategory::collective);
  };
  const double gradients = 2.0 * static_cast<double>(own(run_of(k_gpt2)).model.parameter_count());
  const auto ring = [&](int copies, double bandwidth) { return 2.0 * (copies - 1) / copies * gradients / bandwidth; };
  // 32 halves of RDUs: one hop of the ring leaves each node.
  const std::vector<std::string> halves = {compile("--num-tiles 4"), launch("mpirun -np 32")};
  CHECK(near(exchange_s(halves), ring(32, 60e9), 1e-6));
  CHECK(near(exchange_s({halves[0], halves[1], half}), ring(32, 30e9), 1e-6));
  // Two copies stay on a node, where the network is no matter, unless they are launched one to each.
  const std::vector<std::string> pair = {compile("--num-tiles 4"), launch("mpirun -np 2"), half};
  CHECK(near(exchange_s(pair), ring(2, 60e9), 1e-6));
  CHECK(near(exchange_s({pair[0], launch("srun --nodes 2 --ntasks 2 --mpi=pmi2"), half}), ring(2, 30e9), 1e-6));
  // Copies of two halves each have two rings, which share the network between the nodes.
  const std::vector<std::string> whole = {compile("--num-tiles 8"), launch("mpirun -np 16")};
  const double within_a_copy = gradients / 50e9;
  CHECK(near(exchange_s(whole), within_a_copy + ring(16, 60e9 / 2), 1e-6));
  const Ran ran = run_of(k_gpt2, {whole[0], whole[1], two_nodes});
  const std::vector<Link>& links = ran.lowered.platform.links();
  CHECK(std::ranges::count(links, "node0.network", &Link::name) == 1);
  CHECK(std::ranges::count(links, "node1.network", &Link::name) == 1);
}
