// A user's day: files in a folder of their own, relative paths, reports in files, sweeps.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "sim/config/value.hpp"
#include "tests/support/experiment_folder.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

Value json_of(const std::string& text) {
  Diagnostics diagnostics;
  const std::optional<Value> value = parse_json(text, "report.json", diagnostics);
  REQUIRE_MESSAGE(value.has_value(), diagnostics.to_text());
  return *value;
}

std::string run_json(const ExperimentFolder& folder, const std::string& arguments) {
  const CommandResult result = folder.podsim("run " + arguments + " --engine native --format json");
  CHECK_MESSAGE(result.exit_code == 0, result.err);
  return result.out;
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// The report without its wall time.
std::string without_wall_time(std::string text) {
  const std::size_t at = text.find("\"wall_s\"");
  REQUIRE(at != std::string::npos);
  return text.erase(at, text.find_first_of(",\n", at) - at);
}

}  // namespace

TEST_CASE("run: paths are relative to the file that names them, wherever podsim is started") {
  const ExperimentFolder folder;
  const std::string inside = run_json(folder, "experiment.toml");
  const std::string outside =
      run_command(shell_quoted(program()) + " run " + shell_quoted(folder.path() + "/experiment.toml") +
                      " --engine native --format json",
                  "/")
          .out;
  CHECK(json_of(outside).find("inputs.sha256")->as_string() == json_of(inside).find("inputs.sha256")->as_string());
  CHECK(json_of(outside).find("throughput.samples_per_s")->as_number() ==
        json_of(inside).find("throughput.samples_per_s")->as_number());
}

TEST_CASE("run: flags alone describe the same run as an experiment file") {
  const ExperimentFolder folder;
  const Value from_file = json_of(run_json(folder, "experiment.toml"));
  const Value from_flags =
      json_of(run_json(folder,
                       "--system pod16 --model config.json --ipu-config ipu_config.json --set model.head=pretraining "
                       "--set workload.micro_batch_size=2 --set workload.sequence_length=128"));
  CHECK(from_flags.find("step.time_ps")->as_integer() == from_file.find("step.time_ps")->as_integer());
}

TEST_CASE("run: a published command and a model are a whole run, as text or from a file") {
  const ExperimentFolder folder;
  const std::string command = "python app.py compile -b 16 -o3 --num-tiles 4 --pef-name=gpt";
  folder.write("compile.sh", command + "\n");
  const std::string machine = "--system sn30 --model gpt2 --compile ";
  const Value from_text = json_of(run_json(folder, machine + "'" + command + "'"));
  const Value from_file = json_of(run_json(folder, machine + "@compile.sh"));
  CHECK(from_text.find("batch.global")->as_integer() == 16);
  CHECK(from_text.find("schedule.kind")->as_string() == "sections, o3");
  CHECK(from_text.find("step.time_ps")->as_integer() == from_file.find("step.time_ps")->as_integer());
  const Value launched =
      json_of(run_json(folder, machine + "'" + command +
                                   " --data-parallel -ws 2' --launch 'mpirun -np 4 python app.py run -b 16 "
                                   "--data-parallel --reduce-on-rdu --pef=out/gpt/gpt.pef'"));
  CHECK(launched.find("batch.global")->as_integer() == 64);
  const CommandResult contradiction =
      folder.podsim("check --system sn30 --model gpt2 --set workload.micro_batch_size=8 --compile '" + command + "'");
  CHECK(contradiction.exit_code == 2);
  CHECK(contradiction.err ==
        "command line: workload.micro_batch_size: is 8, but the compile command says -b 16; expected one of them, or "
        "both equal\n");
}

