// How long planning takes: all matmul shapes of BERT-Large pre-training with cold caches, and a layer's cost with warm
// ones; the training passes of every convolution of ResNet-50 with cold caches.

#include <benchmark/benchmark.h>

#include "models/ipu/cost/operator_cost.hpp"
#include "models/ipu/operators/convolution_cost.hpp"
#include "models/workloads/transformer.hpp"
#include "tests/support/ipu_constants.hpp"
#include "tests/support/operator_constants.hpp"

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
  const test::OperatorScene scene = test::operator_scene("gc200");
  for (auto _ : state) {
    const ipu::OperatorCostModel model(scene.chip, test::transformer_cost(), scene.constants.passes);
    benchmark::DoNotOptimize(total_cycles(model, graph));
  }
}
BENCHMARK(plan_cold)->Args({128, 8})->Args({512, 3})->Unit(benchmark::kMillisecond);

void plan_warm(benchmark::State& state) {
  const ModelGraph graph = bert_large(128, 8);
  const test::OperatorScene scene = test::operator_scene("gc200");
  const ipu::OperatorCostModel model(scene.chip, test::transformer_cost(), scene.constants.passes);
  benchmark::DoNotOptimize(total_cycles(model, graph));
  for (auto _ : state) benchmark::DoNotOptimize(total_cycles(model, graph));
}
BENCHMARK(plan_warm)->Unit(benchmark::kMicrosecond);

ConvolutionShape square(std::int64_t batch, std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t kernel,
                        std::int64_t stride) {
  ConvolutionShape shape;
  shape.batch = batch;
  shape.in_channels = in;
  shape.out_channels = out;
  shape.input_height = shape.input_width = size;
  shape.output_height = shape.output_width = size / stride;
  shape.kernel_height = shape.kernel_width = kernel;
  shape.stride = stride;
  return shape;
}

// Every distinct convolution of ResNet-50 on images of 224 pixels, by its four groups of bottlenecks.
std::vector<ConvolutionShape> resnet50(std::int64_t batch) {
  std::vector<ConvolutionShape> layers = {square(batch, 4, 64, 224, 7, 2)};
  std::int64_t in = 64;
  std::int64_t size = 56;
  for (const std::int64_t width : {64, 128, 256, 512}) {
    const std::int64_t stride = width == 64 ? 1 : 2;
    layers.push_back(square(batch, in, width, size, 1, 1));
    layers.push_back(square(batch, width, width, size, 3, stride));
    layers.push_back(square(batch, in, 4 * width, size, 1, stride));
    size /= stride;
    in = 4 * width;
    layers.push_back(square(batch, width, in, size, 1, 1));
    layers.push_back(square(batch, in, width, size, 1, 1));
    layers.push_back(square(batch, width, width, size, 3, 1));
  }
  return layers;
}

void plan_convolutions_cold(benchmark::State& state) {
  const test::OperatorScene scene = test::operator_scene("gc200");
  const std::vector<ConvolutionShape> layers = resnet50(state.range(0));
  const ipu::PassExecution execution{ipu::AmpMode::half_half, 0.15};
  for (auto _ : state) {
    const ipu::ConvolutionCostModel model(scene.chip, scene.constants);
    for (const ConvolutionShape& layer : layers) {
      benchmark::DoNotOptimize(model.forward(layer, execution));
      benchmark::DoNotOptimize(model.input_gradient(layer, execution));
      benchmark::DoNotOptimize(model.weight_gradient(layer, execution));
    }
  }
}
BENCHMARK(plan_convolutions_cold)->Arg(1)->Arg(16)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace podsim
