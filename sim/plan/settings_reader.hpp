#pragma once
// Reads [model] and [workload] into settings, each value with its origin. Part of make_plan.

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/value.hpp"
#include "sim/plan/family.hpp"
#include "sim/plan/model_kind.hpp"
#include "sim/plan/workload_settings.hpp"

namespace podsim {

// "experiment.toml:12:5", or the phrase of a place without a line.
std::string origin_of(const Place& place);

// A path as its author meant it: relative to the folder of the file that names it, or to the current folder.
std::string path_from(const Value& path);

// Text as a TOML string, quoted and escaped.
std::string toml_string(std::string_view text);

class SettingsReader {
 public:
  SettingsReader(const Value& document, std::vector<ResolvedKey>& resolved, Diagnostics& diagnostics)
      : document_(document), resolved_(resolved), diagnostics_(diagnostics) {}

  std::int64_t integer(const std::string& path, std::int64_t fallback, const std::string& fallback_origin);
  double number(const std::string& path, double fallback, const std::string& fallback_origin);
  bool boolean(const std::string& path, bool fallback, const std::string& fallback_origin);
  std::string text(const std::string& path, const std::string& fallback, const std::string& fallback_origin);

  // The settings of a model whose configuration has been read. `implied_head` may be empty.
  WorkloadSettings read(const ModelKind& kind, const ModelShape& shape, const std::string& implied_head);

 private:
  void read_head(const ModelKind& kind, const std::string& implied_head, WorkloadSettings& settings);
  void read_shapes(const ModelKind& kind, const ModelShape& shape, WorkloadSettings& settings);
  void read_generation(std::int64_t longest, WorkloadSettings& settings);
  void read_sequence(const ModelKind& kind, const ModelShape& shape, WorkloadSettings& settings);
  void read_image(const ModelKind& kind, const ModelShape& shape, const WorkloadDefaults& defaults,
                  WorkloadSettings& settings);
  void read_targets(WorkloadSettings& settings);
  void warn_without_effect(const std::string& path, const std::string& reason);

  const Value& document_;
  std::vector<ResolvedKey>& resolved_;
  Diagnostics& diagnostics_;
};

}  // namespace podsim
