// Sweeps in files: databases, samples, shards, interruptions.
#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "tests/support/sweep_scene.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

// A folder with sweep.toml.
struct SweepFolder : ExperimentFolder {
  explicit SweepFolder(const std::string& text = sweep_file(4, 3)) { write("sweep.toml", text); }
  std::string dump(const std::string& name = "sweep.sqlite") const { return dump_of(path() + "/" + name); }
  // What a command shows on a terminal.
  std::string terminal(const std::string& command) const {
    return run_command("script -qec " + shell_quoted(command) + " /dev/null", path()).out;
  }
};

// A program for the shell, to be started under other commands.
std::string quoted_program() {
  return shell_quoted(program());
}

// Starts the sweep in the background, as $sweep, and waits for its first rows: at most a minute.
std::string started_sweep(const std::string& redirected = "") {
  return quoted_program() + " sweep run sweep.toml -j2" + redirected + " & sweep=$!; for i in $(seq 600); do " +
         quoted_program() +
         " sweep show sweep.sqlite 2>/dev/null | grep -q '^sweep.sqlite: [1-9]' && break; sleep 0.1; done; ";
}

}  // namespace

TEST_CASE("sweep run: a file fills a database beside it, and the same command finds nothing left to do") {
  const SweepFolder folder;
  const CommandResult first = folder.podsim("sweep run sweep.toml -j2");
  CHECK_MESSAGE(first.exit_code == 0, first.err);
  CHECK(first.err.empty());
  CHECK(first.out == "sweep.sqlite: 12 rows, 12 ok\nsimgrid agrees within 0\nnext: podsim sweep show sweep.sqlite\n");
  const std::string dump = folder.dump();
  const CommandResult again = folder.podsim("sweep run sweep.toml");
  CHECK(again.exit_code == 0);
  CHECK(again.out == first.out);
  CHECK(folder.dump() == dump);
}

TEST_CASE("sweep run: the rows are those that the command line prints") {
  const SweepFolder folder;
  CHECK(folder.podsim("sweep run sweep.toml --quiet").exit_code == 0);
  const CommandResult printed = folder.podsim(
      "sweep run sweep.toml --axis 'ipu.gradient_accumulation_steps={from = 9, to = 12}' "
      "--axis 'system.ipu_link.bandwidth={from = \"20 GB/s\", to = \"80 GB/s\", count = 3}'");
  CHECK(contains(printed.err, "warning: sweep.axes: has no effect: --axis stands in its place"));
  CHECK(folder.podsim("sweep export sweep.sqlite").out == printed.out);
}

TEST_CASE("sweep run: --dry-run counts and writes nothing") {
  const SweepFolder folder(sweep_file(4, 3) + "[sweep]\nexclude = [\"ipu.gradient_accumulation_steps == 10\"]\n");
  const CommandResult result = folder.podsim("sweep run sweep.toml --dry-run");
  CHECK(result.exit_code == 0);
  CHECK(result.out ==
        "ipu.gradient_accumulation_steps: 4 values\nsystem.ipu_link.bandwidth: 3 values\n12 points, 3 left out\n");
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/sweep.sqlite"));
  CHECK(folder.podsim("sweep run sweep.toml --quiet").exit_code == 0);
  CHECK(folder.podsim("sweep run sweep.toml --dry-run").out.ends_with("3 left out, 9 rows in sweep.sqlite\n"));
  CHECK(folder.podsim("sweep run sweep.toml --dry-run --set workload.micro_batch_size=2")
            .out.ends_with("3 left out; sweep.sqlite holds another sweep\n"));
}

