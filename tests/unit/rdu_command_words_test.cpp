// Whose every word of a command is, over the styles in which commands are published.

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "models/rdu/command/script.hpp"

namespace podsim::rdu {
namespace {

struct Case {
  std::string about;
  std::string text;
  std::map<std::string, int> owners;  // by the name of the owner
  std::vector<std::string> unset;
};

std::map<std::string, int> owners_of(const CommandLine& line) {
  std::map<std::string, int> owners;
  for (const ClassifiedWord& word : line.words) ++owners[std::string(to_text(word.owner))];
  return owners;
}

std::vector<std::string> unset_in(const CommandLine& line) {
  std::vector<std::string> names;
  for (const UnsetVariable& variable : line.unset()) names.push_back(variable.name);
  return names;
}

const std::vector<Case> k_cases{
    {"a first compile, quoted", "python first.py compile --pef-name=\"first\"", {{"program", 2}, {"SambaFlow", 2}}, {}},
    {"a run with paths",
     "python $HOME/apps/first.py run --num-epochs 3 -p out/first/first.pef --data-dir $DATA --ckpt-dir ck",
     {{"program", 2}, {"SambaFlow", 5}, {"application", 4}},
     {"HOME", "DATA"}},
    {"a tutorial for a language model",
     "SN_NUM_THREADS=16 python3 lm_train.py compile --max_seq_length 512 --batch-size 8 --config_name c.json "
     "--weight_decay 0.01 --pef-name=lm --output-folder=$OUT --log-level=error --num-tiles 4 "
     "--resources-scaling-factors 0.9 0.9 0.9",
     {{"environment", 1}, {"program", 2}, {"SambaFlow", 12}, {"application", 6}},
     {"OUT"}},
    {"a compile under Slurm",
     "srun python net.py compile -b=4 --pef-name=\"net\" --output-folder=\"pefs\"",
     {{"launcher", 1}, {"program", 2}, {"SambaFlow", 4}},
     {}},
    {"a script's compile with positional parameters",
     "python ${APP}/compile.py compile --mac-v2 --in-channels=3 --in-width=${2} --in-height=${2} "
     "--batch-size=${BS} --enable-conv-tiling --pef-name=net_${BS}_${2}",
     {{"program", 2}, {"SambaFlow", 5}, {"application", 3}},
     {"APP", "2", "BS"}},
    {"a run on a named node",
     "srun --nodelist $(hostname) python hook.py run --data-in-memory --min-throughput 300 --epochs 5 "
     "--num-workers=${NW} --batch-size=${BS} --log-dir logs --pef=${OUT}/a/a.pef",
     {{"launcher", 3}, {"program", 2}, {"SambaFlow", 6}, {"application", 5}},
     {"$(hostname)", "NW", "BS", "OUT"}},
    {"a copy per rank over two nodes",
     "/usr/local/bin/sbatch --output=${HOME}/o-%A.out --ntasks 16 --gres=rdu:1 --ntasks-per-node 8 --nodes 2 "
     "--cpus-per-task=8 run.sh ${1}",
     {{"launcher", 10}, {"program", 1}, {"application", 1}},
     {"HOME", "1"}},
    {"a run with a hand-made placement",
     "/opt/mpich/bin/mpirun -hosts=sm-01 -np ${NP} python hook.py run -b 64 --do_train --data-parallel "
     "--reduce-on-rdu --max_predictions_per_seq 20 -p a.pef",
     {{"launcher", 4}, {"program", 2}, {"SambaFlow", 7}, {"application", 3}},
     {"NP"}},
    {"microbatches in spatial mapping",
     "python uno.py compile --share-weights -b 8 -mb 2 --num-spatial-batches 100 --mapping spatial "
     "--mac-human-decision hd.json --pef-name=uno --output-folder='.' --mac-v1",
     {{"program", 2}, {"SambaFlow", 14}, {"application", 1}},
     {}},
    {"SambaTune", "sambatune --modes benchmark run -- cfg/linear.yaml", {{"launcher", 5}, {"program", 1}}, {}},
    {"a name lost to a stray blank",
     "python hook.py compile --pef-name= name -o1 --overwrite",
     {{"program", 2}, {"SambaFlow", 4}, {"application", 1}},
     {}},
    {"Model Zoo with placeholders",
     "python -u rdu_generate_text.py command=compile checkpoint.model_name_or_path=PATH_TO_MODEL "
     "samba_compile.output_folder=PATH_TO_OUT +samba_compile.target_sambaflow_version=MAJOR.MINOR.PATCH "
     "--config-name o1hd_config_rdu.yaml",
     {{"program", 3}, {"SambaFlow", 3}, {"application", 3}},
     {"PATH_TO_MODEL", "PATH_TO_OUT", "MAJOR.MINOR.PATCH"}},
    {"Model Zoo's copies",
     "mpirun -np <RANKS> python -u rdu_train_llm_dp.py command=run model.max_seq_length=${LEN} samba_run.pef=${PEF}",
     {{"launcher", 3}, {"program", 3}, {"SambaFlow", 2}, {"application", 1}},
     {"RANKS", "LEN", "PEF"}},
    {"output into a file and a pipe",
     "python a.py compile -b 2 2>&1 | tee log",
     {{"program", 2}, {"SambaFlow", 3}, {"shell", 5}},
     {}},
    {"another command of a script", "source venv/bin/activate", {{"program", 1}, {"shell", 1}}, {}},
};

}  // namespace

TEST_CASE("rdu words: each word of a published style of command has its owner") {
  for (const Case& c : k_cases) {
    CAPTURE(c.about);
    Diagnostics diagnostics;
    const std::vector<CommandLine> lines = read_script(c.text, {"c", 1, 1}, {}, diagnostics).lines;
    REQUIRE(lines.size() == 1);
    CHECK(owners_of(lines[0]) == c.owners);
    CHECK(unset_in(lines[0]) == c.unset);
  }
}

TEST_CASE("rdu words: defines fill every variable of a command") {
  const Defines defines{{"APP", "a"},
                        {"2", "32"},
                        {"BS", "8"},
                        {"HOME", "/h"},
                        {"DATA", "d"},
                        {"OUT", "o"},
                        {"$(hostname)", "n"},
                        {"NW", "1"},
                        {"1", "2"},
                        {"NP", "2"},
                        {"LEN", "64"},
                        {"PEF", "/p.pef"},
                        {"RANKS", "2"},
                        {"PATH_TO_OUT", "/o"},
                        {"PATH_TO_MODEL", "/m"},
                        {"MAJOR.MINOR.PATCH", "1.19.1"}};
  for (const Case& c : k_cases) {
    CAPTURE(c.about);
    Diagnostics diagnostics;
    const std::vector<CommandLine> lines = read_script(c.text, {"c", 1, 1}, defines, diagnostics).lines;
    REQUIRE(lines.size() == 1);
    CHECK(owners_of(lines[0]) == c.owners);
    CHECK(unset_in(lines[0]).empty());
  }
}

}  // namespace podsim::rdu
