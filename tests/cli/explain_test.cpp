#include <doctest/doctest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sim/config/value.hpp"
#include "sim/report/metrics.hpp"
#include "tests/support/experiment_folder.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/run_command.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

CommandResult explain(const std::string& arguments) {
  return run_command(shell_quoted(program()) + " explain " + arguments, source_dir());
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Paths of all numbers in a JSON report, list indices left out.
void collect_numbers(const Value& value, const std::string& path, std::vector<std::string>& paths) {
  if (value.is(Value::Kind::table)) {
    for (const Value::Member& member : value.members()) {
      collect_numbers(member.value, path.empty() ? member.key : path + "." + member.key, paths);
    }
  } else if (value.is(Value::Kind::array)) {
    for (const Value& element : value.elements()) collect_numbers(element, path, paths);
  } else if (value.is(Value::Kind::integer) || value.is(Value::Kind::floating)) {
    paths.push_back(path);
  }
}

bool is_metric(const std::string& path) {
  for (const MetricSpec& metric : metrics()) {
    if (path == metric.name) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("explain: every number of a report is explained, with its formula or where it is read") {
  // Keys of the plan and constants are explained as such; tables and values of a family, and memory by category, have
  // names of their own.
  const std::vector<std::string> k_apart = {"inputs.",         "provenance.",     "tables.",
                                            "values.",         "memory_account.", "devices.memories.categories.",
                                            "verdict.why_not."};
  for (const char* experiment : {"bert-large-bow-pod16", "llama-3-70b-sn40l-8", "gpt2-xl-two-sn30"}) {
    CAPTURE(experiment);
    const CommandResult run =
        run_command(shell_quoted(program()) + " run " + experiment + " --engine native --format json", source_dir());
    Diagnostics diagnostics;
    const std::optional<Value> report = parse_json(run.out, "report.json", diagnostics);
    REQUIRE_MESSAGE(report.has_value(), diagnostics.to_text());
    std::vector<std::string> paths;
    collect_numbers(*report, "", paths);
    CHECK(paths.size() > 100);
    for (std::string path : paths) {
      bool apart = false;
      for (const std::string& prefix : k_apart) apart = apart || path.starts_with(prefix);
      // A device's parts mean what those of the step do.
      if (path.starts_with("devices.breakdown_s.")) path = "step" + path.substr(std::string("devices").size());
      if (!apart) CHECK_MESSAGE(is_metric(path), path);
    }
  }
  for (const MetricSpec& metric : metrics()) {
    const std::string text = explain("metric " + std::string(metric.name)).out;
    CHECK_MESSAGE(text.starts_with(std::string(metric.name) + ": "), metric.name);
    CHECK_MESSAGE(has(text, "\n  formula      "), metric.name);
  }
}

TEST_CASE("explain: every constant tells its source and how sure it is") {
  const std::string names = run_command(shell_quoted(program()) + " list constants", source_dir()).out;
  std::size_t constants = 0;
  for (std::size_t at = 0; at < names.size(); at = names.find('\n', at) + 1, ++constants) {
    if (constants % 16 != 0) continue;  // a sample: each is a process
    const std::string name = names.substr(at, names.find('\n', at) - at);
    CAPTURE(name);
    const std::string text = explain("constant " + name).out;
    CHECK(has(text, "\n  source       "));
    CHECK(has(text, "\n  confidence   "));
  }
  CHECK(constants > 100);
}

TEST_CASE("explain: a key by its last part tells type, range, effect and source") {
  const CommandResult result = explain("gradient_accumulation_steps");
  CHECK(result.exit_code == 0);
  CHECK(result.out.starts_with("ipu.gradient_accumulation_steps: "));
  CHECK(has(result.out, "  type         an integer\n"));
  CHECK(has(result.out, "  range        at least 1\n"));
  CHECK(has(result.out, "optimum-graphcore"));
}

TEST_CASE("explain: a constant tells value, confidence and source") {
  const CommandResult result = explain("constant system.host_link.bandwidth");
  CHECK(result.exit_code == 0);
  CHECK(result.out.starts_with("system.host_link.bandwidth = 12.5 GB/s\n"));
  CHECK(has(result.out, "  confidence   datasheet\n"));
}

TEST_CASE("explain: a metric tells unit and formula") {
  const CommandResult result = explain("metric schedule.cycles_per_update");
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "  formula      gradient accumulation + stages - 1\n"));
}

TEST_CASE("explain: words of the report are found as they are printed") {
  for (const char* word :
       {"bottleneck", "verdict", "evidence", "MFU", "\"host io\"", "slowdown", "latency.request_s"}) {
    CAPTURE(word);
    CHECK(explain(word).exit_code == 0);
  }
  CHECK(has(explain("\"host io\"").out, "step.breakdown_s.host_io: "));
  CHECK(has(explain("request_s").out, "The host sees the results at the end of the host call"));
}

TEST_CASE("explain: every controller of the loss scale is described, alone and with the key that chooses it") {
  const std::string key = explain("loss_scaling.mode").out;
  for (const char* mode :
       {"apex", "constant", "deepspeed", "schedule", "grad_scaler", "keras_als", "megatron", "none", "popart_als"}) {
    CAPTURE(mode);
    CHECK(has(key, std::string("\n  ") + mode + " "));
    CHECK(has(explain(mode).out, std::string("loss_scaling.mode = \"") + mode + "\": "));
  }
  CHECK(one_line(explain("popart_als").out)
            .starts_with("loss_scaling.mode = \"popart_als\": PopART: doubles or halves by the "
                         "share of gradient values above an edge (experimental) reads "
                         "loss_scaling.initial, loss_scaling.sdk_version, "));
}

TEST_CASE("explain: columns of the critical path and the account of a memory are found as printed") {
  CHECK(has(explain("saves_s").out, "critical_path_resources.saves_s: What the lower bound loses"));
  CHECK(has(explain("saves_s").out, "critical_path_ops.saves_s: "));
  CHECK(has(explain("lower_bound_s").out, "critical_path.lower_bound_s: The run's time if no transfer shared a link"));
  CHECK(has(explain("sharing_s").out, "critical_path_ops.sharing_s: Of time_s, "));
  CHECK(has(explain("always_live").out, "devices.memories.always_live_bytes: Bytes in use throughout"));
}

TEST_CASE("explain: an unknown name suggests a near one, an unknown kind names the kinds") {
  const CommandResult name = explain("key ipu.gradient_acumulation_steps");
  CHECK(name.exit_code == 2);
  CHECK(name.out.empty());
  CHECK(has(name.err,
            "no key is called \"ipu.gradient_acumulation_steps\"; did you mean \"ipu.gradient_accumulation_steps\"?"));
  const CommandResult kind = explain("kee x");
  CHECK(kind.exit_code == 2);
  CHECK(has(kind.err, "unknown kind \"kee\"; expected key, flag, metric, constant or op; did you mean \"key\"?"));
  CHECK(has(explain("recomput").err,
            "no key, flag, metric or constant is called \"recomput\"; did you mean \"recompute\"?"));
}

TEST_CASE("explain: without a name the kinds are listed, each with an example that is explained") {
  const CommandResult kinds = explain("");
  CHECK(kinds.exit_code == 0);
  const std::string before = "podsim explain ";
  int examples = 0;
  for (std::size_t at = kinds.out.find(before); at != std::string::npos; at = kinds.out.find(before, at + 1)) {
    const std::string example = kinds.out.substr(at + before.size(), kinds.out.find('\n', at) - at - before.size());
    CHECK_MESSAGE(explain(example).exit_code == 0, example);
    ++examples;
  }
  CHECK(examples == 5);
}

TEST_CASE("explain: an operator is shown with its machine, time, cycles by part and plan") {
  const CommandResult result =
      explain("op 'conv 4x64x56x56 -> 64 k3 s1' --system gc2-c2 --set workload.precision=fp16.32");
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(result.out.starts_with("conv 4x64x56x56 -> 64 k3x3 s1 p1x1:1x1 training\n"));
  CHECK(has(result.out, "  on           one gc2 of gc2-c2 at 1.6 GHz, fp16.32, matmul_proportion 0.6\n"));
  for (const char* part : {"vertex", "exchange", "reduction", "serial", "sync", "layout", "launch", "input gradient",
                           "weight gradient", "around the passes", "Parts each axis is cut into",
                           "What the fullest tile holds at a time", "temporary bytes a tile", "% of its FLOP/s"}) {
    CAPTURE(part);
    CHECK(has(result.out, part));
  }
}

TEST_CASE("explain: an operator may be several words, on the usual system") {
  const CommandResult result = explain("op dense 384x1024x4096 inference --set ipu.matmul_proportion=0.2");
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "one gc200 of pod4 at 1.325 GHz, fp16.16, matmul_proportion 0.2\n"));
  CHECK_FALSE(has(result.out, "gradient"));
}