TEST_CASE("sweep run: a sample is drawn by its seed") {
  const std::string drawn = sweep_file(40, 30) + "[sweep]\nsampling = \"random\"\npoints = 7\nseed = ";
  const SweepFolder folder(drawn + "1\n");
  folder.write("again.toml", drawn + "1\n");
  folder.write("other.toml", drawn + "2\n");
  for (const std::string name : {"sweep", "again", "other"}) {
    CHECK(folder.podsim("sweep run " + name + ".toml --quiet").exit_code == 0);
  }
  const auto rows = [&](const std::string& name) { return folder.podsim("sweep export " + name + ".sqlite").out; };
  CHECK(rows("sweep") == rows("again"));
  CHECK(rows("sweep") != rows("other"));
  const std::string text = rows("sweep");
  CHECK(std::count(text.begin(), text.end(), '\n') == 8);
}

TEST_CASE("sweep run: ten million points and more are run only when asked twice") {
  const SweepFolder folder(
      "system = \"pod4\"\n[model]\nconfig = \"bert-base-uncased\"\n[workload]\nsequence_length = 128\n"
      "[ipu]\nlayers_per_ipu = [3, 3, 3, 3]\n[sweep.axes]\n"
      "\"ipu.gradient_accumulation_steps\" = {from = 5, to = 1000004}\n\"ipu.seed\" = {from = 1, to = 1000000}\n");
  CHECK(folder.refused("sweep run sweep.toml --quiet") ==
        "podsim: the sweep has 1,000,000,000,000 points; give --yes to run more than 10,000,000 (see `podsim sweep run "
        "--help`)\n");
  CHECK(folder.podsim("sweep run sweep.toml --dry-run").out.ends_with("\n1,000,000,000,000 points\n"));
}

TEST_CASE("sweep run: unknown and empty axes are told before anything runs") {
  const SweepFolder folder(
      "system = \"pod4\"\n[model]\nconfig = \"bert-base-uncased\"\n[sweep.axes]\n"
      "\"workload.micro_batch_sise\" = [1, 2]\n");
  CHECK(contains(folder.refused("sweep run sweep.toml"),
                 "sweep.toml:5:32: workload.micro_batch_sise: unknown key; did you mean \"micro_batch_size\"?"));
  folder.write("sweep.toml", "system = \"pod4\"\n[sweep.axes]\n\"workload.micro_batch_size\" = []\n");
  CHECK(contains(folder.refused("sweep run sweep.toml"),
                 "sweep.toml:3:31: sweep.axes.workload.micro_batch_size: is no list of values"));
  folder.write("sweep.toml",
               "system = \"pod4\"\n[model]\nconfig = \"bert-base-uncased\"\n[sweep.axes]\n"
               "\"system.ipu_link.bandwith\" = [\"1 GB/s\"]\n");
  CHECK(contains(folder.refused("sweep run sweep.toml"), "system.ipu_link.bandwith: unknown constant"));
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/sweep.sqlite"));
}

TEST_CASE("sweep run: an axis without effect is warned about") {
  const SweepFolder folder;
  const CommandResult result = folder.podsim("sweep run sweep.toml --axis ipu.seed=1,2");
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "warning: ipu.seed: no effect on the result"));
}

TEST_CASE("sweep run: the database of another sweep is never written over") {
  const SweepFolder folder;
  CHECK(folder.podsim("sweep run sweep.toml --quiet").exit_code == 0);
  const std::string dump = folder.dump();
  folder.write("sweep.toml", sweep_file(5, 3));
  CHECK(contains(folder.refused("sweep run sweep.toml --force"), "podsim: sweep.sqlite: holds another sweep (inputs "));
  folder.write("sweep.toml", sweep_file(4, 3));
  CHECK(contains(folder.refused("sweep run sweep.toml --set workload.micro_batch_size=2"),
                 "podsim: sweep.sqlite: holds another sweep (inputs "));
  CHECK(contains(folder.refused("sweep run sweep.toml --out config.json"), "config.json: cannot be read: file is not"));
  CHECK(folder.dump() == dump);
}

