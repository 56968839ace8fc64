// What an [rdu] section and its commands cannot mean, told with place, expectation and remedy.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/rdu/rdu_plan.hpp"
#include "tests/support/run_experiment.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

std::string training(const std::string& command, const std::string& more = "") {
  return "system = \"sn30\"\nsoftware = \"sambaflow-1.18\"\n[model]\nconfig = \"gpt2\"\n[workload]\nsequence_length = "
         "512\n[rdu]\ncompile = \"" +
         command + "\"\n" + more;
}

const std::string k_half = "python app.py compile -b 16 -o3 --num-tiles 4 --pef-name=p";
const std::string k_serving =
    "system = \"sn40l-8\"\n[model]\nconfig = \"llama-3-8b\"\n[workload]\nmode = \"generation\"\ninput_tokens = 128\n"
    "output_tokens = 128\n[rdu]\ncompile = \"python app.py compile -b 1 --inference --tensor-parallel weight "
    "--n-chips 8 "
    "--pef-name=p\"\n";

bool tells(const std::string& toml, const std::vector<std::string>& overrides, const std::string& text) {
  const std::string problems = problems_of(toml, overrides);
  CAPTURE(problems);
  CAPTURE(text);
  const bool told = problems.find(text) != std::string::npos;
  CHECK(told);
  return told;
}

const rdu::RduSetup& setup_of(const Plan& plan) {
  return dynamic_cast<const rdu::RduPlan&>(*plan.family_plan).setup;
}

}  // namespace

TEST_CASE("rdu section: what a command says of the workload fills it, and contradictions are told") {
  const Plan plan = plan_of(training("python app.py compile -b 8 -o1 --num-tiles 4 --max_seq_length 256 --pef-name=p"),
                            {"workload.sequence_length=256"});
  CHECK(plan.settings.micro_batch_size == 8);
  CHECK(plan.settings.sequence_length == 256);
  CHECK(plan.settings.mode == RunMode::training);
  CHECK(plan.settings.precision == "bf16");
  CHECK_FALSE(plan.settings.recompute);
  tells(training("python app.py compile -b 8 --num-tiles 4 --max_seq_length 256 --pef-name=p"), {},
        "workload.sequence_length: is 512, but the compile command says --max_seq_length 256; expected one of them, or "
        "both equal");
  tells(training("python app.py compile -b 8 --num-tiles 4 --inference --pef-name=p"), {"workload.mode=\"training\""},
        "workload.mode: is \"training\", but the compile command says --inference: its program has no backward pass; "
        "expected \"inference\" or \"generation\"");
  tells(training(k_half), {"workload.mode=\"inference\""},
        "workload.mode: is \"inference\", but the compile command makes a program for training; expected "
        "--inference in "
        "the compile command");
}

TEST_CASE("rdu section: values that no run can have are refused") {
  tells(training(k_half, "release = \"new\"\n"), {},
        "rdu.release: \"new\" is no release; expected a text such as "
        "\"1.17\"");
  tells(training(k_half, "define.BS = true\n"), {},
        "rdu.define.BS: is a boolean; expected the value of a variable, as "
        "text or whole number");
  tells(training(k_half), {"workload.precision=\"fp32\""},
        "workload.precision: \"fp32\" is not calibrated for RDUs; expected bf16");
  tells(training(k_half), {"workload.packing_factor=2"},
        "workload.packing_factor: is not modelled for RDUs; "
        "expected 1");
  tells(training(k_half), {"model.config=\"vit-base-patch16-224\""},
        "model.config: the operators of a vit are not known for RDUs; expected a model of type gpt2, llama, mistral, "
        "bert, roberta or unet");
  tells(training(k_half, "replicas = 17\n"), {},
        "rdu.replicas: 17 of 4 tiles each need 68 tiles; 1 node of sn30 has 64; expected at most 16, or more in "
        "system.nodes");
  tells(training(k_half), {"system.slowdown.rdu9=2"},
        "system.slowdown.rdu9: no such device; expected such as rdu0-tiles0-3");
  tells(training(k_half), {"rdu.replicas=-1"}, "rdu.replicas: -1 is out of range; expected from 1 to 10000000");
  tells(training(k_half + " --resources-scaling-factors 0.001 1 1"), {},
        "--resources-scaling-factors: leaves a graph type hardly any resources; expected factors of at least 0.05");
  tells(training(k_half), {"workload.optimizer=\"lamb\""},
        "warning: workload.optimizer: the update of lamb is given the traffic of its state alone, without that of its "
        "norms");
  tells(training(k_half), {"rdu.replicas=2"},
        "warning: rdu.replicas: copies without --data-parallel train a model each: nothing is reduced among them");
  tells(training("python app.py compile -b 16 -o3 --num-tiles 8 --tensor-parallel weight --n-chips 8 --pef-name=p"), {},
        "rdu.compile: 12 attention heads do not divide among 8 RDUs; expected a number of RDUs that divides them");
}