TEST_CASE("explain: a pooling is shown by direction, with what its fullest tile writes") {
  const CommandResult result = explain("op pool 1x192x35x35 k3 s1 p1");
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "What the fullest tile writes\n"));
  // Sixteen halves together: twelve groups, each on twelve by nine tiles, which write three rows of four.
  CHECK(has(result.out, "  forward                  16            1      1     3        4\n"));
  CHECK(has(result.out, "  gradient "));
  CHECK_FALSE(has(explain("op pool 1x192x7x7 k7 s7 p0").out, "What the fullest tile writes"));
}

TEST_CASE("explain: an operator whose temporaries exceed the proportion is told with a note") {
  CHECK(has(one_line(explain("op matmul 1x100000000x1").out),
            "no plan of the product keeps its temporaries within the proportion (374.4 KiB of a tile)"));
}

TEST_CASE("explain: problems of an operator are told at once and end with 2") {
  const CommandResult result = explain(
      "op 'conv 4x64x56x56 -> 64 s0 k99 p0' --set workload.precision=bf16 --set ipu.matmul_proportion='[0.1, 0.2]'"
      " --set workload.micro_batch_size=2 --set workload.micro_batc=2");
  CHECK(result.exit_code == 2);
  CHECK(result.out.empty());
  CHECK(has(explain("op matmul 100000x100000x1").out, "does not fit: needs "));
  CHECK(has(result.err,
            "operator:1:23: stride: \"0\" is out of range or no whole number; expected a whole "
            "number from 1 to "));
  CHECK(has(result.err,
            "operator:1:26: kernel: reaches over 99 of a padded height of 56; expected a smaller kernel or "
            "more padding\n"));
  CHECK(has(result.err,
            "command line: workload.precision: \"bf16\" is not a multiply mode of this chip for a single operator; "
            "expected fp16.16, fp16.32 or fp32\n"));
  CHECK(has(result.err,
            "command line: ipu.matmul_proportion: is not the one proportion of a single operator; expected "
            "a number above 0 and up to 1\n"));
  CHECK(has(result.err, "command line: warning: workload.micro_batch_size: has no effect on a single operator\n"));
  CHECK(has(result.err, "workload.micro_batc: unknown key"));
  CHECK(
      has(explain("op").err, "no operator is named, such as \"conv 4x64x56x56 -> 64 k3\" or \"dense 384x1024x4096\""));
  CHECK(has(
      explain("op dense 8x8x8 --system sn30").err,
      "operator:1:1: single operators are not estimated on systems like sn30; expected a system of another family"));
  CHECK(has(explain("op dense 8x8x8 --system gc2-c2").out, "fp16.32"));
  CHECK(has(explain("op dense 8x8x8 --system gc2-c2 --set workload.precision=fp16.16").err,
            "is not a multiply mode of this chip for a single operator; expected fp16.32 or fp32"));
  CHECK(has(explain("op dense 8x8x8 tiles9999").err,
            "operator:1:1: tiles: is 9999, more than the chip has; expected up to 1472"));
  CHECK(has(explain("key precision --system pod4").err, "option --system belongs to `explain op`"));
}