TEST_CASE("sweep run: a file that may not be written is told") {
  const SweepFolder folder;
  std::string as_another;
  if (::geteuid() == 0) {
    as_another = "setpriv --reuid=65534 --regid=65534 --clear-groups ";
    if (run_command(as_another + quoted_program() + " help", folder.path()).exit_code != 0) {
      MESSAGE("skipped: the program cannot be started as another user");
      return;
    }
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  } else {
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  }
  const CommandResult result = run_command(as_another + quoted_program() + " sweep run sweep.toml", folder.path());
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  CHECK(result.exit_code == 2);
  CHECK(result.err == "podsim: sweep.sqlite: cannot be written: Permission denied\n");
}

TEST_CASE("sweep run: killed at any moment it goes on and ends with the same database") {
  const SweepFolder folder(sweep_file(12, 10));
  CHECK(folder.podsim("sweep run sweep.toml --quiet --out whole.sqlite").exit_code == 0);
  for (const char* moment : {"0.15", "0.4", "0.7"}) {
    run_command("timeout -s KILL " + std::string(moment) + " " + quoted_program() + " sweep run sweep.toml --quiet -j2",
                folder.path());
  }
  const CommandResult last = folder.podsim("sweep run sweep.toml --quiet -j2");
  CHECK_MESSAGE(last.exit_code == 0, last.err);
  CHECK(folder.dump() == folder.dump("whole.sqlite"));
}

TEST_CASE("sweep run: interrupted it keeps what it has, says so, and ends with 130") {
  for (const char* signal : {"INT", "TERM"}) {
    const SweepFolder folder(sweep_file(1000, 100));
    const CommandResult result =
        run_command(started_sweep() + "kill -s " + signal + " $sweep; wait $sweep", folder.path());
    CHECK(result.exit_code == 130);
    CHECK(result.out.empty());
    CHECK(result.err.starts_with("interrupted: "));
    CHECK(result.err.ends_with(" rows are in sweep.sqlite; the same command goes on\n"));
    CHECK(SweepStore::read(folder.path() + "/sweep.sqlite").count() > 0);
    CHECK(contains(folder.podsim("sweep show sweep.sqlite").out, " rows of 100,000 points, not finished\n"));
  }
}

TEST_CASE("sweep run: a terminal is shown points done and in all, the rate and the time left") {
  if (run_command("command -v script >/dev/null", "/").exit_code != 0) {
    MESSAGE("skipped: there is no program `script` to make a terminal with");
    return;
  }
  const SweepFolder folder;
  const std::string shown = folder.terminal(shell_quoted(program()) + " sweep run sweep.toml");
  CHECK(contains(shown, "\r12/12 points, "));
  CHECK(contains(shown, "/s, 0 s left "));
  CHECK_FALSE(contains(folder.terminal(shell_quoted(program()) + " sweep run sweep.toml --quiet"), "points"));
}

TEST_CASE("sweep run: two processes do not share a file") {
  const SweepFolder folder(sweep_file(1000, 100));
  const CommandResult result = run_command(
      started_sweep(" 2>/dev/null") + quoted_program() + " sweep run sweep.toml; echo $? >&2; kill $sweep; wait",
      folder.path());
  CHECK(result.err.starts_with("podsim: sweep.sqlite: is written by process "));
  CHECK(contains(result.err, "; wait for it, or name another file"));
  CHECK(result.err.ends_with("\n2\n"));
}

