// Every remedy that is told makes the plan fit when it is done as told, for commands put together at random.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/core/random.hpp"
#include "tests/support/rdu_remedy.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

class Scenes {
 public:
  explicit Scenes(std::uint64_t seed) : random_(seed) {}

  RduScene next() {
    RduScene scene;
    const std::string system = one_of({"sn10", "sn20", "sn30", "sn30", "sn40l-8", "sn40l-16"});
    scene.machine = "[system]\nname = \"" + system + "\"\nnodes = " + one_of({"1", "2"}) + "\n";
    scene.model = one_of({"gpt2", "gpt2-xl", "llama-2-7b", "llama-2-13b", "llama-3-8b", "mistral-7b", "llama-2-70b",
                          "bert-large-uncased", "unet"});
    mode_ = one_of({"training", "training", "inference", "generation"});
    const bool decoder = scene.model != "unet" && scene.model != "bert-large-uncased";
    if (mode_ == "generation" && !decoder) mode_ = "training";
    zoo_ = decoder && chance(5);
    fill_workload(scene);
    if (!chance(8)) fill_commands(scene);
    return scene;
  }

 private:
  std::string one_of(const std::vector<std::string>& words) { return words[random_.below(words.size())]; }
  bool chance(std::uint64_t of) { return random_.below(of) == 0; }

  void fill_workload(RduScene& scene) {
    scene.workload = "mode = \"" + mode_ + "\"\n";
    if (mode_ == "generation") {
      const std::string tokens = one_of({"128", "500", "1000"});
      scene.workload += "input_tokens = " + tokens + "\noutput_tokens = " + one_of({"16", "128"}) + "\n";
    } else if (scene.model != "unet" && chance(2)) {
      scene.workload += "sequence_length = " + one_of({"256", "512"}) + "\n";
    }
    if (mode_ == "training" && chance(4)) scene.workload += "recompute = true\n";
    batch_ = std::to_string(random_.between(1, 3) << random_.between(6, 16));
    batch_in_command_ = !chance(4);
    const char* const key = mode_ == "generation" ? "batch_size" : "micro_batch_size";
    if (!batch_in_command_) scene.workload += std::string(key) + " = " + batch_ + "\n";
  }

  std::string flag(const std::string& name, const std::string& value) {
    if (!zoo_) return " --" + name + " " + value;
    std::string key = name;
    std::ranges::replace(key, '-', '_');
    return " samba_compile." + key + "=" + value;
  }

  void fill_commands(RduScene& scene) {
    std::string& compile = scene.compile;
    compile = zoo_ ? "python a.py command=compile" : "python a.py compile --pef-name=p";
    if (batch_in_command_) {
      const char* const zoo_key = mode_ == "training" ? "training.batch_size" : "generation.batch_size";
      compile += zoo_ ? " " + std::string(zoo_key) + "=" + batch_ : " -b " + batch_;
    }
    if (mode_ != "training") compile += zoo_ ? " samba_compile.inference=true" : " --inference";
    if (!zoo_) compile += one_of({"", " -o0", " -o1", " -o3"});
    if (!chance(3)) compile += flag("num-tiles", one_of({"1", "2", "4", "8"}));
    if (chance(2)) compile += flag("tensor-parallel", one_of({"batch", "weight"}));
    if (compile.find("parallel") != std::string::npos || chance(3)) {
      compile += flag("n-chips", one_of({"1", "2", "4", "8"}));
    }
    if (!zoo_ && chance(4)) compile += " --resources-scaling-factors 0.5 0.5 0.5";
    if (!zoo_ && chance(6)) compile += " --microbatch-size " + batch_;
    if (mode_ == "generation") return;
    if (chance(2)) return;
    const std::string copies = one_of({"2", "3", "8", "16"});
    const std::string parallel = mode_ == "training" ? " --data-parallel -ws 2" : "";
    if (zoo_ || chance(2)) {
      scene.rdu = "replicas = " + copies + "\n";
      if (!zoo_) compile += parallel;
      return;
    }
    compile += parallel;
    scene.launch = "mpirun -np " + copies + " python a.py run --pef=out/p/p.pef";
    if (batch_in_command_) scene.launch += " -b " + batch_;
    scene.launch += mode_ == "training" ? " --data-parallel" : " --inference";
  }

  Random random_;
  std::string mode_;
  std::string batch_;
  bool zoo_ = false;
  bool batch_in_command_ = true;
};

bool refused(const RduScene& scene) {
  const std::string problems = problems_of(scene.toml());
  for (std::size_t at = 0; at < problems.size();) {
    const std::size_t end = std::min(problems.find('\n', at), problems.size());
    if (problems.substr(at, end - at).find("warning: ") == std::string::npos) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

TEST_CASE("laws: a remedy of an RDU plan, done as told, makes it fit") {
  int told = 0;
  int without = 0;
  Scenes scenes(20);
  for (int i = 0; i < 700; ++i) {
    const RduScene scene = scenes.next();
    CAPTURE(scene.toml());
    if (refused(scene) || verdict_of(scene).fits()) continue;
    const std::string remedy = remedy_of(scene);
    CAPTURE(remedy);
    if (remedy.starts_with("a smaller model")) {
      ++without;
      continue;
    }
    ++told;
    const RduScene mended = with_remedy(scene, remedy);
    CAPTURE(mended.toml());
    CHECK_FALSE(refused(mended));
    if (!refused(mended)) CHECK(verdict_of(mended).fits());
  }
  MESSAGE(told << " remedies told, " << without << " plans without one");
  CHECK(told >= 100);
}
