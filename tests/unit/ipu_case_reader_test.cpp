#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/ipu/cases/case_reader.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;

namespace {

using Cells = std::map<std::string, std::string, std::less<>>;

Cells rate_cells() {
  return {{"id", "run-1"},
          {"source", "a page"},
          {"hardware", "bow"},
          {"system", "pod16"},
          {"model_config", "bert-large-uncased"},
          {"head", "pretraining"},
          {"software", "poplar-popart"},
          {"sequence_length_or_image", "128"},
          {"precision", "16.16"},
          {"micro_batch", "8"},
          {"replication", "4"},
          {"gradient_accumulation", "64"},
          {"device_iterations", "2"},
          {"ipus_per_replica", "4"},
          {"layers_per_ipu", "[3, 7, 7, 7]"},
          {"recompute", "pipeline"},
          {"optimizer", "LAMB (no bias correction)"},
          {"optimizer_state_offchip", "True"},
          {"rts", "True"},
          {"matmul_proportion", "[0.15, 0.25, 0.25, 0.25]"},
          {"embedding_serialization_factor", "5"},
          {"packing_factor", "1.17"},
          {"masked_tokens", "22"},
          {"vocab_size", "30400"},
          {"split_qkv", "true"},
          {"attention_dropout", "false"},
          {"ffn_dropout", "false"},
          {"first_moment_bytes", "4"},
          {"checkpoint_format", "float16"},
          {"host_bound", "false"},
          {"throughput_unit_note", "sequences"},
          {"measured_kind", "throughput"},
          {"metric", "samples_per_s"},
          {"value", "5179"},
          {"notes", "prose that says micro batch 99"}};
}

Cells point_cells() {
  return {{"id", "point-1"},
          {"source", "a file"},
          {"hardware", "gc200|bow"},
          {"model_config", "bert-base-uncased"},
          {"head", "pretraining"},
          {"software", "poplar-pytorch"},
          {"sequence_length_or_image", "128"},
          {"micro_batch", "32"},
          {"replication_factor", "4"},
          {"gradient_accumulation_steps", "512"},
          {"layers_per_ipu", "[0, 4, 4, 4]"},
          {"expected", "fits"},
          {"varied_parameter", ""},
          {"next_value", ""}};
}

std::vector<PublishedCase> cases_of(const Cells& cells) {
  return ipu::IpuCaseReader().read({"t.csv", 7, cells});
}

PublishedCase case_of(const Cells& cells) {
  const std::vector<PublishedCase> cases = cases_of(cells);
  REQUIRE(cases.size() == 1);
  return cases.front();
}

PublishedCase changed(Cells cells, const std::string& column, const std::string& text) {
  cells[column] = text;
  return case_of(cells);
}

std::string skipped(const PublishedCase& one) {
  const auto* reason = std::get_if<SkippedCase>(&one.content);
  return reason == nullptr ? "(runs)" : reason->reason;
}

const Value& value(const PublishedCase& one, const std::string& path) {
  REQUIRE_MESSAGE(std::holds_alternative<Experiment>(one.content), skipped(one));
  const Value* found = std::get<Experiment>(one.content).document.find(path);
  REQUIRE_MESSAGE(found != nullptr, path);
  return *found;
}

bool took(const PublishedCase& one, const std::string& text) {
  return std::ranges::count(one.defaults, text) == 1;
}

std::vector<std::string> columns_of(const Cells& cells) {
  std::vector<std::string> columns;
  for (const auto& [column, text] : cells) columns.push_back(column);
  return columns;
}

}  // namespace

TEST_CASE("case reader: tables are told apart by their header") {
  const ipu::IpuCaseReader reader;
  CHECK(reader.accepts(columns_of(rate_cells())));
  CHECK(reader.accepts(columns_of(point_cells())));
  CHECK(reader.accepts({"target", "name", "reference_cycles"}));
  CHECK_FALSE(reader.accepts({"id", "hardware", "rdus", "metric", "value"}));
  CHECK_FALSE(reader.accepts({}));
}

