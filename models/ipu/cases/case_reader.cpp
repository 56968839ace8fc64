#include "models/ipu/cases/case_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "models/ipu/cases/network_case.hpp"
#include "models/ipu/ipu_plan.hpp"
#include "models/ipu/operators/operator_case.hpp"
#include "sim/plan/case_row.hpp"
#include "sim/plan/plan.hpp"
#include "sim/units/text.hpp"

namespace podsim::ipu {
namespace {

enum class TableKind { rates, memory_points, operators, other };

TableKind kind_of(const std::vector<std::string>& columns) {
  const auto has = [&](std::string_view name) { return std::ranges::count(columns, name) > 0; };
  if (has("reference_cycles") && has("target")) return TableKind::operators;
  if (!has("id") || !has("hardware") || !has("model_config") || !has("micro_batch")) return TableKind::other;
  if (has("expected")) return TableKind::memory_points;
  return has("metric") && has("value") ? TableKind::rates : TableKind::other;
}

TableKind kind_of(const CaseRow& row) {
  std::vector<std::string> columns;
  for (const auto& [column, text] : row.cells) columns.push_back(column);
  return kind_of(columns);
}

// The smallest pod with at least so many IPUs.
std::string pod_of(std::int64_t ipus) {
  for (const std::int64_t size : {4, 16, 64, 128, 256}) {
    if (ipus <= size) return fmt::format("pod{}", size);
  }
  return fmt::format("pod{}", ipus);
}

class RowToExperiment {
 public:
  RowToExperiment(const CaseRow& row, TableKind kind) : cells_(row), kind_(kind) {}

  PublishedCase convert() {
    cells_.identify(result_);
    if (kind_ == TableKind::rates) {
      read_rate();
    } else {
      read_expectation();
    }
    if (!cells_.skipped()) read_run();
    cells_.finish(result_);
    return std::move(result_);
  }

 private:
  // A word that no column has would else be taken for the usual one.
  void check_word(const char* column, const std::vector<std::string>& words) {
    const std::string written = cells_.cell(column);
    if (written.empty() || std::ranges::count(words, written) > 0) return;
    cells_.skip(fmt::format("{} \"{}\" is not known: {}", column, written, fmt::join(words, ", ")));
  }

  void read_rate() {
    check_word("measured_kind", {"throughput", "trainer-average", "microbenchmark"});
    check_word("task", {"pretrain", "finetune", "training", "inference", "microbench"});
    const std::string kind = cells_.cell("measured_kind");
    const std::string metric = cells_.required("metric");
    if (kind == "microbenchmark" || cells_.cell("task") == "microbench") return cells_.skip("a micro-benchmark");
    result_.measured = cells_.required_number("value");
    if (metric == "step_s") {
      result_.quantity = "step_s";
      take_rate_of_run();
    } else if (metric == "samples_per_s" || metric == "images_per_s") {
      read_unit(metric);
    } else {
      return cells_.skip(fmt::format("metric {} is not compared", metric));
    }
    if (cells_.boolean("host_bound", false)) result_.lower_bound = "host bound";
    if (cells_.text("measured_kind", "throughput") == "trainer-average") {
      result_.lower_bound = "average of a trainer: logging, saving and evaluation included";
    }
  }

  // The step of a run whose rate is a row of its own ("run-thr", "run-step") is fitted where the rate is.
  void take_rate_of_run() {
    constexpr std::string_view k_step = "-step";
    if (!result_.source_id.ends_with(k_step)) return;
    result_.source_id.resize(result_.source_id.size() - k_step.size());
    result_.source_id += "-thr";
  }

  void read_unit(const std::string& metric) {
    const std::string unit = cells_.text("throughput_unit_note", metric == "images_per_s" ? "images" : "sequences");
    if (unit == "sequences") {
      result_.quantity = "sequences_per_s";
    } else if (unit == "packs") {
      result_.quantity = "packs_per_s";
    } else if (unit == "images") {
      result_.quantity = "images_per_s";
    } else {
      cells_.skip(fmt::format("throughput_unit_note {} is not compared", unit));
    }
  }

  void read_expectation() {
    result_.quantity = std::string(k_fits);
    check_word("task", {"pretrain", "finetune", "training", "inference", "microbench"});
    if (cells_.cell("task") == "microbench") return cells_.skip("a micro-benchmark");
    const std::string expected = cells_.required("expected");
    if (expected == "fits" || expected == "does_not_fit") {
      result_.measured_fits = expected == "fits";
    } else if (!expected.empty()) {
      cells_.skip(fmt::format("expected \"{}\" is not fits, does_not_fit or max_fits_next_does_not", expected));
    }
  }

