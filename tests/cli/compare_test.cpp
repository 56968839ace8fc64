#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "sim/report/report.hpp"
#include "tests/support/experiment_folder.hpp"
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
  CommandResult podsim(const std::string& arguments) const {
    return run_command(shell_quoted(program()) + " " + arguments, path_.string());
  }
  CommandResult compare(const std::string& arguments) const { return podsim("compare " + arguments); }
  // Replaces the first `from` in a file.
  void change(const std::string& name, const std::string& from, const std::string& to) const {
    std::ostringstream text;
    text << std::ifstream(path_ / name).rdbuf();
    std::string changed = text.str();
    write(name, changed.replace(changed.find(from), from.size(), to));
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
  const CommandResult result = folder.compare("a.json b.json --tolerance 0% --strict");
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, " metrics compared, all within the tolerance\n"));
}

TEST_CASE("compare: what is worse beyond the tolerance is an exit code of one, what is better is not") {
  const Folder folder;
  Report report = sample_report();
  folder.write("a.json", to_json(report));
  report.throughput->samples_per_s *= 1.04;
  folder.write("b.json", to_json(report));
  const CommandResult better = folder.compare("a.json b.json");
  CHECK(better.exit_code == 0);
  CHECK(has(better.out, "5324.8  +4.000 %  better\n"));
  CHECK(has(better.out, " metrics compared, 1 better\n"));
  CHECK(folder.compare("a.json b.json --strict").exit_code == 1);
  const CommandResult worse = folder.compare("b.json a.json --tolerance 3%");
  CHECK(worse.exit_code == 1);
  CHECK(has(worse.out, "-3.846 %  WORSE\n"));
  CHECK(has(worse.out, " metrics compared, 1 worse\n"));
  CHECK(folder.compare("b.json a.json --tolerance 0.03").exit_code == 1);
  CHECK(folder.compare("b.json a.json --tolerance 5%").exit_code == 0);
}

TEST_CASE("compare: a device that differs is named, and is no verdict of the whole") {
  const Folder folder;
  Report report = sample_report();
  folder.write("a.json", to_json(report));
  report.devices[1].utilisation_pct *= 2;
  folder.write("b.json", to_json(report));
  const CommandResult result = folder.compare("a.json b.json");
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "devices[d1].utilisation_pct"));
  CHECK(has(result.out, " metrics compared, 1 changed\n"));
  CHECK_FALSE(has(result.out, "devices[d0].utilisation_pct"));
  CHECK(has(folder.compare("a.json b.json --all").out, "devices[d0].utilisation_pct"));
}

TEST_CASE("compare: a rate that is gone is worse, one that came is named") {
  const Folder folder;
  Report report = sample_report();
  folder.write("a.json", to_json(report));
  report.training.reset();
  report.throughput->images_per_s = 3;
  folder.write("b.json", to_json(report));
  const CommandResult result = folder.compare("a.json b.json");
  CHECK(result.exit_code == 1);
  CHECK(has(result.out, "training.time_s"));
  CHECK(has(result.out, "throughput.images_per_s"));
  CHECK(has(result.out, "missing in A\n"));
}

TEST_CASE("compare: a run that no longer fits is worse") {
  const Folder folder;
  folder.write("a.json", to_json(sample_report()));
  folder.write("b.json", to_json(sample_check_that_does_not_fit()));
  const CommandResult result = folder.compare("a.json b.json");
  CHECK(result.exit_code == 1);
  CHECK(has(result.out, "verdict.fits"));
  CHECK(has(result.out, "-100.000 %  WORSE\n"));
}

