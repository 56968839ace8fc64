// The verb's machinery, and the shipped tables against the model: this is the accuracy that the program claims.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "models/catalog.hpp"
#include "models/ipu/memory/verdict.hpp"
#include "sim/study/evidence.hpp"
#include "sim/study/validate.hpp"

using namespace podsim;

namespace {

const Validation& shipped() {
  static const Validation validation = [] {
    Diagnostics diagnostics;
    const ConfigFiles configs = ConfigFiles::embedded();
    return validate(shipped_references(configs), make_catalog(), configs, {}, diagnostics);
  }();
  return validation;
}

const ValidatedCase& case_called(const Validation& validation, const std::string& id) {
  const auto found = std::ranges::find(validation.cases, id, &ValidatedCase::id);
  REQUIRE_MESSAGE(found != validation.cases.end(), id);
  return *found;
}

const ValidationGroup& group_called(const std::vector<ValidationGroup>& groups, const std::string& name) {
  const auto found = std::ranges::find(groups, name, &ValidationGroup::name);
  REQUIRE_MESSAGE(found != groups.end(), name);
  return *found;
}

ValidatedCase rate(const std::string& id, double measured, double predicted, bool fitted) {
  ValidatedCase one;
  one.id = id;
  one.source = "somewhere";
  one.measured = measured;
  one.predicted = predicted;
  one.error_pct = 100 * (predicted / measured - 1);
  one.fitted = fitted;
  one.predicted_fits = true;
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

ValidatedCase skipped(const std::string& id, const std::string& reason) {
  ValidatedCase one;
  one.id = id;
  one.measured = 5;
  one.skipped_reason = reason;
  return one;
}

Validation sample() {
  Validation validation;
  validation.cases = {rate("a", 64, 48, true), rate("b", 128, 144, false), point("m", true, true),
                      point("n", false, true), skipped("s", "a reason")};
  validation.cases.push_back(rate("low", 10, 100, false));
  validation.cases.back().lower_bound = "host bound";
  validation.cases[0].defaults = {"rts = false"};
  validation.groups = group_cases(validation.cases);
  return validation;
}

std::string diagnosed(const std::string& text) {
  Diagnostics diagnostics;
  validate({{"t.csv", text}}, make_catalog(), ConfigFiles::embedded(), {}, diagnostics);
  return diagnostics.to_text();
}

}  // namespace

TEST_CASE("validate: the shipped IPU runs are predicted within 2 % on average and 6 % at worst") {
  const ValidationGroup& all = group_called(shipped().groups, "throughput, ipu");
  CHECK(all.cases >= 26);
  CHECK(*group_called(shipped().groups, "throughput, ipu, fitted").mape_pct <= 2.0);
  CHECK(*group_called(shipped().groups, "throughput, ipu, fitted").maximum_pct <= 6.0);
  CHECK(*all.spearman >= 0.99);
  // One host process that feeds 64 IPUs: its pace is the one constant taken from this row.
  CHECK(std::abs(*case_called(shipped(), "perf-c-bertL-ph1-packed-pt-pod64").error_pct) <= 3.0);
}

// Rate of an IPU relative to sixteen of them, measured and predicted. The series of ViT is left out: its run on a POD64
// is published as faster per IPU than that on a POD16, of another release, which no model of an update can give.
TEST_CASE("validate: published scale-out is predicted within 3 points") {
  struct Pair {
    const char* large;
    const char* small;
    double size;
  };
  for (const Pair& pair :
       {Pair{"mlperf-v1.1-bert-pod64-closed-popart-thr", "mlperf-v1.1-bert-pod16-closed-popart-thr", 4},
        Pair{"mlperf-v1.1-bert-pod64-open-popart-thr", "mlperf-v1.1-bert-pod16-open-popart-thr", 4},
        Pair{"mlperf-v2.0-bert-pod128-closed-popart-thr", "mlperf-v2.0-bert-pod16-closed-popart-thr", 8},
        Pair{"perf-a-bertL-ph1-popart-pod64", "perf-a-bertL-ph1-popart-pod16", 4},
        Pair{"perf-c-bertL-ph1-packed-popart-pod64", "perf-c-bertL-ph1-packed-popart-pod16", 4}}) {
    const ValidatedCase& large = case_called(shipped(), pair.large);
    const ValidatedCase& small = case_called(shipped(), pair.small);
    const double measured = *large.measured / *small.measured / pair.size;
    const double predicted = *large.predicted / *small.predicted / pair.size;
    CAPTURE(pair.large);
    CAPTURE(measured);
    CAPTURE(predicted);
    CHECK(std::abs(predicted - measured) <= 0.03);
  }
}

TEST_CASE("validate: every shipped memory point is judged right") {
  const ValidationGroup& points = group_called(shipped().groups, "memory points");
  CHECK(points.cases >= 9);
  CHECK(*points.wrong == 0);
}

TEST_CASE("validate: a case is fitted when a fitted constant that it reads names its id") {
  CHECK(case_called(shipped(), "caraml-gpt2s-pod4-b64").fitted);
  CHECK(case_called(shipped(), "fp-bertL-squad-8ipu").fitted);
  CHECK_FALSE(case_called(shipped(), "hf-bert-base-phase2").fitted);
  for (const ValidatedCase& one : shipped().cases) CHECK_FALSE((one.fitted && !one.lower_bound.empty()));
}

TEST_CASE("validate: a row whose system or model is not known is skipped with the plan's reason") {
  const std::string header =
      "id,hardware,system,model_config,head,sequence_length_or_image,micro_batch,replication,gradient_accumulation,"
      "layers_per_ipu,metric,value\n";
  Diagnostics diagnostics;
  const std::string rows =
      "x,gc200,pod5,bert-base-uncased,pretraining,128,1,1,16,\"[0, 4, 4, 4]\",samples_per_s,9\n"
      "y,gc200,pod4,no-such-model,pretraining,128,1,1,16,\"[0, 4, 4, 4]\",samples_per_s,9\n";
  const Validation validation =
      validate({{"t.csv", header + rows}}, make_catalog(), ConfigFiles::embedded(), {}, diagnostics);
  CHECK(diagnostics.to_text().empty());
  REQUIRE(validation.cases.size() == 2);
  CHECK(validation.cases[0].skipped_reason == "system: no system is called \"pod5\"");
  CHECK(validation.cases[1].skipped_reason == "model.config: no model is called \"no-such-model\"");
  CHECK(validation.groups.empty());
}

TEST_CASE("validate: a table of no known kind is a problem, and so is a text that is no table") {
  CHECK(diagnosed("a,b\n1,2\n") ==
        "t.csv:1:1: the header is of no known table of measurements; expected id, hardware, model_config, micro_batch "
        "and metric with value, or expected\n");
  CHECK(diagnosed("a,a\n") == "t.csv:1:1: there are two columns called \"a\"\n");
}

// Errors of -25 % and +12.5 %: mean of sizes 18.75, mean -6.25; the lower bound is left out.
TEST_CASE("validate: a group has mean, largest and signed error, and points that are right or wrong") {
  const Validation validation = sample();
  const ValidationGroup& all = group_called(validation.groups, "throughput");
  CHECK(all.cases == 2);
  CHECK(*all.mape_pct == doctest::Approx(18.75));
  CHECK(*all.maximum_pct == doctest::Approx(25));
  CHECK(*all.bias_pct == doctest::Approx(-6.25));
  CHECK(*all.spearman == doctest::Approx(1));
  CHECK(group_called(validation.groups, "throughput, fitted").cases == 1);
  CHECK(*group_called(validation.groups, "throughput, held out").maximum_pct == doctest::Approx(12.5));
  const ValidationGroup& points = group_called(validation.groups, "memory points");
  CHECK(*points.right == 1);
  CHECK(*points.wrong == 1);
}

TEST_CASE("validate: a wrong memory point is out of tolerance, a rate only beyond one that was given") {
  Validation rates;
  rates.cases = {rate("a", 100, 90, true)};
  CHECK_FALSE(out_of_tolerance(rates, std::nullopt));
  CHECK_FALSE(out_of_tolerance(rates, 0.11));
  CHECK(out_of_tolerance(rates, 0.09));
  rates.cases[0].lower_bound = "host bound";
  CHECK_FALSE(out_of_tolerance(rates, 0.09));
  Validation points;
  points.cases = {point("m", true, true)};
  CHECK_FALSE(out_of_tolerance(points, 0.0));
  points.cases.push_back(point("n", true, false));
  CHECK(out_of_tolerance(points, std::nullopt));
}

TEST_CASE("validate: the text shows cases, groups, reasons and that defaults were taken") {
  const std::string text = to_text(sample());
  for (const char* part :
       {"-25.0 %  fitted\n", "+12.5 %  held out\n", "\nmemory\n", "  n     does_not_fit       fits  WRONG  held out\n",
        "lower bound\n", "\nSkipped\n     1  a reason (s)\n",
        "\n1 of the cases took defaults for empty cells; --format json names them.\n"}) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, part << "\n" << text);
  }
}