  void read_run() {
    inference_ = cells_.cell("task") == "inference";
    cells_.set("name", result_.id);
    cells_.set("workload.mode", inference_ ? "inference" : "training");
    read_model();
    if (cells_.skipped()) return;
    read_shape();
    read_numerics();
    read_placement();
    read_machine();
  }

  void read_model() {
    const std::string model = cells_.required("model_config");
    network_ = is_convolution_network(model);
    model_ = network_ ? network_model(model) : model;
    cells_.set("model.config", model_);
    const std::string head = cells_.required("head");
    cells_.set("model.head", head);
    if (!cells_.cell("vocab_size").empty()) cells_.set("model.vocab_size", cells_.count("vocab_size", 1));
  }

  // "512" are tokens, "224x224" pixels.
  void read_shape() {
    const std::string length = cells_.required("sequence_length_or_image");
    const std::size_t cross = length.find('x');
    const auto whole = [](std::string_view text) {
      return !text.empty() && text.size() < 10 &&
             std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    };
    if (whole(length)) {
      cells_.set("workload.sequence_length", static_cast<std::int64_t>(std::stoll(length)));
    } else if (cross != std::string::npos && whole(length.substr(0, cross)) &&
               length.substr(0, cross) == length.substr(cross + 1)) {
      cells_.set("workload.image_size", static_cast<std::int64_t>(std::stoll(length)));
      const std::string bytes = cells_.cell("input_bytes_per_value");
      if (!bytes.empty()) cells_.set("workload.input_bytes_per_element", cells_.number("input_bytes_per_value", 1));
    } else if (!length.empty()) {
      cells_.skip(fmt::format("sequence_length_or_image \"{}\" is neither a length nor a square image", length));
    }
    if (const auto micro_batch = cells_.required_count("micro_batch")) {
      cells_.set("workload.micro_batch_size", *micro_batch);
    }
    if (network_) return;
    cells_.set("workload.packing_factor", cells_.number("packing_factor", 1.0));
    if (!cells_.cell("masked_tokens").empty()) {
      cells_.set("workload.masked_tokens", cells_.count("masked_tokens", 1));
    }
  }

  void read_numerics() {
    read_precision();
    if (!inference_) read_optimizer();
    if (network_) return;
    cells_.set("workload.split_qkv", cells_.boolean("split_qkv", false));
    cells_.set("workload.attention_dropout", cells_.boolean("attention_dropout", true));
    cells_.set("workload.ffn_dropout", cells_.boolean("ffn_dropout", false));
    cells_.set("workload.activation_checkpoint_format", cells_.text("checkpoint_format", "float16"));
    check_word("recompute",
               {"pipeline", "checkpoint every layer", "whole stage", "no", "none", "false", "False", "true", "True"});
    const std::string recompute = cells_.text("recompute", "checkpoint every layer");
    const bool none = recompute == "no" || recompute == "none" || recompute == "false" || recompute == "False";
    cells_.set("workload.recompute", !none);
    // Published programs that recompute put a checkpoint at every layer, whatever they call it; see the tables' README.
    cells_.set("ipu.recompute_checkpoint_every_layer", !none && recompute != "whole stage");
  }

  void read_precision() {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> k_precisions{
        {{"16.16", "fp16.16"}, {"16.32", "fp16.32"}, {"32", "fp32"}, {"32.32", "fp32"}, {"16", "fp16.16"}}};
    const std::string written = cells_.text("precision", "16.16");
    const auto known = std::ranges::find(k_precisions, written, &std::pair<std::string_view, std::string_view>::first);
    if (known == k_precisions.end()) return cells_.skip(fmt::format("precision \"{}\" is not known", written));
    cells_.set("workload.precision", std::string(known->second));
  }

  // "LAMB (no bias correction)" is LAMB: what stands in parentheses does not change what is computed.
  void read_optimizer() {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> k_optimizers{
        {{"LAMB", "lamb"},
         {"AdamW", "adamw"},
         {"Adam", "adam"},
         {"SGD", "sgd"},
         {"SGD momentum", "sgd-momentum"},
         {"LARS", "lars"}}};
    const std::string written = cells_.text("optimizer", "AdamW");
    const std::string word = written.substr(0, written.find(" ("));
    const auto known = std::ranges::find(k_optimizers, word, &std::pair<std::string_view, std::string_view>::first);
    if (known == k_optimizers.end()) return cells_.skip(fmt::format("optimizer \"{}\" is not known", written));
    cells_.set("workload.optimizer", std::string(known->second));
    const bool half_moment = network_ || kind_ == TableKind::memory_points;
    const std::int64_t bytes = cells_.count("first_moment_bytes", half_moment ? 2 : 4);
    if (bytes != 2 && bytes != 4) cells_.skip(fmt::format("first_moment_bytes {} is neither 2 nor 4", bytes));
    cells_.set("workload.first_moment_format", bytes == 2 ? "float16" : "float32");
  }

