#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include "models/ipu/constants.hpp"
#include "sim/config/config_files.hpp"
#include "sim/core/check.hpp"
#include "tests/support/ipu_constants.hpp"

using namespace podsim;
using namespace podsim::ipu;

namespace {

Value shipped(const std::string& path) {
  const ConfigFiles files = ConfigFiles::embedded();
  Diagnostics diagnostics;
  const std::optional<std::string> text = files.text(path);
  REQUIRE(text.has_value());
  const std::optional<Value> document = parse_toml(*text, files.display_name(path), diagnostics);
  INFO(diagnostics.to_text());
  REQUIRE(document.has_value());
  return *document;
}

ConstantSet shipped_constants(const std::string& chip, const std::string& system, const std::string& software) {
  ConstantSet set;
  Diagnostics diagnostics;
  const std::vector<std::string> skip = {"name", "family", "chip", "software", "prefix", "optional"};
  set.add(shipped("chips/" + chip + ".toml"), "chip", skip, diagnostics);
  set.add(shipped("systems/" + system + ".toml"), "system", skip, diagnostics);
  set.add(shipped("software/" + software + ".toml"), "software", skip, diagnostics);
  for (const char* path : {"ipu-loss-scaling", "ipu-memory", "ipu-system", "ipu-transformer-cost"}) {
    const Value document = shipped("constants/" + std::string(path) + ".toml");
    set.add(document, document.find("prefix")->as_string(), skip, diagnostics);
  }
  INFO(diagnostics.to_text());
  REQUIRE(!diagnostics.has_errors());
  return set;
}

// The run ids in the source of a fitted constant.
std::set<std::string> fitted_rows(const ConstantSet& set, const std::string& name) {
  std::string source = set[*set.find(name)].source;
  for (char& c : source) {
    if (c == ',') c = ' ';
  }
  std::istringstream words(source);
  std::set<std::string> rows;
  for (std::string word; words >> word;) {
    if (word.find('-') != std::string::npos) rows.insert(word);
  }
  return rows;
}

}  // namespace

TEST_CASE("ipu constants: the shipped cost constants are those the formulas were tested with") {
  const ConstantSet set = shipped_constants("gc200", "pod16", "poplar-pytorch");
  ConstantReader reader(set);
  const CostConstants cost = read_cost_constants(reader);
  const CostConstants expected = test::transformer_cost();
  CHECK(cost.pass == expected.pass);
  CHECK(cost.pass_exchange == expected.pass_exchange);
  CHECK(cost.launch == expected.launch);
  CHECK(cost.launch_sync == expected.launch_sync);
  CHECK(cost.misaligned == expected.misaligned);
  CHECK(cost.lookup == expected.lookup);
  CHECK(cost.optimizer_passes == expected.optimizer_passes);
  CHECK(cost.optimizer_launches_lamb == expected.optimizer_launches_lamb);
  CHECK(cost.optimizer_launches_other == expected.optimizer_launches_other);
}

TEST_CASE("ipu constants: peaks follow from tiles, clock and the multiply mode") {
  for (const char* chip : {"gc200", "bow", "c600"}) {
    const ConstantSet set = shipped_constants(chip, "pod16", "poplar-pytorch");
    ConstantReader reader(set);
    const ChipConstants constants = read_chip_constants(reader);
    CHECK(constants.tiles == 1472);
    CHECK(constants.tile_memory == Bytes(624 * 1024));
    // Two FLOP per multiply-add: 64, 32 and 16 a cycle and tile.
    const double cycle_rate = 1472 * constants.clock.in_base();
    CHECK(constants.peak[0].in_base() == doctest::Approx(cycle_rate * 128).epsilon(1e-3));
    CHECK(constants.peak[1].in_base() == doctest::Approx(cycle_rate * 64).epsilon(1e-3));
    CHECK(constants.peak[2].in_base() == doctest::Approx(cycle_rate * 32).epsilon(1e-3));
  }
}

