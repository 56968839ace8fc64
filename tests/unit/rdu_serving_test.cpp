// Token generation on SN40L nodes: events against the formula, and the formula against published rates by model, batch
// and length.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "models/rdu/rdu_plan.hpp"
#include "models/rdu/serving.hpp"
#include "tests/support/rdu_scene.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::rdu;
using namespace podsim::test;

namespace {

Ran served(const std::string& model, std::int64_t batch, std::int64_t tokens, const std::vector<std::string>& more = {},
           const std::string& system = "sn40l-8") {
  std::vector<std::string> overrides = {
      "system.name=\"" + system + "\"",
      "model.config=\"" + model + "\"",
      "workload.batch_size=" + std::to_string(batch),
      "workload.input_tokens=" + std::to_string(tokens),
      "workload.output_tokens=" + std::to_string(tokens),
      "rdu.compile=\"python app.py compile -b " + std::to_string(batch) + " --inference --pef-name=p\""};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return run_of(R"(
system = "sn40l-8"
[model]
config = "llama-3-8b"
[workload]
mode = "generation"
)",
                overrides);
}

const RduPlan& own(const Ran& ran) {
  return dynamic_cast<const RduPlan&>(*ran.plan.family_plan);
}

double value(const Ran& ran, const std::string& name) {
  for (const ReportedValue& one : ran.plan.family->values(ran.plan, ran.lowered, ran.result)) {
    if (one.name == name) return one.value;
  }
  FAIL("no value " << name);
  return 0;
}

struct Formula {
  double token = 0;        // s
  double first_token = 0;  // s, of the last prompt of the batch
};

// Weights and the cache at its static length over the usable bandwidth, then the turn-around of each layer and the
// attention of each request in it; prompts one after another at the rate of products.
Formula formula(const Ran& ran) {
  const RduPlan& plan = own(ran);
  const RduSetup& setup = plan.setup;
  const TransformerDescription& model = plan.model;
  const double sockets = static_cast<double>(setup.parts);
  const double batch = static_cast<double>(setup.batch);
  const double layers = static_cast<double>(model.layers);
  const double weights = 2.0 * static_cast<double>(model.parameter_count());
  const double cache = 4.0 * layers * static_cast<double>(model.kv_width()) * static_cast<double>(setup.static_length);
  const double bandwidth = 0.85 * (setup.legacy_endpoint ? 0.58 : 1.0) * sockets * 1.8e12;
  const double prompt = static_cast<double>(setup.padded_prompt);
  const double products = weights * prompt + 4 * prompt * prompt * static_cast<double>(model.query_width()) * layers;
  return {(weights + batch * cache) / bandwidth + layers * (4.7e-6 + 2.3e-6 * batch),
          batch * products / (0.195 * sockets * 638e12)};
}

struct Row {
  std::int64_t batch;
  std::int64_t tokens;
  double measured;  // tokens/s, input and output
};

double mean_error(const std::string& model, const std::vector<Row>& rows) {
  double sum = 0;
  for (const Row& row : rows) {
    sum += std::abs(value(served(model, row.batch, row.tokens), "total_tokens_per_s") / row.measured - 1);
  }
  return sum / static_cast<double>(rows.size());
}

}  // namespace

TEST_CASE("rdu serving: events take what the formula says") {
  for (const auto& [model, batch, tokens, more] :
       std::vector<std::tuple<std::string, std::int64_t, std::int64_t, std::vector<std::string>>>{
           {"llama-3-8b", 16, 1024, {}},
           {"llama-3-70b", 1, 128, {}},
           {"mistral-7b", 4, 2048, {}},
           {"llama-2-7b", 16, 512, {"rdu.endpoint=\"legacy\""}}}) {
    CAPTURE(model);
    const Ran ran = served(model, batch, tokens, more);
    const Formula expected = formula(ran);
    CHECK(value(ran, "time_per_output_token_s") == doctest::Approx(expected.token).epsilon(1e-3));
    CHECK(value(ran, "time_to_first_token_s") == doctest::Approx(expected.first_token).epsilon(2e-2));
  }
}

TEST_CASE("rdu serving: Llama-3 at its published rates, 4 % at batch 1 and 10 % beyond") {
  CHECK(mean_error("llama-3-8b", {{1, 128, 1165.7}, {1, 512, 1239.1}, {1, 1024, 1292.7}}) < 0.04);
  CHECK(mean_error("llama-3-70b", {{1, 128, 156.7}, {1, 512, 167.0}, {1, 1024, 172.2}}) < 0.04);
  CHECK(mean_error("llama-3-8b", {{16, 128, 7381.3}, {16, 512, 8219.0}, {16, 1024, 9249.8}, {32, 1024, 11339}}) < 0.05);
  CHECK(mean_error("llama-3-70b", {{16, 128, 1050.0}, {16, 512, 1428.1}, {16, 1024, 1839.1}}) < 0.14);
}

