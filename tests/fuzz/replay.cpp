// Runs the fuzz target over a folder of inputs: each file as it is, every cut of it, and copies with changed bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sim/core/random.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void run(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

// Cuts and changes cost the square of a file's length, so large files are taken only as they are.
constexpr std::size_t k_longest_changed = 2000;
constexpr int k_changed_copies = 200;

void run_changed(const std::string& text, std::uint64_t seed) {
  if (text.empty() || text.size() > k_longest_changed) return;
  for (std::size_t length = 0; length < text.size(); ++length) run(text.substr(0, length));
  podsim::Random random(seed);
  for (int i = 0; i < k_changed_copies; ++i) {
    std::string copy = text;
    for (std::int64_t changes = random.between(1, 4); changes > 0; --changes) {
      copy[static_cast<std::size_t>(random.below(copy.size()))] = static_cast<char>(random.below(256));
    }
    run(copy);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_replay FOLDER\n");
    return 2;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::fprintf(stderr, "%s\n", files[i].filename().c_str());  // the last name printed is the one that crashed
    std::ifstream stream(files[i], std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    run(text);
    run_changed(text, i);
  }
  std::printf("%zu files\n", files.size());
  return files.empty() ? 1 : 0;
}
