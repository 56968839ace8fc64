// What one compile command cannot mean on a system. Numbered cases are problems that users published.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/rdu_commands.hpp"

namespace podsim::rdu {
namespace {

using test::check;
using test::compile;
using test::sn10;
using test::sn30;
using test::sn40l;
using test::with_release;

struct Case {
  std::string flags;
  CommandSystem system;
  std::string report;
};

void check_cases(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    CAPTURE(c.flags);
    CHECK(check("python a.py compile " + c.flags, c.system) == c.report);
  }
}

}  // namespace

TEST_CASE("rdu compile checks: one optimisation level is wanted") {
  check_cases({
      {"-o0", sn10(), ""},
      {"-o1 -o3", sn10(), "c:1:25: -o3: -o1 is given already; expected one optimisation level\n"},
      {"-o0 -o1 -o3", sn10(),
       "c:1:25: -o1: -o0 is given already; expected one optimisation level\n"
       "c:1:29: -o3: -o0 is given already; expected one optimisation level\n"},
  });
}

TEST_CASE("rdu compile checks: options of a level want that level") {
  check_cases({
      {"-o1 --optimization-rules r.yaml", sn10(), ""},
      {"--optimization-rules r.yaml", sn10(),
       "c:1:42: --optimization-rules: fusion rules are read with -o1 only; the level is o3; expected -o1\n"},
      {"-o0 --optimization-rules=r.yaml", sn10(),
       "c:1:46: --optimization-rules: fusion rules are read with -o1 only; the level is o0; expected -o1\n"},
      {"--enable-hypersection", sn10(), ""},
      {"-o3 --enable-hypersection", sn10(), ""},
      {"-o1 --enable-hypersection", sn10(),
       "c:1:25: --enable-hypersection: works with -o3 only; the level is o1; expected -o3\n"},
      {"-o3 --o1-experimental-opts", sn10(), "c:1:25: warning: --o1-experimental-opts: has no effect without -o1\n"},
  });
}

TEST_CASE("rdu compile checks: case 11, o1 asks for its enabling flag up to release 1.17") {
  check_cases({
      {"-o1", with_release(sn10(), 17),
       "c:1:21: -o1: SambaFlow 1.17 takes -o1 only together with its enabling flag; expected --o1-experimental-opts "
       "beside it, or release 1.18 or later\n"},
      {"-o1 --o1-experimental-opts", with_release(sn10(), 17), ""},
      {"-o1", with_release(sn10(), 18), ""},
      {"-o1", sn10(), ""},
      {"-o3", with_release(sn10(), 17), ""},
  });
  CHECK(check("python rdu_train_llm.py command=compile", with_release(sn40l(), 17)) == "");
}

TEST_CASE("rdu compile checks: a flag is refused by releases that do not know it") {
  check_cases({
      {"--graphamp-preset mp1", with_release(sn30(), 17),
       "c:1:1: warning: command: without effect on what is simulated: --graphamp-preset\n"
       "c:1:21: --graphamp-preset: SambaFlow 1.17 does not know it; expected release 1.18 or later\n"},
      {"--graphamp-preset mp1", with_release(sn30(), 18),
       "c:1:1: warning: command: without effect on what is simulated: --graphamp-preset\n"},
  });
}

TEST_CASE("rdu compile checks: a microbatch divides its batch") {
  check_cases({
      {"-b 16 -mb 4", sn10(), ""},
      {"-b 16 -mb 5", sn10(), "c:1:31: -mb: 5 does not divide the batch of 16; expected a divisor of the batch\n"},
      {"-mb 2", sn10(), "c:1:25: -mb: 2 does not divide the batch of 1; expected a divisor of the batch\n"},
      {"-b 16 --per_device_train_batch_size 16", sn10(), ""},
      {"-b 16 --per_device_train_batch_size 8", sn10(),
       "c:1:57: --per_device_train_batch_size: 8 is not the batch of -b, which is 16; expected 16\n"},
      {"--num-spatial-batches 500 --mapping spatial", sn10(), ""},
      {"--num-spatial-batches 500", sn10(),
       "c:1:43: warning: --num-spatial-batches: has no effect without --mapping spatial\n"},
  });
}