TEST_CASE("ipu constants: shipped systems are whole machines of four and name a shipped chip") {
  for (const char* name : {"pod4", "pod8", "pod16", "pod32", "pod64", "pod128", "pod256", "bow-pod4", "bow-pod8",
                           "bow-pod16", "bow-pod32", "bow-pod64", "bow-pod128", "bow-pod256"}) {
    const Value document = shipped("systems/" + std::string(name) + ".toml");
    CHECK(document.find("name")->as_string() == name);
    CHECK(document.find("family")->as_string() == "ipu");
    const ConstantSet set =
        shipped_constants(document.find("chip")->as_string(), name, document.find("software")->as_string());
    ConstantReader reader(set);
    const SystemConstants system = read_system_constants(reader);
    CHECK(system.ipus == system.machines * system.ipus_per_machine);
    CHECK(system.ipus_per_machine == 4);
    CHECK(system.ipus_per_pod == std::min<std::int64_t>(64, system.ipus));
    CHECK(system.machine_power.has_value());
    CHECK(system.links.neighbour_bandwidth == bytes_per_second(75e9));
    CHECK(system.links.message_latency.in_base() == doctest::Approx(1.6e-6));
    CHECK(system.links.ring_bandwidth.in_base() == doctest::Approx(9.12e9));
    CHECK(system.links.streaming_bandwidth.in_base() == doctest::Approx(13.6e9));
    CHECK(system.links.streaming_memory == Bytes(256'000'000'000));
    CHECK(system.links.streaming_memory_per_ipu == Bytes(16'000'000'000));
    CHECK(system.links.host_bandwidth == bytes_per_second(6e9));
    CHECK(system.links.gateway_bandwidth.in_base() == system.links.ring_bandwidth.in_base() * 25.0 / 32.0);
    CHECK(system.links.gateway_latency.in_base() == doctest::Approx(5e-6));
  }
}

TEST_CASE("ipu constants: each software has its framework factor and default place of optimizer state") {
  struct Expected {
    const char* name;
    double factor;
    bool off_chip;
    bool sharded;
  };
  for (const Expected& expected :
       {Expected{"poplar-popart", 1.0, true, false}, Expected{"poplar-paddle", 1.0, true, true},
        Expected{"poplar-pytorch", 1.119, true, false}, Expected{"poplar-sdk", 1.0, false, false},
        Expected{"poplar-tensorflow2", 1.11, true, true}}) {
    const ConstantSet set = shipped_constants("bow", "bow-pod16", expected.name);
    ConstantReader reader(set);
    const SoftwareConstants software = read_software_constants(reader);
    CHECK(software.framework_factor == expected.factor);
    CHECK(software.state_off_chip == expected.off_chip);
    CHECK(software.state_sharded == expected.sharded);
    CHECK(software.update_overhead == seconds(5e-3));
    CHECK(software.call_overhead == seconds(5e-3));
  }
}

TEST_CASE("ipu constants: memory constants carry their units") {
  const ConstantSet set = shipped_constants("bow", "bow-pod16", "poplar-pytorch");
  ConstantReader reader(set);
  const MemoryConstants memory = read_memory_constants(reader);
  CHECK(memory.code_base == Bytes(40'000'000));
  CHECK(memory.code_per_layer == Bytes(3'000'000));
  CHECK(memory.embedding_and_head_layers == 6);
  CHECK(memory.code_off_chip == Bytes(10'000'000));
  CHECK(memory.code_replicated == Bytes(10'000'000));
  CHECK(memory.code_inference_factor == 0.5);
  CHECK(memory.loss_scaling == Bytes(60'000'000));
  CHECK(memory.loss_scaling_embedding == Bytes(100'000'000));
  CHECK(memory.host_stream == Bytes(149'766'583));
  CHECK(memory.usable_fraction == 0.92);
  CHECK(memory.plan_tolerance == 0.01);
}

TEST_CASE("ipu constants: fitted costs name the 35 runs they rest on, frameworks their own") {
  const ConstantSet pytorch = shipped_constants("bow", "bow-pod16", "poplar-pytorch");
  const ConstantSet tensorflow = shipped_constants("bow", "bow-pod16", "poplar-tensorflow2");
  const std::set<std::string> all = fitted_rows(pytorch, "cost.pass");
  CHECK(all.size() == 35);
  CHECK(fitted_rows(pytorch, "cost.launch") == all);
  CHECK(fitted_rows(pytorch, "system.streaming.bandwidth") == all);
  CHECK(fitted_rows(pytorch, "system.ring.bandwidth").size() == 35 - 5);  // a single replica reduces nothing
  CHECK(fitted_rows(pytorch, "software.framework_factor").size() == 14);
  CHECK(fitted_rows(tensorflow, "software.framework_factor").size() == 5);
  for (const std::string& row : fitted_rows(tensorflow, "software.framework_factor")) CHECK(all.count(row) == 1);
}

TEST_CASE("ipu constants: precisions name their multiply mode") {
  CHECK(amp_mode("fp16.16") == AmpMode::half_half);
  CHECK(amp_mode("fp8") == AmpMode::half_half);
  CHECK(amp_mode("fp16.32") == AmpMode::half_single);
  CHECK(amp_mode("fp32") == AmpMode::single);
  CHECK(element_bytes(AmpMode::half_single) == 2);
  CHECK(element_bytes(AmpMode::single) == 4);
  CHECK_THROWS_AS(amp_mode("bf16"), InternalError);
}
