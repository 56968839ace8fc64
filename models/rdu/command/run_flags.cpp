// What only a run, an application, Model Zoo or the environment knows.

#include "models/rdu/command/flag_builder.hpp"
#include "models/rdu/command/flag_tables.hpp"

namespace podsim::rdu {
namespace {

using Builder = FlagBuilder;
using enum KeyType;

const char* const k_same_time = "changes the numbers, not their time";
const char* const k_unmeasured = "no published measurement separates it";

struct Zoo {
  const char* path;
  KeyType type;
  const char* key;
  const char* summary;
  const char* without_effect;
  std::vector<std::string> choices = {};
};

struct Variable {
  const char* name;
  FlagUse use;
  const char* summary;
  const char* without_effect;
};

FlagSpec shape_flag(const char* path, std::vector<std::string> names, const char* summary) {
  return Builder(path, integer, std::move(names), summary)
      .source(k_alcf_guides)
      .range(1)
      .effects("shape of the static graph", "shape of the static graph")
      .owner(FlagOwner::application)
      .same_at_run()
      .done();
}

FlagSpec model_flag(const char* path, std::vector<std::string> names, const char* summary) {
  return Builder(path, text, std::move(names), summary)
      .source("sambanova/tutorials, generative_nlp; argonne-lcf/user-guides, sambanova")
      .effects("names the model", "names the model")
      .owner(FlagOwner::application)
      .done();
}

}  // namespace

void add_run_flags(std::vector<FlagSpec>& table) {
  table.push_back(Builder("pef", path, {"-p", "--pef"}, "the compiled program")
                      .source(k_alcf_guides)
                      .only_checked("only a path; it is checked against the compile command")
                      .use(FlagUse::run)
                      .zoo({"samba_run.pef"})
                      .done());
  table.push_back(Builder("num-epochs", integer, {"-e", "--num-epochs"}, "passes over the data")
                      .source(k_tutorials)
                      .range(1)
                      .no_effect("a step is simulated, not a whole run; [workload] has keys for the time to train")
                      .use(FlagUse::run)
                      .zoo({"training.num_epochs"})
                      .done());
  table.push_back(Builder("num-iterations", integer, {"-n", "--num-iterations"}, "steps to measure")
                      .source(k_sambatune_guide)
                      .by_default("100")
                      .range(1)
                      .no_effect("a step is simulated; every step takes the same time")
                      .use(FlagUse::run)
                      .done());
  table.push_back(Builder("reduce-on-rdu", boolean, {"--reduce-on-rdu"}, "sums gradients on the RDU, not on the host")
                      .source(k_data_guide)
                      .by_default("false")
                      .effects("without it gradients are copied to the host and back")
                      .use(FlagUse::run)
                      .done());
  table.push_back(Builder("num-workers", integer, {"--num-workers"}, "processes that load data")
                      .source(k_alcf_guides)
                      .range(0)
                      .no_effect("the host is assumed to keep up")
                      .use(FlagUse::run)
                      .done());
  table.push_back(Builder("lr", number, {"--lr"}, "learning rate; can change without a new compile")
                      .source(k_alcf_guides)
                      .no_effect(k_same_time)
                      .done());
}

void add_zoo_keys(std::vector<FlagSpec>& table) {
  const std::vector<Zoo> keys{
      {"tiling-accum", choice, "samba_compile.tiling_accum", "accumulation between tiles", "", {"bf16sr", "fp32"}},
      {"weight-grad-reduce",
       choice,
       "samba_compile.weight_grad_reduce",
       "reduction of weight gradients",
       "",
       {"bf16sr", "fp32"}},
      {"enable-mixed-precision-ops", text, "samba_compile.enable_mixed_precision_ops",
       "list of operators in mixed FP32 and BF16; [] or null: none", ""},
      {"all-regions-hbm", boolean, "samba_compile.all_regions_hbm", "keeps every region in HBM on SN40L", k_unmeasured},
      {"hbm-auto-alloc", text, "samba_compile.hbm_auto_alloc", "how HBM and DDR are allocated", k_unmeasured},
      {"enable-pcu-scaling", boolean, "samba_compile.enable_pcu_scaling", "scales the compute units", k_unmeasured},
      {"loop-conversion", boolean, "samba_compile.loop_conversion", "loops over equal sections", k_unmeasured},
      {"enable-distribution-pass", boolean, "samba_compile.enable_distribution_pass", "a pass of the compiler",
       k_unmeasured},
      {"enable-safe-stochastic-rounding", boolean, "samba_compile.enable_safe_stochastic_rounding",
       "rounds BF16 results by chance", k_same_time},
      {"enable-multi-input-broadcast", boolean, "samba_compile.enable_multi_input_broadcast",
       "tiles a dimension that all inputs broadcast", k_unmeasured},
      {"use-air-ce", boolean, "samba_compile.use_air_ce", "an older form of the cross-entropy loss", k_unmeasured},
      {"metapipe-disable", boolean, "samba_compile.metapipe_disable", "runs the stages of a section one by one",
       k_unmeasured},
      {"weight-caching", boolean, "samba_compile.weight_caching", "keeps weights on the chip", k_unmeasured},
      {"learning-rate", number, "training.learning_rate", "learning rate", k_same_time},
      {"seed", integer, "training.seed", "seed of random numbers", k_same_time},
      {"dataset", path, "training.dataset", "training data", "the host is assumed to keep up"},
  };
  for (const Zoo& key : keys) {
    Builder row(key.path, key.type, {}, key.summary);
    row.source(k_model_zoo).zoo({key.key}).choices(key.choices).no_effect(key.without_effect);
    if (*key.without_effect == '\0') row.effects("FP32 lowers the rate of matrix products");
    table.push_back(row.done());
  }
}

void add_application_flags(std::vector<FlagSpec>& table) {
  table.push_back(shape_flag("max-seq-length", {"--max_seq_length", "--max-seq-length"}, "tokens per sample"));
  table.back().zoo_keys = {"model.max_seq_length"};
  table.push_back(shape_flag("per-device-train-batch-size", {"--per_device_train_batch_size"},
                             "the application's batch; must be the compiler's"));
  table.push_back(shape_flag("in-channels", {"--in-channels"}, "channels of an image"));
  table.push_back(shape_flag("in-width", {"--in-width"}, "width of an image in pixels"));
  table.push_back(shape_flag("in-height", {"--in-height"}, "height of an image in pixels"));
  table.push_back(shape_flag("init-features", {"--init-features"}, "channels of a U-Net's first level"));
  table.push_back(shape_flag("max-predictions-per-seq", {"--max_predictions_per_seq"}, "masked tokens per sample"));
  table.push_back(model_flag("model-name-or-path", {"--model_name_or_path", "--model_name", "--hf_model"},
                             "the model, by its name at Hugging Face or a folder"));
  table.back().zoo_keys = {"checkpoint.model_name_or_path"};
  table.push_back(model_flag("config-name", {"--config_name"}, "configuration file of the model"));
  table.back().zoo_keys = {"checkpoint.config_name"};
}

void add_environment(std::vector<FlagSpec>& table) {
  const char* const host = "the host is assumed to keep up";
  const std::vector<Variable> variables{
      {"OMP_NUM_THREADS", FlagUse::both, "threads of the host", host},
      {"SN_NUM_THREADS", FlagUse::compile, "threads of the compiler", "changes the compile time of one host only"},
      {"SF_RNT_TILE_AFFINITY", FlagUse::run, "mask of the tiles to use: 32 bits, 4 per RDU on SN10",
       "which tiles are used does not change the time"},
      {"SF_RNT_NUMA_BIND", FlagUse::run, "binds to a NUMA node", host},
      {"SF_RNT_FSM_POLL_BUSY_WAIT", FlagUse::run, "waits busily for the RDU", host},
      {"SF_RNT_DMA_POLL_BUSY_WAIT", FlagUse::run, "waits busily for transfers", host},
      {"SAMBA_CCL_USE_PCIE_TRANSPORT", FlagUse::run, "reduces gradients over PCIe", k_unmeasured},
      {"SAMBA_CCL_ASYNC_ALLREDUCE", FlagUse::run, "overlaps the gradient reduction", k_unmeasured},
      {"SAMBA_CCL_HIERARCHICAL_ALLREDUCE", FlagUse::run, "reduces within nodes first", k_unmeasured},
      {"CCL_TIMEOUT", FlagUse::run, "time limit of a collective", "collectives end in time"},
      {"SAMBA_SEED", FlagUse::run, "seed of random numbers", k_same_time},
  };
  for (const Variable& variable : variables) {
    table.push_back(Builder(variable.name, text, {variable.name}, variable.summary)
                        .source(k_alcf_guides)
                        .owner(FlagOwner::environment)
                        .use(variable.use)
                        .no_effect(variable.without_effect)
                        .done());
  }
}

}  // namespace podsim::rdu
