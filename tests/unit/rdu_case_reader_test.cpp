// Rows of published RDU measurements as experiments, and the shipped table against the model.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "models/catalog.hpp"
#include "models/rdu/case_reader.hpp"
#include "sim/study/validate.hpp"

using namespace podsim;

namespace {

CaseRow row_with(const std::map<std::string, std::string>& changes) {
  CaseRow row{"t.csv", 2, {}};
  const std::map<std::string, std::string> cells = {{"id", "one"},       {"hardware", "sn30"},
                                                    {"rdus", "0.5"},     {"model_config", "gpt2-h1600-l1"},
                                                    {"layers", "1"},     {"metric", "rdu_latency_s"},
                                                    {"value", "0.3"},    {"mode", "training"},
                                                    {"seq_len", "1024"}, {"batch", "16"},
                                                    {"opt_mode", "o3"},  {"tiles", "4"},
                                                    {"profiled", "true"}};
  for (const auto& [column, cell] : cells) row.cells[column] = cell;
  for (const auto& [column, cell] : changes) row.cells[column] = cell;
  return row;
}

PublishedCase read(const std::map<std::string, std::string>& changes) {
  return rdu::RduCaseReader().read(row_with(changes)).front();
}

std::string reason(const std::map<std::string, std::string>& changes) {
  const PublishedCase one = read(changes);
  const auto* skipped = std::get_if<SkippedCase>(&one.content);
  return skipped == nullptr ? "" : skipped->reason;
}

const Validation& shipped() {
  static const Validation validation = [] {
    Diagnostics diagnostics;
    const ConfigFiles configs = ConfigFiles::embedded();
    const std::string file = "references/rdu-runs.csv";
    return validate({{file, configs.text(file).value_or("")}}, make_catalog(), configs, {}, diagnostics);
  }();
  return validation;
}

// Mean of |error| over the shipped cases that `belongs` accepts and that count.
template <class Belongs>
double mape(Belongs belongs) {
  double sum = 0;
  int cases = 0;
  for (const ValidatedCase& one : shipped().cases) {
    if (!one.counts() || !one.error_pct || !belongs(one)) continue;
    sum += std::abs(*one.error_pct);
    ++cases;
  }
  REQUIRE(cases > 0);
  return sum / cases;
}

std::string feature(const ValidatedCase& one, const std::string& name) {
  const auto found = std::ranges::find(one.features, name, &CaseFeature::name);
  return found == one.features.end() ? "" : found->text;
}

}  // namespace

TEST_CASE("rdu rows: a row becomes a command and its workload") {
  const PublishedCase one = read({});
  REQUIRE(std::holds_alternative<Experiment>(one.content));
  const Value& document = std::get<Experiment>(one.content).document;
  CHECK(one.quantity == "rdu_latency_s");
  CHECK(document.find("rdu.compile")->as_string() == "python app.py compile -b 16 --pef-name=app -o3 --num-tiles 4");
  CHECK(document.find("rdu.host_model")->as_string() == "profiled");
  CHECK(document.find("model.num_hidden_layers")->as_integer() == 1);
  CHECK(read({{"exclude_reason", "odd"}}).excluded == "odd");
  CHECK(read({{"speculative_decoding", "true"}}).excluded == "speculative decoding, which is not modelled");
}

TEST_CASE("rdu rows: a row that cannot be run says why") {
  CHECK(reason({{"metric", "speedup"}}) == "metric speedup is not compared");
  CHECK(reason({{"hardware", "sn50"}}) == "hardware \"sn50\" is not known");
  CHECK(reason({{"mode", "tuning"}}) == "mode \"tuning\" is not known");
  CHECK(reason({{"model_config", ""}}) == "model_config is not given");
  CHECK(reason({{"seq_len", ""}}) == "seq_len is not given");
  CHECK(reason({{"id", ""}}) == "id is not given");
}

TEST_CASE("rdu rows: a row beyond simulated time gives its reason, and the others of its table run") {
  const std::string header =
      "id,hardware,rdus,model_config,hidden_size,layers,heads,ffn,mode,seq_len,batch,opt_mode,tiles,metric,value\n";
  const std::string table = header +
                            "vast,sn30,0.5,gpt2-wide,12800,96,25,51200,training,1024,10000000,o0,4,step_latency_s,4.4\n"
                            "usual,sn30,0.5,gpt2,768,12,12,3072,training,1024,16,o0,4,step_latency_s,4.4\n";
  Diagnostics diagnostics;
  const Validation result = validate({{"t.csv", table}}, make_catalog(), ConfigFiles::embedded(), {}, diagnostics);
  CAPTURE(diagnostics.to_text());
  REQUIRE(result.cases.size() == 2);
  CHECK(result.cases[0].skipped_reason == "cannot be simulated: a time of more than 106 days");
  CHECK(result.cases[1].skipped_reason == "");
}