TEST_CASE("case reader: a complete row becomes an experiment with the row as place, and takes no default") {
  const PublishedCase one = case_of(rate_cells());
  CHECK(one.id == "run-1");
  CHECK(one.source == "a page");
  CHECK(one.quantity == "sequences_per_s");
  CHECK(*one.measured == 5179);
  CHECK(one.lower_bound.empty());
  CHECK(one.defaults.empty());
  CHECK(value(one, "system").as_string() == "bow-pod16");
  CHECK(value(one, "software").as_string() == "poplar-popart");
  CHECK(value(one, "model.config").as_string() == "bert-large-uncased");
  CHECK(value(one, "model.vocab_size").as_integer() == 30400);
  CHECK(value(one, "workload.micro_batch_size").as_integer() == 8);
  CHECK(value(one, "workload.packing_factor").as_number() == 1.17);
  CHECK(value(one, "workload.masked_tokens").as_integer() == 22);
  CHECK(value(one, "workload.optimizer").as_string() == "lamb");
  CHECK(value(one, "workload.first_moment_format").as_string() == "float32");
  CHECK(value(one, "workload.precision").as_string() == "fp16.16");
  CHECK(value(one, "workload.attention_dropout").as_boolean() == false);
  CHECK(value(one, "ipu.optimizer_state_offchip").as_boolean() == true);
  CHECK(value(one, "ipu.layers_per_ipu").elements().size() == 4);
  CHECK(value(one, "ipu.matmul_proportion").elements()[0].as_number() == 0.15);
  CHECK(value(one, "ipu.replication_factor").as_integer() == 4);
  CHECK(value(one, "ipu.gradient_accumulation_steps").as_integer() == 64);
  CHECK(value(one, "ipu.device_iterations").as_integer() == 2);
  CHECK(value(one, "ipu.replication_factor").place() == Place{"t.csv", 7, 0});
}

TEST_CASE("case reader: empty cells take the documented defaults, each of them named") {
  Cells cells = rate_cells();
  for (const char* column : {"optimizer_state_offchip", "rts", "matmul_proportion", "embedding_serialization_factor",
                             "packing_factor", "split_qkv", "attention_dropout", "ffn_dropout", "first_moment_bytes",
                             "checkpoint_format", "device_iterations"})
    cells[column] = "";
  const PublishedCase one = case_of(cells);
  for (const char* text :
       {"optimizer_state_offchip = as software.optimizer_state says",
        "rts = as software.replicated_tensor_sharding says", "matmul_proportion = 0.6",
        "embedding_serialization_factor = 1", "packing_factor = 1", "split_qkv = false", "attention_dropout = true",
        "ffn_dropout = false", "first_moment_bytes = 4", "checkpoint_format = float16", "device_iterations = 1"}) {
    CHECK_MESSAGE(took(one, text), text);
  }
  CHECK(one.defaults.size() == 11);
  CHECK(value(one, "ipu.matmul_proportion").as_number() == 0.6);
  CHECK(std::get<Experiment>(one.content).document.find("ipu.replicated_tensor_sharding") == nullptr);
  cells.erase("rts");
  CHECK(took(case_of(cells), "rts = as software.replicated_tensor_sharding says"));
}

TEST_CASE("case reader: a memory point stores the first moment in half unless it says otherwise") {
  const PublishedCase one = case_of(point_cells());
  CHECK(took(one, "first_moment_bytes = 2"));
  CHECK(took(one, "system = pod16"));
  CHECK(took(one, "ipus_per_replica = 4"));
  CHECK(value(one, "workload.first_moment_format").as_string() == "float16");
  CHECK(*one.measured_fits);
  CHECK_FALSE(*changed(point_cells(), "expected", "does_not_fit").measured_fits);
}

TEST_CASE("case reader: one proportion in a list holds for all IPUs") {
  CHECK(value(changed(rate_cells(), "matmul_proportion", "[0.28]"), "ipu.matmul_proportion").as_number() == 0.28);
  CHECK(value(changed(rate_cells(), "matmul_proportion", "0.25"), "ipu.matmul_proportion").as_number() == 0.25);
}

TEST_CASE("case reader: attention and feed-forward blocks may be placed apart") {
  Cells cells = rate_cells();
  cells["layers_per_ipu"] = "";
  cells["attention_layers_per_ipu"] = "[4, 7, 6, 7]";
  cells["ffn_layers_per_ipu"] = "[5, 6, 7, 6]";
  const PublishedCase one = case_of(cells);
  CHECK(value(one, "ipu.attention_layers_per_ipu").elements()[3].as_integer() == 7);
  CHECK(value(one, "ipu.ffn_layers_per_ipu").elements()[0].as_integer() == 5);
  CHECK(std::get<Experiment>(one.content).document.find("ipu.layers_per_ipu") == nullptr);
}

