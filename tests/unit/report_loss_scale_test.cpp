// Does a report say what the loss scale does, in every format?
#include <doctest/doctest.h>

#include <string>

#include "sim/config/value.hpp"
#include "sim/report/loss_scale_text.hpp"
#include "sim/report/make_report.hpp"
#include "tests/support/sample_report.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

Report report_with(const LossScaleOutlook& outlook) {
  Report report = sample_report();
  add_loss_scale(outlook, report);
  return report;
}

std::string all_paragraphs(const LossScaleOutlook& outlook) {
  std::string text;
  for (const std::string& paragraph : loss_scale_paragraphs(report_with(outlook))) text += paragraph + "\n";
  return text;
}

}  // namespace

TEST_CASE("report: effective throughput leaves out updates that are skipped or clipped") {
  const Report report = report_with(sample_loss_scale());
  CHECK(report.throughput->effective_samples_per_s == doctest::Approx(5120 * (1 - 0.02 - 0.03)));
  LossScaleOutlook clean = sample_loss_scale();
  clean.skipped_share = 0;
  clean.saturated_share = 0;
  CHECK(report_with(clean).throughput->effective_samples_per_s == report.throughput->samples_per_s);
  clean.ended_update = 24;
  CHECK(report_with(clean).throughput->effective_samples_per_s == 0);
  CHECK(all_paragraphs(clean).find("1,000 updates followed, the first overflow in update 10; training ends in update "
                                   "24\n") != std::string::npos);
  CHECK_FALSE(sample_report().throughput->effective_samples_per_s);
  Report check = sample_check_that_does_not_fit();
  add_loss_scale(clean, check);
  CHECK(check.loss_scaling);
  CHECK_FALSE(check.throughput);
}

TEST_CASE("json report: the loss scale has its scales, shares, window and verdict, infinite is null") {
  const auto parsed = [](const Report& report) {
    Diagnostics diagnostics;
    return parse_json(to_json(report), "report.json", diagnostics)->find("loss_scaling")->members();
  };
  LossScaleOutlook outlook = sample_loss_scale();
  std::string keys;
  for (const Value::Member& member : parsed(report_with(outlook))) keys += member.key + " ";
  CHECK(keys ==
        "scheme experimental verdict number_format overflow initial_scale initial_origin reached_scale limit_cycle "
        "updates ramp_updates first_overflow_update ended_update last_updates skipped_updates_pct "
        "saturated_updates_pct flushed_values_pct subnormal_values_pct recommended_window limiting_tensor notes ");
  const std::string text = to_json(report_with(outlook));
  for (const char* part : {"\"scheme\": \"halving\"", "\"verdict\": \"holds\"", "\"reached_scale\": 1024",
                           "\"low_scale\": 1024", "\"high_scale\": 2048", "\"skipped_updates_pct\": 2",
                           "\"flushed_values_pct\": 12.5", "\"low_log2\": 3", "\"high_tensor\": \"large\""}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
  outlook.reached_scale.reset();
  outlook.limit_cycle.reset();
  outlook.window.reset();
  const std::string infinite = to_json(report_with(outlook));
  for (const char* part : {"\"reached_scale\": null", "\"limit_cycle\": null", "\"recommended_window\": null"}) {
    CAPTURE(part);
    CHECK(infinite.find(part) != std::string::npos);
  }
}

TEST_CASE("text report: the head has the scale and its verdict, a section the shares") {
  LossScaleOutlook outlook = sample_loss_scale();
  CHECK(loss_scale_headline(std::nullopt).empty());
  CHECK(loss_scale_headline(outlook) ==
        "halving (experimental) from 2^2 to a cycle of 2^10 and 2^11; holds; recommended constant 2^3 to 2^12");
  CHECK(all_paragraphs(outlook) ==
        "float16 gradients, overflow: infinity; 12.5 % of their non-zero values flush, 50.0 % are subnormal\n"
        "1,000 updates followed, the first overflow in update 10; of the last 500: 2.0 % skipped, 3.0 % applied with "
        "clipped values\n"
        "effective throughput at least 4,864 samples/s: of updates neither skipped nor clipped; clipped ones are "
        "applied\n"
        "recommended constant 2^3 to 2^12 (small flushes below, large overflows above)\n"
        "large has the most large values at the scales used\n"
        "it is a sample\n");
  CHECK(to_text(report_with(outlook)).find("\nLoss scale\n  float16 gradients") != std::string::npos);
}

TEST_CASE("text report: headlines of scales that rest, run away, were not stated or are not needed") {
  LossScaleOutlook outlook = sample_loss_scale();
  outlook.experimental = false;
  outlook.limit_cycle.reset();
  const auto headline = [&outlook] { return loss_scale_headline(outlook); };
  CHECK(headline() == "halving from 2^2 to 2^10; holds; recommended constant 2^3 to 2^12");
  outlook.reached_scale.reset();
  outlook.verdict = ScaleVerdict::runaway;
  CHECK(headline() == "halving from 2^2 to infinity; runaway; recommended constant 2^3 to 2^12");
  outlook.reached_scale = 4;
  outlook.verdict = ScaleVerdict::flushes;
  CHECK(headline() == "halving 2^2; flushes; recommended constant 2^3 to 2^12");
  outlook.verdict = ScaleVerdict::overflows;
  outlook.window = ScaleWindow{9, -5, "small", "large"};
  CHECK(headline() == "halving 2^2; overflows; no constant scale would do");
  CHECK(all_paragraphs(outlook).find("no constant scale would do: small needs at least 2^9, large at most 2^-5\n") !=
        std::string::npos);
  outlook.window = ScaleWindow{3, 12, "small", ""};
  outlook.verdict = ScaleVerdict::holds;
  outlook.reached_scale = 0x1p18;
  CHECK(headline() == "halving from 2^2 to 2^18; holds, outside the recommended window (constant 2^3 to 2^12)");
  outlook.cost_left_out = "not modelled";
  CHECK(headline() ==
        "halving from 2^2 to 2^18; holds, outside the recommended window (constant 2^3 to 2^12); its cost is not "
        "modelled");
  outlook.cost_left_out.clear();
  outlook.reached_scale = 4;
  outlook.initial_origin = "default: the middle of the recommended window";
  CHECK(headline() == "halving, not stated: 2^2 in the middle of the recommended 2^3 to 2^12; holds");
  CHECK(all_paragraphs(outlook).find("nothing overflows above") != std::string::npos);
  outlook.window.reset();
  outlook.number_format = "bfloat16";
  outlook.flushed_share = 1e-20;
  CHECK(headline() == "halving: bfloat16 gradients need no loss scale");
  CHECK(all_paragraphs(outlook).find("practically 0 % of their non-zero values flush") != std::string::npos);
}