TEST_CASE("run: the JSON report has the documented keys") {
  const ExperimentFolder folder;
  const Value report = json_of(run_json(folder, "experiment.toml --set workload.target_samples=1000000"));
  for (const char* key : {"tool.name",
                          "tool.version",
                          "tool.commit",
                          "inputs.sha256",
                          "inputs.plan",
                          "engine.name",
                          "engine.events",
                          "engine.wall_s",
                          "engine.simulated_s",
                          "engine.folded",
                          "engine.repeats",
                          "verdict.fits",
                          "verdict.why_not",
                          "evidence.outside",
                          "batch.micro",
                          "batch.global",
                          "batch.samples_per_call",
                          "throughput.samples_per_s",
                          "throughput.sequences_per_s",
                          "throughput.tokens_per_s",
                          "throughput.samples_per_s_per_device",
                          "throughput.mfu_pct",
                          "throughput.hfu_pct",
                          "step.time_s",
                          "step.time_ps",
                          "step.samples",
                          "step.breakdown_s.compute",
                          "step.breakdown_s.bubble",
                          "schedule.kind",
                          "schedule.forward_stages",
                          "schedule.stages",
                          "schedule.cycles_per_update",
                          "schedule.cycle_time_s",
                          "training.target_samples",
                          "training.updates",
                          "training.time_s",
                          "training.excluded",
                          "devices",
                          "links",
                          "bottleneck.resource",
                          "bottleneck.share_pct",
                          "provenance",
                          "tables"}) {
    CHECK_MESSAGE(report.find(key) != nullptr, key);
  }
  CHECK(report.find("devices")->elements().size() >= 16);
}

TEST_CASE("run: two runs print the same bytes but for the wall time") {
  const ExperimentFolder folder;
  for (const std::string engine : {"native", "simgrid"}) {
    const std::string command = "run experiment.toml --engine " + engine;
    CHECK(folder.podsim(command).out == folder.podsim(command).out);
    CHECK(without_wall_time(folder.podsim(command + " --format json").out) ==
          without_wall_time(folder.podsim(command + " --format json").out));
  }
}

TEST_CASE("run: --out writes report and plan, and replaces files only with --force") {
  const ExperimentFolder folder;
  const std::string command = "run experiment.toml --engine native --out results/a";
  const CommandResult first = folder.podsim(command);
  CHECK(first.exit_code == 0);
  CHECK(folder.read("results/a/report.txt") == first.out);
  const std::string plan = folder.read("results/a/plan.toml");
  CHECK(folder.refused(command) ==
        "podsim: results/a/report.txt exists; give --force to replace it (see `podsim run --help`)\n");
  folder.write("results/a/plan.toml", "mine");
  CHECK(folder.refused(command + " --format json") ==
        "podsim: results/a/plan.toml exists; give --force to replace it (see `podsim run --help`)\n");
  CHECK(folder.read("results/a/plan.toml") == "mine");
  CHECK(folder.podsim(command + " --force").exit_code == 0);
  CHECK(folder.read("results/a/plan.toml") == plan);
}

TEST_CASE("run: the written plan reruns to the same inputs and throughput from where it stands") {
  const ExperimentFolder folder;
  folder.write("sub/experiment.toml", folder.read("experiment.toml"));
  std::filesystem::rename(folder.path() + "/config.json", folder.path() + "/sub/config.json");
  std::filesystem::rename(folder.path() + "/ipu_config.json", folder.path() + "/sub/ipu_config.json");
  const std::string set = " --set 'system.ipu_link.bandwidth=60 GB/s' --set system.slowdown.ipu1=1.5";
  const Value first = json_of(run_json(folder, "sub/experiment.toml --out results/a" + set));
  const Value again = json_of(run_json(folder, "results/a/plan.toml --out results/b"));
  CHECK(again.find("inputs.sha256")->as_string() == first.find("inputs.sha256")->as_string());
  CHECK(again.find("step.time_ps")->as_integer() == first.find("step.time_ps")->as_integer());
  CHECK(
      contains(folder.read("results/a/plan.toml"), "config = \"../../sub/config.json\"  # sub/experiment.toml:5:10\n"));
  const Value third = json_of(run_json(folder, "results/b/plan.toml"));
  CHECK(third.find("inputs.sha256")->as_string() == first.find("inputs.sha256")->as_string());
}

TEST_CASE("run: a change of what a model file holds is a change of the inputs, a move of it is none") {
  const ExperimentFolder folder;
  const auto sha = [&](const std::string& arguments) {
    return json_of(run_json(folder, arguments)).find("inputs.sha256")->as_string();
  };
  const std::string first = sha("experiment.toml");
  folder.write("moved.json", folder.read("config.json"));
  CHECK(sha("experiment.toml --model moved.json") == first);
  folder.change("config.json", "4096", "2048");
  CHECK(sha("experiment.toml") != first);
}