TEST_CASE("rdu section: a batch that halves cannot share is told once, with what is missing") {
  const std::string compile = "python app.py compile -b 1 --pef-name=p";
  const std::string odd =
      "-b: a batch of 1 is odd, but sn30 shares it between the two halves of an RDU; expected an even batch, or "
      "--num-tiles 4";
  tells(training(compile), {}, odd);
  CHECK(problems_of(training(compile)).find("does not divide") == std::string::npos);
  const std::string bare = "system = \"sn30\"\n[model]\nconfig = \"gpt2\"\n";
  tells(bare, {},
        "rdu.compile: is missing: without it the two halves of an RDU share a batch of 1; expected a compile command "
        "that says -b and --num-tiles, or workload.micro_batch_size = 2");
}

TEST_CASE("rdu section: shares of a batch are refused for every model, wherever the batch is said") {
  const std::string shared = "python app.py compile --num-tiles 8 --tensor-parallel batch --n-chips 4 --pef-name=p";
  for (const char* model : {"model.config=\"gpt2\"", "model.config=\"unet\"", "model.config=\"bert-base-uncased\""}) {
    CAPTURE(model);
    const std::string why = "a batch of 4 cannot be shared by the 8 halves of 4 RDUs; expected a multiple of 8, or ";
    tells(training(shared + " -b 4"), {model}, "-b: " + why + "of 4 with --num-tiles 4");
    tells(training(shared), {model, "workload.micro_batch_size=4"},
          "workload.micro_batch_size: " + why + "4 tiles of each RDU");
  }
  // 8 samples are one for each half: the work of all is that of the batch.
  const Plan plan = plan_of(training(shared + " -b 8"));
  const Plan alone = plan_of(training("python app.py compile -b 1 --num-tiles 4 --pef-name=p"));
  const StepFacts facts = plan.family->step_facts(plan);
  CHECK(facts.global_batch == 8);
  CHECK(facts.model_flop / alone.family->step_facts(alone).model_flop == doctest::Approx(8));
}

TEST_CASE("rdu section: what cannot be read breeds no problems about what follows from it") {
  const auto only = [](const std::string& flags, const std::string& problem) {
    const std::string problems = problems_of(training("python app.py compile --pef-name=p " + flags));
    CAPTURE(problems);
    CHECK(problems.find(problem) != std::string::npos);
    CHECK(std::count(problems.begin(), problems.end(), '\n') == 1);
  };
  only("-b $BS --num-tiles 8", "-b: the variable BS has no value; expected one in rdu.define.BS");
  only("-b 0 --num-tiles 8", "-b: 0 is out of range; expected at least 1");
  only("-b -4 --num-tiles 8", "-b: -4 is out of range; expected at least 1");
  only("-b 1e3 --num-tiles 8", "-b: \"1e3\" is no whole number; expected a whole number");
  only("-b 2 --num-tiles 8 --tensor-parallel bach --n-chips 2", "--tensor-parallel: unknown value \"bach\"");
}