TEST_CASE("rdu compile checks: an RDU has so many tiles and a node so many RDUs") {
  check_cases({
      {"--num-tiles 4", sn10(), ""},
      {"--num-tiles 8", sn10(), "c:1:33: --num-tiles: 8 tiles are more than an RDU of SN10 has; expected at most 4\n"},
      {"--num-tiles 8 -b 2", sn30(), ""},
      {"--tensor-parallel weight --n-chips 8", sn10(), ""},
      {"--tensor-parallel weight --n-chips 16", sn40l(), ""},
      {"--n-chips 2", sn10(),
       "c:1:31: --n-chips: several RDUs, but nothing says how the model is split; expected --tensor-parallel batch or "
       "weight\n"},
      {"--tensor-parallel weight", sn10(),
       "c:1:39: warning: --tensor-parallel: has nothing to split on one RDU; expected --n-chips of 2 or more\n"},
      {"--tensor-parallel weight", sn30(), ""},
  });
}

TEST_CASE("rdu compile checks: several RDUs may be split in a way that is not simulated, or by a file") {
  check_cases({
      {"--n-chips 2 --model-parallel", sn10(),
       "c:1:1: warning: command: without effect on what is simulated: --model-parallel\n"},
  });
  CHECK(check("python rdu_generate_text.py command=compile --config-name o1hd_config_rdu", sn40l()) ==
        "c:1:8: warning: --n-chips: several RDUs, but nothing says how the model is split; expected --tensor-parallel "
        "batch or weight\n");
}

TEST_CASE("rdu compile checks: case 4, tensor parallelism ends at the node") {
  const std::string flags = "-b 32 --tensor-parallel batch --n-chips ";
  check_cases({
      {flags + "16", sn10(),
       "c:1:61: --n-chips: 16 RDUs are more than a node of SN10 has, and one copy stays within a node; expected at "
       "most "
       "8; --data-parallel goes beyond a node\n"},
      {flags + "16", sn30(),
       "c:1:61: --n-chips: 16 RDUs are more than a node of SN30 has, and one copy stays within a node; expected at "
       "most "
       "8; --data-parallel goes beyond a node\n"},
      {flags + "16", sn40l(8),
       "c:1:61: --n-chips: 16 RDUs are more than a node of SN40L has, and one copy stays within a node; expected at "
       "most 8; --data-parallel goes beyond a node\n"},
      {flags + "32", sn40l(16),
       "c:1:61: --n-chips: 32 RDUs are more than a node of SN40L has, and one copy stays within a node; expected at "
       "most 16; --data-parallel goes beyond a node\n"},
  });
}

TEST_CASE("rdu compile checks: a batch is shared evenly by the RDUs of batch mode") {
  check_cases({
      {"-b 16 --tensor-parallel batch --n-chips 4", sn10(), ""},
      {"-b 18 --tensor-parallel batch --n-chips 4", sn10(),
       "c:1:24: -b: a batch of 18 cannot be shared by 4 RDUs; expected a multiple of 4\n"},
      {"-b 18 --tensor-parallel weight --n-chips 4", sn10(), ""},
  });
}

TEST_CASE("rdu compile checks: RDUs in batch mode and the halves of each share a batch together") {
  const std::string flags = " --num-tiles 8 --tensor-parallel batch --n-chips ";
  const auto told = [](const char* batch, const char* halves, const char* chips, const char* multiple) {
    return std::string("c:1:24: -b: a batch of ") + batch + " cannot be shared by the " + halves + " halves of " +
           chips + " RDUs; expected a multiple of " + multiple + ", or of " + chips + " with --num-tiles 4\n";
  };
  check_cases({
      {"-b 4" + flags + "2", sn30(), ""},
      {"-b 6" + flags + "2", sn30(), told("6", "4", "2", "4")},
      {"-b 2" + flags + "2", sn30(), told("2", "4", "2", "4")},
      {"-b 4" + flags + "4", sn30(), told("4", "8", "4", "8")},
      {"-b 3" + flags + "2", sn30(), told("3", "4", "2", "4")},
      {"-b 6 --num-tiles 4 --tensor-parallel batch --n-chips 2", sn30(), ""},
      {"-b 7 --num-tiles 4 --tensor-parallel batch --n-chips 2", sn30(),
       "c:1:24: -b: a batch of 7 cannot be shared by 2 RDUs; expected a multiple of 2\n"},
  });
}

