#include "sim/config/config_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "sim/config/embedded_files.hpp"
#include "sim/config/value.hpp"

namespace podsim {
namespace {

namespace fs = std::filesystem;

// Only names inside the tree: no absolute path, no way up.
bool stays_inside(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.find('\0') != std::string_view::npos) return false;
  const fs::path parts{std::string(path)};
  return std::none_of(parts.begin(), parts.end(), [](const fs::path& part) { return part == ".."; });
}

// The same kinds of files as are embedded.
bool is_data_file(const fs::path& path) {
  const fs::path extension = path.extension();
  return extension == ".toml" || extension == ".json" || extension == ".csv";
}

}  // namespace

ConfigFiles ConfigFiles::embedded() {
  return {};
}

ConfigFiles ConfigFiles::from_folder(const std::string& folder) {
  std::error_code code;
  if (folder.empty() || !fs::is_directory(folder, code)) {
    Diagnostics diagnostics;
    diagnostics.error({"command line", 0, 0}, "--configs", fmt::format("\"{}\" is not a folder", folder));
    throw ConfigError(std::move(diagnostics));
  }
  ConfigFiles files;
  files.folder_ = folder;
  while (files.folder_.size() > 1 && files.folder_.back() == '/') files.folder_.pop_back();
  return files;
}

std::optional<std::string> ConfigFiles::text(std::string_view path) const {
  if (!stays_inside(path)) return std::nullopt;
  if (!folder_.empty()) {
    Diagnostics ignored;
    return read_text_file(display_name(path), {}, "", ignored);
  }
  const auto files = embedded_config_files();
  const auto it = std::find_if(files.begin(), files.end(), [&](const EmbeddedFile& file) { return file.path == path; });
  if (it == files.end()) return std::nullopt;
  return std::string(it->text);
}

std::vector<std::string> ConfigFiles::list(std::string_view folder) const {
  std::vector<std::string> paths;
  if (folder_.empty()) {
    for (const EmbeddedFile& file : embedded_config_files()) {
      if (file.path.starts_with(folder)) paths.emplace_back(file.path);
    }
  } else if (folder.empty() || stays_inside(folder)) {
    std::error_code code;
    fs::recursive_directory_iterator it(folder_, code);
    for (; !code && it != fs::recursive_directory_iterator(); it.increment(code)) {
      std::error_code not_readable;
      if (!it->is_regular_file(not_readable) || !is_data_file(it->path())) continue;
      std::string path = it->path().lexically_relative(folder_).generic_string();
      if (path.starts_with(folder)) paths.push_back(std::move(path));
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string ConfigFiles::display_name(std::string_view path) const {
  return fmt::format("{}/{}", folder_.empty() ? "configs" : folder_, path);
}

}  // namespace podsim