TEST_CASE("case reader: a maximum is two cases, the second with the next value") {
  Cells cells = point_cells();
  cells["expected"] = "max_fits_next_does_not";
  cells["varied_parameter"] = "micro_batch";
  cells["next_value"] = "33";
  const std::vector<PublishedCase> cases = cases_of(cells);
  REQUIRE(cases.size() == 2);
  CHECK(cases[0].id == "point-1");
  CHECK(*cases[0].measured_fits);
  CHECK(value(cases[0], "workload.micro_batch_size").as_integer() == 32);
  CHECK(cases[1].id == "point-1:next");
  CHECK(cases[1].source_id == "point-1");
  CHECK_FALSE(*cases[1].measured_fits);
  CHECK(value(cases[1], "workload.micro_batch_size").as_integer() == 33);
  cells["varied_parameter"] = "colour";
  CHECK(skipped(cases_of(cells)[1]) == "varied_parameter \"colour\" is no column");
}

TEST_CASE("case reader: inference takes its replicas from the same column and no optimizer") {
  Cells cells = point_cells();
  cells["task"] = "inference";
  const PublishedCase one = case_of(cells);
  CHECK(value(one, "workload.mode").as_string() == "inference");
  CHECK(value(one, "ipu.inference_replication_factor").as_integer() == 4);
  CHECK(std::get<Experiment>(one.content).document.find("workload.optimizer") == nullptr);
}

TEST_CASE("case reader: images and packs are read by their unit") {
  Cells cells = rate_cells();
  cells["sequence_length_or_image"] = "224x224";
  cells["metric"] = "images_per_s";
  cells["throughput_unit_note"] = "images";
  cells["input_bytes_per_value"] = "2";
  const PublishedCase image = case_of(cells);
  const PublishedCase step = [] {
    Cells of_step = rate_cells();
    of_step["id"] = "mlperf-step";
    return changed(of_step, "metric", "step_s");
  }();
  CHECK(step.quantity == "step_s");
  CHECK(step.source_id == "mlperf-thr");
  CHECK(image.quantity == "images_per_s");
  CHECK(value(image, "workload.image_size").as_integer() == 224);
  CHECK(value(image, "workload.input_bytes_per_element").as_number() == 2);
  CHECK(changed(rate_cells(), "throughput_unit_note", "packs").quantity == "packs_per_s");
  CHECK(took(changed(rate_cells(), "throughput_unit_note", ""), "throughput_unit_note = sequences"));
}

TEST_CASE("case reader: host-bound runs and averages of trainers are lower bounds") {
  CHECK(changed(rate_cells(), "host_bound", "true").lower_bound == "host bound");
  CHECK(changed(rate_cells(), "measured_kind", "trainer-average").lower_bound ==
        "average of a trainer: logging, saving and evaluation included");
}

TEST_CASE("case reader: one IPU stands in the smallest pod, an earlier chip on its card") {
  Cells cells = rate_cells();
  cells["hardware"] = "gc200";
  CHECK(value(changed(cells, "system", "1ipu"), "system").as_string() == "pod4");
  CHECK(value(changed(cells, "system", "8ipu"), "system").as_string() == "pod16");
  CHECK(value(changed(cells, "system", "pod64"), "system").as_string() == "pod64");
  CHECK(value(changed(cells, "hardware", "gc2"), "system").as_string() == "gc2-c2");
}

TEST_CASE("case reader: a network of convolutions says recomputation, norms and placement in its own way") {
  Cells cells = rate_cells();
  for (const auto& [column, text] : Cells{{"model_config", "resnext101"},
                                          {"head", "image-classification"},
                                          {"software", "poplar-tensorflow1"},
                                          {"sdk", "3.0"},
                                          {"sequence_length_or_image", "224x224"},
                                          {"ipus_per_replica", "1"},
                                          {"layers_per_ipu", ""},
                                          {"recompute", "7-segment recompute (pipeline_splits with shards=1)"},
                                          {"optimizer", "SGD momentum"},
                                          {"first_moment_bytes", ""},
                                          {"matmul_proportion", ""},
                                          {"distributed_batch_norm_replicas", "2"},
                                          {"throughput_unit_note", "images"},
                                          {"metric", "images_per_s"}}) {
    cells[column] = text;
  }
  const auto text_of = [](const PublishedCase& read, const std::string& path) {
    REQUIRE(std::holds_alternative<Experiment>(read.content));
    const Value* value = std::get<Experiment>(read.content).document.find(path);
    if (value == nullptr) return std::string("none");
    return value->is(Value::Kind::string) ? value->as_string() : std::to_string(value->as_number());
  };
  CHECK(text_of(case_of(cells), "model.config") == "resnext101-32x4d");
  CHECK(text_of(case_of(cells), "software") == "poplar-tensorflow1-sdk2.5");
  CHECK(text_of(changed(cells, "sdk", "2.3.0"), "software") == "poplar-tensorflow1");
  CHECK(text_of(case_of(cells), "ipu.recompute_segments") == "7.000000");
  CHECK(text_of(changed(cells, "recompute", ""), "ipu.recompute_segments") == "7.000000");
  CHECK(text_of(changed(cells, "recompute", "manual"), "ipu.recompute_segments") == "-1.000000");
  CHECK(text_of(changed(cells, "recompute", "yes"), "ipu.recompute_segments") == "none");
  CHECK(text_of(case_of(cells), "ipu.distributed_batch_norm_replicas") == "2.000000");
  CHECK(text_of(case_of(cells), "ipu.matmul_proportion") == "0.600000");
  CHECK(text_of(changed(cells, "model_config", "resnet50"), "ipu.matmul_proportion") == "0.150000");
  CHECK(text_of(case_of(cells), "workload.first_moment_format") == "float16");
  CHECK(text_of(case_of(cells), "workload.packing_factor") == "none");
  CHECK(skipped(changed(cells, "recompute", "7 parts")) ==
        "recompute \"7 parts\" is not known: N-segment recompute, manual, yes, no");
  cells["ipus_per_replica"] = "2";
  CHECK(skipped(case_of(cells)) == "layers_per_ipu is not given");
  cells["pipeline_split_at"] = "stage3/unit4";
  CHECK(skipped(case_of(cells)) == "layers_per_ipu is not given; \"stage3/unit4\" is a name of the program's own");
  cells["layers_per_ipu"] = "[11, 22]";
  CHECK(text_of(case_of(cells), "ipu.recompute_segments") == "none");
}

