// How operators are cut into sections at each level.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/support/rdu_scene.hpp"

using namespace podsim;
using namespace podsim::rdu;
using namespace podsim::test;

namespace {

OperatorGraph gpt2_step(std::int64_t hidden, std::int64_t layers, std::int64_t heads) {
  return build_transformer_step(gpt2_of(hidden, layers, heads), training_step(16, 1024));
}

std::size_t operators_in(const Partition& partition) {
  std::set<OperatorId> all;
  std::size_t count = 0;
  for (const RduSection& section : partition.sections) {
    all.insert(section.operators.begin(), section.operators.end());
    count += section.operators.size();
  }
  REQUIRE(all.size() == count);
  return count;
}

std::vector<std::string> names_of_layer(const Partition& partition, int layer, RduPhase phase) {
  std::vector<std::string> names;
  for (const RduSection& section : partition.sections) {
    if (section.layer == layer && section.phase == phase) names.push_back(section.name);
  }
  return names;
}

}  // namespace

TEST_CASE("rdu partition: o3 packs the section counts published for GPT-2 widths and depths") {
  struct Row {
    std::int64_t hidden;
    std::int64_t layers;
    std::int64_t heads;
    std::size_t sections;
  };
  const HalfSn30 half;
  for (const Row& row : {Row{1600, 1, 25, 13}, Row{1600, 6, 25, 37}, Row{1600, 24, 25, 127}, Row{1600, 36, 25, 186},
                         Row{1024, 24, 16, 96}, Row{768, 12, 12, 45}, Row{3200, 1, 25, 24}}) {
    CAPTURE(row.hidden);
    CAPTURE(row.layers);
    const OperatorGraph graph = gpt2_step(row.hidden, row.layers, row.heads);
    const Partition cut = half.partition(graph, OptimizationLevel::o3);
    CHECK(cut.sections.size() == row.sections);
    CHECK(operators_in(cut) == graph.operators.size());
    CHECK_FALSE(cut.failure.has_value());
  }
}

TEST_CASE("rdu partition: o0 gives each operator a section, equal layers share programs") {
  const HalfSn30 half;
  const OperatorGraph graph = gpt2_step(768, 12, 12);
  const Partition cut = half.partition(graph, OptimizationLevel::o0);
  CHECK(cut.sections.size() == 869);
  // One layer's 71 and the 17 around them: what a model of one layer has.
  CHECK(cut.unique_sections() == 88);
  CHECK(cut.sections[1].name == "norm1");
}

TEST_CASE("rdu partition: weights that do not fit beside each other do not share a section at o1") {
  const HalfSn30 half;
  const auto sections_of_ffn = [&](const GatedDecoder& shape) {
    StepRequest forward = training_step(1, 1024);
    forward.training = false;
    const OperatorGraph graph = build_transformer_step(gated_decoder(shape), forward);
    const std::vector<std::string> names =
        names_of_layer(half.partition(graph, OptimizationLevel::o1), 4, RduPhase::forward);
    return std::ranges::count(names, "ffn");
  };
  // 2 bytes for each of 3 x 4096 x 11008 weights are 271 MB, of 3 x 4096 x 14336 352 MB; the SRAM has 336.
  CHECK(sections_of_ffn(k_llama_2_7b) == 1);
  CHECK(sections_of_ffn(k_llama_3_8b) == 2);
}

TEST_CASE("rdu partition: o1 makes five sections of a forward layer") {
  const HalfSn30 half;
  const OperatorGraph graph = gpt2_step(768, 12, 12);
  const Partition cut = half.partition(graph, OptimizationLevel::o1);
  CHECK(names_of_layer(cut, 4, RduPhase::forward) ==
        std::vector<std::string>{"qkv", "rotary", "attention", "projection", "ffn"});
  CHECK(names_of_layer(cut, 4, RduPhase::backward) ==
        std::vector<std::string>{"ffn_down", "ffn_up", "projection", "attention", "rotary", "qkv"});
  CHECK(names_of_layer(cut, 4, RduPhase::gradient_norm).size() == 1);
  CHECK(names_of_layer(cut, 4, RduPhase::optimizer).size() == 1);
  CHECK(operators_in(cut) == graph.operators.size());
  const Partition one = half.partition(gpt2_step(768, 1, 12), OptimizationLevel::o1);
  CHECK(cut.unique_sections() == static_cast<std::int64_t>(one.sections.size()));
}

TEST_CASE("rdu partition: given patterns replace the built-in ones") {
  const HalfSn30 half;
  const OperatorGraph graph = gpt2_step(768, 2, 12);
  PartitionOptions options;
  options.level = OptimizationLevel::o1;
  options.patterns.assign(graph.operators.size(), {"everything", 0});
  const Partition cut = make_partition(graph, options, half.capacity);
  // A section per run of equal phase and layer: embedding, 2 layers, head; the same back, the head in two, since its
  // products keep 6 bytes for each of 38.6 million weights; twice 3 updates.
  CHECK(cut.sections.size() == 4 + 5 + 3 + 3);
}

