// Runs the fuzz target over a folder of inputs: each file as it is, every cut of it, and copies with changed bytes.

#include <doctest/doctest.h>

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
#include "tests/support/paths.hpp"

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

TEST_CASE("fuzz: saved inputs, their cuts and changed copies crash no parser") {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(podsim::test::source_dir() + "/tests/fuzz/corpus")) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() >= 20);
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::fprintf(stderr, "%s\n", files[i].filename().c_str());  // the last name printed is the one that crashed
    std::ifstream stream(files[i], std::ios::binary);
    REQUIRE(stream);
    const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    run(text);
    run_changed(text, i);
  }
}
