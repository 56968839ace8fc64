#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sim/config/constants.hpp"

using namespace podsim;

namespace {

constexpr std::string_view k_text = R"(name = "a system"
[link]
bandwidth = { value = "64 GB/s", source = "data sheet, page 3", confidence = "datasheet", spread = "60 to 64 GB/s" }
latency = { value = "0.5 us", source = "a measurement", confidence = "measured" }
[chip]
tiles = { value = 1472, source = "s", confidence = "datasheet" }
factor = { value = 0.5, source = "s", confidence = "fitted" }
shift = { value = -2, source = "s", confidence = "fitted" }
memory = { value = "624 KiB", source = "s", confidence = "datasheet" }
topology = { value = "ladder", source = "s", confidence = "datasheet" }
clock = { value = "1.85 GHz", source = "s", confidence = "datasheet" }
peak = { value = "350 TFLOP/s", source = "s", confidence = "datasheet" }
sync = { value = "715 cycles", source = "s", confidence = "measured" }
power = { value = "300 W", source = "s", confidence = "assumed" }
free = { value = 0, source = "s", confidence = "assumed" }
)";

Value toml(std::string_view text) {
  Diagnostics diagnostics;
  const auto value = parse_toml(text, "c.toml", diagnostics);
  REQUIRE_MESSAGE(value.has_value(), diagnostics.to_text());
  return *value;
}

ConstantSet constants() {
  ConstantSet set;
  Diagnostics diagnostics;
  set.add(toml(k_text), "system", {"name"}, diagnostics);
  REQUIRE_MESSAGE(diagnostics.all().empty(), diagnostics.to_text());
  return set;
}

std::string add_problems(std::string_view text) {
  ConstantSet set;
  Diagnostics diagnostics;
  set.add(toml(text), "", {}, diagnostics);
  return diagnostics.to_text();
}

std::string override_problems(std::string_view name, std::string_view text) {
  ConstantSet set = constants();
  Diagnostics diagnostics;
  set.override_value(name, parse_override_value(text, {"command line", 0, 0}), diagnostics);
  return diagnostics.to_text();
}

