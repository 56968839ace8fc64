// Token generation on SN40L nodes: the closed forms against published throughputs, and each part by hand.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "models/rdu/serving.hpp"
#include "tests/support/rdu_scene.hpp"

using namespace podsim;
using namespace podsim::rdu;
using namespace podsim::test;

namespace {

ServingRequest request_of(std::int64_t batch, std::int64_t tokens, std::int64_t static_length,
                          const RduConstants& constants, bool legacy = false) {
  ServingRequest request;
  request.sockets = 8;
  request.batch = batch;
  request.input_tokens = tokens;
  request.output_tokens = tokens;
  request.static_length = static_length;
  request.legacy_endpoint = legacy;
  request.padded_prompt = padded_prompt(tokens, static_length, legacy, constants.serving);
  return request;
}

struct Row {
  std::int64_t batch;
  std::int64_t tokens;
  double predicted;  // tokens/s
  double measured;
};

void check_rows(const GatedDecoder& shape, std::int64_t static_length, bool legacy, const std::vector<Row>& rows,
                double band) {
  const RduConstants constants = rdu_constants("sn40l-8");
  const TransformerDescription model = gated_decoder(shape);
  for (const Row& row : rows) {
    CAPTURE(row.batch);
    CAPTURE(row.tokens);
    const ServingRequest request = request_of(row.batch, row.tokens, static_length, constants, legacy);
    const double rate = serving_time(model, request, constants).tokens_per_second;
    CHECK(rate == doctest::Approx(row.predicted).epsilon(1e-3));
    CHECK(rate == doctest::Approx(row.measured).epsilon(band));
  }
}

}  // namespace

TEST_CASE("rdu serving: Llama-3-8B on eight SN40L") {
  check_rows(k_llama_3_8b, 8192, false,
             {{1, 128, 1212.9, 1165.7},
              {16, 128, 7440.6, 7381.3},
              {1, 512, 1250.7, 1239.1},
              {16, 512, 9134.8, 8219.0},
              {1, 1024, 1259.3, 1292.7},
              {16, 1024, 9611.7, 9249.8},
              {32, 1024, 12340, 11339}},
             0.12);
}

TEST_CASE("rdu serving: Llama-3-70B on eight SN40L") {
  check_rows(k_llama_3_70b, 8192, false,
             {{1, 128, 156.94, 156.7},
              {16, 128, 1281.4, 1050.0},
              {1, 512, 160.74, 167.0},
              {16, 512, 1587.8, 1428.1},
              {1, 1024, 161.69, 172.2},
              {16, 1024, 1685.6, 1839.1}},
             0.23);
}

TEST_CASE("rdu serving: the older Llama-2-7B endpoint") {
  check_rows(k_llama_2_7b, 4096, true,
             {{1, 128, 710.91, 686.0},
              {16, 128, 2121.1, 2504.0},
              {1, 512, 826.81, 778.0},
              {16, 512, 3646, 3289.0},
              {1, 1024, 849.9, 1197.0},
              {16, 1024, 4142.3, 4146.0}},
             0.30);
}

TEST_CASE("rdu serving: mean errors of Llama-3 at batch 1 and above") {
  struct Measured {
    const GatedDecoder* shape;
    std::int64_t batch;
    std::int64_t tokens;
    double rate;
  };
  const Measured rows[] = {
      {&k_llama_3_8b, 1, 128, 1165.7},   {&k_llama_3_8b, 1, 512, 1239.1},   {&k_llama_3_8b, 1, 1024, 1292.7},
      {&k_llama_3_70b, 1, 128, 156.7},   {&k_llama_3_70b, 1, 512, 167.0},   {&k_llama_3_70b, 1, 1024, 172.2},
      {&k_llama_3_8b, 16, 128, 7381.3},  {&k_llama_3_8b, 16, 512, 8219.0},  {&k_llama_3_8b, 16, 1024, 9249.8},
      {&k_llama_3_8b, 32, 1024, 11339},  {&k_llama_3_70b, 16, 128, 1050.0}, {&k_llama_3_70b, 16, 512, 1428.1},
      {&k_llama_3_70b, 16, 1024, 1839.1}};
  const RduConstants constants = rdu_constants("sn40l-8");
  double single = 0;
  double batched = 0;
  for (const Measured& row : rows) {
    const ServingRequest request = request_of(row.batch, row.tokens, 8192, constants);
    const double rate = serving_time(gated_decoder(*row.shape), request, constants).tokens_per_second;
    (row.batch == 1 ? single : batched) += std::abs(rate / row.rate - 1);
  }
  CHECK(single / 6 < 0.03);
  CHECK(batched / 7 < 0.10);
}

