#include <doctest/doctest.h>

#include <string>

#include "models/ipu/operators/operator_text.hpp"

using namespace podsim;
using namespace podsim::ipu;

namespace {

WrittenOperator parsed(const std::string& text) {
  Diagnostics diagnostics;
  const auto written = parse_operator(text, {"operator", 1, 1}, diagnostics);
  REQUIRE_MESSAGE(written.has_value(), diagnostics.to_text());
  return *written;
}

std::string problems(const std::string& text) {
  Diagnostics diagnostics;
  CHECK_FALSE(parse_operator(text, {"operator", 1, 1}, diagnostics).has_value());
  return diagnostics.to_text();
}

ConvolutionShape convolution(const std::string& text) {
  return std::get<ConvolutionOperator>(parsed(text).description.what).shape;
}

}  // namespace

TEST_CASE("operator text: a convolution keeps its size unless padding and stride say otherwise") {
  const ConvolutionShape same = convolution("conv 4x64x56x56 -> 128 k3");
  CHECK(same.batch == 4);
  CHECK(same.in_channels == 64);
  CHECK(same.out_channels == 128);
  CHECK(same.output_height == 56);
  CHECK(same.output_width == 56);
  CHECK(convolution("conv 4x3x224x224 -> 64 k7 s2 p3").output_width == (224 + 6 - 7) / 2 + 1);
  CHECK(convolution("conv 4x3x224x224 -> 64 k11 s4 p3x3:2x2").output_height == (224 + 5 - 11) / 4 + 1);
  CHECK(convolution("conv 4x8x32x32 -> 8 k3 d2 p0").output_height == 32 - 4);
  const ConvolutionShape tall = convolution("conv 1x8x17x19 -> 8 k7x1 p3x0");
  CHECK(tall.kernel_height == 7);
  CHECK(tall.kernel_width == 1);
  CHECK(tall.output_height == 17);
  CHECK(tall.output_width == 19);
}

TEST_CASE("operator text: three sizes are a convolution along one axis") {
  const ConvolutionShape shape = convolution("conv 2x80x3000 -> 384 k3 s2");
  CHECK(shape.input_height == 1);
  CHECK(shape.kernel_height == 1);
  CHECK(shape.output_height == 1);
  CHECK(shape.output_width == 1500);
}

TEST_CASE("operator text: options may be written in full, kinds by their other names") {
  CHECK(parsed("conv2d 4x64x56x56 to 64 kernel=3 stride=2 padding=1 groups=64").text ==
        parsed("conv 4x64x56x56 -> 64 k3 s2 p1 g64").text);
  CHECK(parsed("conv 4x64x56x56->64 k3").text == parsed("conv 4x64x56x56 \u2192 64 k3").text);
  CHECK(parsed("linear 8x16x32").text == "dense 8x16x32 training");
  CHECK(parsed("gemm 8x16x32").text == "matmul 8x16x32");
}

TEST_CASE("operator text: every kind reads back from how it is printed") {
  for (const char* text :
       {"conv 4x64x56x56 -> 64 k3 s2 g4 first", "octave 4x64x56x56 -> 64 k3 low0.5x0.25 inference",
        "dense 384x1024x4096", "attention 16x384x64x384 inference", "matmul 1000x256x20000",
        "embedding 100000x200 n1440", "reduce 16x4x16x32x8 over1x3 max tiles1024", "pool 1x64x147x147 k3 s2 p0",
        "lstm 16x1024 -> 1024 t25", "gru 16x1024 -> 1024 t25 inference", "norm 4x64x56x56", "elementwise 4x64x56x56"}) {
    CAPTURE(text);
    const WrittenOperator once = parsed(text);
    CHECK(parsed(once.text).text == once.text);
    CHECK(parsed(once.text).description.training == once.description.training);
  }
  const auto op = std::get<ReductionOperator>(parsed("reduce 16x4x16x32x8 over1x3 max").description.what);
  CHECK(op.kind == ReductionKind::largest);
  CHECK(op.elements == 16 * 4 * 16 * 32 * 8);
  CHECK(op.outputs == 16 * 16 * 8);
}

