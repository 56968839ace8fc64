#include "models/ipu/resolve/recompute_checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace podsim::ipu {
namespace {

constexpr const char* k_key = "ipu.recompute_checkpoints";

// A number of a few digits in front of `text`, which then begins behind it.
std::optional<int> take_number(std::string_view& text) {
  constexpr std::size_t k_most_digits = 4;
  std::size_t digits = 0;
  int number = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    number = 10 * number + (text[digits++] - '0');
    if (digits > k_most_digits) return std::nullopt;
  }
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return number;
}

bool take(std::string_view& text, std::string_view front) {
  if (!text.starts_with(front)) return false;
  text.remove_prefix(front.size());
  return true;
}

struct Names {
  const char* stage;
  const char* unit;
  const char* end;
  int first_stage;  // the number of the first stage of residual units
};

std::optional<std::string> unit_of(std::string_view text, const Names& names) {
  if (!take(text, names.stage)) return std::nullopt;
  const std::optional<int> stage = take_number(text);
  if (!stage || !take(text, names.unit)) return std::nullopt;
  const std::optional<int> unit = take_number(text);
  if (!unit || text != names.end) return std::nullopt;
  return fmt::format("stage {} unit {}", *stage - names.first_stage + 1, *unit);
}

}  // namespace

std::string block_behind(const std::string& written) {
  for (const Names& names : {Names{"stage", "/unit", "/relu", 1}, Names{"conv", "_block", "_out", 2}}) {
    if (const std::optional<std::string> unit = unit_of(written, names)) return *unit;
  }
  return written;
}

std::vector<std::size_t> cuts_behind(const Setting<std::vector<std::string>>& names, const ModelGraph& graph,
                                     Diagnostics& diagnostics) {
  std::vector<std::size_t> cuts;
  const auto refuse = [&](const std::string& problem) {
    diagnostics.error(names.place, k_key, problem,
                      fmt::format("blocks but the last, such as \"{}\"", graph.blocks.front().name));
  };
  for (const std::string& written : names.value) {
    const std::string name = block_behind(written);
    const auto found =
        std::find_if(graph.blocks.begin(), graph.blocks.end(), [&](const Block& block) { return block.name == name; });
    const auto next = static_cast<std::size_t>(found - graph.blocks.begin()) + 1;
    if (found == graph.blocks.end()) {
      refuse(fmt::format("\"{}\" is no block of the model", written));
    } else if (next == graph.blocks.size()) {
      refuse(fmt::format("nothing stands behind \"{}\"", written));
    } else if (std::find(cuts.begin(), cuts.end(), next) != cuts.end()) {
      refuse(fmt::format("\"{}\" is named twice", written));
    } else {
      cuts.push_back(next);
    }
  }
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

}  // namespace podsim::ipu
