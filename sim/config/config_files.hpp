#pragma once
// The shipped `configs/` tree: embedded in the binary, or a folder given with --configs.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podsim {

struct EmbeddedFile {
  std::string_view path;  // relative to configs/, e.g. "chips/example.toml"
  std::string_view text;
};

class ConfigFiles {
 public:
  // The tree that was compiled in.
  static ConfigFiles embedded();
  // A folder with the same layout; throws ConfigError when it is not a folder.
  static ConfigFiles from_folder(const std::string& folder);

  std::optional<std::string> text(std::string_view path) const;
  // Paths under a folder such as "systems/", sorted.
  std::vector<std::string> list(std::string_view folder) const;
  // How a path of this tree is named in messages: "configs/systems/example.toml" or the folder's own path.
  std::string display_name(std::string_view path) const;

 private:
  std::string folder_;  // empty: embedded
};

}  // namespace podsim
