// Rows of single operators, and how near the model is to the shipped ones: the accuracy that it claims.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "models/catalog.hpp"
#include "models/ipu/operators/operator_case.hpp"
#include "sim/study/validate.hpp"

using namespace podsim;

namespace {

using Cells = std::map<std::string, std::string, std::less<>>;

Cells convolution_cells() {
  return {{"target", "gc200"},
          {"name", "layer"},
          {"kind", "conv_fwd_bwd_wu"},
          {"passes", "3"},
          {"batch", "4"},
          {"groups", "32"},
          {"in_channels", "2"},
          {"out_channels", "4"},
          {"field_h", "28"},
          {"field_w", "29"},
          {"kernel_h", "3"},
          {"kernel_w", "1"},
          {"stride", "2"},
          {"pad_lower", "1x0"},
          {"pad_upper", "0x0"},
          {"tiles", "1472"},
          {"dtype", "half"},
          {"partials", "float"},
          {"source", "a file"},
          {"memory_proportion", "0.6"},
          {"reference_cycles", "12345"},
          {"reference_total_bytes", "678"}};
}

PublishedCase case_of(const Cells& cells) {
  return ipu::read_operator_case({"t.csv", 7, cells});
}

Cells changed(Cells cells, const std::string& column, const std::string& text) {
  cells[column] = text;
  return cells;
}

std::string text_of(const Cells& cells) {
  const PublishedCase one = case_of(cells);
  const auto* operation = std::get_if<OperatorCase>(&one.content);
  return operation != nullptr ? operation->text : "skipped: " + std::get<SkippedCase>(one.content).reason;
}

const ValidationGroup& shipped_group(const std::string& name) {
  static const Validation validation = [] {
    Diagnostics diagnostics;
    const ConfigFiles configs = ConfigFiles::embedded();
    const std::string path = "references/ipu-operators.csv";
    return validate({{path, configs.text(path).value()}}, make_catalog(), configs, {}, diagnostics);
  }();
  const auto found = std::ranges::find(validation.groups, name, &ValidationGroup::name);
  REQUIRE_MESSAGE(found != validation.groups.end(), name);
  return *found;
}

double mape(const std::string& name) {
  return shipped_group(name).mape_pct.value();
}

}  // namespace

TEST_CASE("operator cases: a row is an operator as text, its machine and its figures") {
  const PublishedCase one = case_of(convolution_cells());
  CHECK(one.id == "gc200-layer");
  CHECK(one.source == "a file");
  CHECK(one.quantity == "cycles");
  CHECK(one.measured == 12345);
  REQUIRE(one.further.size() == 1);
  CHECK(one.further[0].quantity == "bytes");
  CHECK(one.further[0].measured == 678);
  CHECK(one.group == "gc200 conv, grouped");
  const auto& content = std::get<OperatorCase>(one.content);
  CHECK(content.text == "conv 4x64x28x29 -> 128 k3x1 s2 p1x0:0x0 g32 training tiles1472");
  CHECK(content.machine.document.find("system")->as_string() == "pod4");
  CHECK(content.machine.document.find("workload.precision")->as_string() == "fp16.32");
  CHECK(content.machine.document.find("ipu.matmul_proportion")->as_number() == 0.6);
}

TEST_CASE("operator cases: every kind has its text") {
  const Cells base = convolution_cells();
  const auto row = [&](const std::string& kind, const Cells& own) {
    Cells cells = {{"target", "gc2"}, {"name", "x"}, {"kind", kind}, {"dtype", "half"}, {"reference_cycles", "9"}};
    cells.insert(own.begin(), own.end());
    return text_of(cells);
  };
  const Cells product = {{"m", "384"}, {"k", "64"}, {"n", "100"}, {"groups", "16"}};
  CHECK(row("dense", product) == "dense 384x64x100 training");
  CHECK(row("grouped_matmul", product) == "attention 16x384x64x100 training");
  CHECK(row("matmul", product) == "matmul 384x64x100");
  CHECK(row("embedding", {{"table_rows", "1000"}, {"table_width", "200"}, {"indices", "99"}, {"passes", "2"}}) ==
        "embedding 1000x200 n99 training");
  CHECK(
      row("gru", {{"batch", "8"}, {"in_channels", "16"}, {"out_channels", "32"}, {"seq_len", "5"}, {"passes", "1"}}) ==
      "gru 8x16 -> 32 t5 inference");
  CHECK(row("reduce", {{"shape", "4x3136x8"}, {"reduce_dims", "1"}, {"operation", "SQUARE_ADD"}}) ==
        "reduce 4x3136x8 over1 square-add");
  CHECK(text_of(changed(base, "kind", "oct_conv_fwd_bwd_wu")) ==
        "skipped: groups of an octave convolution are not modelled");
  CHECK(text_of(changed(changed(base, "kind", "pool"), "passes", "2")) ==
        "pool 4x2x28x29 k3x1 s2 p1x0:0x0 training tiles1472");
}

