// What must hold for any RDU plan: the same report however it is simulated, sums that readers rely on, peaks that are
// those of the account.

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "sim/core/random.hpp"
#include "sim/report/report.hpp"
#include "sim/study/evaluate.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

// GPT-2 on any chip, level and number of copies.
std::string random_training(Random& random) {
  const std::vector<std::string> systems = {"sn10", "sn20", "sn30"};
  const std::vector<std::string> levels = {"-o0", "-o1", "-o3"};
  const std::string& system = systems[random.below(systems.size())];
  const int copies = 1 << random.below(3);
  const bool halves = system == "sn30" && random.below(2) == 0;
  std::string compile =
      fmt::format("python app.py compile -b {} {} --num-tiles {} --grad-accumulation-steps {}", 2 << random.below(4),
                  levels[random.below(levels.size())], halves ? 8 : 4, 1 + random.below(3));
  std::string launch;
  if (copies > 1) {
    compile += " --data-parallel -ws 2";
    launch =
        fmt::format("\nlaunch = \"mpirun -np {} python app.py run --data-parallel{} --pef=out/p/p.pef -b {}\"", copies,
                    random.below(2) == 0 ? " --reduce-on-rdu" : "", compile.substr(25, compile.find(' ', 25) - 25));
  }
  return fmt::format(R"(
system = "{}"
software = "sambaflow-1.18"
[model]
config = "gpt2"
num_hidden_layers = {}
[workload]
sequence_length = {}
recompute = {}
[rdu]
compile = "{} --pef-name=p"{}
host_model = "{}"
mapping_quality = "{}"
)",
                     system, 1 + random.below(4), 128 << random.below(3), random.below(2) == 0, compile, launch,
                     random.below(2) == 0 ? "profiled" : "production",
                     random.below(3) == 0 ? "human-decision" : "generated");
}

std::string random_generation(Random& random) {
  const bool hbm = random.below(2) == 0;
  const std::string command =
      hbm ? "python app.py compile -b 4 --inference --tensor-parallel weight --n-chips 8 --pef-name=p"
          : "python app.py compile -b 2 -o1 --inference --num-tiles 4 --pef-name=p";
  return fmt::format(R"(
system = "{}"
[model]
config = "llama-3-8b"
num_hidden_layers = 4
[workload]
mode = "generation"
input_tokens = {}
output_tokens = {}
[rdu]
compile = "{}"
static_sequence_length = {}
)",
                     hbm ? "sn40l-8" : "sn30", 32 << random.below(4), 16 << random.below(3), command,
                     1024 << random.below(3));
}

std::string random_run(std::uint64_t seed) {
  Random random(seed);
  return seed % 3 == 0 ? random_generation(random) : random_training(random);
}

Report report_of(const Plan& plan, const EvaluateOptions& options) {
  Engine engine = make_engine("native", build_dir());
  Report report = simulate_plan(plan, engine, options);
  report.engine.reset();  // how it was simulated; everything else must not depend on it
  return report;
}

}  // namespace

TEST_CASE("rdu laws: exact, unfolded and merged simulation give the default's report") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const std::string toml = random_run(seed);
    CAPTURE(seed);
    CAPTURE(toml);
    const Plan plan = plan_of(toml);
    const std::string expected = to_json(report_of(plan, {}));
    CHECK(to_json(report_of(plan, {.exact = true, .fold = false})) == expected);
    CHECK(to_json(report_of(plan, {.fold = false})) == expected);
    CHECK(to_json(report_of(plan, {.merge = true})) == expected);
  }
}

TEST_CASE("rdu laws: both engines agree on random plans") {
  for (std::uint64_t seed = 21; seed <= 29; ++seed) {
    const std::string toml = random_run(seed);
    CAPTURE(seed);
    CAPTURE(toml);
    const auto native = run_of(toml).result.total.picoseconds();
    const auto reference = run_of(toml, {}, {.engine = "simgrid"}).result.total.picoseconds();
    CHECK(std::abs(native - reference) <= std::max<std::int64_t>(16, native / 1'000'000'000));
  }
}

TEST_CASE("rdu laws: breakdowns sum to the step, utilisations stay in range, peaks are those of the account") {
  for (std::uint64_t seed = 31; seed <= 60; ++seed) {
    const std::string toml = random_run(seed);
    CAPTURE(seed);
    CAPTURE(toml);
    const Ran ran = run_of(toml);
    for (const DeviceUse& device : ran.result.devices) {
      CHECK(device.breakdown.total() == ran.result.total);
      CHECK(device.busy >= SimTime());
      CHECK(device.busy <= ran.result.total);
    }
    for (std::size_t link = 0; link < ran.result.links.size(); ++link) {
      const LinkUse& use = ran.result.links[link];
      const double capacity = ran.lowered.platform.links()[link].bandwidth.in_base() * use.busy.duration().in_base();
      CHECK(use.busy <= ran.result.total);
      CHECK(static_cast<double>(use.bytes.count()) <= capacity * (1 + 1e-6) + 1);
    }
    const MemoryAccount account = ran.plan.family->memory_account(ran.plan);
    for (std::size_t memory = 0; memory < ran.result.memories.size(); ++memory) {
      const MemoryUse& use = ran.result.memories[memory];
      const auto own = std::ranges::find(account.memories, ran.lowered.platform.memories()[memory].name,
                                         &DeviceMemoryAccount::memory);
      REQUIRE(own != account.memories.end());
      CHECK(use.always_live == own->always_live());
      CHECK(use.peak == own->total());
    }
  }
}

TEST_CASE("rdu laws: a plan printed as TOML and read again is the same plan") {
  for (std::uint64_t seed = 61; seed <= 72; ++seed) {
    const std::string toml = random_run(seed);
    CAPTURE(seed);
    CAPTURE(toml);
    const Plan first = plan_of(toml);
    const Plan second = plan_of(to_toml(first));
    CHECK(second.inputs_sha256 == first.inputs_sha256);
  }
}