TEST_CASE("run: --trace writes JSON with events and refuses to replace a file") {
  const ExperimentFolder folder;
  CHECK(folder.podsim("run experiment.toml --engine native --trace t.json").exit_code == 0);
  const Value trace = json_of(folder.read("t.json"));
  CHECK(trace.find("traceEvents")->elements().size() > 100);
  CHECK(contains(folder.refused("run experiment.toml --engine native --trace t.json"),
                 "podsim: t.json exists; give --force to replace it"));
}

TEST_CASE("run: a seed where no loss is scaled is warned about") {
  const ExperimentFolder folder;
  const std::string inference = "run llama-3-70b-sn40l-8 --engine native --format json --seed 3";
  CHECK(folder.podsim(inference).err ==
        "command line: warning: loss_scaling: has no effect: only training has a loss to scale\n");
  CHECK(folder.podsim(inference + " --quiet").err.empty());
  CHECK(folder.podsim("run experiment.toml --engine native --seed 3").err.empty());
}

TEST_CASE("check: an experiment that fits exits with 0 and is not simulated") {
  const ExperimentFolder folder;
  const CommandResult result = folder.podsim("check experiment.toml --format json");
  CHECK(result.exit_code == 0);
  const Value report = json_of(result.out);
  CHECK(report.find("verdict.fits")->as_boolean());
  CHECK(report.find("verdict.why_not")->elements().empty());
  CHECK(report.find("engine")->is(Value::Kind::null));
  CHECK(report.find("throughput")->is(Value::Kind::null));
}

TEST_CASE("check: what does not fit exits with 3 and names need, have and a remedy that helps") {
  const ExperimentFolder folder;
  const CommandResult result = folder.podsim("check experiment.toml --format json --set workload.micro_batch_size=64");
  CHECK(result.exit_code == 3);
  const Value report = json_of(result.out);
  CHECK_FALSE(report.find("verdict.fits")->as_boolean());
  const Value& broken = report.find("verdict.why_not")->elements().front();
  CHECK(broken.find("limit")->as_string() == "tile memory");
  CHECK(broken.find("unit")->as_string() == "byte");
  CHECK(broken.find("need")->as_number() > broken.find("have")->as_number());
  const std::string remedy = broken.find("remedy")->as_string();
  REQUIRE(contains(remedy, " = "));
  CHECK(folder.podsim("check experiment.toml --set workload.micro_batch_size=64 --set '" + remedy + "'").exit_code ==
        0);
  const CommandResult run = folder.podsim("run experiment.toml --engine native --set workload.micro_batch_size=64");
  CHECK(run.exit_code == 3);
  CHECK(contains(run.out, "DOES NOT FIT: tile memory on ipu"));
  CHECK(contains(run.out, "; try"));
}

TEST_CASE("sweep: points that are invalid or do not fit are rows with status and reason") {
  const ExperimentFolder folder;
  const CommandResult result = folder.podsim(
      "sweep run experiment.toml --axis workload.micro_batch_size=2,64 --axis ipu.gradient_accumulation_steps=8,64");
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(lines_in(result.out) == 5);
  CHECK(result.out.starts_with("workload.micro_batch_size,ipu.gradient_accumulation_steps,status,reason,"));
  CHECK(contains(result.out, "\n2,64,ok,,"));
  CHECK(contains(result.out, "\n64,64,does_not_fit,tile memory on ipu"));
  CHECK(contains(result.out,
                 "\n2,8,invalid,\"command line: ipu.gradient_accumulation_steps: "
                 "gradient_accumulation_steps is 8, but this pipeline has 5 forward and 9 training "
                 "stages; expected at least 9 "));
}

TEST_CASE("sweep: a point that cannot be set or simulated is a row, not the end of the sweep") {
  const ExperimentFolder folder;
  const CommandResult result =
      folder.podsim("sweep run experiment.toml --axis ipu.device_iterations=1000000000,1 --axis name.x=1");
  CHECK(result.exit_code == 0);
  CHECK(lines_in(result.out) == 3);
  CHECK(contains(result.out, ",1,invalid,"));
  const CommandResult longest = folder.podsim("sweep run experiment.toml --axis ipu.device_iterations=1000000000,1");
  CHECK(contains(longest.out, "\n1000000000,invalid,"));
  CHECK(contains(longest.out, "a time of more than 106 days"));
  CHECK(contains(longest.out, "\n1,ok,,"));
}

