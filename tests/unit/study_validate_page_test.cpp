// Does the page of a validation show every case once, and judge it as the text does?
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "sim/study/validate_page.hpp"

using namespace podsim;

namespace {

ValidatedCase rate(const std::string& id, double measured, double predicted) {
  ValidatedCase one;
  one.id = id;
  one.source = "somewhere";
  one.measured = measured;
  one.predicted = predicted;
  one.error_pct = 100 * (predicted / measured - 1);
  return one;
}

ValidatedCase point(const std::string& id, bool measured, bool predicted) {
  ValidatedCase one;
  one.id = id;
  one.quantity = std::string(k_fits);
  one.measured_fits = measured;
  one.predicted_fits = predicted;
  return one;
}

const PageSection& section(const Page& page, const std::string& title) {
  const auto found = std::ranges::find(page.sections, title, &PageSection::title);
  REQUIRE_MESSAGE(found != page.sections.end(), title);
  return *found;
}

}  // namespace

TEST_CASE("validation page: rates stand against each other with bands, memory points with their judgement") {
  Validation validation;
  validation.cases = {rate("a", 100, 110), rate("b", 200, 190), point("p", true, false)};
  validation.cases[1].fitted = true;
  validation.cases.push_back(rate("s", 1, 1));
  validation.cases.back().skipped_reason = "no such model";
  validation.groups = group_cases(validation.cases);
  const Page page = validation_page(validation);
  const PageSection& rates = section(page, "sequences_per_s");
  REQUIRE(rates.table->rows.size() == 2);
  CHECK(std::get<double>(rates.table->rows[0][3]) == doctest::Approx(10));
  CHECK(std::get<std::string>(rates.table->rows[0][4]) == "held out");
  CHECK(std::get<std::string>(rates.table->rows[1][4]) == "fitted");
  REQUIRE(rates.charts.size() == 2);
  CHECK(std::get<Chart>(rates.charts[0]).bands_pct == std::vector<double>{0, 10, -10});
  CHECK(std::get<Chart>(rates.charts[1]).values == std::vector<std::size_t>{3});
  const PageSection& points = section(page, "Whether it fits");
  CHECK(std::get<std::string>(points.table->rows[0][3]) == "WRONG");
  CHECK(std::get<std::string>(section(page, "Skipped").table->rows[0][1]) == "no such model");
  CHECK(page.facts[0].value == "3 of 4 ran");
  CHECK(page.facts[1].value == "0 of 1 verdicts right");
  CHECK(page.facts[1].tone == Tone::bad);
  // Mean of |10 %| and |-5 %|.
  CHECK(std::get<double>(section(page, "Error by group").table->rows[0][1]) == doctest::Approx(7.5));
}

TEST_CASE("validation page: one case alone has no chart, and a lower bound is named as such") {
  Validation validation;
  validation.cases = {rate("a", 100, 90)};
  validation.cases[0].lower_bound = "host bound";
  const PageSection shown = section(validation_page(validation), "sequences_per_s");
  CHECK(shown.charts.empty());
  CHECK(std::get<std::string>(shown.table->rows[0][4]) == "lower bound, prediction below it");
}
