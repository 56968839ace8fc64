#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/rdu_commands.hpp"

namespace podsim::rdu {
namespace {

using test::launch;

const std::string k_run = " python a.py run --pef=x.pef";

struct Count {
  std::string text;
  std::int64_t ranks;
  std::int64_t nodes = 0;
  std::int64_t per_node = 0;
};

struct Case {
  std::string text;
  std::string report;
};

}  // namespace

TEST_CASE("rdu launch: every launcher says how many ranks there are") {
  const std::vector<Count> counts{
      {"", 1},
      {"mpirun -np 8", 8},
      {"mpirun -n 8", 8},
      {"/opt/mpich-3.4.3/bin/mpirun -hosts=sm-01,sm-02 -np 16 -env A 1", 16, 2},
      {"mpiexec -ppn 4 -hosts a,b", 8, 2, 4},
      {"srun", 1},
      {"srun -n 2", 2},
      {"srun -n2", 2},
      {"srun -N 2", 2, 2},
      {"srun -N 1 -n 2 --mpi=pmi2", 2, 1},
      {"srun --nodes=2 --ntasks-per-node=8 --gres rdu:1", 16, 2, 8},
      {"srun --ntasks 32 --nodes 2-4 --tasks-per-node 16", 32, 2, 16},
      {"srun --nodelist 'sn[1-4]' --ntasks=4", 4},
      {"srun --exclusive --pty --cpus-per-task=8 -p all -t 10 -J name -o out.txt", 1},
      {"OMP_NUM_THREADS=8 nohup mpirun -np 4", 4},
  };
  for (const Count& count : counts) {
    CAPTURE(count.text);
    const test::Launch read = launch(count.text + k_run);
    REQUIRE(read.command.has_value());
    CHECK_FALSE(read.diagnostics.has_errors());
    CHECK(read.command->ranks.value == count.ranks);
    CHECK(read.command->nodes.value == count.nodes);
    CHECK(read.command->ranks_per_node.value == count.per_node);
    CHECK(read.command->action == "run");
    CHECK(read.command->pef.value == "x.pef");
  }
}

TEST_CASE("rdu launch: a line for sbatch tells the copies without the run") {
  const test::Launch read =
      launch("sbatch --output=o.txt --ntasks 32 --gres=rdu:1 --ntasks-per-node 16 --nodes 2 r.sh 4");
  CHECK(read.text() == "");
  REQUIRE(read.command.has_value());
  CHECK(read.command->ranks.value == 32);
  CHECK(read.command->nodes.value == 2);
  CHECK(read.command->action == "");
  CHECK(read.command->line.program.text == "r.sh");
  CHECK(read.command->uses(LauncherKind::sbatch));
  CHECK(launch("sbatch --nodes 2 --tasks-per-node 8 ./r.sh").command->ranks.value == 16);
}

TEST_CASE("rdu launch: a run under sbatch takes its ranks from there") {
  const test::Launch read = launch(
      "sbatch --ntasks 32 --ntasks-per-node 16 --nodes 2 r.sh\n"
      "srun --mpi=pmi2 python a.py run -b 16 --data-parallel --reduce-on-rdu --pef=out/g/g.pef");
  CHECK(read.text() == "");
  REQUIRE(read.command.has_value());
  CHECK(read.command->ranks.value == 32);
  CHECK(read.command->ranks.origin == "l:1:17");
  CHECK(read.command->nodes.value == 2);
  CHECK(read.command->action == "run");
  CHECK(read.command->allocations.size() == 1);
  const test::Launch fewer = launch("sbatch --ntasks 32 --nodes 2 r.sh; srun -n 4" + k_run);
  CHECK(fewer.command->ranks.value == 4);
  const test::Launch wrapped = launch("sbatch --nodes 2 --wrap='srun -n 8 python a.py run --pef=x.pef'");
  REQUIRE(wrapped.command.has_value());
  CHECK(wrapped.command->ranks.value == 8);
  CHECK(wrapped.command->pef.value == "x.pef");
}

TEST_CASE("rdu launch: flags of a run reach their fields") {
  const test::Launch read = launch(
      "mpirun -np 4 python a.py measure-performance -b 16 -mb 4 --num-spatial-batches 50 --inference --data-parallel "
      "--reduce-on-rdu -ws 4 -n 20 -p out/x.pef --max_seq_length 128");
  REQUIRE(read.command.has_value());
  const LaunchCommand& command = *read.command;
  CHECK(command.action == "measure-performance");
  CHECK(command.batch_size.value == 16);
  CHECK(command.microbatch_size.value == 4);
  CHECK(command.num_spatial_batches.value == 50);
  CHECK(command.inference.value);
  CHECK(command.data_parallel.value);
  CHECK(command.reduce_on_rdu.value);
  CHECK(command.world_size.value == 4);
  CHECK(command.num_iterations.value == 20);
  CHECK(command.pef.value == "out/x.pef");
  CHECK(command.shapes.at("max-seq-length").value == 128);
  CHECK(read.text() == "l:1:1: warning: command: without effect on what is simulated: -n\n");
}

TEST_CASE("rdu launch: sambatune names its modes, its file is not read") {
  const test::Launch read = launch("sambatune --modes benchmark instrument run -- configs/linear.yaml");
  REQUIRE(read.command.has_value());
  CHECK(read.command->sambatune_modes == std::vector<std::string>{"benchmark", "instrument", "run"});
  CHECK(read.command->line.program.text == "configs/linear.yaml");
  CHECK(read.command->action == "");
  CHECK(read.text() ==
        "l:1:47: warning: command: the file that sambatune reads is not looked at; its compile-args belong to the "
        "compile command\n");
}

TEST_CASE("rdu launch: the environment is known by name") {
  const test::Launch read = launch("OMP_NUM_THREADS=8 srun env SF_RNT_NUMA_BIND=2" + k_run);
  REQUIRE(read.command->environment("SF_RNT_NUMA_BIND") != nullptr);
  CHECK(read.command->environment("SF_RNT_NUMA_BIND")->value.text == "2");
  CHECK(read.command->environment("PATH") == nullptr);
  CHECK(read.text() ==
        "l:1:1: warning: command: without effect on what is simulated: OMP_NUM_THREADS, SF_RNT_NUMA_BIND\n");
}

TEST_CASE("rdu launch: what cannot be counted is refused") {
  const std::vector<Case> cases{
      {"mpirun -np ${NP}" + k_run, "l:1:12: -np: the variable NP has no value; expected one in rdu.define.NP\n"},
      {"mpirun -np <NUM_PROCESSES>" + k_run,
       "l:1:12: -np: the variable NUM_PROCESSES has no value; expected one in rdu.define.NUM_PROCESSES\n"},
      {"mpirun -np many" + k_run, "l:1:12: -np: \"many\" is no count; expected 1 to 1000000\n"},
      {"srun -n 0" + k_run, "l:1:9: -n: \"0\" is no count; expected 1 to 1000000\n"},
      {"srun -N 2 --ntasks-per-node 8 -n 17" + k_run,
       "l:1:34: -n: 17 ranks do not fit 2 nodes with 8 each; expected at most 16\n"},
      {"srun --new-option 3" + k_run, "l:1:6: warning: --new-option: unknown option of srun; it is not looked at\n"},
      {"mpirun -np",
       "l:1:8: -np: has no value; expected a value behind it\n"
       "l:1:1: command: has no sub-command; expected a command that runs: python app.py run …, with or "
       "without a launcher\n"},
      {"python a.py compile",
       "l:1:13: command: is a compile command; expected a command that runs: python app.py run …, with or without a "
       "launcher\n"},
      {"",
       "l:1:1: command: there is no command; expected a command that runs: python app.py run …, with or without a "
       "launcher\n"},
      {k_run + ";" + k_run, "l:1:31: command: is the second of its kind; expected one\n"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(launch(c.text).text() == c.report);
  }
  CHECK(launch("mpirun -np ${NP}" + k_run, {{"NP", "8"}}).command->ranks.value == 8);
  CHECK_FALSE(launch("mpirun -np many" + k_run).command->ranks.valid);
}

}  // namespace podsim::rdu
