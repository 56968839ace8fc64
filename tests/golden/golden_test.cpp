// Whether a prediction moved. A case is a folder: experiment.toml (absent: the shipped experiment of its name),
// expected.json (whole numbers: picoseconds and bytes) and why.md (what supports them). Compared as text;
// tools/dev/regold writes them anew.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/json_writer.hpp"
#include "sim/engine/engine.hpp"
#include "sim/study/evaluate.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/run_experiment.hpp"

namespace podsim::test {
namespace {

namespace fs = std::filesystem;

using Numbers = std::vector<std::pair<std::string, std::int64_t>>;

fs::path golden_folder() {
  return fs::path(source_dir()) / "tests" / "golden";
}

std::vector<std::string> golden_cases() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(golden_folder())) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string experiment_of(const std::string& name) {
  const fs::path own = golden_folder() / name / "experiment.toml";
  return fs::exists(own) ? text_of(own) : experiment(name);
}

Numbers numbers_of(const std::string& name) {
  const Plan plan = plan_of(experiment_of(name));
  Engine engine = make_engine("native");
  const Report report = simulate_plan(plan, engine, {false, true, false, false});
  Numbers numbers{{"step_time_ps", report.step_time.picoseconds()}};
  if (report.cycle_time) numbers.emplace_back("cycle_time_ps", report.cycle_time->picoseconds());
  for (std::size_t c = 0; c < k_cost_categories; ++c) {
    numbers.emplace_back(fmt::format("breakdown_ps {}", podsim::name(static_cast<CostCategory>(c))),
                         report.breakdown.part[c].picoseconds());
  }
  for (const DeviceReport& device : report.devices) {
    for (const MemoryReport& memory : device.memories) {
      numbers.emplace_back("peak_bytes " + memory.name, memory.peak.count());
    }
  }
  for (const LinkReport& link : report.links) numbers.emplace_back("link_bytes " + link.name, link.bytes.count());
  return numbers;
}

// A JSON object, a number a line.
std::string json_of(const Numbers& numbers) {
  std::string text;
  for (const auto& [key, number] : numbers) {
    text += fmt::format("{}  {}: {}", text.empty() ? "" : ",\n", json_quoted(key), number);
  }
  return "{\n" + text + "\n}\n";
}

Numbers numbers_in(const std::string& json) {
  Diagnostics ignored;
  Numbers numbers;
  const std::optional<Value> value = parse_json(json, "expected.json", ignored);
  if (!value || !value->is(Value::Kind::table)) return numbers;
  for (const Value::Member& member : value->members()) {
    if (member.value.is(Value::Kind::integer)) numbers.emplace_back(member.key, member.value.as_integer());
  }
  return numbers;
}

std::optional<std::int64_t> number(const Numbers& numbers, const std::string& key) {
  for (const auto& [name, value] : numbers) {
    if (name == key) return value;
  }
  return std::nullopt;
}

std::string shown(const std::optional<std::int64_t>& value) {
  return value ? fmt::format("{}", *value) : "none";
}

// A line for each number that differs: key, old, new, relative change.
std::string changes(const Numbers& before, const Numbers& after) {
  std::string text;
  const auto line = [&](const std::string& key) {
    const auto from = number(before, key);
    const auto to = number(after, key);
    if (from == to) return;
    text += fmt::format("  {}: {} -> {}", key, shown(from), shown(to));
    if (from && to && *from != 0) {
      text += fmt::format(" ({:+.4g} %)", 100.0 * (static_cast<double>(*to) / static_cast<double>(*from) - 1));
    }
    text += '\n';
  };
  for (const auto& [key, value] : before) line(key);
  for (const auto& [key, value] : after) {
    if (!number(before, key)) line(key);
  }
  return text;
}

bool rewriting() {
  return std::getenv("PODSIM_REGOLD") != nullptr;
}

TEST_CASE("golden: predictions are those on record") {
  for (const std::string& name : golden_cases()) {
    const fs::path file = golden_folder() / name / "expected.json";
    const std::string recorded = fs::exists(file) ? text_of(file) : "";
    const Numbers now = numbers_of(name);
    const std::string difference = changes(numbers_in(recorded), now);
    if (rewriting()) {
      fmt::print("{}: {}\n{}", name, difference.empty() ? "unchanged" : "changed", difference);
      std::ofstream(file, std::ios::binary) << json_of(now);
    } else {
      CHECK_MESSAGE(recorded == json_of(now), name << "\n" << difference << "  (tools/dev/regold, if this is meant)");
    }
  }
}

TEST_CASE("golden: every case says why") {
  const std::vector<std::string> names = golden_cases();
  for (const std::string& name : names) {
    CHECK_MESSAGE(text_of(golden_folder() / name / "why.md").size() > 100, name << " has no why.md");
  }
}

TEST_CASE("golden: a number that moved, came or went is told with its change") {
  const Numbers before{{"a", 100}, {"b", 5}, {"c", 7}};
  const Numbers after{{"a", 110}, {"b", 5}, {"d", 1}};
  CHECK(changes(before, after) == "  a: 100 -> 110 (+10 %)\n  c: 7 -> none\n  d: none -> 1\n");
  CHECK(numbers_in(json_of(before)) == before);
  CHECK(changes(before, before).empty());
}

}  // namespace
}  // namespace podsim::test
