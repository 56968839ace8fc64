// Remedies of RDU plans that do not fit: each that is named is applied as a user would, and then fits.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "models/rdu/memory.hpp"
#include "models/rdu/rdu_plan.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

struct Scene {
  std::string machine;  // top-level keys
  std::string model;    // config
  std::string compile;
  std::string workload = "";
  std::string rdu = "";

  std::string toml() const {
    return machine + "[model]\nconfig = \"" + model + "\"\n[workload]\n" + workload + "[rdu]\ncompile = \"" + compile +
           "\"\n" + rdu;
  }
};

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// Puts "--flag value…" into a command, in place of what it has of that flag.
void set_flag(std::string& command, const std::string& flag, const std::string& values) {
  const std::size_t begin = command.find(" " + flag + " ");
  if (begin != std::string::npos) {
    std::size_t end = command.find(" -", begin + 1);
    if (end == std::string::npos) end = command.size();
    command.erase(begin, end - begin);
  }
  command += " " + flag + values;
}

// A change in the words of a remedy: "--flags of the command", "-b 8 in both commands", "section.key = value".
void apply(const std::string& change, Scene& scene, std::vector<std::string>& overrides) {
  if (!change.starts_with("-")) {
    std::string assignment = change;
    assignment.replace(assignment.find(" = "), 3, "=");
    overrides.push_back(assignment);
    return;
  }
  const std::vector<std::string> words = words_of(change.substr(0, change.find(" in both")));
  for (std::size_t i = 0; i < words.size();) {
    const std::string& flag = words[i++];
    std::string values;
    while (i < words.size() && !words[i].starts_with("-")) values += " " + words[i++];
    set_flag(scene.compile, flag, values);
  }
}

std::string remedy_of(const Scene& scene) {
  const Plan plan = plan_of(scene.toml());
  const Verdict verdict = plan.family->verdict(plan, true);
  REQUIRE_FALSE(verdict.fits());
  for (const BrokenLimit& broken : verdict.broken) CHECK(broken.remedy == verdict.broken.front().remedy);
  return verdict.broken.front().remedy;
}

bool fits_with(Scene scene, const std::string& remedy) {
  std::vector<std::string> overrides;
  for (std::size_t at = 0; at < remedy.size();) {
    const std::size_t end = std::min(remedy.find(" and ", at), remedy.size());
    apply(remedy.substr(at, end - at), scene, overrides);
    at = end + 5;
  }
  CAPTURE(scene.compile);
  const Plan plan = plan_of(scene.toml(), overrides);
  return plan.family->verdict(plan, false).fits();
}

const std::string k_sn30 = "system = \"sn30\"\nsoftware = \"sambaflow-1.18\"\n";
const std::string k_compile = "python app.py compile --pef-name=p";

}  // namespace

TEST_CASE("rdu remedies: each that is named makes the plan fit") {
  struct Case {
    Scene scene;
    std::string remedy;
  };
  const Case cases[] = {
      {{k_sn30, "gpt2-xl", k_compile + " -o3 --num-tiles 4 -b 256"}, "-b 64"},
      {{k_sn30, "gpt2-xl", k_compile + " -o3 --num-tiles 4 -b 256", "recompute = true\nsequence_length = 1024\n"},
       "-b 128"},
      // All tiles of the default command: two halves of an RDU with half of its memory each.
      {{k_sn30, "llama-2-70b", k_compile + " -o1 -b 2 --max_seq_length 4096"}, "--tensor-parallel weight --n-chips 2"},
      {{k_sn30, "llama-2-13b", k_compile + " -o3 -b 64 --max_seq_length 4096"}, "workload.recompute = true"},
      {{k_sn30, "llama-2-70b", k_compile + " -o1 --num-tiles 4 -b 512 --max_seq_length 4096"},
       "-b 4 and --tensor-parallel weight --n-chips 8"},
      {{k_sn30, "llama-2-70b", k_compile + " -o1 -b 2 --max_seq_length 4096 --data-parallel -ws 2", "",
        "replicas = 8\n"},
       "--tensor-parallel weight --n-chips 2 and rdu.replicas = 4"},
      {{k_sn30, "gpt2", k_compile + " -o3 --num-tiles 4 -b 64 --resources-scaling-factors 0.05 0.05 0.05"},
       "--resources-scaling-factors 1 1 1"},
      {{"system = \"sn40l-8\"\n", "llama-3-70b",
        k_compile + " --inference -b 65536 --tensor-parallel weight --n-chips 8",
        "mode = \"generation\"\ninput_tokens = 128\noutput_tokens = 128\n"},
       "rdu.static_sequence_length = 256"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.scene.compile);
    CAPTURE(one.scene.model);
    const std::string remedy = remedy_of(one.scene);
    CHECK(remedy == one.remedy);
    CHECK(fits_with(one.scene, remedy));
  }
}

// The default is all positions of the model: 131,072.
TEST_CASE("rdu remedies: a default sequence length is shortened where nothing else helps") {
  const Scene scene{k_sn30, "llama-3.1-405b", k_compile + " -o3 -b 16"};
  const std::string remedy = remedy_of(scene);
  CHECK(remedy == "workload.sequence_length = 512 and --tensor-parallel weight --n-chips 8");
  CHECK(fits_with(scene, remedy));
}

TEST_CASE("rdu remedies: where nothing helps this is said") {
  // A length that is written is not changed.
  const Scene written{k_sn30, "llama-3.1-405b", k_compile + " -o3 -b 16", "sequence_length = 131072\n"};
  CHECK(remedy_of(written) == "a smaller model: none of the changes tried, alone or in pairs, makes it fit");
  const Scene scene{k_sn30, "llama-3.1-405b\"\nnum_hidden_layers = 600 # \"", k_compile + " -o1 -b 2"};
  CHECK(remedy_of(scene) == "a smaller model: none of the changes tried, alone or in pairs, makes it fit");
}

TEST_CASE("rdu remedies: changes are told in the words of the commands") {
  rdu::WrittenForms written;
  CHECK(written.flag("n-chips", "2") == "--n-chips 2");
  CHECK(written.batch_text(8) == "workload.micro_batch_size = 8");
  CHECK(written.copies_text(4) == "rdu.replicas = 4");
  written.batch = "--batch-size";
  written.batch_at_run = true;
  written.ranks = true;
  CHECK(written.batch_text(8) == "--batch-size 8 in both commands");
  CHECK(written.copies_text(4) == "4 ranks in the launch command");
  written.overrides = true;
  written.batch = "training.batch_size";
  written.batch_at_run = false;
  CHECK(written.flag("n-chips", "2") == "samba_compile.n_chips=2");
  CHECK(written.batch_text(8) == "training.batch_size=8");
}
