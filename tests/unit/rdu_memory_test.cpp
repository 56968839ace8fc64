// Off-chip memory of a step: by hand, and by counting what lives in each section.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "models/rdu/memory.hpp"
#include "tests/support/rdu_scene.hpp"

using namespace podsim;
using namespace podsim::rdu;
using namespace podsim::test;

namespace {

RduOperator named(const char* name) {
  RduOperator op;
  op.name = name;
  op.pattern_group = name;
  return op;
}

// Straight from the definition; gradients of weights are not among them.
Bytes live_in(const OperatorGraph& graph, const Partition& cut, std::uint32_t section) {
  const std::vector<std::uint32_t> section_of = section_of_operators(graph, cut);
  Bytes live;
  for (const RduTensor& tensor : graph.tensors) {
    if (!tensor.producer.valid()) continue;
    const std::uint32_t made = section_of[tensor.producer.index()];
    const bool feeds_update = std::ranges::any_of(
        tensor.consumers, [&](OperatorId reader) { return graph[reader].phase >= RduPhase::gradient_norm; });
    if (made > section || feeds_update) continue;
    const bool read_elsewhere =
        std::ranges::any_of(tensor.consumers, [&](OperatorId reader) { return section_of[reader.index()] != made; });
    const bool read_later =
        std::ranges::any_of(tensor.consumers, [&](OperatorId reader) { return section_of[reader.index()] >= section; });
    if ((tensor.model_output && made == section) || (read_elsewhere && read_later)) live += tensor.bytes;
  }
  return live;
}

std::vector<Bytes> live_by_section(const GraphMemory& memory) {
  std::vector<Bytes> live;
  Bytes now;
  for (std::size_t section = 0; section < memory.begins.size(); ++section) {
    now += memory.begins[section];
    live.push_back(now);
    now -= memory.ends[section];
  }
  CHECK(now == Bytes());
  return live;
}

}  // namespace

TEST_CASE("rdu memory: a tensor lives from its writer to its last reader, and not at all inside a section") {
  OperatorGraphBuilder builder;
  const TensorId x = builder.input(Bytes(1000));
  const TensorId a = builder.add_one(named("one"), {x}, Bytes(1));
  const TensorId b = builder.add_one(named("one"), {a}, Bytes(10));
  const TensorId c = builder.add_one(named("two"), {b}, Bytes(100));
  builder.add(named("three"), {b}, {});
  builder.add(named("four"), {c}, {});
  const OperatorGraph graph = builder.take();
  PartitionOptions options;
  options.level = OptimizationLevel::o1;
  const Partition cut = make_partition(graph, options, HalfSn30().capacity);
  const GraphMemory memory = tensor_memory(graph, cut);
  CHECK(live_by_section(memory) == std::vector<Bytes>{Bytes(10), Bytes(110), Bytes(110), Bytes(100)});
  CHECK(memory.peak == Bytes(110));
}

TEST_CASE("rdu memory: every section of a training step holds what the definition says") {
  const HalfSn30 half;
  for (const OptimizationLevel level : {OptimizationLevel::o0, OptimizationLevel::o1, OptimizationLevel::o3}) {
    const OperatorGraph graph = build_transformer_step(gpt2_of(768, 3, 12), training_step(4, 512));
    const Partition cut = half.partition(graph, level);
    const GraphMemory memory = tensor_memory(graph, cut);
    const std::vector<Bytes> live = live_by_section(memory);
    REQUIRE(live.size() == cut.sections.size());
    for (std::uint32_t i = 0; i < cut.sections.size(); ++i) CHECK(live[i] == live_in(graph, cut, i));
    CHECK(memory.peak == *std::ranges::max_element(live));
  }
}

TEST_CASE("rdu memory: recompute saves the activations of the layers") {
  const HalfSn30 half;
  StepRequest request = training_step(16, 1024);
  const OperatorGraph plain = build_transformer_step(gpt2_of(1600, 24, 25), request);
  request.recompute = true;
  const OperatorGraph again = build_transformer_step(gpt2_of(1600, 24, 25), request);
  const Bytes kept = tensor_memory(plain, half.partition(plain, OptimizationLevel::o3)).peak;
  const Bytes saved = tensor_memory(again, half.partition(again, OptimizationLevel::o3)).peak;
  // At least the attention probabilities of all layers but the one at work.
  CHECK(kept - saved > Bytes(std::int64_t{23} * 2 * 16 * 25 * 1024 * 1024));
}
