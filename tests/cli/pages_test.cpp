// Do the verbs that have pages print them, whole and for the same inputs the same?
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/support/experiment_folder.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

std::string printed(const ExperimentFolder& folder, const std::string& arguments) {
  const CommandResult result = folder.podsim(arguments);
  CHECK_MESSAGE(result.exit_code == 0, result.err);
  return result.out;
}

// Texts that are equal but for numbers at most 16 apart: what the engines may differ by, in picoseconds.
bool same_but_for_rounding(const std::string& left, const std::string& right) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t l = 0;
  std::size_t r = 0;
  while (l < left.size() && r < right.size()) {
    if (!is_digit(left[l]) || !is_digit(right[r])) {
      if (left[l++] != right[r++]) return false;
      continue;
    }
    std::size_t left_digits = 0;
    std::size_t right_digits = 0;
    const std::int64_t difference =
        std::stoll(left.substr(l, 20), &left_digits) - std::stoll(right.substr(r, 20), &right_digits);
    if (std::abs(difference) > 16) return false;
    l += left_digits;
    r += right_digits;
  }
  return l == left.size() && r == right.size();
}

}  // namespace

TEST_CASE("pages: run, check, loss-scale and validate print one HTML file each") {
  const ExperimentFolder folder;
  for (const std::string& arguments :
       {std::string("run experiment.toml --engine native"), std::string("check experiment.toml"),
        std::string("loss-scale experiment.toml"), std::string("loss-scale --published"), std::string("validate")}) {
    CAPTURE(arguments);
    const std::string html = printed(folder, arguments + " --format html");
    CHECK(html.starts_with("<!DOCTYPE html>\n"));
    CHECK(html.ends_with("</html>\n"));
    CHECK(contains(html, "<p>podsim 0."));
  }
}

TEST_CASE("pages: each format names the hash of the inputs, and equal runs print equal bytes") {
  const ExperimentFolder folder;
  for (const std::string& format : {std::string("html"), std::string("markdown")}) {
    CAPTURE(format);
    const std::string run = printed(folder, "run experiment.toml --engine native --format " + format);
    CHECK(contains(run, ", inputs sha256 "));
    CHECK(run == printed(folder, "run experiment.toml --engine native --format " + format));
    CHECK(contains(printed(folder, "validate --format " + format), ", inputs sha256 "));
    CHECK(contains(printed(folder, "loss-scale experiment.toml --format " + format), ", inputs sha256 "));
  }
}

TEST_CASE("pages: a run shows its timeline, opened at a full cycle, and the memories over it") {
  const ExperimentFolder folder;
  const std::string html = printed(folder, "run experiment.toml --engine native --format html");
  CHECK(contains(html, "<h2>Timeline</h2>"));
  CHECK(contains(html, "full cycle"));
  CHECK(contains(html, "<h2>Memory over time</h2>"));
  CHECK(contains(html, "Devices without a lane, since they do the same as one that was simulated: 12."));
  const std::string check = printed(folder, "check experiment.toml --format html");
  CHECK_FALSE(contains(check, "<h2>Timeline</h2>"));
}

TEST_CASE("pages: both engines draw the same timeline") {
  const ExperimentFolder folder;
  const auto timeline = [&](const std::string& engine) {
    const std::string html = printed(folder, "run experiment.toml --format html --engine " + engine);
    const std::size_t begin = html.find("class=\"timeline-data\">");
    REQUIRE(begin != std::string::npos);
    return html.substr(begin, html.find("</script>", begin) - begin);
  };
  CHECK(same_but_for_rounding(timeline("native"), timeline("simgrid")));
}

TEST_CASE("pages: a run of 128 devices stays below 3 MB, with every replica simulated") {
  const ExperimentFolder folder;
  const std::string html =
      printed(folder, "run bert-large-mlperf-v2.0-bow-pod128 --engine native --no-fold --format html --quiet");
  CHECK(html.size() < 3'000'000);
  CHECK(contains(html, "Further devices, not shown: 112."));
}

TEST_CASE("pages: a run of 1,024 devices stays below 3 MB, folded or not") {
  const ExperimentFolder folder;
  const std::string run =
      "run bert-large-mlperf-v2.0-bow-pod128 --set system=bow-pod256 --set system.nodes=4 --set "
      "ipu.replication_factor=128 --set ipu.gradient_accumulation_steps=24 --engine native --quiet ";
  for (const std::string how : {"", "--no-fold "}) {
    const std::string html = printed(folder, run + how + "--format html");
    CHECK(html.size() < 3'000'000);
    CHECK(contains(html, " of 1,024 devices"));
  }
}

TEST_CASE("pages: --out names the file after its format") {
  const ExperimentFolder folder;
  printed(folder, "check experiment.toml --format markdown --out reports");
  CHECK(folder.read("reports/report.md").starts_with("# case\n"));
  printed(folder, "check experiment.toml --format html --out pages");
  CHECK(folder.read("pages/report.html").starts_with("<!DOCTYPE html>\n"));
}

TEST_CASE("pages: an unknown format is refused with all there are") {
  const ExperimentFolder folder;
  CHECK(folder.refused("run experiment.toml --format htm") ==
        "podsim: option --format: unknown format \"htm\"; expected text, json, csv, html, markdown; did you mean "
        "\"html\"? (see `podsim run --help`)\n");
}

TEST_CASE("pages: a sweep prints what is asked of it, or the usual questions") {
  const ExperimentFolder folder;
  printed(folder,
          "sweep run gpt2-caraml-pod4 --quiet --out s.sqlite --axis ipu.gradient_accumulation_steps=16,64 "
          "--axis workload.micro_batch_size=1,2,16");
  const std::string usual = printed(folder, "sweep show s.sqlite --format html --out pages");
  CHECK(contains(usual, "<h2>Samples per s against fullest memory</h2>"));
  CHECK(contains(usual, "<h2>Samples per s by ipu.gradient_accumulation_steps and workload.micro_batch_size</h2>"));
  CHECK(contains(usual, ">does not fit</td>"));
  CHECK(folder.read("pages/sweep.html") == usual);
  CHECK(printed(folder, "sweep show s.sqlite --format html") == usual);
  const std::string asked = printed(folder, "sweep show s.sqlite --format markdown --pareto mfu_pct,step_time_s");
  CHECK(contains(asked, "\n## Step time against mfu\n"));
  CHECK_FALSE(contains(asked, "\n## Best by"));
  CHECK(folder.refused("sweep show s.sqlite --format html --out pages") ==
        "podsim: pages/sweep.html exists; give --force to replace it (see `podsim sweep show --help`)\n");
}

TEST_CASE("pages: a capacity plan is a page with a hash of what was asked") {
  const ExperimentFolder folder;
  const std::string job = "capacity bert-large-bow-pod16 --target-samples 1000000000 --systems bow-pod16,bow-pod64 ";
  const std::string html = printed(folder, job + "--deadline 24h --format html --out pages");
  CHECK(contains(html, "<dd class=\"good\">bow-pod64 in "));
  CHECK(folder.read("pages/capacity.html") == html);
  const auto hash = [](const std::string& page) { return page.substr(page.find("inputs sha256 "), 78); };
  const std::string other = printed(folder, job + "--deadline 25h --format html");
  CHECK(hash(html) != hash(other));
  CHECK(contains(printed(folder, job + "--deadline 24h --format markdown"), "\n## Systems\n"));
}
