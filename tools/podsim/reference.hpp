#pragma once
// Every key and constant that podsim knows, for `explain` and for the generated part of configs/README.md.

#include <string>
#include <vector>

#include "sim/config/config_files.hpp"
#include "sim/config/constants.hpp"
#include "sim/config/key_spec.hpp"
#include "sim/plan/catalog.hpp"

namespace podsim {

struct ReferenceKey {
  std::string path;            // from the document's root
  KeySpec spec;
  std::string without_effect;  // why it changes nothing; empty: it does
};

struct ReferenceConstant {
  std::string file;  // "chips/bow.toml"
  Constant constant;
};

// Shared keys, then those of each family.
std::vector<ReferenceKey> all_keys(const Catalog& catalog);

// Of every file under chips/, systems/, software/ and constants/, in the order of the files. Throws ConfigError.
std::vector<ReferenceConstant> all_constants(const ConfigFiles& configs);

// "an integer", "one of a, b", …
std::string type_text(const KeySpec& spec);
// "1 to 10", "at least 1"; empty: any.
std::string range_text(const KeySpec& spec);

std::string reference_markdown(const Catalog& catalog, const ConfigFiles& configs);

}  // namespace podsim