  void read_placement() {
    const bool memory = kind_ == TableKind::memory_points;
    std::optional<std::int64_t> replicas;
    if (cells_.cell("replication_factor").empty()) {
      replicas = cells_.required_count(memory ? "replication_factor" : "replication");
    } else {
      replicas = cells_.required_count("replication_factor");
    }
    replicas_ = replicas.value_or(1);
    cells_.set(inference_ ? "ipu.inference_replication_factor" : "ipu.replication_factor", replicas_);
    if (!inference_) {
      const char* column =
          cells_.has_column("gradient_accumulation") ? "gradient_accumulation" : "gradient_accumulation_steps";
      read_accumulation(column);
    }
    cells_.set(inference_ ? "ipu.inference_device_iterations" : "ipu.device_iterations",
               cells_.count("device_iterations", 1));
    if (!cells_.cell("hosts_or_instances").empty()) {
      cells_.set("ipu.instances", cells_.count("hosts_or_instances", 1));
    }
    if (inference_) cells_.set("ipu.sharded_execution_for_inference", true);  // as the library runs it
    network_ ? read_network() : read_layers();
    cells_.set_numbers(inference_ && network_ ? "ipu.inference_matmul_proportion" : "ipu.matmul_proportion",
                       "matmul_proportion", network_ ? usual_proportion(model_) : 0.6);
    read_state();
    if (network_) return;
    cells_.set(inference_ ? "ipu.inference_embedding_serialization_factor" : "ipu.embedding_serialization_factor",
               cells_.count("embedding_serialization_factor", 1));
    if (!cells_.cell("auto_loss_scaling").empty()) {
      cells_.set("ipu.auto_loss_scaling", cells_.boolean("auto_loss_scaling", false));
    }
  }

  // How many micro-batches an update has does not change the memory of networks, as long as there are several.
  void read_accumulation(const char* column) {
    if (network_ && kind_ == TableKind::memory_points) {
      cells_.set("ipu.gradient_accumulation_steps", cells_.count(column, 16));
    } else if (const auto steps = cells_.required_count(column)) {
      cells_.set("ipu.gradient_accumulation_steps", *steps);
    }
  }

  void read_state() {
    if (inference_ && network_) return;
    read_state_key("optimizer_state_offchip", "ipu.optimizer_state_offchip", "optimizer_state");
    read_state_key("rts", "ipu.replicated_tensor_sharding", "replicated_tensor_sharding");
  }

  // The profile of the software says what an empty cell means.
  void read_state_key(const char* column, const char* key, const char* constant) {
    if (cells_.cell(column).empty()) return cells_.took_default(column, fmt::format("as software.{} says", constant));
    cells_.set(key, cells_.boolean(column, false));
  }

  void read_network() {
    ipus_per_replica_ = cells_.required_count("ipus_per_replica").value_or(1);
    read_network_layers(cells_, ipus_per_replica_, inference_);
    if (inference_) return;
    read_network_recompute(cells_, ipus_per_replica_);
    cells_.set("ipu.distributed_batch_norm_replicas", cells_.count("distributed_batch_norm_replicas", 1));
  }

  void read_layers() {
    std::size_t ipus = 0;
    if (!cells_.cell("attention_layers_per_ipu").empty() || !cells_.cell("ffn_layers_per_ipu").empty()) {
      for (const char* column : {"attention_layers_per_ipu", "ffn_layers_per_ipu"}) {
        const auto layers = cells_.required_counts(column);
        if (!layers) return;
        ipus = layers->size();
        cells_.set(fmt::format("ipu.{}", column), *layers);
      }
    } else {
      const auto layers = cells_.required_counts("layers_per_ipu");
      if (!layers) return;
      ipus = layers->size();
      cells_.set("ipu.layers_per_ipu", *layers);
    }
    ipus_per_replica_ = cells_.count("ipus_per_replica", static_cast<std::int64_t>(ipus));
    cells_.set("ipu.ipus_per_replica", ipus_per_replica_);
  }

