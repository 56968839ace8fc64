#include "tools/podsim/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "sim/report/text_colour.hpp"
#include "tools/podsim/options.hpp"

namespace podsim {
namespace {

namespace fs = std::filesystem;

std::string because(const std::string& what, int error) {
  return what + ": " + std::strerror(error);
}

// https://no-color.org: any value that is not empty counts.
bool wants_colour() {
  const char* const refused = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  if (refused != nullptr && *refused != '\0') return false;
  if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
  return ::isatty(STDOUT_FILENO) != 0;
}

}  // namespace

void print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      throw BrokenPipe{};
    } else if (errno != EINTR) {
      throw UsageError(because("cannot write standard output", errno));
    }
  }
}

void print_report(std::string_view text) {
  print(wants_colour() ? coloured(text) : std::string(text));
}

void print_error(std::string_view text) {
  std::string line(text);
  if (line.empty() || line.back() != '\n') line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void refuse_input(const std::string& path, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (std::filesystem::equivalent(path, input, ignored)) {
      throw UsageError(path + " is an input of this run; name another file");
    }
  }
}

void refuse_overwrite(const std::string& path, bool force) {
  std::error_code ignored;
  if (force || !fs::exists(path, ignored)) return;
  throw UsageError(path + " exists; give --force to replace it");
}

void write_file(const std::string& path, std::string_view text) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "wb"));
  if (!file) throw UsageError(because("cannot write " + path, errno));
  const bool complete = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  if (std::fclose(file.release()) != 0 || !complete) throw UsageError(because("cannot write " + path, errno));
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path)) {
    throw UsageError("cannot make the folder " + path + ": " + (error ? error.message() : "a file has this name"));
  }
}

}  // namespace podsim