TEST_CASE("rdu compile checks: case 5, SN30 shares the batch between its halves unless four tiles are asked for") {
  const std::string odd =
      "c:1:24: -b: a batch of 3 is odd, but SN30 shares it between the two halves of an RDU; expected an even batch, "
      "or "
      "--num-tiles 4\n";
  check_cases({
      {"-b 3", sn30(), odd},
      {"-b 3 --num-tiles 8", sn30(), odd},
      {"-b 3 --tensor-parallel batch", sn30(), odd},
      {"-b 3 --num-tiles 4", sn30(), ""},
      {"-b 3 --num-chips 1", sn30(), ""},
      {"-b 3 --tensor-parallel weight", sn30(), ""},
      {"-b 4", sn30(), ""},
      {"-b 3", sn10(), ""},
      {"", sn30(), ""},  // the application's own default is not known
  });
}

TEST_CASE("rdu compile checks: case 6, a program runs on the machine it was compiled for") {
  check_cases({
      {"--arch sn10", sn10(), ""},
      {"--arch native", sn30(), ""},
      {"--arch sn10", sn30(),
       "c:1:28: --arch: a PEF for sn10 does not run on SN30; expected sn30 or native, and a new compile\n"},
      {"--arch sn40", sn40l(), ""},
  });
}

TEST_CASE("rdu compile checks: case 7, Model Zoo keeps to four tiles on SN30") {
  const std::string start = "python rdu_generate_text.py command=compile ";
  CHECK(check(start + "samba_compile.arch=sn30 samba_compile.num_tiles=8", sn30()) ==
        "c:1:93: samba_compile.num_tiles: Model Zoo has no tensor parallelism on SN30, which the compiler uses with "
        "other than 4 tiles; expected 4\n");
  CHECK(check(start + "samba_compile.arch=sn30 samba_compile.num_tiles=null generation.batch_size=2", sn30()) ==
        "c:1:1: --num-tiles: Model Zoo has no tensor parallelism on SN30, which the compiler uses with other than 4 "
        "tiles; expected 4\n");
  CHECK(check(start + "samba_compile.arch=sn30 samba_compile.num_tiles=4", sn30()) == "");
  CHECK(check(start + "samba_compile.arch=sn30", sn30()) == "");  // the shipped file sets 4
  CHECK(check(start + "samba_compile.arch=sn40 samba_compile.num_tiles=8", sn40l()) == "");
}

TEST_CASE("rdu compile checks: case 8, a model over two RDUs by weights is accepted") {
  CHECK(check("python rdu_train_llm.py command=compile training.batch_size=1 samba_compile.tensor_parallel=weight "
              "samba_compile.n_chips=2 samba_compile.num_tiles=8 samba_compile.early_tp=true",
              sn40l()) == "c:1:1: warning: command: without effect on what is simulated: samba_compile.early_tp\n");
}

TEST_CASE("rdu compile checks: case 15, the runtime refuses a program for a newer release") {
  const std::string start = "python rdu_generate_text.py command=compile +samba_compile.target_sambaflow_version=";
  CHECK(check(start + "1.19.1", with_release(sn40l(), 18)) ==
        "c:1:85: samba_compile.target_sambaflow_version: the runtime of SambaFlow 1.18 refuses a PEF for 1.19.1; "
        "expected 1.18 or older\n");
  CHECK(check(start + "1.18.7", with_release(sn40l(), 18)) == "");
  CHECK(check(start + "1.17.2", with_release(sn40l(), 18)) == "");
  CHECK(check(start + "latest", sn40l()) ==
        "c:1:85: samba_compile.target_sambaflow_version: \"latest\" is no version; expected MAJOR.MINOR.PATCH\n");
}

