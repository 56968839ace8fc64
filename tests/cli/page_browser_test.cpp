// Does every page that podsim prints work in a browser: no error, nothing fetched, all charts drawn, tables that sort
// and filter, no sideways scrolling on a phone? Skipped where no headless Chromium is installed.
#include <doctest/doctest.h>

#include <string>

#include "sim/report/report_page.hpp"
#include "tests/support/browser.hpp"
#include "tests/support/experiment_folder.hpp"
#include "tests/support/hostile_texts.hpp"
#include "tests/support/sample_report.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

bool no_browser() {
  if (!browser_program().empty()) return false;
  MESSAGE("skipped: neither chromium-headless-shell nor chromium is installed");
  return true;
}

struct Expected {
  int canvases = 0;
  int tables = 0;
};

void check_page(const std::string& html, Expected at_least) {
  const std::vector<SeenPage> seen = look_at(html);
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].width == 390);
  CHECK(seen[1].width == 1200);
  for (const SeenPage& page : seen) {
    CAPTURE(page.width);
    CHECK(page.canvases >= at_least.canvases);
    CHECK(page.tables >= at_least.tables);
    for (const std::string& problem : page.problems) FAIL_CHECK(problem);
  }
}

std::string printed(const std::string& arguments, int exit_code = 0) {
  const ExperimentFolder folder;
  const CommandResult result = folder.podsim(arguments + " --format html --quiet");
  CHECK_MESSAGE(result.exit_code == exit_code, result.err);
  return result.out;
}

}  // namespace

TEST_CASE("browser: the report of a pipelined training") {
  if (no_browser()) return;
  check_page(printed("run experiment.toml --engine native"), {8, 8});
}

TEST_CASE("browser: the report of 1,024 devices") {
  if (no_browser()) return;
  check_page(printed("run bert-large-mlperf-v2.0-bow-pod128 --set system=bow-pod256 --set system.nodes=4 --set "
                     "ipu.replication_factor=128 --set ipu.gradient_accumulation_steps=24 --engine native"),
             {8, 8});
}

TEST_CASE("browser: the report of a generation, section by section") {
  if (no_browser()) return;
  check_page(printed("run llama-3-70b-sn40l-8 --engine native"), {5, 4});
}

TEST_CASE("browser: the report of a check that does not fit") {
  if (no_browser()) return;
  check_page(printed("check experiment.toml --set workload.micro_batch_size=64", 3), {1, 3});
}

TEST_CASE("browser: a validation") {
  if (no_browser()) return;
  const CommandResult result =
      run_command(shell_quoted(program()) + " validate --format html", ExperimentFolder().path());
  CHECK(result.exit_code == 0);
  check_page(result.out, {10, 8});
}

TEST_CASE("browser: comparisons of runs, sweeps and validations") {
  if (no_browser()) return;
  const ExperimentFolder folder;
  const auto podsim = [&](const std::string& arguments) {
    const CommandResult result = folder.podsim(arguments);
    CHECK_MESSAGE(result.exit_code <= 1, result.err);
    return result.out;
  };
  for (const char* version : {"0", "1"}) {
    folder.write(version + std::string(".json"),
                 podsim("run bert-large-mlperf-v1." + std::string(version) + "-pod16 --engine native --format json"));
    podsim("sweep run gpt2-caraml-pod4 --quiet --out " + std::string(version) +
           ".sqlite --set workload.micro_batch_size=" + (*version == '0' ? "1" : "2") +
           " --axis ipu.gradient_accumulation_steps=16,64,256");
  }
  check_page(podsim("compare 0.json 1.json --format html"), {3, 5});
  check_page(podsim("compare 0.sqlite 1.sqlite --format html"), {2, 3});
  folder.write("validation.json", podsim("validate --format json"));
  check_page(podsim("compare validation.json validation.json --format html"), {2, 3});
}

TEST_CASE("browser: a sweep of many points, page by page") {
  if (no_browser()) return;
  const ExperimentFolder folder;
  const CommandResult swept = folder.podsim(
      "sweep run gpt2-caraml-pod4 --quiet --out s.sqlite --axis 'ipu.gradient_accumulation_steps={from = 5, to = 104}' "
      "--axis workload.micro_batch_size=1,4,16 --axis workload.sequence_length=512,1024");
  CHECK_MESSAGE(swept.exit_code == 0, swept.err);
  const std::string html = folder.podsim("sweep show s.sqlite --format html").out;
  CHECK(contains(html, "class=\"rows\""));
  check_page(html, {2, 7});
}

TEST_CASE("browser: systems against a deadline, a budget and a power cap, and systems for users") {
  if (no_browser()) return;
  const ExperimentFolder folder;
  folder.write("costs.toml",
               "currency = \"EUR\"\n[systems.bow-pod16]\nprice_per_hour = 40\n[systems.bow-pod64]\n"
               "price_per_hour = 170\n");
  const CommandResult training = folder.podsim(
      "capacity bert-large-bow-pod16 --target-samples 1000000000 --deadline 24h --systems bow-pod16,bow-pod64,sn30 "
      "--costs costs.toml --budget 5000 --power-cap 60kW --format html");
  CHECK_MESSAGE(training.exit_code == 0, training.err);
  check_page(training.out, {4, 3});
  const CommandResult users = folder.podsim(
      "capacity llama-3-70b-sn40l-8 --users 100 --tokens-per-s 20 --systems sn40l-8,sn40l-16 --format html");
  CHECK_MESSAGE(users.exit_code == 0, users.err);
  check_page(users.out, {1, 2});
}

TEST_CASE("browser: a loss scale") {
  if (no_browser()) return;
  check_page(printed("loss-scale experiment.toml --set loss_scaling.mode=popart_als"), {2, 4});
}

TEST_CASE("browser: names that try to break out are shown as text") {
  if (no_browser()) return;
  for (const std::string& text : hostile_texts()) {
    CAPTURE(text.substr(0, 60));
    Report report = sample_report();
    report.name = report.system = report.model = text;
    report.devices[0].id = report.devices[0].memories[0].name = report.links[0].name = text;
    report.tables[0].name = report.tables[0].columns[0].name = text;
    report.tables[0].rows[0][3] = text;
    report.warnings = {text, text};
    check_page(to_html(report_page(report, nullptr)), {5, 5});
  }
}

TEST_CASE("browser: a page with an error, an empty chart, a fetch or sideways scrolling is found out") {
  if (no_browser()) return;
  const std::string html = to_html(report_page(sample_report(), nullptr));
  const auto problems_with = [&](const std::string& planted) {
    std::string page = html;
    page.insert(page.find("</main>"), planted);
    std::string all;
    const std::vector<SeenPage> seen = look_at(page);
    for (const std::string& problem : seen.at(0).problems) all += problem + "\n";
    return all;
  };
  CHECK(contains(problems_with("<script>missing.call();</script>"), "error: "));
  CHECK(contains(problems_with("<canvas aria-label=\"blank\"></canvas>"), "(blank) is empty"));
  CHECK(contains(problems_with("<img src=\"https://example.org/x.png\">"), "fetches "));
  CHECK(contains(problems_with("<div style=\"width:800px\">wide</div>"), "scrolls sideways: "));
}
