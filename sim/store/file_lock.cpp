#include "sim/store/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "sim/store/database.hpp"

namespace podsim {
namespace {

std::string owner_of(int descriptor) {
  std::array<char, 300> text{};
  const ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string("another process");
}

std::string this_process() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return fmt::format("process {} on {}", ::getpid(), host.data());
}

}  // namespace

FileLock::FileLock(const std::string& path) : path_(path + "-lock") {
  while (true) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) throw StoreError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      const std::string owner = owner_of(descriptor_);
      ::close(descriptor_);
      if (error == EWOULDBLOCK) {
        throw StoreError(fmt::format("{}: is written by {}; wait for it, or name another file", path, owner),
                         StoreError::Kind::busy);
      }
      throw StoreError(fmt::format("{}: cannot be locked: {}", path, std::strerror(error)));
    }
    if (is_current()) break;  // else its last owner removed it between our two calls
    ::close(descriptor_);
  }
  const std::string owner = this_process();
  // Only for the message above: a full disk is no reason to refuse.
  if (::ftruncate(descriptor_, 0) == 0 && ::pwrite(descriptor_, owner.data(), owner.size(), 0) < 0) errno = 0;
}

FileLock::FileLock(FileLock&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock::~FileLock() {
  if (descriptor_ < 0) return;
  ::unlink(path_.c_str());
  ::close(descriptor_);
}

bool FileLock::is_current() const {
  struct stat mine {};
  struct stat named {};
  return ::fstat(descriptor_, &mine) == 0 && ::stat(path_.c_str(), &named) == 0 && mine.st_ino == named.st_ino &&
         mine.st_dev == named.st_dev;
}

}  // namespace podsim
