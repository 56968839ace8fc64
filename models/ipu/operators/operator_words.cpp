#include "models/ipu/operators/operator_words.hpp"

#include <algorithm>
#include <charconv>

namespace podsim::ipu {

std::vector<Token> tokens_of(const std::string& text) {
  static constexpr std::array<std::string_view, 2> k_arrows = {"->", "\u2192"};
  std::vector<Token> tokens;
  bool open = false;  // whether the next character continues the last token
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    const auto arrow = std::ranges::find_if(k_arrows, [&](std::string_view a) { return rest.starts_with(a); });
    if (arrow != k_arrows.end()) {
      tokens.push_back({"->", static_cast<int>(at)});
      open = false;
      at += arrow->size();
      continue;
    }
    const bool blank = rest.front() == ' ' || rest.front() == '\t';
    if (!blank && !open) tokens.push_back({"", static_cast<int>(at)});
    if (!blank) tokens.back().text += rest.front();
    open = !blank;
    ++at;
  }
  return tokens;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool sound = problem == std::errc() && end == text.data() + text.size() && value >= 0;
  return sound && value <= k_largest_size ? std::optional(value) : std::nullopt;
}

std::vector<std::int64_t> sizes_in(std::string_view text) {
  std::vector<std::int64_t> sizes;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('x', at), text.size());
    const auto size = whole_number(text.substr(at, end - at));
    if (!size) return {};
    sizes.push_back(*size);
    at = end + 1;
  }
  return sizes;
}

std::string_view name_of(OperatorWord word) {
  return std::find_if(k_operator_words.begin(), k_operator_words.end(),
                      [&](const OperatorWordSpec& w) { return w.word == word; })
      ->full;
}

const std::vector<OperatorKindSpec>& operator_kinds() {
  using enum OperatorWord;
  static const std::vector<std::string_view> k_passes = {"training", "inference"};
  static const std::vector<std::string_view> k_layer = {"training", "inference", "first"};
  static const std::vector<std::string_view> k_sums = {"add", "square-add", "max"};
  static const std::vector<OperatorKindSpec> k_kinds = {
      {"conv",
       WrittenKind::convolution,
       "batch x channels x height x width",
       3,
       4,
       true,
       {kernel, stride, padding, dilation, groups, tiles},
       k_layer},
      {"octave",
       WrittenKind::octave,
       "batch x channels x height x width",
       3,
       4,
       true,
       {kernel, stride, padding, dilation, low, tiles},
       k_passes},
      {"dense", WrittenKind::dense, "rows x inputs x outputs", 3, 3, false, {tiles}, k_passes},
      {"attention", WrittenKind::attention, "groups x rows x inner x columns", 4, 4, false, {tiles}, k_passes},
      {"matmul", WrittenKind::matmul, "rows x inner x columns", 3, 3, false, {tiles}, {}},
      {"embedding", WrittenKind::embedding, "rows x width", 2, 2, false, {lookups, tiles}, k_passes},
      {"reduce", WrittenKind::reduce, "dimensions", 1, 8, false, {over, tiles}, k_sums},
      {"pool",
       WrittenKind::pool,
       "batch x channels x height x width",
       3,
       4,
       false,
       {kernel, stride, padding, tiles},
       k_passes},
      {"lstm", WrittenKind::lstm, "batch x inputs", 2, 2, true, {steps, tiles}, k_passes},
      {"gru", WrittenKind::gru, "batch x inputs", 2, 2, true, {steps, tiles}, k_passes},
      {"norm", WrittenKind::norm, "dimensions", 1, 8, false, {tiles}, k_passes},
      {"elementwise", WrittenKind::elementwise, "dimensions", 1, 8, false, {tiles}, {}},
  };
  return k_kinds;
}

const std::map<std::string_view, std::string_view>& other_operator_names() {
  static const std::map<std::string_view, std::string_view> k_names = {
      {"convolution", "conv"}, {"conv2d", "conv"},       {"conv1d", "conv"},      {"linear", "dense"},
      {"gemm", "matmul"},      {"grouped", "attention"}, {"reduction", "reduce"}, {"pooling", "pool"},
      {"maxpool", "pool"},     {"batchnorm", "norm"},    {"gather", "embedding"}, {"octconv", "octave"},
  };
  return k_names;
}

}  // namespace podsim::ipu
