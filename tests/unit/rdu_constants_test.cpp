// The shipped constants of RDU systems: complete, consistent, and the values the formulas were fitted with.

#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "sim/config/config_files.hpp"
#include "sim/core/diagnostics.hpp"
#include "tests/support/rdu_scene.hpp"

using namespace podsim;
using namespace podsim::rdu;
using namespace podsim::test;

namespace {

int fitted_rows(const ConstantSet& set, const std::string& name) {
  const Constant& constant = set[*set.find(name)];
  if (constant.confidence != "fitted") return 0;
  std::string source = constant.source;
  for (char& c : source) {
    if (c == ',' || c == ';') c = ' ';
  }
  std::istringstream words(source);
  int rows = 0;
  for (std::string word; words >> word;) {
    if (word.size() == 4 && word[0] == 'V') ++rows;
  }
  return rows;
}

}  // namespace

TEST_CASE("rdu constants: every shipped system is whole and names a shipped chip and software") {
  for (const char* name : {"sn10", "sn20", "sn30", "sn40l-8", "sn40l-16"}) {
    CAPTURE(name);
    const Value document = shipped_toml("systems/" + std::string(name) + ".toml");
    CHECK(document.find("name")->as_string() == name);
    CHECK(document.find("family")->as_string() == "rdu");
    const RduConstants constants = rdu_constants(name);
    CHECK(constants.chip.tiles % constants.chip.dies == 0);
    const bool serving = std::string(name).starts_with("sn40l");
    CHECK(constants.chip.hbm.has_value() == serving);
    CHECK(constants.o1_enabling_flag == (std::string(name) == "sn10" || std::string(name) == "sn20"));
  }
  CHECK(rdu_constants("sn40l-16").system.rdus == 16);
}

TEST_CASE("rdu constants: chips have the memories of their descriptions") {
  CHECK(rdu_constants("sn10").chip.sram() == Bytes(320 * 1024 * 1024));
  CHECK(rdu_constants("sn30").chip.sram() == Bytes(640 * 1024 * 1024));
  const ChipConstants chip = rdu_constants("sn40l-8").chip;
  CHECK(chip.sram() == Bytes(520 * 1024 * 1024));
  CHECK(chip.hbm->capacity == Bytes(std::int64_t{64} << 30));
  CHECK(chip.ddr.capacity == Bytes(std::int64_t{3} << 39));
  CHECK(chip.peak_bf16.in_base() == 638e12);
  // Nothing of SN20 is published but what it is built of.
  const ConstantSet set = rdu_constant_set("sn20");
  CHECK(set[*set.find("chip.peak.bf16")].confidence == "assumed");
  CHECK(rdu_constants("sn20").chip.peak_bf16 == rdu_constants("sn10").chip.peak_bf16);
}

TEST_CASE("rdu constants: values that the operator list was fitted with") {
  const RduConstants constants = rdu_constants("sn30");
  CHECK(constants.section.efficiency == 0.195);
  CHECK(constants.section.tuned_efficiency == 0.26);
  CHECK(constants.section.issue_interval.in_base() == doctest::Approx(1.87e-3));
  CHECK(constants.section.program_load.in_base() == doctest::Approx(0.1e-3));
  CHECK(constants.section.argument_load.in_base() == doctest::Approx(0.03e-3));
  CHECK(constants.section.operators == 16);
  CHECK(constants.section.resident_forward == Bytes(2));
  CHECK(constants.section.resident_backward == Bytes(6));
  CHECK(constants.section.resident_update == Bytes(8));
  CHECK(constants.chip.ddr.bandwidth.in_base() == doctest::Approx(204.8e9));
}

TEST_CASE("rdu constants: fitted ones name the rows they rest on") {
  const ConstantSet set = rdu_constant_set("sn40l-8");
  CHECK(fitted_rows(set, "cost.section.efficiency") == 30);
  CHECK(fitted_rows(set, "cost.section.issue_interval") == 8);
  CHECK(fitted_rows(set, "cost.section.operators") == 7);
  CHECK(fitted_rows(set, "cost.host.profiled_step") == 16);
  CHECK(fitted_rows(set, "cost.serving.layer") == 14);  // and others that are named by length and batch
  CHECK(fitted_rows(set, "cost.isolated.efficiency") == 11);
  for (const std::string& name : set.names()) {
    CAPTURE(name);
    if (set[*set.find(name)].confidence == "fitted") CHECK(fitted_rows(set, name) >= 1);
  }
}

TEST_CASE("rdu constants: values that cannot be are refused with their place") {
  struct Wrong {
    const char* name;
    const char* value;
    const char* told;
  };
  for (const Wrong& wrong : {Wrong{"cost.compile.spread", "0.5",
                                   "cost.compile.spread: makes an interval without its middle; expected 1 or more"},
                             Wrong{"cost.section.retry_factor", "1.25",
                                   "cost.section.retry_factor: lowers nothing; expected a number below 1"}}) {
    ConstantSet set = rdu_constant_set("sn30");
    Diagnostics diagnostics;
    const std::optional<Value> mine = parse_toml(std::string("x = ") + wrong.value, "mine.toml", diagnostics);
    set.override_value(wrong.name, *mine->find("x"), diagnostics);
    REQUIRE(!diagnostics.has_errors());
    ConstantReader reader(set);
    std::string told;
    try {
      read_rdu_constants(reader);
    } catch (const ConfigError& error) {
      told = error.what();
    }
    CHECK(told.find(std::string("mine.toml:1:5: ") + wrong.told) != std::string::npos);
  }
}
