#include "models/ipu/placement/serialization_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/workloads/shape_reader.hpp"

namespace podsim::ipu {
namespace {

using Splits = Setting<std::vector<std::int64_t>>;

// IPUs that hold at least one split.
std::vector<std::int64_t> filled(const Splits& splits) {
  std::vector<std::int64_t> ipus;
  for (std::size_t i = 0; i < splits.value.size(); ++i) {
    if (splits.value[i] > 0) ipus.push_back(static_cast<std::int64_t>(i));
  }
  return ipus;
}

class Checker {
 public:
  Checker(const IpuConfig& config, const PlacementRequest& request, Diagnostics& diagnostics)
      : config_(config), mode_(config.of(request.mode)), request_(request), diagnostics_(diagnostics) {}

  std::int64_t run() {
    const bool looks_up = request_.vocabulary > 0;
    if (!looks_up && mode_.embedding_passes() != 1) warn_of_idle_passes("embedding", "this model has no vocabulary");
    if (!request_.projects && mode_.projection_passes() != 1) {
      warn_of_idle_passes("projection", "this head projects to no vocabulary");
    }
    if (!looks_up) return 0;
    std::int64_t rows = request_.vocabulary;
    if (mode_.embedding_splits.valid && mode_.embedding_serialization_factor.valid) rows = check_embedding();
    if (request_.projects && mode_.projection_splits.valid && mode_.projection_serialization_factor.valid) {
      check_projection(rows);
    }
    check_places(mode_.embedding_splits, "embedding", 0);
    if (request_.projects) check_places(mode_.projection_splits, "projection", projection_ipu());
    return rows;
  }

 private:
  bool with_decoder() const { return request_.outer == OuterBlocks::head_with_decoder; }

  std::string key(const std::string& part, bool splits) const {
    return "ipu." + mode_.prefix + (splits ? "serialized_" + part + "_splits_per_ipu" : part + "_serialization_factor");
  }

  std::int64_t projection_ipu() const {
    const std::vector<std::int64_t> ipus = filled(mode_.projection_splits);
    if (with_decoder() && !ipus.empty()) return ipus.front();
    return request_.outer == OuterBlocks::head_on_last_ipu ? mode_.ipus_per_replica.value - 1 : 0;
  }

  // Published files carry the keys for every head, so only those of the [ipu] table are worth a word.
  void warn_of_idle_passes(const std::string& part, const std::string& why) {
    for (const bool splits : {false, true}) {
      const std::string full = key(part, splits);
      const auto written = config_.by_hand.find(full.substr(std::string("ipu.").size()));
      if (written != config_.by_hand.end()) diagnostics_.warning(written->second, full, "no effect: " + why);
    }
  }

  static std::string passes_of(const Splits& splits, std::int64_t passes) {
    return splits.value.empty() ? fmt::format("{}", passes)
                                : fmt::format("{}, the sum of {}", passes, list_text(splits.value));
  }

  // A pass without a row of the table.
  bool refuse_more_than_rows(const char* part, bool listed, const Place& place, std::int64_t passes) {
    if (passes <= request_.vocabulary) return false;
    diagnostics_.error(place, key(part, listed),
                       fmt::format("{} passes over a vocabulary of {}", passes, request_.vocabulary),
                       fmt::format("at most {}", request_.vocabulary));
    return true;
  }

  // No vocabulary is suggested that would be refused.
  static std::string divisor_or(std::int64_t vocabulary) {
    if (vocabulary > DimensionField{}.maximum) return "a divisor";
    return fmt::format("a divisor, or model.vocab_size = {}", vocabulary);
  }

  std::int64_t check_embedding() {
    const std::int64_t passes = mode_.embedding_passes();
    const Setting<std::int64_t>& factor = mode_.embedding_serialization_factor;
    const bool in_splits = !mode_.embedding_splits.value.empty();
    const Place& place = in_splits ? mode_.embedding_splits.place : factor.place;
    if (refuse_more_than_rows("embedding", in_splits, place, passes)) return request_.vocabulary;
    const std::int64_t rest = request_.vocabulary % passes;
    if (rest == 0) return request_.vocabulary;
    const std::int64_t padded = request_.vocabulary + passes - rest;
    if (request_.model_type == "gpt2") return padded;
    const Splits& splits = mode_.embedding_splits;
    const bool listed = !splits.value.empty();
    diagnostics_.error(
        listed ? splits.place : mode_.embedding_serialization_factor.place, key("embedding", listed),
        fmt::format("a vocabulary of {} is not divisible by {}", request_.vocabulary, passes_of(splits, passes)),
        divisor_or(padded));
    return request_.vocabulary;
  }

  // A warning only: a published file for a vocabulary of 51865 asks for four passes.
  void check_projection(std::int64_t rows) {
    const Splits& splits = mode_.projection_splits;
    const bool listed = !splits.value.empty();
    if (!listed && !mode_.projection_serialization_factor.given) return;
    const std::int64_t passes = mode_.projection_passes();
    const Place& place = listed ? splits.place : mode_.projection_serialization_factor.place;
    if (refuse_more_than_rows("projection", listed, place, passes)) return;
    const std::int64_t rest = rows % passes;
    if (rest == 0) return;
    diagnostics_.warning(place, key("projection", listed),
                         fmt::format("a vocabulary of {} is not divisible by {}, and PopART refuses such a product",
                                     rows, passes_of(splits, passes)),
                         divisor_or(rows + passes - rest));
  }

  void check_places(const Splits& splits, const std::string& part, std::int64_t modelled) {
    if (splits.value.empty() || !splits.valid || !mode_.ipus_per_replica.valid) return;
    const std::vector<std::int64_t> ipus = filled(splits);
    if (ipus.size() > 1 && request_.tied_projection) {
      diagnostics_.error(splits.place, key(part, true),
                         fmt::format("{} spreads a table that embedding and projection share, which must stand on one "
                                     "IPU",
                                     list_text(splits.value)),
                         "all splits on one IPU");
    } else if (ipus != std::vector<std::int64_t>{modelled}) {
      diagnostics_.warning(
          splits.place, key(part, true),
          fmt::format("the {} passes count, their places do not: the {} is modelled whole, {}",
                      part == "embedding" ? mode_.embedding_passes() : mode_.projection_passes(), part,
                      with_decoder() ? "where the decoder begins" : fmt::format("on IPU {}", modelled)));
    }
  }

  const IpuConfig& config_;
  const ModeSettings& mode_;
  const PlacementRequest& request_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::int64_t check_serialization(const IpuConfig& config, const PlacementRequest& request, Diagnostics& diagnostics) {
  return Checker(config, request, diagnostics).run();
}

}  // namespace podsim::ipu
