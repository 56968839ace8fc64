#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "sim/config/value.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace podsim;
using podsim::test::TemporaryFolder;

namespace {

std::string problem_of(const std::string& path) {
  Diagnostics diagnostics;
  CHECK_FALSE(read_text_file(path, {"e.toml", 4, 9}, "model.config", diagnostics).has_value());
  return diagnostics.to_text();
}

}  // namespace

TEST_CASE("text file: all bytes are read as they are") {
  const TemporaryFolder folder;
  const std::string text = std::string("a\r\nb\0c", 6) + std::string(200000, 'x');
  Diagnostics diagnostics;
  CHECK(read_text_file(folder.write("f", text), {}, "", diagnostics) == text);
  CHECK(read_text_file(folder.write("empty", ""), {}, "", diagnostics) == "");
  CHECK(diagnostics.all().empty());
}

TEST_CASE("text file: what cannot be read is told where it was asked for") {
  const TemporaryFolder folder;
  const std::string absent = folder.path("absent.json");
  const std::string start = "e.toml:4:9: model.config: ";
  CHECK(problem_of(absent) == start + "cannot read \"" + absent + "\": no such file\n");
  CHECK(problem_of(folder.path()) == start + "\"" + folder.path() + "\" is a folder; expected a file\n");
  CHECK(problem_of("") == start + "an empty path; expected a file\n");
  CHECK(problem_of(std::string("a\0b", 3)) == start + "a path with a zero byte; expected a file\n");
  const std::string below = folder.write("file", "x") + "/y";
  CHECK(problem_of(below) == start + "cannot read \"" + below + "\": a part of the path is not a folder\n");
  const std::string long_name = folder.path(std::string(300, 'n'));
  CHECK(problem_of(long_name) == start + "cannot read \"" + long_name + "\": the name is too long\n");
}

TEST_CASE("text file: sixty-four mebibytes are the limit, also where no size is known") {
  const TemporaryFolder folder;
  const std::string path = folder.write("large", "");
  std::filesystem::resize_file(path, (std::uintmax_t{64} << 20) + 1);
  CHECK(problem_of(path) ==
        "e.toml:4:9: model.config: \"" + path + "\" is larger than 64 MiB; expected a smaller file\n");
  CHECK(problem_of("/dev/zero") ==
        "e.toml:4:9: model.config: \"/dev/zero\" is larger than 64 MiB; expected a smaller file\n");
}