TEST_CASE("compare: the reasons name parts of the step, inputs and constants") {
  const Folder folder;
  Report report = sample_report();
  folder.write("a.json", to_json(report));
  report.breakdown[CostCategory::compute] += SimTime(20'000'000'000);
  report.step_time += SimTime(20'000'000'000);
  report.cycle_time = SimTime(418'000'000);
  report.plan[0].toml_value = "4";
  report.provenance[0].text = "32 GB/s";
  folder.write("b.json", to_json(report));
  const std::string text = folder.compare("a.json b.json").out;
  CHECK(has(text, "  the step changes by +10.0 % (+20 ms): compute +20 ms\n"));
  CHECK(has(text, "  the cycle is longer by 10.0 %: 380 us -> 418 us, 512 of them per update in both\n"));
  CHECK(has(text, "  input workload.micro_batch_size: 2 -> 4\n"));
  CHECK(has(text, "  constant machine.link.bandwidth: \"64 GB/s\" -> \"32 GB/s\"\n"));
  CHECK(has(text, "  no single input is blamed: from the plan in A this program gets another result than A\n"));
}

TEST_CASE("compare: JSON and JUnit say the same as the text") {
  const Folder folder;
  Report report = sample_report();
  folder.write("a.json", to_json(report));
  report.throughput->samples_per_s *= 0.9;
  folder.write("b.json", to_json(report));
  const CommandResult junit = folder.compare("a.json b.json --format junit");
  CHECK(junit.exit_code == 1);
  CHECK(
      junit.out.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"podsim compare\" tests=\""));
  CHECK(has(junit.out, " failures=\"1\" errors=\"0\" skipped=\"0\">\n"));
  CHECK(has(junit.out,
            "  <testcase classname=\"runs\" name=\"throughput.samples_per_s\">\n"
            "    <failure message=\"5120 -&gt; 4608 -10.000 %\"/>\n  </testcase>\n"));
  Diagnostics diagnostics;
  const auto json = parse_json(folder.compare("a.json b.json --format json").out, "j", diagnostics);
  REQUIRE(json.has_value());
  CHECK(json->find("regressed")->as_boolean());
  for (const Value& metric : json->find("metrics")->elements()) {
    const bool worse = metric.find("name")->as_string() == "throughput.samples_per_s";
    CHECK((metric.find("verdict")->as_string() == "WORSE") == worse);
  }
}

TEST_CASE("compare: halves of layers placed apart made BERT-Large faster from MLPerf v1.0 to v1.1") {
  const Folder folder;
  for (const std::string version : {"1.0", "1.1"}) {
    const CommandResult run =
        folder.podsim("run bert-large-mlperf-v" + version + "-pod16 --engine native --format json");
    REQUIRE(run.exit_code == 0);
    folder.write(version + ".json", run.out);
  }
  const CommandResult forward = folder.compare("1.0.json 1.1.json");
  CHECK(forward.exit_code == 0);
  // Published: 1524.6 / 1418.8 sequences per second, +7.5 %.
  const std::size_t rate = forward.out.find("throughput.sequences_per_s");
  REQUIRE(rate != std::string::npos);
  const double change = std::stod(forward.out.substr(forward.out.find('+', rate)));
  CHECK(change > 6.5);
  CHECK(change < 9.5);
  CHECK(has(forward.out, "  the cycle is shorter by "));
  const std::size_t why = forward.out.find("  effect of ");  // the largest effect comes first
  REQUIRE(why != std::string::npos);
  CHECK(one_line(forward.out.substr(why))
            .starts_with(
                "effect of ipu.attention_layers_per_ipu, ipu.ffn_layers_per_ipu in place of ipu.layers_per_ipu: +6."));
  const CommandResult back = folder.compare("1.1.json 1.0.json");
  CHECK(back.exit_code == 1);
  CHECK(has(back.out, "  the cycle is longer by "));
}

TEST_CASE("compare: sweeps meet point by point") {
  const Folder folder;
  const std::string sweep =
      "system = \"pod4\"\n[model]\nconfig = \"bert-base-uncased\"\n[workload]\nsequence_length = 128\n"
      "[ipu]\nlayers_per_ipu = [3, 3, 3, 3]\n[sweep.axes]\n\"ipu.gradient_accumulation_steps\" = [16, 64]\n"
      "\"workload.micro_batch_size\" = [1, 256]\n";
  folder.write("a.toml", sweep);
  folder.write("b.toml", sweep + "[system]\n\"ipu_link.bandwidth\" = \"16 GB/s\"\n");
  folder.change("b.toml", "system = \"pod4\"\n", "");
  folder.change("b.toml", "[system]\n", "[system]\nname = \"pod4\"\n");
  for (const std::string name : {"a", "b"}) {
    const CommandResult run = folder.podsim("sweep run " + name + ".toml --quiet");
    CHECK_MESSAGE(run.exit_code == 0, run.err);
  }
  CHECK(folder.compare("a.sqlite a.sqlite --strict").exit_code == 0);
  const CommandResult slower = folder.compare("a.sqlite b.sqlite --tolerance 0.1%");
  CHECK(slower.exit_code == 1);
  CHECK(has(slower.out, "  samples_per_s, mean of 2 points"));
  // Its name takes two lines, the values stand in the first of them.
  CHECK(has(slower.out, "  samples_per_s at ipu.gradient_accumulation_steps = 64, "));
  CHECK(has(slower.out, "\n  workload.micro_batch_size = 1\n"));
  CHECK(has(slower.out, "Why\n  input system.ipu_link.bandwidth: none -> \"16 GB/s\"\n\n"));
  CHECK(has(folder.compare("a.sqlite b.sqlite").out, "  ok\n"));  // less than 2 %
  CHECK(folder.compare("b.sqlite a.sqlite --tolerance 0.1%").exit_code == 0);
}

TEST_CASE("compare: a validation is worse when an error grows or a memory point is judged wrong") {
  const Folder folder;
  const auto text = [](const std::string& error, const std::string& predicted) {
    return "{\"cases\":[{\"id\":\"r\",\"measured\":100,\"predicted\":101,\"error_pct\":" + error +
           ",\"skipped_reason\":\"\"},{\"id\":\"m\",\"measured\":\"fits\",\"predicted\":\"" + predicted +
           "\",\"skipped_reason\":\"\"}],\"groups\":[{\"name\":\"all\",\"mape_pct\":" + error + "}]}";
  };
  folder.write("a.json", text("1.0", "fits"));
  folder.write("b.json", text("2.5", "fits"));
  folder.write("c.json", text("4.0", "fits"));
  folder.write("d.json", text("1.0", "does_not_fit"));
  CHECK(folder.compare("a.json b.json").exit_code == 0);  // 1.5 percentage points
  const CommandResult grown = folder.compare("a.json c.json");
  CHECK(grown.exit_code == 1);
  CHECK(has(grown.out, "  error of r"));
  CHECK(folder.compare("c.json a.json").exit_code == 0);
  CHECK(folder.compare("a.json d.json").exit_code == 1);
  CHECK(folder.compare("d.json a.json").exit_code == 0);
}

TEST_CASE("compare: what is no result or no tolerance is the user's error") {
  const Folder folder;
  folder.write("a.json", to_json(sample_report()));
  folder.write("list.json", "[1, 2]\n");
  folder.write("broken.json", "{\n");
  folder.write("validation.json", "{\"cases\": [], \"groups\": []}\n");
  CHECK(folder.compare("a.json missing.json").exit_code == 2);
  CHECK(folder.compare("a.json broken.json").exit_code == 2);
  const CommandResult list = folder.compare("a.json list.json");
  CHECK(list.exit_code == 2);
  CHECK(has(list.err, "list.json:1:1: is no result; expected what `podsim run --format json` or `podsim validate "));
  const CommandResult tolerance = folder.compare("a.json a.json --tolerance=-3%");
  CHECK(tolerance.exit_code == 2);
  CHECK(tolerance.err ==
        "podsim: option --tolerance: \"-3%\" is neither like 5% nor like 0.05 (see `podsim compare --help`)\n");
  CHECK(folder.compare("a.json").err == "podsim: compare takes two results (see `podsim compare --help`)\n");
  CHECK(folder.compare("a.json validation.json").err ==
        "podsim: a.json and validation.json are results of different kinds (see `podsim compare --help`)\n");
}

TEST_CASE("compare: a damaged report is told, and two sweeps without a common point are no agreement") {
  const Folder folder;
  folder.write("a.json", "{\"verdict\": {}, \"inputs\": {\"plan\": [1]}, \"throughput\": {\"samples_per_s\": \"x\"}}");
  const CommandResult damaged = folder.compare("a.json a.json");
  CHECK(damaged.exit_code == 2);
  CHECK(damaged.err ==
        "a.json:1:36: inputs.plan: is a list; expected an object\n"
        "a.json:1:74: throughput.samples_per_s: is a string; expected a number\n");
  for (const char* point : {"16", "64"}) {
    const std::string file = std::string("s") + point + ".sqlite";
    const std::string axis = std::string(" --axis ipu.gradient_accumulation_steps=") + point;
    CHECK(folder.podsim("sweep run gpt2-caraml-pod4 --quiet --out " + file + axis).exit_code == 0);
  }
  const CommandResult apart = folder.compare("s16.sqlite s64.sqlite");
  CHECK(apart.exit_code == 1);
  CHECK(apart.err == "podsim: nothing is in both results: nothing was compared\n");
}

TEST_CASE("compare: folders of runs stand for their JSON reports, and a text report is told from one") {
  const ExperimentFolder folder;
  CHECK(folder.podsim("run gpt2-caraml-pod4 --format json --out a").exit_code == 0);
  CHECK(folder.podsim("run gpt2-caraml-pod4 --out b").exit_code == 0);
  CHECK(contains(folder.podsim("compare a a").out, " metrics compared, all within the tolerance\n"));
  CHECK(folder.refused("compare a b") ==
        "b: has no report.json; expected a folder of `podsim run --format json --out DIR`\n");
  CHECK(folder.refused("compare a b/report.txt") ==
        "b/report.txt: is not JSON; expected what `--format json` of `podsim run` or `validate` writes\n");
}

TEST_CASE("compare: of sweeps it says how many points both have") {
  const ExperimentFolder folder;
  const std::string sweep = "sweep run gpt2-caraml-pod4 --quiet --axis ipu.gradient_accumulation_steps=";
  CHECK(folder.podsim(sweep + "16,64,256 --out a.sqlite").exit_code == 0);
  CHECK(folder.podsim(sweep + "16,64,128,512 --out b.sqlite").exit_code == 0);
  CHECK(contains(folder.podsim("compare a.sqlite b.sqlite").out,
                 "\n2 points compared, 1 of A are not in B, 2 of B are not in A\n"));
}

TEST_CASE("compare: pages go to standard output and, with --out, into a folder where nothing is replaced unasked") {
  const Folder folder;
  Report report = sample_report();
  folder.write("a.json", to_json(report));
  report.throughput->samples_per_s *= 0.9;
  folder.write("b.json", to_json(report));
  const CommandResult html = folder.compare("a.json b.json --format html --out pages");
  CHECK(html.exit_code == 1);
  CHECK(html.out.starts_with("<!DOCTYPE html>\n"));
  CHECK(has(html.out, "<h1>a.json → b.json</h1>"));
  CHECK(has(html.out, ", inputs sha256 "));
  const CommandResult again = folder.compare("a.json b.json --format html --out pages");
  CHECK(again.exit_code == 2);
  CHECK(again.err ==
        "podsim: pages/comparison.html exists; give --force to replace it (see `podsim compare --help`)\n");
  CHECK(folder.compare("a.json b.json --format html --out pages --force").out == html.out);
  const CommandResult markdown = folder.compare("a.json b.json --format markdown --out pages");
  CHECK(markdown.out.starts_with("# a.json → b.json\n"));
  CHECK(has(markdown.out, "| throughput.samples\\_per\\_s | 5,120 | 4,608 | -10.0 % | WORSE |\n"));
}
