#include <doctest/doctest.h>

#include "sim/report/uncertainty_format.hpp"
#include "tests/support/sample_report.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

IntervalReport interval() {
  IntervalReport one;
  one.seed = 7;
  one.draws = 256;
  one.varied = 12;
  one.fits_pct = 93.75;
  one.samples_per_s = Quantiles{90, 100, 115};
  one.parts = {{"cost.a", "assumed", "2 us", "3 us", 61.5}};
  return one;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("report uncertainty: the interval stands in the head, in the unit of the rate before it") {
  Report report = sample_report();
  report.throughput->samples_per_s = 50;
  report.throughput->sequences_per_s = 100;  // two in a sample
  report.interval = interval();
  CHECK(interval_headline(report) ==
        "180 to 230 sequences/s in eight cases of ten (P10 to P90, P50 200); fits in 93.8 % of 256 draws");
  CHECK(has(to_text(report), "\n  Interval     180 to 230 sequences/s"));
  CHECK(has(to_json(report), "\"p90\": 115"));
  report.interval->samples_per_s.reset();
  CHECK(interval_headline(report) == "fits in 93.8 % of 256 draws, too few for a rate");
}

TEST_CASE("report uncertainty: where it comes from is told, with what the model leaves out") {
  IntervalReport one = interval();
  CHECK(interval_lines(one).size() == 2);
  one.model_factor = 1.12;
  REQUIRE(interval_lines(one).size() == 3);
  CHECK(has(interval_lines(one)[1], "by a factor of 1.12 up or down"));
  Report report = sample_report();
  report.interval = one;
  CHECK(has(to_text(report), "cost.a"));
}

TEST_CASE("report uncertainty: the three strongest levers that make it faster are told") {
  const std::vector<Lever> levers{{Lever::Kind::setting, "key", "1 to 2", std::nullopt, "then does not fit"},
                                  {Lever::Kind::hardware, "arithmetic", "+10 %", 6.14, ""},
                                  {Lever::Kind::hardware, "links", "+10 %", 0.01, ""},
                                  {Lever::Kind::constant, "a.b", "+10 %", 1.0, ""},
                                  {Lever::Kind::constant, "c.d", "+10 %", 0.9, ""},
                                  {Lever::Kind::constant, "e.f", "+10 %", 0.8, ""}};
  CHECK(lever_lines(levers) ==
        std::vector<std::string>{"+6.1 %  arithmetic +10 %", "+1.0 %  a.b +10 %", "+0.9 %  c.d +10 %"});
  CHECK(lever_lines({}).empty());
}

TEST_CASE("report uncertainty: assumed constants are told above a tenth of the step, unless an interval tells more") {
  Report report = sample_report();
  CHECK(assumed_line(report).empty());
  report.assumed_pct = 9.9;
  CHECK(assumed_line(report).empty());
  report.assumed_pct = 14.2;
  CHECK(assumed_line(report) == "14.2 % of the step rest on assumed constants: --interval tells how far it may be off");
  CHECK(has(to_text(report), "\n  Assumed      14.2 %"));
  report.interval = interval();
  CHECK(assumed_line(report).empty());
}
