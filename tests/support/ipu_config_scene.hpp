#pragma once
// An IPUConfig file and an [ipu] table in a folder of their own, read and checked as an experiment would.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

#include "models/ipu/config/ipu_config.hpp"
#include "models/ipu/placement/ipu_placement.hpp"

namespace podsim::ipu::test {

class Scene {
 public:
  // `json` is the IPUConfig file (empty: none); `toml` stands below [ipu] and, with a file, the config key.
  explicit Scene(const std::string& json, const std::string& toml = "") {
    std::string name = (std::filesystem::temp_directory_path() / "podsim-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for the test's files");
    folder_ = name;
    if (!json.empty()) std::ofstream(folder_ + "/ipu_config.json") << json;
    const std::string text = "[ipu]\n" + std::string(json.empty() ? "" : "config = \"ipu_config.json\"\n") + toml;
    document_ = parse_toml(text, folder_ + "/experiment.toml", diagnostics).value();
  }
  ~Scene() { std::filesystem::remove_all(folder_); }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  const Value& section() const { return *document_.find("ipu"); }

  std::optional<IpuConfig> read() { return read_ipu_config(section(), diagnostics); }

  // Both steps, as a family does: every problem at once.
  std::optional<Placement> place(const PlacementRequest& request) {
    const IpuConfig config = resolve_ipu_config(merge_ipu_section(section(), diagnostics), diagnostics);
    return check_against(config, request, diagnostics);
  }

  // What was reported, without the folder's name.
  std::string text() const { return without_folder(diagnostics.to_text()); }
  std::string without_folder(std::string text) const {
    const std::string prefix = folder_ + "/";
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) {
      text.erase(at, prefix.size());
    }
    return text;
  }

  Diagnostics diagnostics;

 private:
  std::string folder_;
  Value document_;
};

// BERT pre-training with `layers` layers on a Pod16.
inline PlacementRequest bert_request(std::int64_t layers) {
  PlacementRequest request;
  request.model_type = "bert";
  request.layers = layers;
  request.outer = OuterBlocks::head_on_first_ipu;
  request.system_name = "Pod16";
  request.system_ipus = 16;
  return request;
}

}  // namespace podsim::ipu::test