TEST_CASE("rdu rows: the shipped device times are predicted within 4 %, section counts within one or 4 %") {
  const auto device = [](const char* level) {
    return mape([level](const ValidatedCase& one) {
      return one.quantity == "rdu_latency_s" && feature(one, "level") == level;
    });
  };
  CHECK(device("o0") <= 4.0);
  CHECK(device("o3") <= 4.0);
  for (const ValidatedCase& one : shipped().cases) {
    if (one.quantity != "total_sections" || !one.ran()) continue;
    CAPTURE(one.id);
    CHECK(std::abs(*one.predicted - *one.measured) <= std::max(1.0, 0.04 * *one.measured));
  }
}

TEST_CASE("rdu rows: serving is predicted within 4 % at batch 1, beyond within 8 % at three lengths and 11 % at five") {
  const auto serving = [](bool single, bool three_lengths) {
    return mape([=](const ValidatedCase& one) {
      const bool rate = one.quantity == "total_tokens_per_s" && feature(one, "execution") == "fused";
      const bool llama2 = one.id.starts_with("V25") || one.id.starts_with("lib-llama-2");
      if (!rate || llama2 || (three_lengths && !one.id.starts_with("V"))) return false;
      return (feature(one, "batch") == "1") == single;
    });
  };
  CHECK(serving(true, true) <= 4.0);
  CHECK(serving(true, false) <= 4.0);
  CHECK(serving(false, true) <= 8.0);
  CHECK(serving(false, false) <= 11.0);
}

TEST_CASE("rdu rows: of an endpoint the static length is the longest context, of the older one the only one") {
  const std::map<std::string, std::string> request = {
      {"hardware", "sn40l"},          {"rdus", "8"},           {"mode", "generation"},
      {"model_config", "llama-3-8b"}, {"input_tokens", "128"}, {"output_tokens", "128"},
      {"opt_mode", "fused+HO"},       {"layers", ""},          {"static_seq_length", "8192"}};
  const PublishedCase current = read(request);
  const Value& document = std::get<Experiment>(current.content).document;
  CHECK(document.find("rdu.longest_context")->as_integer() == 8192);
  CHECK(document.find("rdu.static_sequence_length") == nullptr);
  std::map<std::string, std::string> older = request;
  older["model_config"] = "llama-2-7b";
  older["static_seq_length"] = "4096";
  const PublishedCase legacy = read(older);
  CHECK(std::get<Experiment>(legacy.content).document.find("rdu.static_sequence_length")->as_integer() == 4096);
}

TEST_CASE("rdu rows: a micro-benchmark becomes an operator of its size, or says that none is listed") {
  const std::map<std::string, std::string> alone = {{"hardware", "sn10"}, {"rdus", "1"},
                                                    {"model_config", ""}, {"mode", "microbenchmark"},
                                                    {"gemm_size", "512"}, {"metric", "achieved_tflops"}};
  const PublishedCase one = read(alone);
  const Value& document = std::get<Experiment>(one.content).document;
  CHECK(one.quantity == "achieved_tflops");
  CHECK(document.find("model.config")->as_string() == "matmul");
  CHECK(document.find("model.inner")->as_integer() == 512);
  std::map<std::string, std::string> bin = alone;
  bin["gemm_size"] = "";
  CHECK(reason(bin) == "the operators are not listed");
  bin["elements"] = "316227.77";
  CHECK(std::get<Experiment>(read(bin).content).document.find("model.elements")->as_integer() == 316228);
}

TEST_CASE("rdu rows: heads that do not divide the width give way to the next number that does") {
  const auto heads = [](const std::string& recorded) {
    const PublishedCase one = read({{"hidden_size", "480"}, {"heads", recorded}});
    return std::get<Experiment>(one.content).document.find("model.num_attention_heads")->as_integer();
  };
  CHECK(heads("25") == 24);
  CHECK(heads("12") == 12);
  const PublishedCase odd = read({{"hidden_size", "480"}, {"heads", "25"}});
  CHECK(std::ranges::count(odd.defaults, "heads = 24, since 25 do not divide the width") == 1);
}

TEST_CASE("rdu rows: a U-Net row becomes images of its size") {
  const PublishedCase one = read({{"model_config", "unet2d"},
                                  {"layers", ""},
                                  {"seq_len", ""},
                                  {"image_size", "512"},
                                  {"init_features", "16"},
                                  {"metric", "e2e_samples_per_s"}});
  const Value& document = std::get<Experiment>(one.content).document;
  CHECK(one.quantity == "images_per_s");
  CHECK(document.find("workload.image_size")->as_integer() == 512);
  CHECK(document.find("model.init_features")->as_integer() == 16);
  CHECK(document.find("model.config")->as_string() == "unet");
}

TEST_CASE("rdu rows: host, step and rate of the profiled runs stay within the bands") {
  for (const ValidatedCase& one : shipped().cases) {
    if (!one.counts() || !one.ran() || feature(one, "mode") != "training" || feature(one, "model") != "gpt2") continue;
    CAPTURE(one.id);
    if (one.quantity == "host_latency_s") CHECK(std::abs(*one.error_pct) <= 10.0);
    if (one.quantity == "step_s" || one.is_rate()) CHECK(std::abs(*one.error_pct) <= 9.0);
  }
}
