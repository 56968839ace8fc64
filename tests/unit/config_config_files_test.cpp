#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/config/config_files.hpp"
#include "sim/core/diagnostics.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace podsim;
using podsim::test::TemporaryFolder;

TEST_CASE("config files: the embedded tree is the source tree, byte for byte") {
  const ConfigFiles embedded = ConfigFiles::embedded();
  const ConfigFiles folder = ConfigFiles::from_folder(test::source_dir() + "/configs");
  const std::vector<std::string> paths = embedded.list("");
  CHECK(paths.size() > 0);
  CHECK(paths == folder.list(""));
  for (const std::string& path : paths) {
    CAPTURE(path);
    CHECK(embedded.text(path).has_value());
    CHECK(embedded.text(path) == folder.text(path));
  }
}

TEST_CASE("config files: lists are sorted and hold one folder only") {
  const TemporaryFolder folder;
  folder.write("systems/b.toml", "b");
  folder.write("systems/a.toml", "a");
  folder.write("systems/deep/c.csv", "c");
  folder.write("systems/notes.md", "no data");
  folder.write("models/m.json", "m");
  const ConfigFiles files = ConfigFiles::from_folder(folder.path() + "//");
  CHECK(files.list("systems/") == std::vector<std::string>{"systems/a.toml", "systems/b.toml", "systems/deep/c.csv"});
  CHECK(files.list("") ==
        std::vector<std::string>{"models/m.json", "systems/a.toml", "systems/b.toml", "systems/deep/c.csv"});
  CHECK(files.list("nothing/").empty());
  CHECK(files.text("systems/a.toml") == "a");
  CHECK(files.text("systems/x.toml") == std::nullopt);
  CHECK(files.text("systems") == std::nullopt);
  CHECK(files.display_name("systems/a.toml") == folder.path("systems/a.toml"));
  CHECK(ConfigFiles::embedded().display_name("systems/a.toml") == "configs/systems/a.toml");
}

TEST_CASE("config files: a name never leads out of the tree") {
  const TemporaryFolder folder;
  folder.write("secret.toml", "x");
  folder.write("tree/a.toml", "a");
  const ConfigFiles files = ConfigFiles::from_folder(folder.path("tree"));
  CHECK(files.text("a.toml") == "a");
  CHECK(files.text("../secret.toml") == std::nullopt);
  CHECK(files.text("x/../../secret.toml") == std::nullopt);
  CHECK(files.text(folder.path("secret.toml")) == std::nullopt);
  CHECK(files.text("") == std::nullopt);
}

TEST_CASE("config files: a folder that is none is the user's mistake") {
  CHECK_THROWS_WITH_AS(ConfigFiles::from_folder("/no/such/folder"),
                       "command line: --configs: \"/no/such/folder\" is not a folder\n", ConfigError);
  CHECK_THROWS_AS(ConfigFiles::from_folder(""), ConfigError);
}
