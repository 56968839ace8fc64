#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "sim/report/report.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/run_command.hpp"
#include "tests/support/sample_report.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

// A folder of its own for each case, removed at its end.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("podsim_compare_" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }
  CommandResult compare(const std::string& arguments) const {
    return run_command(shell_quoted(program()) + " compare " + arguments, path_.string());
  }

 private:
  std::filesystem::path path_;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("compare: equal reports agree, whatever the wall time") {
  const Folder folder;
  Report report = sample_report();
  folder.write("a.json", to_json(report));
  report.engine->wall_s = 99;
  folder.write("b.json", to_json(report));
  const CommandResult result = folder.compare("a.json b.json --tolerance 0%");
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, " 0 beyond 0% or missing\n"));
}

TEST_CASE("compare: a metric beyond the tolerance is an exit code of one") {
  const Folder folder;
  Report report = sample_report();
  folder.write("a.json", to_json(report));
  report.throughput->samples_per_s *= 1.04;
  folder.write("b.json", to_json(report));
  CHECK(folder.compare("a.json b.json").exit_code == 0);
  const CommandResult result = folder.compare("a.json b.json --tolerance 3%");
  CHECK(result.exit_code == 1);
  CHECK(has(result.out, "5324.8"));
  CHECK(has(result.out, "+4.000 %  DIFFERS\n"));
  CHECK(has(result.out, " 1 beyond 3% or missing\n"));
  CHECK(folder.compare("a.json b.json --tolerance 0.03").exit_code == 1);
}

TEST_CASE("compare: a device that differs is named") {
  const Folder folder;
  Report report = sample_report();
  folder.write("a.json", to_json(report));
  report.devices[1].utilisation_pct *= 2;
  folder.write("b.json", to_json(report));
  const CommandResult result = folder.compare("a.json b.json");
  CHECK(result.exit_code == 1);
  CHECK(has(result.out, "devices[d1].utilisation_pct"));
  CHECK_FALSE(has(result.out, "devices[d0].utilisation_pct"));
  CHECK(has(folder.compare("a.json b.json --all").out, "devices[d0].utilisation_pct"));
}

TEST_CASE("compare: metrics that one report lacks are named") {
  const Folder folder;
  Report report = sample_report();
  folder.write("a.json", to_json(report));
  report.training.reset();
  report.throughput->images_per_s = 3;
  folder.write("b.json", to_json(report));
  const CommandResult result = folder.compare("a.json b.json");
  CHECK(result.exit_code == 1);
  CHECK(has(result.out, "missing in A\n"));
  CHECK(has(result.out, "missing in B\n"));
  CHECK(has(result.out, "training.time_s"));
  CHECK(has(result.out, "throughput.images_per_s"));
}

TEST_CASE("compare: what is no report or no tolerance is the user's error") {
  const Folder folder;
  folder.write("a.json", to_json(sample_report()));
  folder.write("list.json", "[1, 2]\n");
  folder.write("broken.json", "{\n");
  CHECK(folder.compare("a.json missing.json").exit_code == 2);
  CHECK(folder.compare("a.json broken.json").exit_code == 2);
  const CommandResult list = folder.compare("a.json list.json");
  CHECK(list.exit_code == 2);
  CHECK(has(list.err, "list.json:1:1: is not a report; expected what `podsim run --format json` prints"));
  const CommandResult tolerance = folder.compare("a.json a.json --tolerance=-3%");
  CHECK(tolerance.exit_code == 2);
  CHECK(tolerance.err ==
        "podsim: option --tolerance: \"-3%\" is neither like 5% nor like 0.05 (see `podsim compare --help`)\n");
  CHECK(folder.compare("a.json").err == "podsim: compare takes two reports (see `podsim compare --help`)\n");
}