TEST_CASE("validate: the JSON has cases and groups with their keys") {
  const std::string text = to_json(sample());
  for (const char* part :
       {"\"id\": \"a\"", "\"measured\": 64", "\"predicted\": 48", "\"error_pct\": -25", "\"source\": \"somewhere\"",
        "\"fitted\": true", "\"held_out\": true", "\"measured\": \"does_not_fit\"", "\"predicted\": \"fits\"",
        "\"skipped_reason\": \"a reason\"", "\"lower_bound\": \"host bound\"", "\"rts = false\"", "\"groups\": [",
        "\"mape_pct\": 18.75", "\"wrong\": 1"}) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, part << "\n" << text);
  }
}

TEST_CASE("validate: the CSV has a line per case") {
  const std::string text = to_csv(sample());
  CHECK(
      text.starts_with("id,quantity,measured,predicted,error_pct,source,fitted,held_out,lower_bound,skipped_reason,"
                       "defaults\na,sequences_per_s,64,48,-25,somewhere,true,false,,,rts = false\n"));
  CHECK(text.find("n,fits,does_not_fit,fits,,,false,true,,,\n") != std::string::npos);
  CHECK(text.find("s,sequences_per_s,5,,,,false,false,,a reason,\n") != std::string::npos);
}

TEST_CASE("validate: the same tables give the same bytes") {
  Diagnostics diagnostics;
  const ConfigFiles configs = ConfigFiles::embedded();
  const Validation again = validate(shipped_references(configs), make_catalog(), configs, {}, diagnostics);
  CHECK(to_json(again) == to_json(shipped()));
}