template <class Read>
std::string thrown(Read read) {
  const ConstantSet set = constants();
  ConstantReader reader(set);
  try {
    read(reader);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("constants: each keeps value, unit, source, confidence, spread and place") {
  const ConstantSet set = constants();
  CHECK(set.size() == 12);
  const auto id = set.find("system.link.bandwidth");
  REQUIRE(id.has_value());
  const Constant& constant = set[*id];
  CHECK(constant.name == "system.link.bandwidth");
  CHECK(constant.text == "64 GB/s");
  CHECK(constant.base_value == 64e9);
  CHECK(constant.dimension == "bandwidth");
  CHECK(constant.source == "data sheet, page 3");
  CHECK(constant.confidence == "datasheet");
  CHECK(constant.spread == "60 to 64 GB/s");
  CHECK(constant.place == Place{"c.toml", 3, 13});
  CHECK(set.find("system.link") == std::nullopt);
  CHECK(set.find("") == std::nullopt);
  CHECK(set.names().front() == "system.link.bandwidth");
  CHECK(set.names().back() == "system.chip.free");
}

TEST_CASE("constants: every name is found, whatever the order of reading") {
  const ConstantSet set = constants();
  for (const std::string& name : set.names()) {
    CAPTURE(name);
    REQUIRE(set.find(name).has_value());
    CHECK(set[*set.find(name)].name == name);
  }
}

TEST_CASE("constants: bad entries are told") {
  CHECK(add_problems("a = 3") ==
        "c.toml:1:1: a: is an integer; expected a constant: { value = …, source = \"…\", confidence = \"…\" }\n");
  CHECK(add_problems("a = { value = 3 }") ==
        "c.toml:1:5: a: has no \"source\"\nc.toml:1:5: a: has no \"confidence\"\n");
  CHECK(add_problems("a = { value = 3, source = 1, confidence = 'measured' }") ==
        "c.toml:1:27: a.source: is an integer; expected a string\n");
  CHECK(add_problems("a = { value = 3, source = 's', confidence = 'mesured' }") ==
        "c.toml:1:45: a.confidence: unknown confidence \"mesured\"; expected datasheet, measured, derived, fitted, "
        "assumed, user; did you mean \"measured\"?\n");
  CHECK(add_problems("a = { value = 3, source = 's', confidence = 'fitted', sprad = 'x' }") ==
        "c.toml:1:55: a.sprad: unknown key; did you mean \"spread\"?\n");
  CHECK(add_problems("a = { value = '3 parsecs', source = 's', confidence = 'fitted' }") ==
        "c.toml:1:15: a: unknown unit \"parsecs\"; expected a number or a text with a unit\n");
  CHECK(add_problems("a = { value = [1], source = 's', confidence = 'fitted' }") ==
        "c.toml:1:15: a: is a list; expected a number or a text with a unit\n");
}

TEST_CASE("constants: one that is defined twice is an error") {
  ConstantSet set = constants();
  Diagnostics diagnostics;
  set.add(toml("[link]\nlatency = { value = '1 s', source = 's', confidence = 'fitted' }"), "system", {}, diagnostics);
  CHECK(diagnostics.to_text() == "c.toml:2:1: system.link.latency: defined twice, first in c.toml:4\n");
  CHECK(set[*set.find("system.link.latency")].text == "0.5 us");
}

TEST_CASE("constants: an override replaces the value and is marked as the user's") {
  ConstantSet set = constants();
  Diagnostics diagnostics;
  set.override_value("system.link.bandwidth", parse_override_value("32 GB/s", {"command line", 0, 0}), diagnostics);
  const Constant& constant = set[*set.find("system.link.bandwidth")];
  CHECK(diagnostics.all().empty());
  CHECK(constant.base_value == 32e9);
  CHECK(constant.text == "32 GB/s");
  CHECK(constant.confidence == "user");
  CHECK(constant.source == "command line");
  CHECK(constant.spread.empty());
  set.override_value("system.chip.factor", toml("x = { value = 0.25 }").members()[0].value, diagnostics);
  CHECK(set[*set.find("system.chip.factor")].base_value == 0.25);
  set.override_value("system.chip.topology", parse_override_value("ring", {"command line", 0, 0}), diagnostics);
  CHECK(set[*set.find("system.chip.topology")].text == "ring");
  set.override_value("system.chip.shift", parse_override_value("-3", {"command line", 0, 0}), diagnostics);
  CHECK(set[*set.find("system.chip.shift")].base_value == -3);
  CHECK(diagnostics.all().empty());
}

TEST_CASE("constants: overrides that cannot be are told and change nothing") {
  CHECK(override_problems("system.link.bandwith", "1 GB/s") ==
        "command line: system.link.bandwith: unknown constant; did you mean \"system.link.bandwidth\"?\n");
  CHECK(override_problems("system.link.bandwidth", "3 ms") ==
        "command line: system.link.bandwidth: \"3 ms\" has dimension time; expected bandwidth, such as \"64 GB/s\"\n");
  CHECK(override_problems("system.link.bandwidth", "32") ==
        "command line: system.link.bandwidth: 32 has no unit; expected bandwidth, such as \"64 GB/s\"\n");
  CHECK(override_problems("system.link.bandwidth", "0") ==
        "command line: system.link.bandwidth: 0 is not positive; expected a positive value, such as 64 GB/s\n");
  CHECK(override_problems("system.chip.tiles", "-1") ==
        "command line: system.chip.tiles: -1 is not positive; expected a positive value, such as 1472\n");
  CHECK(override_problems("system.chip.tiles", "true") ==
        "command line: system.chip.tiles: is a boolean; expected a number or a text with a unit\n");
  CHECK(override_problems("system.chip.tiles", "{ x = 1 }") == "command line: system.chip.tiles: has no \"value\"\n");
  CHECK(override_problems("system.chip.topology", "0") ==
        "command line: system.chip.topology: \"0\" has dimension number; expected text, such as \"ladder\"\n");
}

TEST_CASE("constant reader: reads in the type of each dimension and remembers what was read") {
  const ConstantSet set = constants();
  ConstantReader reader(set);
  CHECK(reader.has("system.chip.sync"));
  CHECK_FALSE(reader.has("system.chip.absent"));
  CHECK(reader.read_ids().empty());
  CHECK(reader.cycle_count("system.chip.sync").in_base() == 715);
  CHECK(reader.bandwidth("system.link.bandwidth").in_base() == 64e9);
  CHECK(reader.read_ids() ==
        std::vector<ConstantId>{*set.find("system.link.bandwidth"), *set.find("system.chip.sync")});
  CHECK(reader.time("system.link.latency").in_base() == 0.5e-6);
  CHECK(reader.count("system.chip.tiles") == 1472);
  CHECK(reader.number("system.chip.factor") == 0.5);
  CHECK(reader.data("system.chip.memory") == Bytes(624 * 1024));
  CHECK(reader.text("system.chip.topology") == "ladder");
  CHECK(reader.clock("system.chip.clock").in_base() == 1.85e9);
  CHECK(reader.flop_rate("system.chip.peak").in_base() == 350e12);
  CHECK(reader.power("system.chip.power").in_base() == 300);
  CHECK(reader.time("system.chip.free").in_base() == 0);
  CHECK(reader.read_ids().size() == 11);
}

TEST_CASE("constant reader: what is missing or of another kind throws with its name") {
  CHECK(thrown([](ConstantReader& r) { r.time("system.x"); }) ==
        "system.x: a constant that is needed is missing; expected a time\n");
  CHECK(thrown([](ConstantReader& r) { r.time("system.link.bandwidth"); }) ==
        "c.toml:3:13: system.link.bandwidth: \"64 GB/s\" has dimension bandwidth; expected time\n");
  CHECK(thrown([](ConstantReader& r) { r.count("system.chip.factor"); }) ==
        "c.toml:7:10: system.chip.factor: 0.5 is not a whole number; expected an integer\n");
  CHECK(thrown([](ConstantReader& r) { r.text("system.chip.free"); }) ==
        "c.toml:15:8: system.chip.free: \"0\" has dimension number; expected text\n");
  ConstantSet set;
  Diagnostics diagnostics;
  set.add(toml("half = { value = '0.5 B', source = 's', confidence = 'fitted' }"), "", {}, diagnostics);
  ConstantReader reader(set);
  CHECK_THROWS_WITH_AS(reader.data("half"), "c.toml:1:8: half: \"0.5 B\" is not a whole number of bytes\n",
                       ConfigError);
}