TEST_CASE("rdu section: variables that no command uses, and settings that RDUs do not heed, warn") {
  tells(training(k_half, "define.a = 1\n"), {},
        "warning: rdu.define.a: has no effect: no command has a variable of this name");
  const std::string with = "python app.py compile -b ${BS} -o3 --num-tiles 4 --pef-name=p";
  CHECK(problems_of(training(with, "define.BS = 16\n")).find("define") == std::string::npos);
  const auto idle = [](const std::string& setting, const std::string& why) {
    const std::string key = "workload." + setting.substr(0, setting.find('='));
    tells(training(k_half), {"workload." + setting}, "warning: " + key + ": has no effect: " + why);
  };
  idle("split_qkv=true", "query, key and value are one product on RDUs");
  idle("attention_dropout=false", "on RDUs it is inside the softmax, which streams");
  idle("ffn_dropout=true", "the operators of an RDU step have no dropout inside the feed-forward layers");
  idle("first_moment_format=\"float16\"", "RDUs keep both moments in single precision");
  idle("activation_checkpoint_format=\"float8\"", "tensors between sections are bf16");
  tells(training(k_half + " --inference"), {"workload.recompute=true"},
        "warning: workload.recompute: has no effect: only training runs anything again");
  tells(training(k_half), {"model.config=\"unet\"", "workload.input_bytes_per_element=1"},
        "warning: workload.input_bytes_per_element: has no effect: how the host sends images to RDUs is not modelled");
  CHECK(problems_of(training(k_half), {"workload.split_qkv=false"}).find("split_qkv") == std::string::npos);
}

TEST_CASE("rdu section: constants that make more sections than are simulated are named") {
  const auto refused = [](const std::string& setting, const std::string& problem) {
    tells(training(k_half), {setting}, problem);
  };
  refused("cost.section.operators=1.6e-05", "cost.section.operators: 1.6e-05 would make ");
  refused("cost.section.resident_backward=\"6 MB\"", "cost.section.resident_backward: 6 MB would make ");
  refused("chip.tiles=8000000", "chip.tiles: 8000000 would make ");
  refused("cost.section.operators=1.6e-05",
          " sections; at most 200,000 are simulated; expected sections that hold more");
  refused("chip.dies=3", "chip.dies: does not divide the tiles of the chip; expected a divisor of chip.tiles");
  // 10 000 layers of 71 operators, and 17 outside.
  refused("model.num_hidden_layers=10000",
          "model.config: its step has 710,017 operators; at most 200,000 are simulated; expected a smaller model, or a "
          "smaller batch");
}

TEST_CASE("rdu section: copies that leave a part of the node idle warn") {
  tells(training(k_half), {},
        "warning: rdu.replicas: 15 of 16 halves of RDUs stay idle with 1 copy of 1; expected up to 16");
  tells(training(k_half + " --data-parallel -ws 2", "replicas = 8\n"), {},
        "warning: rdu.replicas: 8 of 16 halves of RDUs stay idle with 8 copies of 1; expected up to 16");
}

TEST_CASE("rdu section: keys of generation and of training warn in the other mode") {
  tells(training(k_half, "static_sequence_length = 512\n"), {},
        "warning: rdu.static_sequence_length: has no effect: it is of generation alone");
  tells(training(k_half + " --inference", "experts = 2\n"), {},
        "warning: rdu.experts: has no effect: it is of generation alone");
  tells(k_serving, {"rdu.host_model=\"profiled\""}, "warning: rdu.host_model: has no effect: it is of training alone");
}