TEST_CASE("sweep merge: shards make the sweep that one process makes, however often they are merged") {
  const SweepFolder folder;
  CHECK(folder.podsim("sweep run sweep.toml --quiet").exit_code == 0);
  for (const char* shard : {"1/3", "2/3"}) {
    CHECK(folder.podsim("sweep run sweep.toml --quiet --shard " + std::string(shard)).exit_code == 0);
  }
  const CommandResult part =
      folder.podsim("sweep merge all.sqlite sweep.shard-1-of-3.sqlite sweep.shard-2-of-3.sqlite");
  CHECK(part.out ==
        "sweep.shard-1-of-3.sqlite: 4 rows added\nsweep.shard-2-of-3.sqlite: 4 rows added\n"
        "all.sqlite: 8 rows of 12 points\nnot all shards are complete\n");
  CHECK(folder.podsim("sweep run sweep.toml --quiet --shard 3/3").exit_code == 0);
  const std::string merge =
      "sweep merge all.sqlite sweep.shard-1-of-3.sqlite sweep.shard-2-of-3.sqlite sweep.shard-3-of-3.sqlite";
  CHECK(folder.podsim(merge).exit_code == 0);
  const CommandResult twice = folder.podsim(merge);
  CHECK(contains(twice.out, "sweep.shard-3-of-3.sqlite: 0 rows added\nall.sqlite: 12 rows of 12 points\n"));
  CHECK(folder.podsim("sweep export all.sqlite").out == folder.podsim("sweep export sweep.sqlite").out);
  CHECK(contains(folder.refused("sweep merge all.sqlite all.sqlite"), "all.sqlite is an input of this run"));
  folder.write("other.toml", sweep_file(2, 2));
  CHECK(folder.podsim("sweep run other.toml --quiet").exit_code == 0);
  CHECK(contains(folder.refused("sweep merge new.sqlite sweep.shard-1-of-3.sqlite other.sqlite"),
                 "other.sqlite: holds another sweep"));
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/new.sqlite"));
}

TEST_CASE("sweep run: shards and jobs are checked") {
  const SweepFolder folder;
  for (const std::string shard : {"0/3", "4/3", "1", "1/x", "1/3x"}) {
    CHECK(folder.refused("sweep run sweep.toml --shard " + shard) ==
          "podsim: option --shard: \"" + shard + "\" is not like 2/8 (see `podsim sweep run --help`)\n");
  }
  CHECK(contains(folder.refused("sweep run sweep.toml -j 0"), "option --jobs: 0 is not from 1 to 1024"));
  CHECK(contains(folder.refused("sweep run sweep.toml -j 2 --engine simgrid"),
                 "option --jobs: the engine simgrid runs once per process"));
  CHECK(contains(folder.refused("sweep run sweep.toml --tasks 2"), "option --tasks has no effect without --slurm"));
}

TEST_CASE("sweep show: a table has quantities in the order of the sweep, not of their letters") {
  const ExperimentFolder folder;
  CHECK(folder
            .podsim("sweep run experiment.toml --axis 'system.ipu_link.bandwidth=75 GB/s,150 GB/s' "
                    "--axis workload.micro_batch_size=1,2 --out links.sqlite")
            .exit_code == 0);
  const CommandResult table =
      folder.podsim("sweep show links.sqlite --table workload.micro_batch_size,system.ipu_link.bandwidth");
  CHECK(contains(table.out, "  75 GB/s  150 GB/s\n"));
}