TEST_CASE("operator text: what is wrong is told at its column") {
  CHECK(
      problems("") ==
      "operator:1:1: no operator is named; expected one of conv, octave, dense, attention, matmul, embedding, reduce, "
      "pool, lstm, gru, norm, elementwise\n");
  CHECK(problems("convv 4x4").find("operator:1:1: no operator is called \"convv\"; expected one of conv, ") == 0);
  CHECK(problems("convv 4x4").find("did you mean \"conv\"?") != std::string::npos);
  CHECK(problems("dense") == "operator:1:6: dense: has no sizes; expected rows x inputs x outputs\n");
  CHECK(problems("dense 4x0x4") ==
        "operator:1:7: dense: \"4x0x4\" is not rows x inputs x outputs; expected whole numbers from 1 to 100000000, "
        "with x between them\n");
  CHECK(problems("conv 4x4x8x8 k3") ==
        "operator:1:14: conv: does not say what comes out; expected -> and the channels that come out, in quotes, or "
        "to and them\n");
  CHECK(problems("lstm 4x8 -> 0 t3") ==
        "operator:1:13: lstm: \"0\" is no number from 1; expected -> and the size of the state, in quotes, or to and "
        "it\n");
  CHECK(problems("conv 4x4x8x8 -> 8 q3") ==
        "operator:1:19: conv: \"q3\" has no meaning here; expected one of kernel, stride, padding, dilation, groups, "
        "tiles, training, inference, first\n");
  CHECK(problems("conv 4x4x8x8 -> 8 kernl=3").find("did you mean \"kernel\"?") != std::string::npos);
  CHECK(problems("conv 4x4x8x8 -> 8 k3 k3") == "operator:1:22: kernel: is given twice; expected it once\n");
  CHECK(problems("conv 4x4x8x8 -> 8 s0") ==
        "operator:1:19: stride: \"0\" is out of range or no whole number; expected a "
        "whole number from 1 to 100000000\n");
  CHECK(
      problems("conv 4x4x8x8 -> 8 k0") ==
      "operator:1:19: kernel: \"0\" is no kernel; expected a size such as 3, or height x width such as 3x1, from 1\n");
  CHECK(problems("conv 4x4x8x8 -> 8 k3 pa") ==
        "operator:1:22: conv: \"pa\" has no meaning here; expected one of kernel, stride, padding, dilation, groups, "
        "tiles, training, inference, first\n");
  CHECK(problems("conv 4x4x8x8 -> 8 k3 p1x") ==
        "operator:1:22: padding: \"1x\" is no padding; expected a size such as 1, height x width such as 0x3, or both "
        "sides such as 1x1:0x0\n");
  CHECK(problems("conv 4x4x8x8 -> 8 k9 p0")
            .find("operator:1:19: kernel: reaches over 9 of a padded height of 8; "
                  "expected a smaller kernel or more padding\n") == 0);
  CHECK(problems("conv 4x4x8x8 -> 8 g3") ==
        "operator:1:19: groups: 3 does not divide 4 and 8 channels; expected a number that divides both\n");
  CHECK(problems("conv 4x4x8x8 -> 8 training first") ==
        "operator:1:28: first: stands beside training; expected one of them\n");
  CHECK(problems("embedding 8x8") ==
        "operator:1:14: lookups: is missing; expected how many rows are looked up, such as n1440\n");
  CHECK(problems("gru 8x8 -> 8") ==
        "operator:1:13: steps: is missing; expected how many steps there are, such as t25\n");
  CHECK(problems("reduce 8x8 over2") ==
        "operator:1:12: over: \"2\" are no dimensions; expected numbers from 0 to 1, with x between them\n");
  CHECK(problems("octave 4x4x8x8 -> 8 low2") ==
        "operator:1:21: low: \"2\" is no part of the channels; expected one or two numbers from 0 to 1, such as "
        "0.25x0.25\n");
}

TEST_CASE("operator text: sizes beyond counting are refused") {
  CHECK(problems("matmul 100000000x100000000x1") == "operator:1:1: matmul: has 1e+16 inputs; expected at most 1e+12\n");
  CHECK(problems("dense 100000000x100000000x100000000") ==
        "operator:1:7: dense: is more than can be counted; "
        "expected at most 1.0e+16 of all sizes together\n");
  CHECK(problems("conv 1x1x100000000 -> 1 k100000000 p100000000").find("multiply-adds; expected at most 1e+16") !=
        std::string::npos);
  CHECK(problems("conv 1x1x8 -> 1 p999999999999").find("is no padding") != std::string::npos);
}