TEST_CASE("explain: a flag of a command is found by each of its spellings") {
  for (const char* word : {"--num-tiles", "flag --num-tiles", "samba_compile.num_tiles", "num-tiles"}) {
    CAPTURE(word);
    const CommandResult result = explain(word);
    CHECK(result.exit_code == 0);
    CHECK(has(result.out, "--num-tiles: "));
    CHECK(has(result.out, "  written      --num-tiles, samba_compile.num_tiles\n"));
  }
  CHECK(has(explain("--batch-size").out, "-b, --batch-size, training.batch_size, generation.batch_size"));
  CHECK(has(explain("-ws").out, "--world-size"));
  const CommandResult wrong = explain("--num-tile");
  CHECK(wrong.exit_code == 2);
  CHECK(has(wrong.err, "no key, flag, metric or constant is called \"--num-tile\"; did you mean \"--num-tiles\"?"));
}

TEST_CASE(
    "explain: every value, every column of a table and every category of memory that a run reports is explained") {
  const char* const runs[] = {
      "bert-large-bow-pod16",
      "resnet50-bow-pod16",
      "bert-large-bow-pod16 --set ipu.auto_loss_scaling=true",
      "--system pod4 --model gpt2 --set workload.mode=inference --set ipu.layers_per_ipu=[3,3,3,3] --set "
      "ipu.inference_device_iterations=8 --set ipu.ipus_per_replica=4",
      "gpt2-xl-two-sn30 --view sections",
      "llama-3-70b-sn40l-8",
      "llama-2-70b-sn30-tensor-parallel",
      "--system sn40l-8 --model llama-2-7b --compile 'python a.py compile -b 8 -o1 --num-tiles 8 --pef-name=p' --view "
      "sections",
      "--system sn30 --model gpt2 --compile 'python a.py compile -b 8 --num-tiles 4 --inference --pef-name=p'"};
  for (const char* run : runs) {
    CAPTURE(run);
    const CommandResult report =
        run_command(shell_quoted(program()) + " run " + run + " --engine native --format json --quiet", source_dir());
    REQUIRE_MESSAGE(report.exit_code == 0, report.err);
    Diagnostics diagnostics;
    const auto json = parse_json(report.out, "report.json", diagnostics);
    REQUIRE(json.has_value());
    std::set<std::string> names;
    if (const Value* values = json->find("values")) {
      for (const Value::Member& value : values->members()) names.insert("values." + value.key);
    }
    for (const Value& table : json->find("tables")->elements()) {
      const std::string name = "tables." + table.find("name")->as_string();
      names.insert(name);
      for (const Value& column : table.find("columns")->elements()) {
        names.insert(name + "." + column.find("name")->as_string());
      }
    }
    for (const Value& device : json->find("devices")->elements()) {
      for (const Value& memory : device.find("memories")->elements()) {
        for (const Value::Member& category : memory.find("categories")->members()) names.insert(category.key);
      }
    }
    for (const std::string& name : names) {
      CHECK_MESSAGE(explain("metric " + shell_quoted(name)).exit_code == 0, name);
    }
  }
}

TEST_CASE("explain: every column of a sweep and every heading of printed tables is explained") {
  const auto explained = [](const std::string& name) {
    CHECK_MESSAGE(explain(shell_quoted(name)).exit_code == 0, name);
  };
  const CommandResult sweep = run_command(
      shell_quoted(program()) + " sweep run gpt2-caraml-pod4 --axis workload.micro_batch_size=1 --quiet", source_dir());
  std::istringstream head(sweep.out.substr(0, sweep.out.find('\n')));
  int columns = 0;
  for (std::string column; std::getline(head, column, ','); ++columns) explained(column);
  CHECK(columns > 60);
  for (const char* heading : {"busy",      "always live",  "need",       "limit",
                              "fill",      "carried",      "systems",    "idle",
                              "hosts",     "training",     "goodput",    "checkpoint every",
                              "in all",    "power",        "energy",     "tokens/s per user",
                              "change",    "measured",     "predicted",  "error",
                              "is",        "mean |error|", "largest",    "bias",
                              "Spearman",  "wrong",        "flushed",    "most",
                              "subnormal", "at edge",      "overflowed", "update loss"}) {
    explained(heading);
  }
}