// Remedy when it fails: tools/dev/update-evidence, and read what changed.
TEST_CASE("evidence: the shipped table is what the model gives now") {
  CHECK(evidence_table(shipped()) == ConfigFiles::embedded().text(k_evidence_table).value_or(""));
}

// Rounded outwards to whole percent.
TEST_CASE("validate: the note on trainers tells what the averages of trainer runs reached") {
  double lowest = 1e9;
  double highest = 0;
  std::vector<std::string> ids;
  for (const ValidatedCase& one : shipped().cases) {
    if (!one.lower_bound.starts_with("average of a trainer")) continue;
    ids.push_back(one.id);
    lowest = std::min(lowest, 100 * *one.measured / *one.predicted);
    highest = std::max(highest, 100 * *one.measured / *one.predicted);
  }
  CHECK(ids == std::vector<std::string>(ipu::k_trainer_averages.begin(), ipu::k_trainer_averages.end()));
  CHECK(ipu::k_lowest_trainer_pct == static_cast<int>(std::floor(lowest)));
  CHECK(ipu::k_highest_trainer_pct == static_cast<int>(std::ceil(highest)));
}

TEST_CASE("validate: a prediction below a lower bound is marked") {
  Validation validation;
  for (const double predicted : {90.0, 110.0}) {
    ValidatedCase one = rate(predicted < 100 ? "below" : "above", 100, predicted, false);
    one.lower_bound = "an average of a trainer";
    validation.cases.push_back(one);
  }
  CHECK(validation.cases[0].below_bound());
  CHECK_FALSE(validation.cases[1].below_bound());
  const std::string text = to_text(validation);
  CHECK(text.find("BELOW BOUND") != std::string::npos);
  CHECK(text.find("BELOW BOUND", text.find("BELOW BOUND") + 1) == std::string::npos);
}

namespace {

const std::string k_columns =
    "id,hardware,system,model_config,head,software,sequence_length_or_image,micro_batch,replication,"
    "gradient_accumulation,layers_per_ipu,optimizer,metric,value";

std::string gpt2_row(const std::string& id, const std::string& hardware, const std::string& system) {
  return id + "," + hardware + "," + system +
         ",gpt2,causal-lm,poplar-pytorch,1024,1,1,1024,\"[0, 4, 4, 4]\",AdamW,samples_per_s,200\n";
}

Validation validated(const std::string& text) {
  Diagnostics diagnostics;
  return validate({{"t.csv", text}}, make_catalog(), ConfigFiles::embedded(), {}, diagnostics);
}

}  // namespace

TEST_CASE("validate: a column that looks like a known one is warned of") {
  CHECK(diagnosed(k_columns + ",matmul_proprtion,remark\n") ==
        "t.csv:1:1: warning: matmul_proprtion: is no known column and is not read; did you mean "
        "\"matmul_proportion\"?\n");
}

TEST_CASE("validate: an id that stands twice counts once") {
  const Validation twice =
      validated(k_columns + "\n" + gpt2_row("a", "gc200", "pod4") + gpt2_row("a", "gc200", "pod4"));
  REQUIRE(twice.cases.size() == 2);
  CHECK(twice.cases[0].ran());
  CHECK(twice.cases[1].skipped_reason == "its id stands in t.csv:2 already");
}

TEST_CASE("validate: a chip that is not the system's is skipped") {
  const auto reason = [](const std::string& hardware, const std::string& system) {
    return validated(k_columns + "\n" + gpt2_row("a", hardware, system)).cases.front().skipped_reason;
  };
  CHECK(reason("gc200", "bow-pod4") == "hardware \"gc200\" is not the chip of system \"bow-pod4\"");
  CHECK(reason("bow", "gc2-c2") == "hardware \"bow\" is not the chip of system \"gc2-c2\"");
  CHECK(reason("bow", "pod4").empty());
}

TEST_CASE("validate: words that a column does not have are skipped with those it has") {
  const auto reason = [](const std::string& column, const std::string& word) {
    std::string row = gpt2_row("a", "gc200", "pod4");
    row.insert(row.size() - 1, "," + word);
    return validated(k_columns + "," + column + "\n" + row).cases.front().skipped_reason;
  };
  CHECK(reason("recompute", "sometimes").starts_with("recompute \"sometimes\" is not known: pipeline, "));
  CHECK(reason("measured_kind", "guess") ==
        "measured_kind \"guess\" is not known: throughput, trainer-average, microbenchmark");
  CHECK(reason("task", "cooking").starts_with("task \"cooking\" is not known: pretrain, "));
  CHECK(reason("host_bound", "maybe") == "host_bound \"maybe\" is not true or false");
  CHECK(reason("recompute", "none").empty());
}
