#include "tests/support/report_laws.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "sim/report/report.hpp"
#include "sim/study/evaluate.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/run_experiment.hpp"

namespace podsim::test {
namespace {

template <class Check>
void for_each_run(const RandomRun& make, std::uint64_t first, std::uint64_t last, const Check& check) {
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const std::string toml = make(seed);
    CAPTURE(seed);
    CAPTURE(toml);
    check(toml);
  }
}

std::string report_of(const Plan& plan, const EvaluateOptions& options) {
  Engine engine = make_engine("native", build_dir());
  Report report = simulate_plan(plan, engine, options);
  report.engine.reset();  // how it was simulated; everything else must not depend on it
  return to_json(report);
}

void check_devices(const Ran& ran) {
  for (const DeviceUse& device : ran.result.devices) {
    CHECK(device.breakdown.total() == ran.result.total);
    CHECK(device.busy >= SimTime());
    CHECK(device.busy <= ran.result.total);
  }
}

void check_links(const Ran& ran) {
  for (std::size_t link = 0; link < ran.result.links.size(); ++link) {
    const LinkUse& use = ran.result.links[link];
    const double capacity = ran.lowered.platform.links()[link].bandwidth.in_base() * use.busy.duration().in_base();
    CHECK(use.busy <= ran.result.total);
    // Times are whole picoseconds: half of one is 0.015 % of the shortest exchange of norms, 256 bytes at 75 GB/s.
    const bool norms = ran.lowered.platform.links()[link].name.starts_with("norms.");
    CHECK(static_cast<double>(use.bytes.count()) <= capacity * (1 + (norms ? 2e-4 : 1e-6)) + 1);
  }
}

void check_memories(const Ran& ran, PeakLaw law) {
  const MemoryAccount account = ran.plan.family->memory_account(ran.plan);
  for (std::size_t memory = 0; memory < ran.result.memories.size(); ++memory) {
    const MemoryUse& use = ran.result.memories[memory];
    CHECK(use.peak >= use.always_live);
    const auto own =
        std::ranges::find(account.memories, ran.lowered.platform.memories()[memory].name, &DeviceMemoryAccount::memory);
    if (law == PeakLaw::at_most_the_account) {
      if (own != account.memories.end()) CHECK(use.peak <= own->total());
      continue;
    }
    REQUIRE(own != account.memories.end());
    CHECK(use.always_live == own->always_live());
    CHECK(use.peak == own->total());
  }
}

}  // namespace

void check_simulations_agree(const RandomRun& make, std::uint64_t first, std::uint64_t last) {
  for_each_run(make, first, last, [](const std::string& toml) {
    const Plan plan = plan_of(toml);
    const std::string expected = report_of(plan, {});
    CHECK(report_of(plan, {.exact = true, .fold = false}) == expected);
    CHECK(report_of(plan, {.fold = false}) == expected);
    CHECK(report_of(plan, {.merge = true}) == expected);
    CHECK(report_of(plan, {}) == expected);
  });
}

void check_engines_agree(const RandomRun& make, std::uint64_t first, std::uint64_t last) {
  for_each_run(make, first, last, [](const std::string& toml) {
    const auto native = run_of(toml).result.total.picoseconds();
    const auto reference = run_of(toml, {}, {.engine = "simgrid"}).result.total.picoseconds();
    CHECK(std::abs(native - reference) <= std::max<std::int64_t>(16, native / 1'000'000'000));
  });
}

void check_sums(const RandomRun& make, std::uint64_t first, std::uint64_t last, PeakLaw law) {
  for_each_run(make, first, last, [law](const std::string& toml) {
    const Ran ran = run_of(toml);
    check_devices(ran);
    check_links(ran);
    check_memories(ran, law);
  });
}

void check_printed_plans(const RandomRun& make, std::uint64_t first, std::uint64_t last) {
  for_each_run(make, first, last, [](const std::string& toml) {
    const Plan plan = plan_of(toml);
    CHECK(plan_of(to_toml(plan)).inputs_sha256 == plan.inputs_sha256);
  });
}

}  // namespace podsim::test