TEST_CASE("rdu compile checks: case 1, the world size of a compile is 2") {
  check_cases({
      {"--data-parallel -ws 2", sn10(), ""},
      {"--data-parallel -ws 8", sn10(),
       "c:1:41: warning: -ws: 8 is only the least number of copies; the launcher says how many run; expected 2 at "
       "compile\n"},
      {"--data-parallel", sn10(),
       "c:1:21: warning: --data-parallel: no world size is given; expected -ws 2; the launcher says how many copies "
       "run\n"},
      {"-ws 2", sn10(), "c:1:25: warning: -ws: has no effect without --data-parallel\n"},
      {"--data-parallel -ws 2 --inference", sn10(),
       "c:1:21: warning: --data-parallel: inference has no gradients to reduce; copies run side by side\n"},
  });
}

TEST_CASE("rdu compile checks: other flags that contradict or miss each other") {
  check_cases({
      {"--mac-v1 --mac-v2", sn10(),
       "c:1:1: warning: command: without effect on what is simulated: --mac-v1, --mac-v2\n"
       "c:1:30: --mac-v2: --mac-v1 is given too; expected one of them\n"},
      {"--compiler-mode cnn", sn10(),
       "c:1:1: warning: command: without effect on what is simulated: --compiler-mode\n"
       "c:1:37: warning: --compiler-mode: \"cnn\" is no published mode; expected nlp\n"},
      {"--verbose", sn10(),
       "c:1:1: warning: command: without effect on what is simulated: --verbose\n"
       "c:1:21: warning: --verbose: the PEF's name is not printed last then; expected --output-folder beside it\n"},
      {"--resources-scaling-factors 1 1 1 1", sn10(),
       "c:1:49: warning: --resources-scaling-factors: four factors are read as forward, backward, gradient norm, "
       "optimizer; their order is not documented\n"},
      {"--inference --resources-scaling-factors 0.8 0.8 0.8", sn10(),
       "c:1:61: warning: --resources-scaling-factors: inference has a forward graph only; the other factors have no "
       "effect\n"},
      {"--inference --grad-accumulation-steps 4", sn10(),
       "c:1:59: warning: --grad-accumulation-steps: has no effect on inference\n"},
  });
}

TEST_CASE("rdu compile checks: all problems are told at once, arguments with problems are not looked at again") {
  check_cases({
      {"-b 3 -mb 2 -o1 -o0 --arch sn10 --num-tiles 16 --enable-hypersection", sn30(),
       "c:1:64: --num-tiles: 16 is no number of tiles; expected 1, 2, 4 or 8\n"
       "c:1:36: -o0: -o1 is given already; expected one optimisation level\n"
       "c:1:30: -mb: 2 does not divide the batch of 3; expected a divisor of the batch\n"
       "c:1:47: --arch: a PEF for sn10 does not run on SN30; expected sn30 or native, and a new compile\n"},
  });
}

TEST_CASE("rdu compile checks: a copy takes all tiles of one RDU unless told otherwise") {
  const auto size = [](const std::string& flags, const CommandSystem& system) {
    return copy_size(*compile("python a.py compile " + flags).command, system);
  };
  CHECK(size("", sn10()).tiles == 4);
  CHECK(size("", sn30()).tiles == 8);
  CHECK(size("", sn30()).halves_batch);
  CHECK(size("--num-tiles 4", sn30()).tiles == 4);
  CHECK_FALSE(size("--num-tiles 4", sn30()).halves_batch);
  CHECK(size("--num-chips 1", sn30()).tiles == 4);
  CHECK(size("--tensor-parallel weight --n-chips 2", sn30()).rdus == 2);
  CHECK(copies_per_node(size("", sn10()), sn10()) == 8);
  CHECK(copies_per_node(size("--num-tiles 4", sn30()), sn30()) == 16);
  CHECK(copies_per_node(size("--num-tiles 1", sn10()), sn10()) == 32);
  CHECK(copies_per_node(size("--tensor-parallel weight --n-chips 2", sn30()), sn30()) == 4);
  CHECK(copies_per_node({8, 16, false}, sn30()) == 0);
}

}  // namespace podsim::rdu
