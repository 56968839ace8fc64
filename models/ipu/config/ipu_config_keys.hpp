#pragma once
// Every key that any version of Optimum Graphcore's IPUConfig knew, and the keys of the [ipu] table beyond it.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/ipu/config/ipu_version.hpp"
#include "sim/config/key_spec.hpp"

namespace podsim::ipu {

// Description of each key; paths are relative to the [ipu] table.
const std::vector<KeySpec>& ipu_config_keys();

// Keys whose value changes nothing that is modelled, with the reason.
const std::vector<std::pair<std::string, std::string>>& keys_without_effect();

// What only the reader of IPUConfig files needs to know of a key.
struct KeyHistory {
  std::string path;
  Version since = k_first_version;
  Version until = k_last_version;
  bool nullable = false;                            // null is a legal value and means the default
  bool shows_version = false;                       // its presence in a file tells since .. until
  bool beyond_ipu_config = false;                   // a key of ours, never legal in an IPUConfig file
  Value documented;                                 // the documented default; null: none, or computed from other keys
  std::vector<std::pair<Version, Value>> defaults;  // from a version on, ascending; empty: always as documented
};

// Null when no version knew the key.
const KeyHistory* key_history(std::string_view path);

struct Default {
  Value value;
  std::string origin;  // "default: documented (…)" or "default: version 0.5.0"
};
// The default for a version; where the versions of a range differ, the documented one.
Default default_of(const KeyHistory& key, const VersionRange& range);

// Keys of Hugging Face's base configuration: they stand in saved files and are never wrong there.
bool is_base_config_key(std::string_view key);

}  // namespace podsim::ipu