TEST_CASE("rdu partition: an operator larger than a section fills those before its own") {
  const HalfSn30 half;
  const OperatorGraph graph = gpt2_step(3200, 1, 25);
  const Partition cut = half.partition(graph, OptimizationLevel::o3);
  int spanned = 0;
  for (std::size_t i = 0; i < cut.sections.size(); ++i) {
    if (!cut.sections[i].operators.empty()) continue;
    ++spanned;
    CHECK(cut.sections[i].demand == 1.0);
    CHECK(i + 1 < cut.sections.size());
  }
  // Head gradients: 1/16 + 6 B x 3200 x 50257 / 320 MiB is 2.9 sections each; update of the embedding: 3.8.
  CHECK(spanned == 4);
}

TEST_CASE("rdu partition: o3 parts no forward attention, whatever its place in a section") {
  const HalfSn30 half;
  StepRequest request = training_step(16, 1024);
  for (const bool recompute : {false, true}) {
    request.recompute = recompute;
    const OperatorGraph graph = build_transformer_step(gpt2_of(1600, 24, 25), request);
    const Partition cut = half.partition(graph, OptimizationLevel::o3);
    const std::vector<std::uint32_t> section_of = section_of_operators(graph, cut);
    int joined = 0;
    for (std::uint32_t i = 1; i < graph.operators.size(); ++i) {
      if (!graph.operators[i].joins_previous) continue;
      ++joined;
      CHECK(section_of[i] == section_of[i - 1]);
    }
    // Softmax and the product with the values, once more where recomputed.
    CHECK(joined == (recompute ? 4 : 2) * 24);
  }
}

TEST_CASE("rdu partition: demand is a share of operators and of resident weights") {
  const HalfSn30 half;
  RduOperator op;
  op.phase = RduPhase::backward;
  op.weight_use = WeightUse::backward;
  op.weight_elements = 1024 * 1024;
  ResourceFactors factors;
  CHECK(section_demand(op, factors, half.capacity) == doctest::Approx(1.0 / 16 + 6.0 / 320));
  factors.backward = 0.5;
  CHECK(section_demand(op, factors, half.capacity) == doctest::Approx(2.0 / 16 + 12.0 / 320));
  op.phase = RduPhase::optimizer;
  op.weight_use = WeightUse::update;
  CHECK(section_demand(op, factors, half.capacity) == doctest::Approx(8.0 / 320));
}

TEST_CASE("rdu partition: fewer resources make more sections, only of their graph type") {
  const HalfSn30 half;
  const OperatorGraph graph = gpt2_step(1600, 6, 25);
  const auto sections_of = [&](const ResourceFactors& factors, RduPhase phase) {
    PartitionOptions options;
    options.factors = factors;
    int count = 0;
    for (const RduSection& section : make_partition(graph, options, half.capacity).sections) {
      count += section.phase == phase ? 1 : 0;
    }
    return count;
  };
  ResourceFactors less;
  less.backward = 0.8;
  CHECK(sections_of(less, RduPhase::forward) == sections_of({}, RduPhase::forward));
  CHECK(sections_of(less, RduPhase::backward) > sections_of({}, RduPhase::backward));
}

TEST_CASE("rdu partition: factors above what there is are lowered until they are not") {
  const HalfSn30 half;
  const OperatorGraph graph = gpt2_step(768, 1, 12);
  PartitionOptions options;
  options.factors = {1.2, 1, 1, 1.9};
  const Partition cut = make_partition(graph, options, half.capacity);
  CHECK(cut.retries == 3);
  CHECK(cut.factors.forward == doctest::Approx(0.96));
  CHECK(cut.factors.backward == 1);
  CHECK(cut.factors.optimizer == doctest::Approx(1.9 * 0.8 * 0.8 * 0.8));
}

TEST_CASE("rdu partition: a tensor whose piece exceeds the memory cannot be placed") {
  const HalfSn30 half;
  // Single-precision logits: 4 B x 1024 x sequences x 50257 over 128 pieces against 320 MiB: 208 sequences fit.
  const auto cut_of = [&](std::int64_t batch, double forward) {
    PartitionOptions options;
    options.factors.forward = forward;
    const OperatorGraph graph = build_transformer_step(gpt2_of(768, 1, 12), training_step(batch, 1024));
    const Partition cut = make_partition(graph, options, half.capacity);
    if (cut.failure) CHECK(graph[cut.failure->op].name == "logits_cast");
    return cut;
  };
  CHECK_FALSE(cut_of(208, 1).failure.has_value());
  const Partition over = cut_of(209, 1);
  REQUIRE(over.failure.has_value());
  CHECK(over.failure->need == Bytes(336'118'816));
  CHECK(over.failure->have == Bytes(335'544'320));
  CHECK(cut_of(208, 0.5).failure.has_value());
}
