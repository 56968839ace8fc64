// Sweeps under hardship: killed again and again, on a full disk, in a batch system that takes tasks away.
#include <doctest/doctest.h>

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "sim/core/random.hpp"
#include "tests/support/sweep_scene.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

constexpr int k_kills = 10;

struct SweepFolder : ExperimentFolder {
  explicit SweepFolder(const std::string& text) { write("sweep.toml", text); }
  std::string file(const std::string& name) const { return path() + "/" + name; }
  CommandResult shell(const std::string& command) const { return run_command(command, path()); }
};

std::string sweep_command() {
  return shell_quoted(program()) + " sweep run sweep.toml --quiet -j2";
}

bool is_there(const std::string& tool) {
  return run_command("command -v " + tool + " >/dev/null", "/").exit_code == 0;
}

// A Slurm of one machine with sockets, state and logs in a folder of its own; gone with the object.
class OneMachineSlurm {
 public:
  explicit OneMachineSlurm(const std::string& folder) : folder_(folder) {
    const std::string key = folder + "/munge/key";
    shell(
        "mkdir -p munge state spool && chmod 755 . munge && head -c 1024 /dev/urandom > munge/key && "
        "chown -R munge:munge munge && chmod 400 munge/key");
    shell("setpriv --reuid=munge --regid=munge --clear-groups munged --key-file=" + key + " --socket=" + folder +
          "/munge/socket --pid-file=" + folder + "/munge/pid --log-file=" + folder +
          "/munge/log --seed-file=" + folder + "/munge/seed");
    write_configuration();
    shell("slurmctld -c >start.log 2>&1; slurmd -c >>start.log 2>&1");
  }
  ~OneMachineSlurm() { shell("for f in slurmd.pid slurmctld.pid munge/pid; do kill $(cat $f); done; sleep 1"); }
  OneMachineSlurm(const OneMachineSlurm&) = delete;
  OneMachineSlurm& operator=(const OneMachineSlurm&) = delete;

  CommandResult shell(const std::string& command) const {
    return run_command("export SLURM_CONF=" + folder_ + "/slurm.conf; " + command, folder_);
  }
  bool is_ready() const {
    return shell("for i in $(seq 30); do sinfo -h -o %T 2>/dev/null | grep -q idle && exit 0; sleep 1; done; exit 1")
               .exit_code == 0;
  }

 private:
  void write_configuration() const {
    std::ofstream(folder_ + "/slurm.conf")
        << "ClusterName=one\nSlurmctldHost=" << host() << "(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n"
        << "AuthType=auth/munge\nAuthInfo=socket=" << folder_ << "/munge/socket,cred_expire=5\n"
        << "SlurmctldPort=16827\nSlurmdPort=16828\nStateSaveLocation=" << folder_
        << "/state\nSlurmdSpoolDir=" << folder_ << "/spool\nSlurmctldPidFile=" << folder_
        << "/slurmctld.pid\nSlurmdPidFile=" << folder_ << "/slurmd.pid\nSlurmctldLogFile=" << folder_
        << "/slurmctld.log\nSlurmdLogFile=" << folder_
        << "/slurmd.log\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\n"
        << "SelectTypeParameters=CR_Core\nJobRequeue=1\nKillWait=1\nReturnToService=2\n"
        << "SchedulerParameters=sched_interval=1,batch_sched_delay=1\nNodeName=" << host()
        << " NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000\nPartitionName=main Nodes=ALL Default=YES State=UP\n";
  }
  static std::string host() {
    std::string name = run_command("hostname -s", "/").out;
    while (!name.empty() && name.back() == '\n') name.pop_back();
    return name;
  }
  std::string folder_;
};

}  // namespace