TEST_CASE("sweep: values equal those of single runs, and --out writes the same table") {
  const ExperimentFolder folder;
  const std::string command = "sweep run experiment.toml --axis ipu.gradient_accumulation_steps=32,64";
  const CommandResult sweep = folder.podsim(command);
  const Value run = json_of(run_json(folder, "experiment.toml --set ipu.gradient_accumulation_steps=32"));
  const std::string rest = sweep.out.substr(sweep.out.find("\n32,"));
  CHECK(
      contains(rest.substr(0, rest.find("\n64,")), "," + std::to_string(run.find("batch.global")->as_integer()) + ","));
  CHECK(folder.podsim(command + " --out table.csv").out.empty());
  CHECK(folder.read("table.csv") == sweep.out);
}

TEST_CASE("compare: reports of two runs that differ exit with 1, equal ones with 0") {
  const ExperimentFolder folder;
  folder.write("a.json", run_json(folder, "experiment.toml"));
  folder.write("b.json", run_json(folder, "experiment.toml --set ipu.gradient_accumulation_steps=16"));
  CHECK(folder.podsim("compare a.json a.json --tolerance 0%").exit_code == 0);
  CHECK(folder.podsim("compare a.json b.json").exit_code == 1);
}

TEST_CASE("run: the critical path names what the run waited for and what it would save") {
  const ExperimentFolder folder;
  const CommandResult text = folder.podsim("run bert-large-bow-pod16 --engine native --view critical-path");
  CHECK(text.exit_code == 0);
  for (const char* part : {"critical_path\n", "critical_path_resources", "saves_s", "critical_path_ops", "ipu1"}) {
    CAPTURE(part);
    CHECK(text.out.find(part) != std::string::npos);
  }
}

TEST_CASE("run: --view prints a table alone and whole, with those that belong to it") {
  const ExperimentFolder folder;
  const std::string run = "run llama-2-70b-sn30-tensor-parallel --engine native --view ";
  const CommandResult whole = folder.podsim(run + "sections");
  CHECK(whole.exit_code == 0);
  CHECK(whole.out.starts_with("sections\n"));
  CHECK(whole.out.find("\nstages\n") != std::string::npos);
  CHECK(whole.out.find("--format json") == std::string::npos);  // nothing is left out
  CHECK(lines_in(whole.out) > 1000);
  const CommandResult none = folder.podsim(run + "section");
  CHECK(none.exit_code == 2);
  CHECK(none.err.find("option --view: no table is called \"section\"; expected tiles, graph types, longest sections, "
                      "sections, critical-path, sensitivity; did you mean \"sections\"?") != std::string::npos);
}

TEST_CASE("run: --view in HTML and Markdown is a page of the tables of the view, and csv refuses it") {
  const ExperimentFolder folder;
  const std::string run = "run experiment.toml --engine native --view critical-path --format ";
  const CommandResult markdown = folder.podsim(run + "markdown");
  CHECK(markdown.exit_code == 0);
  CHECK(contains(markdown.out, "\n## Critical\\_path\n"));
  CHECK(contains(markdown.out, "\n## Critical\\_path\\_ops\n"));
  CHECK(contains(markdown.out, "| operation | resource | count | time | sharing | saves |"));
  CHECK_FALSE(contains(markdown.out, "## Batch and schedule"));
  const CommandResult html = folder.podsim(run + "html");
  CHECK(html.exit_code == 0);
  CHECK(contains(html.out, "Critical_path_resources"));
  CHECK(contains(folder.refused(run + "csv"),
                 "option --view: csv holds one row of the run's values, no tables; use --format text, json, html or "
                 "markdown"));
}

TEST_CASE("run: a trace that is cut says so, and goes on to the end of what it shows") {
  const ExperimentFolder folder;
  const CommandResult result =
      folder.podsim("run bert-large-mlperf-v2.0-bow-pod128 --engine native --no-fold --trace trace.json");
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "--trace: "));
  CHECK(contains(result.err, " further events are left out, above the limit of 500000; the trace says where\n"));
  CHECK(contains(folder.read("trace.json"), "further slices left out, above the limit of 500000"));
  CHECK(folder.podsim("run experiment.toml --engine native --trace whole.json").err.find("--trace") ==
        std::string::npos);
}