  // "gc200|bow" stands for either; "1ipu" for one IPU of the smallest pod.
  void read_machine() {
    const std::string hardware = cells_.required("hardware");
    const std::string chip = hardware.substr(0, hardware.find('|'));
    std::string pod = cells_.cell("system");
    if (pod.empty()) {
      pod = pod_of(ipus_per_replica_ * replicas_);
      cells_.took_default("system", chip == "bow" ? "bow-" + pod : pod);
    } else if (pod.ends_with("ipu") && pod.size() > 3 && pod.find_first_not_of("0123456789") == pod.size() - 3) {
      pod = pod.size() > 9 ? pod : pod_of(std::stoll(pod));
    }
    const bool contradicts = (chip == "gc200" && hardware == chip && pod.starts_with("bow")) ||
                             (chip != "gc2" && pod.starts_with("gc2")) || (chip == "gc2" && pod.starts_with("bow"));
    if (contradicts) cells_.skip(fmt::format("hardware \"{}\" is not the chip of system \"{}\"", hardware, pod));
    if (chip == "bow" && !pod.starts_with("bow")) pod = "bow-" + pod;
    if (chip == "gc2") pod = "gc2-c2";
    if (chip != "bow" && chip != "gc200" && chip != "gc2" && !chip.empty()) {
      cells_.skip(fmt::format("hardware \"{}\" is not known", hardware));
    }
    cells_.set("system", pod);
    const std::string software = cells_.text("software", "poplar-pytorch");
    cells_.set("software", network_ ? network_software(software, cells_.cell("sdk")) : software);
  }

  CaseRowReader cells_;
  TableKind kind_;
  PublishedCase result_;
  bool inference_ = false;
  bool network_ = false;  // of convolutions
  std::string model_;
  std::int64_t replicas_ = 1;
  std::int64_t ipus_per_replica_ = 1;
};

// "max_fits_next_does_not": the row as it stands fits; with one cell changed it does not.
std::vector<PublishedCase> read_maximum(CaseRow row) {
  row.cells["expected"] = "fits";
  std::vector<PublishedCase> cases{RowToExperiment(row, TableKind::memory_points).convert()};
  const std::string varied = row.cells["varied_parameter"];
  row.cells["expected"] = "does_not_fit";
  const auto cell = row.cells.find(varied);
  const bool known = cell != row.cells.end();
  if (known) cell->second = row.cells["next_value"];
  PublishedCase next = RowToExperiment(row, TableKind::memory_points).convert();
  if (!known) next.content = SkippedCase{fmt::format("varied_parameter \"{}\" is no column", varied)};
  next.id += ":next";
  cases.push_back(std::move(next));
  return cases;
}

CaseFeature word(std::string name, std::string text, double weight) {
  return {std::move(name), std::move(text), std::nullopt, weight};
}

CaseFeature count(std::string name, std::int64_t number, double weight) {
  return {std::move(name), std::to_string(number), static_cast<double>(number), weight};
}

}  // namespace

bool IpuCaseReader::accepts(const std::vector<std::string>& columns) const {
  return kind_of(columns) != TableKind::other;
}

std::vector<PublishedCase> IpuCaseReader::read(const CaseRow& row) const {
  const TableKind kind = kind_of(row);
  if (kind == TableKind::operators) return {read_operator_case(row)};
  const auto expected = row.cells.find("expected");
  if (expected != row.cells.end() && expected->second == "max_fits_next_does_not") return read_maximum(row);
  return {RowToExperiment(row, kind).convert()};
}

std::vector<CaseFeature> IpuCaseReader::features(const Plan& plan) const {
  const auto* ipu_plan = dynamic_cast<const IpuPlan*>(plan.family_plan.get());
  if (ipu_plan == nullptr) return {};
  const WorkloadSettings& settings = plan.settings;
  const char* mode = settings.mode == RunMode::training    ? "training"
                     : settings.mode == RunMode::inference ? "inference"
                                                           : "generation";
  return {word("model", plan.shape.type, 4),
          word("head", settings.head, 2),
          word("mode", mode, 4),
          word("precision", settings.precision, 2),
          word("chip", plan.chip, 1),
          word("software", plan.software, 1),
          count("hidden_size", plan.graph.hidden, 1),
          count("layers", plan.graph.layers, 1),
          count("sequence_length", settings.sequence_length, 1),
          count("micro_batch", settings.micro_batch_size, 0.5),
          count("ipus_per_replica", ipu_plan->setup.ipus_per_replica, 1),
          count("replicas", ipu_plan->setup.replication_factor, 0.5),
          count("accumulation", ipu_plan->setup.gradient_accumulation_steps, 0.25),
          word("loss_scaling", ipu_plan->setup.auto_loss_scaling ? "automatic" : "fixed", 1)};
}

}  // namespace podsim::ipu