TEST_CASE("rdu serving: lengths and a model that other fits never saw") {
  CHECK(mean_error("llama-3-8b", {{1, 256, 1276.1}, {1, 2048, 1245.7}, {16, 256, 9798.7}, {16, 2048, 7249.9}}) < 0.07);
  CHECK(mean_error("llama-3-70b", {{1, 256, 166.3}, {1, 2048, 171.7}, {16, 256, 1850.7}, {16, 2048, 1560.3}}) < 0.10);
  CHECK(mean_error("mistral-7b", {{1, 128, 1226.4}, {1, 256, 1337.4}, {1, 512, 1317.6}, {1, 1024, 1378.5}}) < 0.04);
}

TEST_CASE("rdu serving: the older Llama-2-7B endpoint, but for its lengths that contradict the others") {
  CHECK(mean_error("llama-2-7b", {{1, 128, 686.0}}) > 0.3);  // as served today
  const auto legacy = [](std::int64_t batch, std::int64_t tokens) {
    return value(served("llama-2-7b", batch, tokens, {"rdu.endpoint=\"legacy\""}), "total_tokens_per_s");
  };
  CHECK(legacy(1, 128) == doctest::Approx(686.0).epsilon(0.02));
  CHECK(legacy(1, 512) == doctest::Approx(778.0).epsilon(0.02));
  CHECK(legacy(16, 512) == doctest::Approx(3289.0).epsilon(0.05));
}

TEST_CASE("rdu serving: requests are served from the shortest deployed context that holds them") {
  const ServingConstants serving = rdu_constants("sn40l-8").serving;
  CHECK(deployed_context(256, 8192, serving) == 4096);
  CHECK(deployed_context(4095, 8192, serving) == 4096);
  CHECK(deployed_context(4096, 8192, serving) == 8192);  // with its start token
  CHECK(deployed_context(9000, 131072, serving) == 16384);
  CHECK(deployed_context(9000, 8192, serving) == 8192);
  CHECK(deployed_context(100, 2048, serving) == 2048);
  CHECK(own(served("llama-3-8b", 1, 1024)).setup.static_length == 4096);
  CHECK(own(served("llama-3-8b", 1, 2048)).setup.static_length == 8192);
  CHECK(own(served("mistral-7b", 1, 2048, {"rdu.longest_context=4096"})).setup.static_length == 4096);
  CHECK(own(served("llama-3-8b", 1, 1024, {"rdu.static_sequence_length=8192"})).setup.static_length == 8192);
  // A longer cache takes longer to read: of 16 requests 4 096 positions of 32 layers, 1 024 wide, keys and values.
  const double longer =
      value(served("llama-3-8b", 16, 1024, {"rdu.static_sequence_length=8192"}), "time_per_output_token_s") -
      value(served("llama-3-8b", 16, 1024), "time_per_output_token_s");
  CHECK(longer == doctest::Approx(16.0 * 4096 * 32 * 1024 * 4 / (0.85 * 8 * 1.8e12)).epsilon(1e-3));
}

TEST_CASE("rdu serving: the longest context is of current endpoints, and within the model's positions") {
  const std::string toml = R"(
system = "sn40l-8"
[model]
config = "llama-3-8b"
[workload]
mode = "generation"
input_tokens = 128
output_tokens = 128
[rdu]
longest_context = 4096
)";
  const auto tells = [&](const std::vector<std::string>& overrides, const std::string& text) {
    const std::string problems = problems_of(toml, overrides);
    CAPTURE(problems);
    CHECK(problems.find(text) != std::string::npos);
  };
  tells({"rdu.static_sequence_length=8192"},
        "warning: rdu.longest_context: has no effect: the context of the run is stated");
  tells({"rdu.endpoint=\"legacy\""},
        "warning: rdu.longest_context: has no effect: it is of current endpoints on a chip with HBM alone");
  tells({"rdu.longest_context=10000"},
        "rdu.longest_context: 10000 is more than the model's 8192 positions; expected at most as many, or a larger "
        "model.max_position_embeddings");
}

TEST_CASE("rdu serving: sixteen sockets decode Llama-3-8B at the rate of a vendor slide") {
  // Published: 1000.
  const double rate = value(served("llama-3-8b", 1, 1024, {}, "sn40l-16"), "output_tokens_per_s_per_user");
  CHECK(rate == doctest::Approx(1000).epsilon(0.15));
}

