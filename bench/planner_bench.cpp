// How long planning takes: all matmul shapes of BERT-Large pre-training with cold caches, and a layer's cost with warm
// ones.

#include <benchmark/benchmark.h>

#include "models/ipu/operator_cost.hpp"
#include "models/workloads/transformer.hpp"
#include "tests/support/ipu_constants.hpp"

namespace podsim {
namespace {

ModelGraph bert_large(std::int64_t sequence, std::int64_t samples) {
  TransformerShape shape;
  shape.layers = 1;
  shape.hidden = 1024;
  shape.heads = 16;
  shape.feed_forward = 4096;
  shape.vocabulary = 30522;
  shape.positions = 512;
  shape.types = 2;
  WorkloadSettings settings;
  settings.precision = "fp16.16";
  settings.sequence_length = sequence;
  settings.micro_batch_size = samples;
  settings.split_qkv = true;
  TransformerHead head;
  head.transform_rows = samples * 20;
  head.vocabulary_rows = head.transform_rows;
  return build_transformer(shape, transformer_batch(shape, settings), head);
}

double total_cycles(const ipu::OperatorCostModel& model, const ModelGraph& graph) {
  const ipu::Execution execution{ipu::AmpMode::half_half, 0.25, 1};
  double sum = 0;
  for (const Block& block : graph.blocks) {
    sum += model.cost(block.forward, execution).total().in_base();
    sum += model.cost(block.backward, execution).total().in_base();
  }
  return sum;
}

void plan_cold(benchmark::State& state) {
  const ModelGraph graph = bert_large(state.range(0), state.range(1));
  for (auto _ : state) {
    const ipu::OperatorCostModel model(test::gc200_chip(), test::transformer_cost());
    benchmark::DoNotOptimize(total_cycles(model, graph));
  }
}
BENCHMARK(plan_cold)->Args({128, 8})->Args({512, 3})->Unit(benchmark::kMillisecond);

void plan_warm(benchmark::State& state) {
  const ModelGraph graph = bert_large(128, 8);
  const ipu::OperatorCostModel model(test::gc200_chip(), test::transformer_cost());
  benchmark::DoNotOptimize(total_cycles(model, graph));
  for (auto _ : state) benchmark::DoNotOptimize(total_cycles(model, graph));
}
BENCHMARK(plan_warm)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace podsim
