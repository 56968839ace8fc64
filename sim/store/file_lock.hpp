#pragma once
// One writer per file: an advisory lock on a file beside it, which the system releases when the process ends, however
// it ends.

#include <string>

namespace podsim {

class FileLock {
 public:
  // Locks `path`-lock. Throws StoreError, naming the process and its host, when another process has it.
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;

 private:
  bool is_current() const;  // still the file of that name
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace podsim