TEST_CASE("rdu section: flags that change nothing in this run warn") {
  const std::string streams = "has no effect: the whole batch of a step streams through each section once";
  tells(training(k_half + " -mb 4"), {}, "warning: -mb: " + streams);
  tells(training(k_half + " --num-spatial-batches 4"), {}, "warning: --num-spatial-batches: " + streams);
  tells(training(k_half + " --mapping spatial"), {},
        "warning: --mapping: has no effect: sections follow each other in time");
  tells(training(k_half + " --mac-human-decision hd.json"), {},
        "warning: --mac-human-decision: is not read: that there is such a file sets rdu.mapping_quality");
  std::string serving = k_serving;
  serving.replace(serving.find("--tensor-parallel weight"), 24, "--tensor-parallel batch -o0 --num-tiles 1");
  const std::string fused = "has no effect: generation on this chip has a fused section per layer, over all tiles";
  tells(serving, {}, "warning: -o0: " + fused);
  tells(serving, {}, "warning: --num-tiles: " + fused);
  tells(serving, {}, "warning: --tensor-parallel: is taken as weight: generation on this chip shares the weights");
  CHECK(problems_of(training(k_half + " -mb 16")).find("-mb") == std::string::npos);
}

TEST_CASE("rdu section: a request must fit the compiled cache, and only HBM chips launch by themselves") {
  tells(k_serving, {"rdu.static_sequence_length=200"},
        "rdu.static_sequence_length: 200 is less than the 256 tokens of a request; expected at least 256");
  tells(k_serving, {"rdu.static_sequence_length=100000"},
        "rdu.static_sequence_length: 100000 is more than the model's 8192 positions; expected at most as many, or a "
        "larger model.max_position_embeddings");
  tells(
      k_serving, {"model.config=\"bert-large-uncased\""},
      "workload.mode: a bert with head pretraining generates no tokens; expected a model with head causal-lm, or mode "
      "inference");
  std::string half = k_serving;
  half.replace(half.find("sn40l-8"), 7, "sn30");
  half.replace(half.find("--tensor-parallel weight --n-chips 8"), 36, "--num-tiles 4");
  tells(half, {"rdu.orchestration=\"hardware\""},
        "rdu.orchestration: the hardware of this chip does not launch sections; expected \"software\"");
}

TEST_CASE("rdu section: all tiles of an SN30 are two copies that share the batch") {
  const Plan plan = plan_of(training("python app.py compile -b 16 -o3 --num-tiles 8 --pef-name=p"));
  CHECK(setup_of(plan).parts == 2);
  CHECK(setup_of(plan).tiles_per_part == 4);
  CHECK(setup_of(plan).tensor_parallel == rdu::TensorParallel::batch);
  CHECK(plan.family->step_facts(plan).global_batch == 16);
}

TEST_CASE("rdu section: three resource factors leave the last to gradient norm and optimizer") {
  const Plan three = plan_of(training(k_half + " --resources-scaling-factors 1 0.8 0.7"));
  CHECK(setup_of(three).factors == rdu::ResourceFactors{1, 0.8, 0.7, 0.7});
  const std::string five = problems_of(training(k_half + " --resources-scaling-factors 1 1 1 1 1"));
  CAPTURE(five);
  CHECK(five.find("has 5 factors; expected 3 (forward, backward, optimizer) or 4") != std::string::npos);
}

TEST_CASE("rdu section: sections of another family's keys are refused with a suggestion") {
  tells(training(k_half, "replica = 2\n"), {}, "did you mean \"replicas\"?");
}

