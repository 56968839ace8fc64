#include <doctest/doctest.h>

#include <string>

#include "sim/plan/experiment.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace podsim;
using podsim::test::TemporaryFolder;

namespace {

Experiment written(const std::string& text) {
  const TemporaryFolder folder;
  Diagnostics diagnostics;
  Experiment experiment = read_experiment(folder.write("e.toml", text), ConfigFiles::embedded(), diagnostics);
  REQUIRE_MESSAGE(diagnostics.all().empty(), diagnostics.to_text());
  return experiment;
}

std::string override_problems(Experiment& experiment, const std::string& assignment) {
  Diagnostics diagnostics;
  apply_override(experiment, assignment, diagnostics);
  return diagnostics.to_text();
}

}  // namespace

TEST_CASE("experiment: the document and the bytes of its file are kept") {
  const Experiment experiment = written("system = 'a'\n[workload]\nmode = 'training'\n");
  CHECK(experiment.document.find("workload.mode")->as_string() == "training");
  CHECK(experiment.source_text == "system = 'a'\n[workload]\nmode = 'training'\n");
}

TEST_CASE("experiment: a file that cannot be read or parsed leaves an empty table and an error") {
  const TemporaryFolder folder;
  Diagnostics absent;
  CHECK(read_experiment(folder.path("x.toml"), ConfigFiles::embedded(), absent).document.members().empty());
  CHECK(absent.to_text() == "command line: cannot read \"" + folder.path("x.toml") + "\": no such file\n");
  Diagnostics broken;
  const std::string path = folder.write("b.toml", "a =");
  CHECK(read_experiment(path, ConfigFiles::embedded(), broken).document.members().empty());
  CHECK(broken.to_text() == path + ":1:4: not valid TOML: key-value pair: encountered end-of-file\n");
}

TEST_CASE("experiment: an override sets a key at the place command line") {
  Experiment experiment = written("[workload]\nmode = 'training'\nsize = 1\n");
  CHECK(override_problems(experiment, "workload.size=2") == "");
  CHECK(override_problems(experiment, " workload.name = \"a=b\"") == "");
  CHECK(override_problems(experiment, "new.part.key=[1, 2]") == "");
  CHECK(experiment.document.find("workload.size")->as_integer() == 2);
  CHECK(experiment.document.find("workload.size")->place() == Place{"command line", 0, 0});
  CHECK(experiment.document.find("workload.mode")->as_string() == "training");
  CHECK(experiment.document.find("workload.name")->as_string() == "a=b");
  CHECK(experiment.document.find("new.part.key")->elements().size() == 2);
}

TEST_CASE("experiment: overrides alone make a document") {
  Experiment experiment;
  CHECK(override_problems(experiment, "workload.size=2") == "");
  CHECK(experiment.document.find("workload.size")->as_integer() == 2);
}

TEST_CASE("experiment: a key below a system's name keeps the name") {
  Experiment experiment = written("system = \"a-machine\"\nsoftware = 'b'\n");
  CHECK(override_problems(experiment, "system.nodes=2") == "");
  CHECK(override_problems(experiment, "software.factor=3") == "");
  CHECK(experiment.document.find("system.name")->as_string() == "a-machine");
  CHECK(experiment.document.find("system.name")->place().line == 1);
  CHECK(experiment.document.find("system.nodes")->as_integer() == 2);
  CHECK(experiment.document.find("software.name")->as_string() == "b");
}

TEST_CASE("experiment: a new system's name keeps the other keys of its table") {
  Experiment experiment = written("[system]\nname = 'a'\nnodes = 2\n");
  CHECK(override_problems(experiment, "system=b") == "");
  CHECK(experiment.document.find("system.name")->as_string() == "b");
  CHECK(experiment.document.find("system.nodes")->as_integer() == 2);
  Experiment plain = written("system = 'a'\n");
  CHECK(override_problems(plain, "system=b") == "");
  CHECK(plain.document.find("system")->as_string() == "b");
}

TEST_CASE("experiment: overrides that are none are told and change nothing") {
  Experiment experiment = written("name = 'x'\n");
  const std::string form = "; expected key=value, such as workload.micro_batch_size=2\n";
  CHECK(override_problems(experiment, "workload.size") == "command line: --set: \"workload.size\" has no \"=\"" + form);
  for (const std::string key : {"", ".a", "a.", "a..b", "a b", "\"a\"", "a[0]"}) {
    CHECK(override_problems(experiment, key + "=1") == "command line: --set: \"" + key + "\" is not a key" + form);
  }
  CHECK(override_problems(experiment, "name.first=1") ==
        "command line: name.first: \"name\" is a string; expected a table\n");
  CHECK(experiment.document.members().size() == 1);
  CHECK(experiment.document.find("name")->as_string() == "x");
}

TEST_CASE("experiment: a bare name is a shipped experiment") {
  Diagnostics diagnostics;
  const Experiment experiment = read_experiment("gpt2-caraml-pod4", ConfigFiles::embedded(), diagnostics);
  CHECK(diagnostics.all().empty());
  CHECK(experiment.document.find("system")->as_string() == "pod4");
  CHECK(experiment.document.place().file == "configs/experiments/gpt2-caraml-pod4.toml");
}