TEST_CASE("rdu serving: launches by software weigh on decoding and hardly on prefill") {
  const auto ratios = [&](const std::string& model, const std::vector<std::string>& more = {}) {
    const Ran hardware = served(model, 1, 1024, more);
    std::vector<std::string> by_software = more;
    by_software.emplace_back("rdu.orchestration=\"software\"");
    const Ran software = served(model, 1, 1024, by_software);
    const auto ratio = [&](const char* name) { return value(software, name) / value(hardware, name); };
    return std::pair(ratio("time_per_output_token_s"), ratio("time_to_first_token_s"));
  };
  // Published ranges: decoding 1.4 to 8, prefill at most 1.1.
  const auto [decode_70b, prefill_70b] = ratios("llama-3-70b");
  CHECK(decode_70b > 1.4);
  CHECK(prefill_70b < 1.1);
  const auto [decode_7b, prefill_7b] = ratios("llama-2-7b");
  CHECK(decode_7b > 3.5);
  CHECK(decode_7b < 8);
}

TEST_CASE("rdu serving: prompts and their start token fill buckets, in the older endpoint to the static length") {
  const ServingConstants serving = rdu_constants("sn40l-8").serving;
  CHECK(padded_prompt(1, 8192, false, serving) == 512);
  CHECK(padded_prompt(511, 8192, false, serving) == 512);
  CHECK(padded_prompt(512, 8192, false, serving) == 1024);
  CHECK(padded_prompt(100, 300, false, serving) == 300);
  CHECK(padded_prompt(100, 4096, true, serving) == 4096);
}

TEST_CASE("rdu serving: model switch and how many experts a node holds") {
  const RduConstants constants = rdu_constants("sn40l-8");
  const Bytes expert(2 * gated_decoder(k_llama_2_7b).parameter_count());
  // Published: 31 times the 32 GB/s of a GPU host with PCIe Gen4 x16, 15 times the 64 GB/s of one with Gen5.
  const double rate = expert.size().in_base() / model_switch_time(expert, 8, constants).in_base();
  CHECK(rate == doctest::Approx(896e9));
  CHECK(rate / 32e9 == doctest::Approx(28));
  CHECK(rate / 64e9 == doctest::Approx(14));
  const ExpertCapacity capacity = expert_capacity(expert, 8, constants.chip);
  CHECK(capacity.in_hbm == 40);   // published: about fifty
  CHECK(capacity.in_ddr == 979);  // published: 850 in use
  CHECK(expert_capacity(expert, 8, rdu_constants("sn30").chip).in_hbm == 0);
}

TEST_CASE("rdu serving: a model that eight RDUs do not divide runs on fewer, and says so") {
  const auto told = [](const std::string& model, const std::string& more = "") {
    return problems_of(R"(
system = "sn40l-8"
[model]
config = ")" + model + R"("
[workload]
mode = "generation"
input_tokens = 128
output_tokens = 64
[rdu]
compile = "python a.py compile --inference -b 1)" +
                       more + "\"\n");
  };
  const std::string small = told("gpt2");
  CAPTURE(small);
  CHECK(small.find("warning: rdu.compile: 12 attention heads do not divide among 8 RDUs: 4 of them share the model; "
                   "expected --n-chips, to say how many") != std::string::npos);
  const std::string odd = told("gpt2-xl");
  CAPTURE(odd);
  CHECK(odd.find("warning: rdu.compile: 25 attention heads do not divide among 8 RDUs: one runs the model") !=
        std::string::npos);
  CHECK(told("gpt2", " --n-chips 8 --tensor-parallel weight")
            .find("12 attention heads do not divide among 8 RDUs; "
                  "expected a number of RDUs that divides them") != std::string::npos);
  CHECK(told("llama-3-8b").empty());
}

TEST_CASE("rdu serving: a key-value head is not cut, so that RDUs beyond their number hold copies") {
  const auto token = [](const std::string& system, std::int64_t context) {
    return value(served("llama-3-8b", 16, 128, {"rdu.static_sequence_length=" + std::to_string(context)}, system),
                 "time_per_output_token_s");
  };
  // Of 8 heads each of 8 RDUs, and each of 16, reads one: 4 096 positions more of 32 layers, 128 wide, of 16 requests.
  const double one_head = 16.0 * 4096 * 32 * 128 * 4 / (0.85 * 1.8e12);
  CHECK(token("sn40l-8", 8192) - token("sn40l-8", 4096) == doctest::Approx(one_head).epsilon(1e-3));
  CHECK(token("sn40l-16", 8192) - token("sn40l-16", 4096) == doctest::Approx(one_head).epsilon(1e-3));
  const std::string problems = problems_of(R"(
system = "sn40l-16"
[model]
config = "llama-3-8b"
[workload]
mode = "generation"
input_tokens = 128
output_tokens = 64
)");
  CAPTURE(problems);
  CHECK(problems.find("warning: rdu.compile: 8 key-value heads on 16 RDUs: each RDU holds 1 whole, so that some are "
                      "held more than once") != std::string::npos);
}
