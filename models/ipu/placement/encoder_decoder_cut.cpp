#include "models/ipu/placement/encoder_decoder_cut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace podsim::ipu {
namespace {

using Splits = Setting<std::vector<std::int64_t>>;

class Checker {
 public:
  Checker(const ModeSettings& mode, const PlacementRequest& request, const std::vector<std::int64_t>& layers,
          Diagnostics& diagnostics)
      : mode_(mode), request_(request), layers_(layers), diagnostics_(diagnostics) {}

  void run() {
    if (layers_.size() < 2) {
      if (!generation()) return;
      report(mode_.ipus_per_replica.place, "ipus_per_replica",
             "generation runs the encoder and the decoder on IPUs of their own, and a replica has one", "at least 2");
      return;
    }
    const std::optional<std::int64_t> cut = encoder_ipus(layers_, request_.encoder_layers);
    if (!cut) {
      report(mode_.layers_per_ipu.place, "layers_per_ipu", fmt::format("{} {}", list_as_spread(), no_cut_reason()),
             fmt::format("the first 1, 2, 4, 8 … counts to sum to {}, the layers of the encoder",
                         request_.encoder_layers));
      return;
    }
    const auto ipus = static_cast<std::int64_t>(layers_.size());
    check_side(mode_.embedding_splits, "embedding", {*cut, ipus, "decoder"}, {0, *cut, "encoder"});
    check_side(mode_.projection_splits, "projection", {0, *cut, "encoder"}, {*cut, ipus, "decoder"});
  }

 private:
  struct Side {
    std::int64_t begin;  // first IPU
    std::int64_t end;    // the one behind the last
    const char* name;
  };

  bool generation() const { return request_.mode == RunMode::generation; }

  void report(const Place& place, const char* key, const std::string& problem, std::string expected) {
    const std::string full = "ipu." + mode_.prefix + key;
    if (generation()) {
      diagnostics_.error(place, full, problem, std::move(expected));
    } else {
      diagnostics_.warning(place, full, "text generation would be refused: " + problem, std::move(expected));
    }
  }

  std::string list_as_spread() const {
    const std::vector<std::int64_t>& written = mode_.layers_per_ipu.value;
    if (written == layers_) return list_text(written);
    return fmt::format("{}, spread as {},", list_text(written), list_text(layers_));
  }

  std::string no_cut_reason() const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      sum += layers_[i];
      if (sum > request_.encoder_layers) return fmt::format("places encoder and decoder layers on IPU {}", i);
      if (sum == request_.encoder_layers) break;
    }
    return "gives the encoder a number of IPUs that is no power of two";
  }

  static std::string text_of(const Side& side) {
    if (side.end - side.begin == 1) return fmt::format("IPU {}", side.begin);
    return fmt::format("IPUs {} to {}", side.begin, side.end - 1);
  }

  void check_side(const Splits& splits, const char* part, const Side& wrong, const Side& right) {
    if (!splits.valid || splits.value.size() != layers_.size()) return;
    const auto begin = splits.value.begin() + wrong.begin;
    const auto end = splits.value.begin() + wrong.end;
    if (std::all_of(begin, end, [](std::int64_t count) { return count == 0; })) return;
    const std::string key = fmt::format("serialized_{}_splits_per_ipu", part);
    report(splits.place, key.c_str(),
           fmt::format("{} places splits of the {} on the {}'s {}", list_text(splits.value), part, wrong.name,
                       text_of(wrong)),
           fmt::format("all of them on the {}'s {}", right.name, text_of(right)));
  }

  const ModeSettings& mode_;
  const PlacementRequest& request_;
  const std::vector<std::int64_t>& layers_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::optional<std::int64_t> encoder_ipus(const std::vector<std::int64_t>& layers, std::int64_t encoder_layers) {
  std::optional<std::int64_t> cut;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
    sum += layers[i];
    if (sum == encoder_layers && std::has_single_bit(i + 1)) cut = static_cast<std::int64_t>(i) + 1;
  }
  return cut;
}

void check_encoder_decoder(const ModeSettings& mode, const PlacementRequest& request,
                           const std::vector<std::int64_t>& layers, Diagnostics& diagnostics) {
  const bool together = request.model_type == "whisper" && mode.conditional_encoder.value;
  if (request.encoder_layers == 0 || together) return;
  Checker(mode, request, layers, diagnostics).run();
}

}  // namespace podsim::ipu