TEST_CASE("sweep show: best points, front and table of a database") {
  const SweepFolder folder;
  CHECK(folder.podsim("sweep run sweep.toml --quiet").exit_code == 0);
  const CommandResult best = folder.podsim("sweep show sweep.sqlite --best samples_per_s --limit 1");
  CHECK(best.exit_code == 0);
  CHECK(
      best.out.starts_with("sweep.sqlite: 12 rows of 12 points\n  ok             12\n  3 points run again on simgrid"));
  CHECK(contains(best.out, "\nBest by samples_per_s\n"));
  CHECK(contains(best.out, "\n     11                               12  80 GB/s "));
  const CommandResult front = folder.podsim("sweep show sweep.sqlite --pareto samples_per_s,step_time_s");
  CHECK(contains(front.out, "\nPareto front of samples_per_s and step_time_s\n"));
  const CommandResult table = folder.podsim(
      "sweep show sweep.sqlite --table ipu.gradient_accumulation_steps,system.ipu_link.bandwidth,mfu_pct");
  CHECK(contains(table.out, "  20 GB/s  50 GB/s  80 GB/s\n"));
  CHECK(
      folder.refused("sweep show sweep.sqlite --best sample_per_s") ==
      "sweep.sqlite: sample_per_s: is no column of this sweep; expected one that `podsim sweep export` shows; did you "
      "mean \"samples_per_s\"?\n");
  CHECK(folder.refused("sweep show sweep.sqlite --best bottleneck") ==
        "sweep.sqlite: bottleneck: may be better high or low; expected bottleneck:max or bottleneck:min\n");
  CHECK(folder.refused("sweep show sweep.sqlite --table a,b") ==
        "sweep.sqlite: a: is no axis of this sweep; expected one of ipu.gradient_accumulation_steps, "
        "system.ipu_link.bandwidth\n");
  CHECK(contains(folder.refused("sweep show missing.sqlite"),
                 "podsim: missing.sqlite: cannot be opened: unable to open"));
  CHECK(contains(folder.refused("sweep show"), "podsim: no database: give the file that `podsim sweep run` wrote"));
}

TEST_CASE("sweep export: JSON has the rows with their columns and units") {
  const SweepFolder folder;
  CHECK(folder.podsim("sweep run sweep.toml --quiet").exit_code == 0);
  Diagnostics diagnostics;
  const CommandResult json = folder.podsim("sweep export sweep.sqlite --format json");
  const auto document = parse_json(json.out, "j", diagnostics);
  REQUIRE_MESSAGE(document.has_value(), diagnostics.to_text());
  CHECK(document->find("rows")->elements().size() == 12);
  CHECK(document->find("rows")->elements()[3].find("ipu.gradient_accumulation_steps") == nullptr);  // a key with dots
  CHECK(document->find("rows")->elements()[3].find("point")->as_integer() == 3);
  CHECK(document->find("rows")->elements()[3].find("fits")->as_boolean());
  CHECK(document->find("sweep.points")->as_integer() == 12);
  CHECK(document->find("columns")->elements()[2].find("name")->as_string() == "status");
  CHECK(folder.podsim("sweep export sweep.sqlite --out table.csv").out.empty());
  CHECK(folder.read("table.csv") == folder.podsim("sweep export sweep.sqlite").out);
  CHECK(contains(folder.refused("sweep export sweep.sqlite --out table.csv"), "table.csv exists; give --force"));
}

TEST_CASE("sweep run: the script for a batch system has a shard per task") {
  const SweepFolder folder;
  const CommandResult script = folder.podsim(
      "sweep run sweep.toml --slurm --tasks 4 --partition fast --sbatch=--time=1:00:00 --set name=\"it's\" --dry-run");
  CHECK(script.exit_code == 0);
  CHECK(contains(script.out, "\n#SBATCH --array=1-4\n"));
  CHECK(contains(script.out, "\n#SBATCH --requeue\n"));
  CHECK(contains(script.out, "\n#SBATCH --partition=fast\n#SBATCH --time=1:00:00\n"));
  CHECK(contains(script.out,
                 " sweep run 'sweep.toml' --set 'name=it'\\''s' --jobs 1 --out 'sweep.sqlite' --shard "
                 "\"$SLURM_ARRAY_TASK_ID/4\"\n"));
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/sweep.slurm"));
  CHECK(contains(folder.refused("sweep run sweep.toml --slurm"), "option --slurm: give --tasks N, from 1 to 100,000"));
  CHECK(contains(folder.refused("sweep run sweep.toml --slurm --tasks 2 --shard 1/2"),
                 "option --slurm: the tasks are the shards; leave --shard out"));
  CHECK(contains(folder.refused("sweep run --system pod4 --model bert-base-uncased --axis ipu.seed=1 --quiet --slurm "
                                "--tasks 2"),
                 "option --slurm: give --out FILE.sqlite"));
}