TEST_CASE("operator cases: rows that cannot be compared say why") {
  const auto reason = [](const std::string& column, const std::string& text) {
    return text_of(changed(convolution_cells(), column, text));
  };
  CHECK(reason("target", "gc3") == "skipped: target \"gc3\" is not known");
  CHECK(reason("target", "") == "skipped: target is not given");
  CHECK(reason("kind", "cholesky") ==
        "skipped: cholesky is not modelled: a factorisation by blocks that depend on each other");
  CHECK(reason("kind", "triangular_solve") ==
        "skipped: triangular_solve is not modelled: a substitution by blocks that depend on each other");
  CHECK(reason("kind", "ctc_loss") ==
        "skipped: ctc_loss is not modelled: a recurrence over the labels, without passes over the matrix units");
  CHECK(reason("kind", "sort").find("skipped: kind \"sort\" is not known: conv_fwd_bwd_wu, ") == 0);
  CHECK(reason("reference_cycles", "") == "skipped: reference_cycles is not given");
  CHECK(reason("batch", "x") == "skipped: batch \"x\" is not a whole number from 1");
  CHECK(reason("passes", "2") == "skipped: passes 2 are neither 1 nor 3");
  CHECK(reason("dtype", "int") == "skipped: dtype \"int\" with partials \"float\" is not known");
  CHECK(text_of(changed(changed(changed(convolution_cells(), "kind", "pool"), "operation", "AVG"), "passes", "2")) ==
        "skipped: operation AVG of pooling is not modelled");
  CHECK(text_of(changed(changed(convolution_cells(), "kind", "reduce"), "operation", "LOG_ADD")) ==
        "skipped: operation LOG_ADD of a reduction is not modelled");
}

TEST_CASE("operator cases: what the text does not take is the reason of the case") {
  Diagnostics diagnostics;
  const std::string table =
      "target,name,kind,m,k,n,tiles,reference_cycles\n"
      "gc200,a,dense,8,8,8,1473,99\n"
      "gc200,b,dense,8,8,900000000,,99\n";
  const Validation validation = validate({{"t.csv", table}}, make_catalog(), ConfigFiles::embedded(), {}, diagnostics);
  REQUIRE(validation.cases.size() == 2);
  CHECK(validation.cases[0].skipped_reason == "tiles: is 1473, more than the chip has");
  CHECK(validation.cases[1].skipped_reason == "dense: \"8x8x900000000\" is not rows x inputs x outputs");
}

TEST_CASE("operator cases: the model is as near to the shipped rows as it claims, on the GC200") {
  CHECK(mape("cycles, gc200 conv, ungrouped") < 3.5);
  CHECK(mape("cycles, gc200 conv, depthwise") < 18.2);
  CHECK(mape("cycles, gc200 octave conv") < 8.5);
  CHECK(mape("cycles, gc200 dense, large") < 2.0);
  CHECK(mape("cycles, gc200 dense, small") < 12.5);
  CHECK(mape("cycles, gc200 grouped matmul") < 2.5);
  CHECK(mape("cycles, gc200 matmul") < 1.8);
  CHECK(mape("cycles, gc200 embedding") < 4.2);
  CHECK(mape("cycles, gc200 lstm") < 5.4);
  CHECK(mape("cycles, gc200 gru") < 6.4);
  CHECK(mape("cycles, gc200 pooling") < 1.8);
  CHECK(mape("cycles, gc200 reduction") < 1.2);
}

TEST_CASE("operator cases: the model is as near to the shipped rows as it claims, on the GC2") {
  CHECK(mape("cycles, gc2 conv, ungrouped") < 4.9);
  CHECK(mape("cycles, gc2 conv, depthwise") < 23.5);
  CHECK(mape("cycles, gc2 octave conv") < 9.2);
  CHECK(mape("cycles, gc2 dense, large") < 2.8);
  CHECK(mape("cycles, gc2 dense, small") < 11.5);
  CHECK(mape("cycles, gc2 grouped matmul") < 1.2);
  CHECK(mape("cycles, gc2 matmul") < 6.2);
  CHECK(mape("cycles, gc2 embedding") < 3.1);
  CHECK(mape("cycles, gc2 lstm") < 3.7);
  CHECK(mape("cycles, gc2 gru") < 2.9);
  CHECK(mape("cycles, gc2 pooling") < 5.8);
  CHECK(mape("cycles, gc2 reduction") < 1.4);
}

TEST_CASE("operator cases: bytes are within a fifth, of depthwise convolutions within a third") {
  for (const std::string chip : {"gc2", "gc200"}) {
    for (const char* kind : {"conv, ungrouped", "octave conv", "dense, large", "grouped matmul", "matmul", "embedding",
                             "lstm", "gru", "pooling", "reduction"}) {
      CAPTURE(kind);
      CHECK(mape("bytes, " + chip + " " + kind) < 16);
    }
    CHECK(mape("bytes, " + chip + " conv, depthwise") < 33);
    CHECK(mape("bytes, " + chip + " dense, small") < 22);
  }
}
