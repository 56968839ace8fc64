#include "models/ipu/cases/network_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace podsim::ipu {

bool is_convolution_network(std::string_view model) {
  static constexpr std::array<std::string_view, 5> k_begins{"resnet", "resnext", "efficientnet", "mobilenet", "unet"};
  return std::any_of(k_begins.begin(), k_begins.end(),
                     [&](std::string_view begin) { return model.starts_with(begin); });
}

std::string network_model(const std::string& model) {
  return model == "resnext101" || model == "resnext50" ? model + "-32x4d" : model;
}

std::string network_software(const std::string& software, std::string_view sdk) {
  const bool changed = sdk.size() >= 3 && sdk[1] == '.' && sdk.substr(0, 3) >= std::string_view("2.5");
  return software == "poplar-tensorflow1" && changed ? "poplar-tensorflow1-sdk2.5" : software;
}

void read_network_recompute(CaseRowReader& cells, std::int64_t ipus_per_replica) {
  constexpr std::string_view k_segments = "-segment recompute";
  constexpr std::int64_t k_usual_segments = 7;  // of the published programs for one IPU
  constexpr std::int64_t k_every_unit = -1;
  const std::string written = cells.cell("recompute");
  std::int64_t segments = 0;
  const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), segments);
  const std::string_view behind(end, static_cast<std::size_t>(written.data() + written.size() - end));
  if (written.empty()) {
    if (ipus_per_replica == 1) cells.took_default("recompute", fmt::format("{}{}", k_usual_segments, k_segments));
    segments = k_usual_segments;
  } else if (written.starts_with("manual")) {
    segments = k_every_unit;
  } else if (written == "no" || written == "none" || written == "yes") {
    cells.set("workload.recompute", written == "yes");
    segments = 0;
  } else if (error != std::errc() || !behind.starts_with(k_segments)) {
    return cells.skip(fmt::format("recompute \"{}\" is not known: N-segment recompute, manual, yes, no", written));
  }
  if (ipus_per_replica == 1 && segments != 0) cells.set("ipu.recompute_segments", segments);
}

void read_network_layers(CaseRowReader& cells, std::int64_t ipus_per_replica, bool inference) {
  cells.set(inference ? "ipu.inference_ipus_per_replica" : "ipu.ipus_per_replica", ipus_per_replica);
  if (ipus_per_replica == 1) return;
  const std::string split = cells.cell("pipeline_split_at");
  if (cells.cell("layers_per_ipu").empty() && !split.empty()) {
    return cells.skip(fmt::format("layers_per_ipu is not given; \"{}\" is a name of the program's own", split));
  }
  if (const auto layers = cells.required_counts("layers_per_ipu")) {
    cells.set(inference ? "ipu.inference_layers_per_ipu" : "ipu.layers_per_ipu", *layers);
  }
}

double usual_proportion(std::string_view model) {
  constexpr double k_resnet = 0.15;  // its published programs
  constexpr double k_library = 0.6;
  return model.starts_with("resnet") ? k_resnet : k_library;
}

}  // namespace podsim::ipu