TEST_CASE("rdu serving: a token reads weights and the whole static cache") {
  const RduConstants constants = rdu_constants("sn40l-8");
  const TransformerDescription model = gated_decoder(k_llama_3_8b);
  const ServingTime time = serving_time(model, request_of(16, 1024, 8192, constants), constants);
  CHECK(time.memory.in_base() == doctest::Approx(0.85 * 8 * 1.8e12));
  CHECK(time.weights == Bytes(2 * model.parameter_count()));
  CHECK(time.cache == Bytes(std::int64_t{2} * 32 * 1024 * 2 * 8192 * 16));
  const double bytes = static_cast<double>((time.weights + time.cache).count());
  CHECK(time.token.in_base() == doctest::Approx(bytes / (0.85 * 8 * 1.8e12) + 32 * 5e-6));
  // Published time to first token of this batch: 0.42 s.
  CHECK(time.first_token.in_base() == doctest::Approx(0.4645).epsilon(1e-3));
  const double flop_count = 2.0 * static_cast<double>(model.parameter_count()) * 1536 + 4.0 * 1536 * 1536 * 4096 * 32;
  CHECK(time.request_prefill.in_base() == doctest::Approx(0.003 + flop_count / (0.195 * 8 * 638e12)));
  CHECK(time.latency.in_base() == doctest::Approx((time.first_token + time.token * 1024.0).in_base()));
}

TEST_CASE("rdu serving: sixteen sockets decode Llama-3-8B at the rate of a vendor slide") {
  const RduConstants constants = rdu_constants("sn40l-16");
  ServingRequest request = request_of(1, 1024, 8192, constants);
  request.sockets = 16;
  const ServingTime time = serving_time(gated_decoder(k_llama_3_8b), request, constants);
  CHECK(time.output_tokens_per_second == doctest::Approx(1163).epsilon(1e-3));  // published: 1000
  request.accepted_tokens = 2;
  CHECK(serving_time(gated_decoder(k_llama_3_8b), request, constants).output_tokens_per_second ==
        doctest::Approx(2 * 1163).epsilon(1e-3));
}

TEST_CASE("rdu serving: launches by software weigh on decoding and hardly on prefill") {
  const RduConstants constants = rdu_constants("sn40l-8");
  const auto ratios = [&](const GatedDecoder& shape, std::int64_t length) {
    ServingRequest request = request_of(1, length, length, constants);
    const ServingTime hardware = serving_time(gated_decoder(shape), request, constants);
    request.orchestration = Orchestration::software;
    const ServingTime software = serving_time(gated_decoder(shape), request, constants);
    const Duration fixed = constants.serving.request;
    return std::pair(software.token / hardware.token,
                     (software.request_prefill - fixed) / (hardware.request_prefill - fixed));
  };
  // Published ranges: decoding 1.4 to 8, prefill at most 1.1.
  CHECK(ratios(k_llama_3_70b, 8192).first == doctest::Approx(1.866).epsilon(2e-3));
  CHECK(ratios(k_llama_2_7b, 4096).first == doctest::Approx(3.986).epsilon(2e-3));
  CHECK(ratios(k_llama_2_7b, 4096).second == doctest::Approx(1.067).epsilon(2e-3));
}

TEST_CASE("rdu serving: without fusion a token pays a launch per operator") {
  const RduConstants constants = rdu_constants("sn40l-8");
  ServingRequest request = request_of(1, 4096, 4096, constants);
  const ServingTime fused = serving_time(gated_decoder(k_llama_2_7b), request, constants);
  request.fused = false;
  const ServingTime apart = serving_time(gated_decoder(k_llama_2_7b), request, constants);
  // Published ranges: decoding 1 to 13, prefill 1.5 to 3.
  CHECK(apart.token / fused.token == doctest::Approx(8.35).epsilon(2e-3));
  const Duration fixed = constants.serving.request;
  CHECK((apart.request_prefill - fixed) / (fused.request_prefill - fixed) == doctest::Approx(1.38).epsilon(2e-3));
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

TEST_CASE("rdu serving: products alone on an SN10 at their published rates") {
  const RduConstants constants = rdu_constants("sn10");
  struct Size {
    std::int64_t n;
    double predicted;  // TFLOP/s
    double measured;
  };
  for (const Size& size : {Size{256, 0.7618, 0.66}, Size{512, 3.115, 3.01}, Size{1792, 16.03, 15.49},
                           Size{4096, 37.91, 40.9}, Size{12288, 40.61, 37.9}}) {
    CAPTURE(size.n);
    const double n = static_cast<double>(size.n);
    const Duration time = isolated_operator_time(flop(2 * n * n * n), Bytes(2 * 3 * size.n * size.n), constants);
    const double rate = 2 * n * n * n / time.in_base() / 1e12;
    CHECK(rate == doctest::Approx(size.predicted).epsilon(1e-3));
    CHECK(rate == doctest::Approx(size.measured).epsilon(0.25));
  }
}
