#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "sim/config/value.hpp"

namespace podsim {
namespace {

constexpr std::size_t k_largest_file = std::size_t{64} << 20;

// strerror's words depend on the locale; these do not.
std::string reason(int error) {
  switch (error) {
    case ENOENT:
      return "no such file";
    case ENOTDIR:
      return "a part of the path is not a folder";
    case EACCES:
      return "permission denied";
    case ENAMETOOLONG:
      return "the name is too long";
    case ELOOP:
      return "too many symbolic links";
    default:
      return fmt::format("system error {}", error);
  }
}

}  // namespace

bool file_exists(const std::string& path) {
  std::error_code ignored;
  return !path.empty() && std::filesystem::exists(path, ignored);
}

std::optional<std::string> read_text_file(const std::string& path, const Place& asked_at, const std::string& key,
                                          Diagnostics& diagnostics) {
  const auto fail = [&](const std::string& problem, const std::string& expected = {}) {
    diagnostics.error(asked_at, key, problem, expected);
    return std::nullopt;
  };
  if (path.empty()) return fail("an empty path", "a file");
  if (path.find('\0') != std::string::npos) return fail("a path with a zero byte", "a file");
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (std::filesystem::is_directory(status)) return fail(fmt::format("\"{}\" is a folder", path), "a file");
  if (status.type() == std::filesystem::file_type::not_found) {
    return fail(fmt::format("cannot read \"{}\": {}", path, reason(code.value() == 0 ? ENOENT : code.value())));
  }
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return fail(fmt::format("cannot read \"{}\": {}", path, reason(errno)));
  // Read in pieces and not by the reported size: pipes have none.
  std::string text;
  std::string piece(std::size_t{1} << 16, '\0');
  while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())) || stream.gcount() > 0) {
    text.append(piece, 0, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > k_largest_file) return fail(fmt::format("\"{}\" is larger than 64 MiB", path), "a smaller file");
  }
  if (stream.bad()) return fail(fmt::format("cannot read \"{}\": {}", path, reason(errno)));
  return text;
}

}  // namespace podsim
