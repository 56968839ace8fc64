// Remedies of RDU plans that do not fit: each that is named is applied as a user would, and then fits.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "models/rdu/written_forms.hpp"
#include "tests/support/rdu_remedy.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

bool fits_with(const RduScene& scene, const std::string& remedy) {
  return verdict_of(with_remedy(scene, remedy)).fits();
}

const std::string k_sn30 = "system = \"sn30\"\nsoftware = \"sambaflow-1.18\"\n";
const std::string k_compile = "python app.py compile --pef-name=p";

}  // namespace

TEST_CASE("rdu remedies: each that is named makes the plan fit") {
  struct Case {
    RduScene scene;
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
  const RduScene scene{k_sn30, "llama-3.1-405b", k_compile + " -o3 -b 16"};
  const std::string remedy = remedy_of(scene);
  CHECK(remedy == "workload.sequence_length = 512 and --tensor-parallel weight --n-chips 8");
  CHECK(fits_with(scene, remedy));
}

TEST_CASE("rdu remedies: where nothing helps this is said") {
  // A length that is written is not changed.
  const RduScene written{k_sn30, "llama-3.1-405b", k_compile + " -o3 -b 16", "sequence_length = 131072\n"};
  CHECK(remedy_of(written) == "a smaller model: none of the changes tried, alone or in pairs, makes it fit");
  const RduScene scene{k_sn30, "llama-3.1-405b\"\nnum_hidden_layers = 600 # \"", k_compile + " -o1 -b 2"};
  CHECK(remedy_of(scene) == "a smaller model: none of the changes tried, alone or in pairs, makes it fit");
}

// Tiles, RDUs, and who decides the batch stand in the words of the user: what is told must say all of it.
TEST_CASE("rdu remedies: what is told holds where a command says a part") {
  const std::string sn40l = "system = \"sn40l-16\"\n";
  struct Case {
    RduScene scene;
    std::string remedy;
  };
  const Case cases[] = {
      // Half of the tiles stay half.
      {{sn40l, "llama-2-70b", "python a.py compile -b 2048 -o3 --num-tiles 4 --tensor-parallel batch --n-chips 4"},
       "-b 4 and --tensor-parallel weight --n-chips 4"},
      // A micro-batch must divide the batch.
      {{k_sn30, "gpt2-xl", k_compile + " -o3 --num-tiles 4 -b 256 --microbatch-size 128"},
       "-b 64 --microbatch-size 64"},
      // Requests are a key of the experiment.
      {{"system = \"sn40l-8\"\n", "llama-3-70b", k_compile + " --inference --tensor-parallel weight --n-chips 8",
        "mode = \"generation\"\nbatch_size = 65536\ninput_tokens = 512\noutput_tokens = 512\n"},
       "workload.batch_size = 8192"},
      // As many ranks as before do not find room.
      {{k_sn30, "llama-2-70b", k_compile + " -o1 -b 2 --max_seq_length 4096 --data-parallel -ws 2", "", "",
        "mpirun -np 8 python app.py run -b 2 --max_seq_length 4096 --data-parallel --pef=out/p/p.pef"},
       "--tensor-parallel weight --n-chips 2 and 4 ranks in the launch command"},
      // Without a command one is written.
      {{k_sn30, "llama-2-70b", "", "micro_batch_size = 2\n"},
       "rdu.compile = \"python app.py compile "
       "--tensor-parallel weight --n-chips 2\""},
  };
  for (const Case& one : cases) {
    CAPTURE(one.scene.toml());
    const std::string remedy = remedy_of(one.scene);
    CHECK(remedy == one.remedy);
    CHECK(fits_with(one.scene, remedy));
  }
}

TEST_CASE("rdu remedies: changes are told in the words of the commands") {
  rdu::WrittenForms written;
  CHECK(written.flags({{"tensor-parallel", "weight"}, {"n-chips", "2"}}) == "--tensor-parallel weight --n-chips 2");
  CHECK(written.batch_text(8) == "workload.micro_batch_size = 8");
  CHECK(written.copies_text(4) == "rdu.replicas = 4");
  written.batch = {"--batch-size", 16, ""};
  written.batch_at_run = true;
  written.ranks = true;
  CHECK(written.batch_text(8) == "--batch-size 8 in both commands");
  CHECK(written.batch_text(8, "workload.micro_batch_size") ==
        "--batch-size 8 in both commands and workload.micro_batch_size = 8");
  CHECK(written.copies_text(1) == "1 rank in the launch command");
  CHECK(written.copies_text(4) == "4 ranks in the launch command");
  written.micro_batch = {"-mb", 8, ""};
  written.per_device = {"--per_device_train_batch_size", 16, ""};
  CHECK(written.batch_text(8) == "--batch-size 8 --per_device_train_batch_size 8 in both commands");
  CHECK(written.batch_text(4) == "--batch-size 4 -mb 4 --per_device_train_batch_size 4 in both commands");
  rdu::WrittenForms zoo;
  zoo.overrides = true;
  zoo.batch = {"training.batch_size", 16, ""};
  CHECK(zoo.flags({{"n-chips", "2"}}) == "samba_compile.n_chips=2");
  CHECK(zoo.flags({{"resources-scaling-factors", "1 1 1"}}) == "samba_compile.resources_scaling_factors=[1,1,1]");
  CHECK(zoo.batch_text(8) == "training.batch_size=8");
  rdu::WrittenForms none;
  none.command = false;
  none.mode_flag = "--inference";
  CHECK(none.flags({{"n-chips", "2"}}) == "rdu.compile = \"python app.py compile --inference --n-chips 2\"");
}