TEST_CASE("sweep run: a base that no axis mends is refused before anything runs") {
  const SweepFolder folder("[sweep.axes]\n\"workload.micro_batch_size\" = [1, 2]\n");
  const std::string text = folder.refused("sweep run sweep.toml");
  CHECK(contains(text, "sweep.toml:1:1: system: is missing; expected one of "));
  CHECK(contains(text, "sweep.toml:1:1: model.config: is missing; expected "));
  CHECK(contains(folder.refused("sweep run gpt2-caraml-pod4 --set workload.micro_batch=4 --axis ipu.seed=1,2"),
                 "command line: workload.micro_batch: unknown key; did you mean \"micro_batch_size\"?"));
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/sweep.sqlite"));
}

TEST_CASE("sweep run: the commonest reasons of invalid points are told") {
  const SweepFolder folder(
      "[sweep]\nexperiment = \"bert-large-bow-pod16\"\n[sweep.axes]\n\"ipu.gradient_accumulation_steps\" = [2048, "
      "2]\n");
  const std::string text = folder.podsim("sweep run sweep.toml").out;
  CHECK(contains(text, "sweep.sqlite: 2 rows, 1 invalid, 1 ok\n  1 invalid: "));
}

TEST_CASE("sweep run: each problem of a file is told") {
  const SweepFolder folder(
      "[sweep]\nexperiment = \"bert-large-bow-pod16\"\nsampling = \"rndom\"\nexclude = [\"1 +\"]\n[sweep.axes]\n"
      "\"workload.micro_batch_sise\" = [1, 2]\n");
  const std::string text = folder.refused("sweep run sweep.toml");
  CHECK(contains(text, "sweep.toml:3:12: sweep.sampling: "));
  CHECK(contains(text, "sweep.toml:4:12: sweep.exclude: condition '1 +': "));
  CHECK(contains(text, "sweep.toml:6:32: workload.micro_batch_sise: unknown key; "));
}

TEST_CASE("sweep run: a key that is set and an axis is told") {
  const SweepFolder folder;
  const CommandResult result = folder.podsim(
      "sweep run experiment.toml --set ipu.gradient_accumulation_steps=64 --dry-run "
      "--axis ipu.gradient_accumulation_steps=9,10");
  CHECK(result.err ==
        "command line: warning: ipu.gradient_accumulation_steps: has no effect: it is an axis; expected one of --set "
        "and the axis\n");
}

TEST_CASE("sweep run: conditions that exclude nothing and points drawn twice are told") {
  const std::string base =
      "[sweep.axes]\n\"ipu.gradient_accumulation_steps\" = [64, 128]\n\"ipu.layers_per_ipu\" = [[3, 7, 7, 7]]\n"
      "[sweep]\nexperiment = \"bert-large-bow-pod16\"\n";
  const SweepFolder folder(base + "exclude = [\"ipu.gradient_accumulation_steps > 128\"]\n");
  const CommandResult idle = folder.podsim("sweep run sweep.toml --dry-run");
  CHECK(contains(idle.err,
                 "sweep.toml:6:12: warning: sweep.exclude: condition 'ipu.gradient_accumulation_steps > 128': excludes "
                 "no point"));
  folder.write("sweep.toml",
               "[sweep]\nexperiment = \"bert-large-bow-pod16\"\nsampling = \"latin-hypercube\"\npoints = 8\n"
               "[sweep.axes]\n\"workload.micro_batch_size\" = [1, 2, 4]\n"
               "\"ipu.gradient_accumulation_steps\" = [64, 128, 256]\n");
  CHECK(contains(folder.podsim("sweep run sweep.toml --dry-run").err, "warning: sweep.points: 8 points were drawn, "));
}

TEST_CASE("sweep run: its help has no word twice") {
  const SweepFolder folder;
  CHECK(contains(folder.podsim("sweep run --help").out, "axes of\nthe command line print CSV"));
}
