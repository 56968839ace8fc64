#pragma once
// Writes the rows of the flag tables.

#include <string>
#include <utility>
#include <vector>

#include "models/rdu/command/flags.hpp"

namespace podsim::rdu {

inline constexpr const char* k_argument_reference =
    "SambaFlow documentation, Compiler argument reference, releases 1.16 to 1.18";
inline constexpr const char* k_recorded_defaults =
    "option defaults that SambaFlow 1.11.2 and 1.14 recorded in compile output published with pnnl/ProxyTSPRD";
inline constexpr const char* k_sn30_guide = "SambaFlow documentation, Transition to DataScale SN30";
inline constexpr const char* k_tensor_guide = "SambaFlow documentation, How to use tensor parallel mode";
inline constexpr const char* k_data_guide =
    "SambaFlow documentation, How to use data parallel mode; argonne-lcf/ai-testbed-userdocs, DataParallel.md";
inline constexpr const char* k_tutorials = "sambanova/tutorials";
inline constexpr const char* k_model_zoo = "sambanova/modelzoo, examples/nlp";
inline constexpr const char* k_alcf_guides = "argonne-lcf/user-guides, sambanova";
inline constexpr const char* k_sambatune_guide = "argonne-lcf/user-guides, SambaTune user guide";

class FlagBuilder {
 public:
  FlagBuilder(const char* path, KeyType type, std::vector<std::string> names, const char* summary) {
    spec_.key.path = path;
    spec_.key.type = type;
    spec_.key.summary = summary;
    spec_.names = std::move(names);
  }
  FlagBuilder& source(const char* text) {
    spec_.key.source = text;
    return *this;
  }
  FlagBuilder& by_default(const char* text) {
    spec_.key.default_text = text;
    return *this;
  }
  FlagBuilder& range(double minimum, std::optional<double> maximum = {}) {
    spec_.key.minimum = minimum;
    spec_.key.maximum = maximum;
    return *this;
  }
  FlagBuilder& choices(std::vector<std::string> words) {
    spec_.key.choices = std::move(words);
    return *this;
  }
  FlagBuilder& effects(const char* time, const char* memory = "") {
    spec_.key.time_effect = time;
    spec_.key.memory_effect = memory;
    return *this;
  }
  FlagBuilder& no_effect(const char* reason) {
    spec_.without_effect = reason;
    return *this;
  }
  FlagBuilder& only_checked(const char* reason) {
    spec_.only_checked = true;
    return no_effect(reason);
  }
  FlagBuilder& use(FlagUse use) {
    spec_.use = use;
    return *this;
  }
  FlagBuilder& owner(FlagOwner owner) {
    spec_.owner = owner;
    return *this;
  }
  FlagBuilder& zoo(std::vector<std::string> keys) {
    spec_.zoo_keys = std::move(keys);
    return *this;
  }
  FlagBuilder& zoo_plus() {
    spec_.zoo_key_needs_plus = true;
    return *this;
  }
  FlagBuilder& same_at_run() {
    spec_.same_at_run = true;
    return *this;
  }
  FlagBuilder& since(Release release) {
    spec_.since = release;
    spec_.key.versions = "from " + to_text(release);
    return *this;
  }
  FlagSpec done() const { return spec_; }

 private:
  FlagSpec spec_;
};

}  // namespace podsim::rdu
