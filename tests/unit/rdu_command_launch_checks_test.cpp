// What a launch command cannot mean, alone and with the compile that made its program. Numbered cases are problems that
// users published.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/rdu_commands.hpp"

namespace podsim::rdu {
namespace {

using test::check;
using test::launch;
using test::sn10;
using test::sn30;
using test::sn40l;
using test::with_nodes;

const std::string k_python = "python a.py ";
const std::string k_compile = k_python + "compile --pef-name=x -b 16 --data-parallel -ws 2";
const std::string k_run = k_python + "run -b 16 --data-parallel --reduce-on-rdu --pef=out/x/x.pef";

struct Case {
  std::string compile;
  std::string launch;
  CommandSystem system;
  std::string report;
};

void check_cases(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    CAPTURE(c.compile);
    CAPTURE(c.launch);
    CHECK(check(c.compile, c.launch, c.system) == c.report);
  }
}

std::string check_alone(const std::string& text, const CommandSystem& system) {
  test::Launch read = launch(text);
  if (read.command) check_launch(*read.command, system, read.diagnostics);
  return read.text();
}

}  // namespace

TEST_CASE("rdu launch checks: commands that belong together report nothing") {
  check_cases({
      {k_compile, "mpirun -np 8 " + k_run, sn10(), ""},
      {k_compile + " --num-tiles 4", "mpirun -np 16 " + k_run, sn30(), ""},
      {k_python + "compile --pef-name=x --inference", k_python + "run --inference -p out/x/x.pef", sn10(), ""},
      {k_python + "compile --pef-name=x --output-folder=pef", k_python + "run -p /scratch/pef/x/x.pef", sn10(), ""},
      {k_python + "compile --pef-name=x --output-folder=/a/b", k_python + "run -p b/x/x.pef", sn10(), ""},
      {k_compile, "sbatch --nodes 2 --ntasks-per-node 4 r.sh", with_nodes(sn10(), 2), ""},
  });
}

TEST_CASE("rdu launch checks: a run needs its program") {
  CHECK(check_alone(k_python + "run", sn10()) == "l:1:1: --pef: is missing; expected the PEF that the compile made\n");
  CHECK(check_alone("python rdu_train_llm.py command=run", sn40l()) ==
        "l:1:1: samba_run.pef: is missing; expected the PEF that the compile made\n");
}

TEST_CASE("rdu launch checks: case 19, Model Zoo wants an absolute path") {
  CHECK(check_alone("python rdu_train_llm.py command=run samba_run.pef=out/x.pef", sn40l()) ==
        "l:1:51: warning: samba_run.pef: Model Zoo does not find a relative path; expected an absolute path\n");
  CHECK(check_alone("python rdu_train_llm.py command=run samba_run.pef=/out/x.pef", sn40l()) == "");
}

TEST_CASE("rdu launch checks: case 1, at least as many ranks run as the world size says") {
  check_cases({
      {k_compile, "mpirun -np 1 " + k_run, sn10(),
       "l:1:12: -np: 1 rank, but the PEF is compiled for a world size of 2; expected at least 2\n"},
      {k_compile, k_run, sn10(),
       "l:1:1: command: 1 rank, but the PEF is compiled for a world size of 2; expected at least 2\n"},
      {k_compile, "mpirun -np 2 " + k_run, sn10(), ""},
  });
}

TEST_CASE("rdu launch checks: case 2, data parallelism stands on both sides or on none") {
  check_cases({
      {k_compile, k_python + "run -b 16 --pef=out/x/x.pef", sn10(),
       "l:1:1: --data-parallel: the PEF has gradient reduction, but the run does not use it; expected --data-parallel "
       "in both commands; it stands at c:1:40\n"},
      {k_python + "compile --pef-name=x -b 16", "mpirun -np 4 " + k_run, sn10(),
       "c:1:1: --data-parallel: the run reduces gradients, but the PEF has no sections for it; expected "
       "--data-parallel "
       "in both commands; it stands at l:1:36\n"},
  });
  CHECK(check_alone("mpirun -np 4 " + k_python + "run --pef=x.pef", sn10()) ==
        "l:1:12: warning: -np: 4 ranks without --data-parallel train each a model of its own\n");
  CHECK(check_alone(k_python + "run --pef=x.pef --reduce-on-rdu", sn10()) ==
        "l:1:29: warning: --reduce-on-rdu: has no effect without --data-parallel\n");
}

TEST_CASE("rdu launch checks: case 3, a measurement of several ranks asks for the world size") {
  const std::string measure = "mpirun -np 8 " + k_python + "measure-performance --data-parallel --pef=x.pef";
  CHECK(check_alone(measure, sn10()) ==
        "l:1:46: warning: --data-parallel: measure-performance asks for the world size; expected -ws 8\n");
  CHECK(check_alone(measure + " -ws 8", sn10()) == "");
  CHECK(check_alone(measure + " -ws 9", sn10()) == "l:1:78: -ws: 9 is more than the 8 ranks; expected at most 8\n");
}