TEST_CASE("slow: sweep of 100,000 points, killed ten times, ends like one that was left alone" *
          doctest::timeout(1800)) {
  const SweepFolder folder(sweep_file(1000, 100));
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(folder.shell(sweep_command() + " --out whole.sqlite").exit_code == 0);
  const double alone = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Random random(20'000);
  std::int64_t before = 0;
  for (int kill = 0; kill < k_kills; ++kill) {
    // Together less than the whole takes, on a machine of any speed.
    const std::string moment = std::to_string(alone * (0.02 + 0.06 * random.unit()));
    const CommandResult result = folder.shell("timeout -s KILL " + moment + " " + sweep_command());
    CHECK(result.exit_code == 128 + 9);
    if (!std::filesystem::exists(folder.file("sweep.sqlite"))) continue;
    const std::int64_t rows = Database(folder.file("sweep.sqlite"), Database::Access::read)
                                          .integer("SELECT count(*) FROM sqlite_master WHERE name = 'points'") == 0
                                  ? 0
                                  : SweepStore::read(folder.file("sweep.sqlite")).count();
    CHECK(rows >= before);  // nothing committed is lost
    before = rows;
  }
  CHECK(before > 0);
  CHECK(before < 100'000);
  REQUIRE(folder.shell(sweep_command()).exit_code == 0);
  CHECK(dump_of(folder.file("sweep.sqlite")) == dump_of(folder.file("whole.sqlite")));
}

TEST_CASE("sweep run: a full disk loses nothing that was committed, and with room it goes on") {
  const SweepFolder folder(sweep_file(25, 20));
  std::filesystem::create_directory(folder.file("small"));
  if (::geteuid() != 0 || folder.shell("mount -t tmpfs -o size=200k tmpfs small").exit_code != 0) {
    MESSAGE("skipped: a small file system can be mounted by root alone");
    return;
  }
  const CommandResult full = folder.shell(sweep_command() + " --out small/sweep.sqlite");
  CHECK(full.exit_code == 2);
  CHECK(contains(full.err, "podsim: small/sweep.sqlite: "));
  CHECK(contains(full.err, "no space left on the disk"));
  CHECK(folder.shell("mount -o remount,size=32m small").exit_code == 0);
  const std::int64_t kept = SweepStore::read(folder.file("small/sweep.sqlite")).count();
  CHECK(kept < 500);
  const CommandResult rest = folder.shell(sweep_command() + " --out small/sweep.sqlite");
  CHECK_MESSAGE(rest.exit_code == 0, rest.err);
  CHECK(folder.shell(sweep_command() + " --out whole.sqlite").exit_code == 0);
  CHECK(dump_of(folder.file("small/sweep.sqlite")) == dump_of(folder.file("whole.sqlite")));
  folder.shell("umount small");
}

TEST_CASE("slow: sweep as a Slurm array, one task killed and requeued, equals the local one" * doctest::timeout(600)) {
  if (::geteuid() != 0 || !is_there("slurmctld") || !is_there("slurmd") || !is_there("munged")) {
    MESSAGE("skipped: needs root and the packages slurm-wlm and munge");
    return;
  }
  const SweepFolder folder(sweep_file(40, 50));
  const OneMachineSlurm slurm(folder.path());
  REQUIRE(slurm.is_ready());
  const std::string command = shell_quoted(program()) + " sweep run sweep.toml";
  const CommandResult result =
      slurm.shell(command +
                  " --slurm --tasks 4 >out.txt 2>err.txt & "
                  "for i in $(seq 60); do [ -s sweep.shard-1-of-4.sqlite ] && break; sleep 0.5; done; sleep 1; "
                  "scontrol requeue \"$(sed -n 's/^job \\([0-9]*\\):.*/\\1/p' err.txt)_1\" && echo requeued; wait $!");
  CHECK_MESSAGE(result.exit_code == 0, folder.read("err.txt"));
  CHECK(contains(result.out, "requeued"));
  CHECK(contains(folder.read("out.txt"), "sweep.sqlite: 2,000 rows of 2,000 points\n"));
  CHECK(folder.podsim("sweep run sweep.toml --quiet -j2 --out local.sqlite").exit_code == 0);
  CHECK(folder.podsim("sweep export sweep.sqlite").out == folder.podsim("sweep export local.sqlite").out);
}