TEST_CASE("rdu section: an update moves its state twice, its gradient and the narrow weights once") {
  const auto moved = [](const std::string& optimizer) {
    const Plan plan = plan_of(training(k_half), {"workload.optimizer=\"" + optimizer + "\""});
    const rdu::RduPlan& own = dynamic_cast<const rdu::RduPlan&>(*plan.family_plan);
    std::int64_t bytes = 0;
    std::int64_t weights = 0;
    for (const rdu::RduOperator& op : own.compiled.graph.operators) {
      if (op.phase != rdu::RduPhase::optimizer) continue;
      bytes += op.weight_bytes.count();
      weights += op.weight_elements;
    }
    const std::string problems = problems_of(training(k_half), {"workload.optimizer=\"" + optimizer + "\""});
    CHECK(problems.find("workload.optimizer") == std::string::npos);
    REQUIRE(bytes % weights == 0);
    return bytes / weights;
  };
  CHECK(moved("sgd") == 2 * 4 + 2);
  CHECK(moved("sgd-momentum") == 2 * (4 + 4) + 2);
  CHECK(moved("adam") == 2 * (4 + 4 + 4) + 2);
  CHECK(moved("adamw") == moved("adam"));
}

namespace {

// Of Llama on an SN40L, by the keys behind the program's name.
std::string zoo(const std::string& keys, const std::string& program = "rdu_train_llm.py") {
  return "system = \"sn40l-8\"\n[model]\nconfig = \"llama-2-7b\"\n[rdu]\ncompile = \"python " + program +
         " command=compile " + keys + "\"\n";
}

double rate_factor(const std::string& keys) {
  return setup_of(plan_of(zoo("training.batch_size=8 " + keys))).rate_factor;
}

}  // namespace

TEST_CASE("rdu section: precision options lower the rate of products by the published factors") {
  CHECK(rate_factor("") == 1);
  CHECK(rate_factor("samba_compile.enable_mixed_precision_ops='[softmax, gemm]'") == 1);
  CHECK(rate_factor("samba_compile.tiling_accum=fp32") == 0.85);
  CHECK(rate_factor("samba_compile.weight_grad_reduce=fp32") == 0.88);
  CHECK(rate_factor("samba_compile.tiling_accum=fp32 samba_compile.weight_grad_reduce=fp32") == 0.85 * 0.88);
  for (const char* off : {"[]", "null", "false"}) {
    CAPTURE(off);
    CHECK(rate_factor(std::string("samba_compile.enable_mixed_precision_ops=") + off) == 0.74);
  }
  const std::string start = "training.batch_size=8 ";
  tells(zoo(start + "samba_compile.enable_mixed_precision_ops=[] samba_compile.tiling_accum=fp32"), {},
        "warning: samba_compile.tiling_accum: has no effect: without mixed precision sums are in FP32 already");
  tells(zoo(start + "samba_compile.enable_mixed_precision_ops=[conv]"), {},
        "warning: samba_compile.enable_mixed_precision_ops: is taken as [gemm, softmax]: no published measurement has "
        "another list");
  tells(zoo("samba_compile.weight_grad_reduce=fp32", "rdu_generate_text.py"), {},
        "warning: samba_compile.weight_grad_reduce: has no effect: there are no gradients of weights");
  tells(zoo(start + "samba_compile.tiling_accum=fp16"), {},
        "samba_compile.tiling_accum: unknown value \"fp16\"; expected bf16sr or fp32");
}

TEST_CASE("rdu section: the inputs' hash follows what a file of commands or rules holds, not where it lies") {
  const TemporaryFolder folder;
  const std::string command = "python app.py compile -b 4 -o1 --num-tiles 4 --pef-name=p";
  const std::string rules = folder.write("rules.yaml", "a: {priority: 1, pattern: {g: {op_type: gelu}}}\n");
  const auto hash = [&](const std::string& text) { return plan_of(training(text)).inputs_sha256; };
  const std::string with_rules = command + " --optimization-rules " + rules;
  const std::string first = hash(with_rules);
  folder.write("rules.yaml", "a: {priority: 2, pattern: {g: {op_type: gelu}}}\n");
  CHECK(hash(with_rules) != first);
  const std::string file = folder.write("compile.sh", command);
  CHECK(hash("@" + file) == hash(command));
  folder.write("compile.sh", "python app.py compile -b 8 -o1 --num-tiles 4 --pef-name=p");
  CHECK(hash("@" + file) != hash(command));
}