TEST_CASE("case reader: rows that cannot be run say why") {
  const auto reason = [](const std::string& column, const std::string& text) {
    return skipped(changed(rate_cells(), column, text));
  };
  CHECK(reason("id", "") == "id is not given");
  CHECK(reason("micro_batch", "") == "micro_batch is not given");
  CHECK(reason("micro_batch", "x") == "micro_batch \"x\" is not a whole number from 1");
  CHECK(reason("replication", "") == "replication is not given");
  CHECK(reason("gradient_accumulation", "") == "gradient_accumulation is not given");
  CHECK(reason("layers_per_ipu", "") == "layers_per_ipu is not given");
  CHECK(reason("layers_per_ipu", "3 7") == "layers_per_ipu \"3 7\" is not a list such as [3, 7, 7, 7]");
  CHECK(reason("value", "-1") == "value \"-1\" is not a positive number");
  CHECK(reason("rts", "yes") == "rts \"yes\" is not true or false");
  CHECK(reason("matmul_proportion", "[a]") == "matmul_proportion \"[a]\" is not a number or a list of numbers");
  CHECK(reason("metric", "minutes_to_train") == "metric minutes_to_train is not compared");
  CHECK(reason("measured_kind", "microbenchmark") == "a micro-benchmark");
  CHECK(reason("throughput_unit_note", "utterances") == "throughput_unit_note utterances is not compared");
  CHECK(reason("head", "") == "head is not given");
  CHECK(reason("sequence_length_or_image", "1 s audio") ==
        "sequence_length_or_image \"1 s audio\" is neither a length nor a square image");
  CHECK(reason("precision", "8") == "precision \"8\" is not known");
  CHECK(reason("optimizer", "Adafactor") == "optimizer \"Adafactor\" is not known");
  CHECK(reason("first_moment_bytes", "3") == "first_moment_bytes 3 is neither 2 nor 4");
  CHECK(reason("hardware", "gc3") == "hardware \"gc3\" is not known");
  CHECK(skipped(changed(point_cells(), "expected", "perhaps")) ==
        "expected \"perhaps\" is not fits, does_not_fit or max_fits_next_does_not");
  CHECK(skipped(changed(point_cells(), "task", "microbench")) == "a micro-benchmark");
  CHECK(skipped(case_of({{"target", "gc200"}, {"name", "mm"}, {"reference_cycles", "9"}})) == "kind is not given");
}

TEST_CASE("case reader: the features of a plan begin with its kind of model") {
  const Plan plan = test::plan_of(test::experiment("bert-large-bow-pod16"));
  const std::vector<CaseFeature> features = ipu::IpuCaseReader().features(plan);
  const auto text = [&](const std::string& name) {
    const auto found = std::ranges::find(features, name, &CaseFeature::name);
    return found == features.end() ? "(none)" : found->text;
  };
  REQUIRE_FALSE(features.empty());
  CHECK(features.front().text == "bert");
  CHECK(text("chip") == "bow");
  CHECK(text("software") == "poplar-popart");
  CHECK(text("hidden_size") == "1024");
  CHECK(text("layers") == "24");
  CHECK(text("sequence_length") == "128");
  CHECK(text("ipus_per_replica") == "4");
  CHECK(text("replicas") == "4");
}
