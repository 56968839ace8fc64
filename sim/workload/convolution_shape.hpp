#pragma once
// The shape of a two-dimensional convolution over a batch of fields. Its input gradient and its weight gradient follow
// from it. A field is height × width; one-dimensional convolutions have a height of 1.

#include <compare>
#include <cstdint>

namespace podsim {

struct ConvolutionShape {
  std::int64_t batch = 1;
  std::int64_t groups = 1;        // divides both channel counts
  std::int64_t in_channels = 0;   // of all groups together
  std::int64_t out_channels = 0;  // of all groups together
  std::int64_t input_height = 1;
  std::int64_t input_width = 1;
  std::int64_t output_height = 1;  // after padding and stride
  std::int64_t output_width = 1;
  std::int64_t kernel_height = 1;
  std::int64_t kernel_width = 1;
  std::int64_t stride = 1;    // of both axes
  std::int64_t dilation = 1;  // of the kernel, of both axes

  // Multiply-adds of one forward pass, those with padding counted, as is usual.
  std::int64_t multiply_adds() const {
    return batch * output_height * output_width * out_channels * (in_channels / groups) * kernel_height * kernel_width;
  }
  // Without those with padding, which is taken to stand evenly at both ends: what a machine has to do.
  std::int64_t multiply_adds_inside() const {
    return batch * out_channels * (in_channels / groups) * taps_inside(input_height, output_height, kernel_height) *
           taps_inside(input_width, output_width, kernel_width);
  }
  std::int64_t input_elements() const { return batch * in_channels * input_height * input_width; }
  std::int64_t output_elements() const { return batch * out_channels * output_height * output_width; }
  std::int64_t weight_elements() const { return out_channels * (in_channels / groups) * kernel_height * kernel_width; }
  friend auto operator<=>(const ConvolutionShape&, const ConvolutionShape&) = default;

 private:
  // Over all outputs along an axis, how many elements of the kernel meet the input.
  std::int64_t taps_inside(std::int64_t input, std::int64_t output, std::int64_t kernel) const {
    const std::int64_t reach = (output - 1) * stride + (kernel - 1) * dilation + 1;
    const std::int64_t padding = reach > input ? (reach - input) / 2 : 0;
    std::int64_t taps = 0;
    for (std::int64_t out = 0; out < output; ++out) {
      const std::int64_t first = out * stride - padding;  // where the kernel's first element stands
      const std::int64_t before = first < 0 ? (-first + dilation - 1) / dilation : 0;
      const std::int64_t until = first < input ? (input - first + dilation - 1) / dilation : 0;
      const std::int64_t end = until < kernel ? until : kernel;
      taps += end > before ? end - before : 0;
    }
    return taps;
  }
};

}  // namespace podsim