TEST_CASE("rdu launch checks: case 10, shapes are those of the compile") {
  const std::string compile = k_python + "compile --pef-name=x -b 16 -mb 4 --max_seq_length 128 --in-width=32";
  const std::string run = k_python + "run --pef=out/x/x.pef ";
  check_cases({
      {compile, run + "-b 16 -mb 4 --max_seq_length 128", sn10(), ""},
      {compile, run, sn10(), ""},
      {compile, run + "-b=8", sn10(),
       "l:1:38: -b: is 8, but the PEF is compiled for 16: its shapes are static; expected 16, or a new compile\n"},
      {compile, run + "--batch-size 16 --microbatch-size 8 --max_seq_length 64 --in-width 64", sn10(),
       "l:1:69: --microbatch-size: is 8, but the PEF is compiled for 4: its shapes are static; expected 4, or a new "
       "compile\n"
       "l:1:88: --max_seq_length: is 64, but the PEF is compiled for 128: its shapes are static; expected 128, or a "
       "new "
       "compile\n"
       "l:1:102: --in-width: is 64, but the PEF is compiled for 32: its shapes are static; expected 32, or a new "
       "compile\n"},
  });
}

TEST_CASE("rdu launch checks: a program for inference does not train, nor the other way round") {
  check_cases({
      {k_python + "compile --pef-name=x --inference", k_python + "run -p out/x/x.pef", sn10(),
       "l:1:1: --inference: a PEF for inference cannot train; expected --inference in both commands; it stands at "
       "c:1:34\n"},
      {k_python + "compile --pef-name=x", k_python + "run -p out/x/x.pef --inference", sn10(),
       "c:1:1: --inference: a PEF for training cannot be used for inference; expected --inference in both commands; it "
       "stands at l:1:32\n"},
  });
}

TEST_CASE("rdu launch checks: the program that runs is the one that the compile makes") {
  const std::string compile = k_python + "compile --pef-name=x";
  check_cases({
      {compile, k_python + "run -p out/y/y.pef", sn10(),
       "l:1:20: -p: is y.pef, but the compile makes x.pef; expected out/x/x.pef\n"},
      {compile, k_python + "run -p hf_transformer_samba.pef", sn10(),
       "l:1:20: -p: is hf_transformer_samba.pef, but the compile makes x.pef; expected out/x/x.pef\n"},
      {compile, k_python + "run -p pef/x/x.pef", sn10(),
       "l:1:20: warning: -p: is not where the compile leaves the PEF; expected out/x/x.pef\n"},
      {compile, k_python + "run -p ./out//x/x.pef", sn10(), ""},
      {compile, k_python + "run -p x.pef", sn10(), ""},
      {k_python + "compile", k_python + "run -p out/any/any.pef", sn10(), ""},
  });
}

TEST_CASE("rdu launch checks: copies must fit the system") {
  check_cases({
      {k_compile, "mpirun -np 9 " + k_run, sn10(),
       "l:1:12: -np: 9 copies of 1 RDU with 4 tiles each do not fit 1 node of SN10; expected at most 8\n"},
      {k_compile + " --num-tiles 4", "mpirun -np 32 " + k_run, sn30(),
       "l:1:12: -np: 32 copies of 1 RDU with 4 tiles each do not fit 1 node of SN30; expected at most 16\n"},
      {k_compile + " --num-tiles 4", "mpirun -np 32 " + k_run, with_nodes(sn30(), 2), ""},
      {k_compile + " --tensor-parallel weight --n-chips 4", "mpirun -np 3 " + k_run, sn10(),
       "l:1:12: -np: 3 copies of 4 RDUs with 4 tiles each do not fit 1 node of SN10; expected at most 2\n"},
      // Halves of two RDUs each: half a node.
      {k_compile + " --tensor-parallel weight --n-chips 2 --num-tiles 4", "mpirun -np 8 " + k_run, sn30(), ""},
      {k_compile, "srun -N 2 -n 4 " + k_run, sn10(),
       "l:1:9: -N: 2 nodes, but the system has 1; expected at most 1, or system.nodes = 2\n"},
  });
}

TEST_CASE("rdu launch checks: case 20, tile affinity fails under Slurm") {
  const std::string start = "SF_RNT_TILE_AFFINITY=0xf ";
  const std::string no_effect = "l:1:1: warning: command: without effect on what is simulated: SF_RNT_TILE_AFFINITY\n";
  CHECK(check_alone(start + "srun " + k_python + "run -p x.pef", sn10()) ==
        no_effect +
            "l:1:22: warning: SF_RNT_TILE_AFFINITY: fails under Slurm, which assigns the tiles itself; expected no "
            "affinity here\n");
  CHECK(check_alone(start + k_python + "run -p x.pef", sn10()) == no_effect);
}

TEST_CASE("rdu launch checks: sbatch alone tells ranks and nothing of the program") {
  check_cases({
      {k_compile, "sbatch --ntasks 1 r.sh", sn10(), ""},
      {k_compile, "sbatch --ntasks 16 r.sh", sn10(),
       "l:1:17: --ntasks: 16 copies of 1 RDU with 4 tiles each do not fit 1 node of SN10; expected at most 8\n"},
  });
}

}  // namespace podsim::rdu
