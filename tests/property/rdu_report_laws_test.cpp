// What must hold for any RDU plan: the same report however it is simulated, sums that readers rely on, peaks that are
// those of the account.

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "sim/core/random.hpp"
#include "tests/support/report_laws.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

// GPT-2 on any chip, level and number of copies, on one node or spread over two.
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
  const bool spread = copies > 1 && random.below(2) == 0;
  if (copies > 1) {
    compile += " --data-parallel -ws 2";
    launch =
        fmt::format("\nlaunch = \"{} {} python app.py run --data-parallel{} --pef=out/p/p.pef -b {}\"",
                    spread ? "srun --mpi=pmi2 --nodes 2 --ntasks" : "mpirun -np", copies,
                    random.below(2) == 0 ? " --reduce-on-rdu" : "", compile.substr(25, compile.find(' ', 25) - 25));
  }
  return fmt::format(R"(
software = "sambaflow-1.18"
[system]
name = "{}"
nodes = {}
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
                     system, spread ? 2 : 1, 1 + random.below(4), 128 << random.below(3), random.below(2) == 0, compile,
                     launch, random.below(2) == 0 ? "profiled" : "production",
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

}  // namespace

TEST_CASE("rdu laws: exact, unfolded and merged simulation give the default's report") {
  check_simulations_agree(random_run, 1, 12);
}

TEST_CASE("rdu laws: both engines agree on random plans") {
  check_engines_agree(random_run, 21, 29);
}

TEST_CASE("rdu laws: breakdowns sum to the step, utilisations stay in range, peaks are those of the account") {
  check_sums(random_run, 31, 60, PeakLaw::the_account);
}

TEST_CASE("rdu laws: a plan printed as TOML and read again is the same plan") {
  check_printed_plans(random_run, 61, 72);
}
