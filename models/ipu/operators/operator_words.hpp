#pragma once
// The words of operators as text: kinds, their sizes, options and flags.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podsim::ipu {

inline constexpr std::int64_t k_largest_size = 100'000'000;  // of one dimension

struct Token {
  std::string text;
  int column = 0;  // from 0
};

// Words between blanks; an arrow, -> or its one character, is a word of its own wherever it stands.
std::vector<Token> tokens_of(const std::string& text);

// From 0 to k_largest_size.
std::optional<std::int64_t> whole_number(std::string_view text);

// "4x64x56" as numbers; empty when it is none.
std::vector<std::int64_t> sizes_in(std::string_view text);

enum class OperatorWord : std::uint8_t { kernel, stride, padding, dilation, groups, lookups, over, steps, low, tiles };

struct OperatorWordSpec {
  OperatorWord word;
  std::string_view brief;  // "k" of "k3"
  std::string_view full;   // "kernel" of "kernel=3"
};

inline constexpr std::array<OperatorWordSpec, 10> k_operator_words = {{{OperatorWord::kernel, "k", "kernel"},
                                                                       {OperatorWord::stride, "s", "stride"},
                                                                       {OperatorWord::padding, "p", "padding"},
                                                                       {OperatorWord::dilation, "d", "dilation"},
                                                                       {OperatorWord::groups, "g", "groups"},
                                                                       {OperatorWord::lookups, "n", "lookups"},
                                                                       {OperatorWord::over, "over", "over"},
                                                                       {OperatorWord::steps, "t", "steps"},
                                                                       {OperatorWord::low, "low", "low"},
                                                                       {OperatorWord::tiles, "tiles", "tiles"}}};

std::string_view name_of(OperatorWord word);  // in full

enum class WrittenKind : std::uint8_t {
  convolution,
  octave,
  dense,
  attention,
  matmul,
  embedding,
  reduce,
  pool,
  lstm,
  gru,
  norm,
  elementwise
};

struct OperatorKindSpec {
  std::string_view name;
  WrittenKind kind;
  std::string_view sizes;  // what is written behind it
  std::size_t fewest = 1;  // sizes
  std::size_t most = 8;
  bool arrow = false;  // "-> 64" behind the sizes
  std::vector<OperatorWord> words;
  std::vector<std::string_view> flags;
};

const std::vector<OperatorKindSpec>& operator_kinds();

// By what else people call a kind: its name.
const std::map<std::string_view, std::string_view>& other_operator_names();

}  // namespace podsim::ipu
