#include <doctest/doctest.h>

#include <algorithm>

#include "sim/config/csv.hpp"
#include "sim/report/make_report.hpp"
#include "sim/report/report.hpp"
#include "tests/support/hostile_texts.hpp"
#include "tests/support/sample_report.hpp"

using namespace podsim;

namespace {

std::string cell(const Report& report, const std::string& column) {
  const std::vector<std::string> header = csv_header();
  const auto found = std::find(header.begin(), header.end(), column);
  REQUIRE(found != header.end());
  return csv_row(report)[static_cast<std::size_t>(found - header.begin())];
}

}  // namespace

TEST_CASE("csv report: one header line and one row") {
  CHECK(to_csv(test::sample_report()) ==
        "name,system,software,model,mode,fits,why_not,micro_batch,global_batch,samples_per_call,devices,step_time_s,"
        "samples_per_s,sequences_per_s,packs_per_s,tokens_per_s,images_per_s,samples_per_s_per_device,mfu_pct,hfu_pct,"
        "cycle_time_s,compute_s,recompute_s,exchange_s,sync_s,inter_device_s,host_io_s,off_chip_memory_s,collective_s,"
        "weight_update_s,launch_s,bubble_s,other_s,bottleneck,bottleneck_pct,fullest_memory,fullest_memory_pct,"
        "training_time_s,request_s,time_to_first_token_s,time_per_output_token_s,compile_estimate_s,"
        "effective_samples_per_s,loss_scale_scheme,loss_scale_verdict,reached_loss_scale,skipped_updates_pct,"
        "saturated_updates_pct,engine,events,"
        "simulated_ps\n"
        "sample,duo,stack-1,tiny,training,true,,2,1024,2048,2,0.2,5120,10240,5120,2621440,,2560,30.5,40.25,0.00038,0."
        "15,0,"
        "0.01,0,0,0,0,0,0.005,0,0.035,0,compute on d1,75,d1.memory,87.5,195.4,,,,,,,,,,,native,1234,"
        "400000000000\n");
}

TEST_CASE("csv report: a check has a row of the same length with empty cells for what was not run") {
  const Report report = test::sample_check_that_does_not_fit();
  CHECK(csv_row(report).size() == csv_header().size());
  CHECK(cell(report, "step_time_s").empty());
  CHECK(cell(report, "compute_s").empty());
  CHECK(cell(report, "samples_per_s").empty());
  CHECK(cell(report, "fits") == "false");
  CHECK(cell(report, "why_not") ==
        "device memory on d1: needs 891289600 byte, has 838860800; open streams on d1: needs 12, has 8");
  CHECK(cell(report, "fullest_memory_pct") == "106.25");
}

TEST_CASE("csv report: the outlook of a loss scale, an infinite one empty") {
  Report report = test::sample_report();
  add_loss_scale(test::sample_loss_scale(), report);
  CHECK(cell(report, "effective_samples_per_s") == "4864");  // 5120 x (1 - 0.02 - 0.03)
  CHECK(to_csv(report).find(",4864,halving,holds,1024,2,3,native,1234,") != std::string::npos);
  report.loss_scaling->reached_scale.reset();
  CHECK(cell(report, "reached_loss_scale").empty());
}

TEST_CASE("csv report: cells with commas, quotes or line ends are quoted") {
  CHECK(csv_line({"a", "b,c", "say \"x\"", "two\nlines", ""}) == "a,\"b,c\",\"say \"\"x\"\"\",\"two\nlines\",\n");
}

TEST_CASE("csv report: a text that a spreadsheet would run is marked as text, a signed number is not") {
  CHECK(csv_line({"=1+1", "@SUM(A1)", "-o3 --num-tiles 4", "+x", "\tx"}) ==
        "'=1+1,'@SUM(A1),'-o3 --num-tiles 4,'+x,'\tx\n");
  CHECK(csv_line({"-1.5", "+2", "-3e-5", "a=b", "-"}) == "-1.5,+2,-3e-5,a=b,'-\n");
}

TEST_CASE("csv report: names stay in their cell, whatever they hold") {
  for (const std::string& text : test::hostile_texts()) {
    CAPTURE(text.substr(0, 60));
    Report report = test::sample_report();
    report.name = text;
    Diagnostics diagnostics;
    const std::optional<CsvTable> table = parse_csv(to_csv(report), "report.csv", diagnostics);
    REQUIRE_MESSAGE(table.has_value(), diagnostics.to_text());
    CHECK(table->rows.size() == 1);
    CHECK(table->rows[0].cells[0].ends_with(text));
    CHECK(table->rows[0].cells[1] == "duo");
  }
}
