#include "models/ipu/operators/pass_variant.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace podsim::ipu {

namespace {

constexpr std::int64_t k_window_channels = 4;  // of all groups that one sliding window holds
constexpr std::int64_t k_window_widest_stride = 2;

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

std::int64_t folded_channels(const PassShape& pass, KernelFold fold) {
  switch (fold) {
    case KernelFold::none:
      return pass.in_channels;
    case KernelFold::width:
      return pass.in_channels * pass.kernel_width;
    case KernelFold::whole:
      break;
  }
  return pass.in_channels * pass.kernel_width * pass.kernel_height;
}

std::vector<KernelFold> folds_of(const PassShape& pass) {
  std::vector<KernelFold> folds = {KernelFold::none};
  if (pass.kernel_width > 1 && pass.kernel_height > 1) folds.push_back(KernelFold::width);
  if (pass.kernel_width > 1 || pass.kernel_height > 1) folds.push_back(KernelFold::whole);
  return folds;
}

// Row packs that few channels leave room for.
std::vector<std::int64_t> packs_of(const PassShape& pass, const PassVariant& variant, AmpMode mode) {
  std::vector<std::int64_t> packs = {1};
  if (mode == AmpMode::single || pass.kernel_height == 1 || variant.fold == KernelFold::whole) return packs;
  const std::int64_t channels = folded_channels(pass, variant.fold) * variant.joined_groups;
  if (channels <= 8) packs.push_back(2);
  if (channels <= 4) packs.push_back(4);
  return packs;
}

bool allows_window(const PassShape& pass, AmpMode mode) {
  return mode != AmpMode::single && pass.groups > 1 &&
         std::max(pass.in_channels, pass.out_channels) <= k_window_channels && pass.in_channels == pass.out_channels &&
         pass.stride <= k_window_widest_stride && pass.dilation == 1 && pass.kernel_dilation == 1 &&
         pass.kernel_width >= 2;
}

bool is_product(const PassShape& pass) {
  return pass.kernel_height == 1 && pass.kernel_width == 1 && pass.batch == 1 && pass.output_height == 1 &&
         pass.stride == 1 && pass.dilation == 1;
}

void fold_kernel(const PassVariant& variant, VariantShape& shape) {
  PassShape& pass = shape.pass;
  if (variant.fold == KernelFold::none) return;
  // Rows stay where they are when only the width is folded.
  const std::int64_t rows = variant.fold == KernelFold::whole ? pass.output_height : pass.input_height;
  pass.in_channels = folded_channels(pass, variant.fold);
  shape.folded_elements = pass.groups * pass.batch * rows * pass.output_width * pass.in_channels;
  pass.kernel_width = 1;
  if (variant.fold == KernelFold::whole) pass.kernel_height = 1;
}

void join(std::int64_t joined, PassShape& pass) {
  pass.groups = divide_up(pass.groups, joined);
  pass.in_channels *= joined;
  pass.out_channels *= joined;
}

void flatten(VariantShape& shape) {
  PassShape& pass = shape.pass;
  shape.flat = pass.kernel_height == 1 && pass.kernel_width == 1 && (pass.dilation == 1 || shape.folded_elements > 0);
  if (!shape.flat) return;
  pass.dilation = 1;
  pass.output_width = pass.positions();
  pass.output_height = 1;
  pass.batch = 1;
  shape.useful = 1;
}

}  // namespace

std::string describe(const PassVariant& variant) {
  std::vector<std::string> parts;
  if (variant.sliding_window) parts.emplace_back("sliding-window unit");
  if (variant.fold == KernelFold::width) parts.emplace_back("kernel width folded into channels");
  if (variant.fold == KernelFold::whole) parts.emplace_back("kernel folded into channels");
  if (variant.packed_rows > 1) parts.push_back(fmt::format("{} kernel rows packed in a grain", variant.packed_rows));
  if (variant.joined_groups > 1) parts.push_back(fmt::format("{} groups joined", variant.joined_groups));
  if (variant.swapped) parts.emplace_back("operands swapped");
  return parts.empty() ? "as it stands" : fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<PassVariant> variants_of(const PassShape& pass, AmpMode mode) {
  std::vector<PassVariant> variants;
  for (const KernelFold fold : folds_of(pass)) {
    for (const std::int64_t joined : joined_groups_of(pass)) {
      PassVariant variant;
      variant.fold = fold;
      variant.joined_groups = joined;
      for (const std::int64_t packed : packs_of(pass, variant, mode)) {
        variant.packed_rows = packed;
        variants.push_back(variant);
      }
    }
  }
  if (is_product(pass)) {
    const std::size_t count = variants.size();
    for (std::size_t i = 0; i < count; ++i) {
      variants.push_back(variants[i]);
      variants.back().swapped = true;
    }
  }
  if (allows_window(pass, mode)) {
    PassVariant window;
    window.sliding_window = true;
    window.joined_groups = k_window_channels / (pass.in_channels == 3 ? 4 : pass.in_channels);
    variants.push_back(window);
  }
  return variants;
}

VariantShape reshape(const PassShape& pass, const PassVariant& variant, const PassMode& mode) {
  VariantShape shape;
  shape.pass = pass;
  shape.sliding_window = variant.sliding_window;
  PassShape& p = shape.pass;
  if (pass.weights_stay) shape.resident = variant.swapped ? Resident::inputs : Resident::weights;
  if (variant.swapped) {
    std::swap(p.output_width, p.out_channels);
    p.input_width = p.output_width;
  }
  if (p.stride == 1 && p.dilation == 1) {
    shape.useful = std::min(1.0, static_cast<double>(p.input_height * p.input_width) /
                                     static_cast<double>(p.output_height * p.output_width));
  }
  fold_kernel(variant, shape);
  join(variant.joined_groups, p);
  if (!variant.sliding_window) flatten(shape);
  shape.packed_rows = variant.packed_rows;
  shape.input_grain = mode.input_grain / variant.packed_rows;
  shape.kernel_rows = divide_up(p.kernel_height, variant.packed_rows);
  shape.input_grains = divide_up(p.in_channels, shape.input_grain);
  shape.output_grains = divide_up(p.out_channels, mode.output_grain);
  return shape;
}

}  // namespace podsim::ipu
