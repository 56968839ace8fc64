#include "models/rdu/case_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "models/rdu/rdu_plan.hpp"
#include "sim/plan/case_row.hpp"
#include "sim/plan/plan.hpp"

namespace podsim::rdu {
namespace {

// A metric of the tables and the value of a report that is its prediction.
constexpr std::array<std::pair<std::string_view, std::string_view>, 20> k_metrics{
    {{"rdu_latency_s", "rdu_latency_s"},
     {"host_latency_s", "host_latency_s"},
     {"step_latency_s", "step_s"},
     {"step_time_s", "step_s"},
     {"throughput_samples_per_s", "sequences_per_s"},
     {"e2e_samples_per_s", "sequences_per_s"},
     {"e2e_samples_per_s_as_logged", "sequences_per_s"},
     {"achieved_tflops", "achieved_tflops"},
     {"max_achieved_tflops", "achieved_tflops"},
     {"geomean_gops", "achieved_gops"},
     {"throughput_tokens_per_s", "tokens_per_s"},
     {"total_sections", "total_sections"},
     {"total_tokens_per_s", "total_tokens_per_s"},
     {"output_tokens_per_s_per_user", "output_tokens_per_s_per_user"},
     {"time_to_first_token_s", "time_to_first_token_s"},
     {"time_per_output_token_s", "time_per_output_token_s"},
     {"tile_exec_pct", "tile_exec_pct"},
     {"tile_idle_pct", "tile_idle_pct"},
     {"tile_program_load_pct", "tile_program_load_pct"},
     {"tile_argument_load_pct", "tile_argument_load_pct"}}};

class RowToExperiment {
 public:
  explicit RowToExperiment(const CaseRow& row) : cells_(row) {}

  PublishedCase convert() {
    cells_.identify(result_);
    read_metric();
    if (!cells_.skipped()) read_run();
    cells_.finish(result_);
    return std::move(result_);
  }

 private:
  void read_metric() {
    const std::string metric = cells_.required("metric");
    const auto known = std::ranges::find(k_metrics, metric, &std::pair<std::string_view, std::string_view>::first);
    if (known == k_metrics.end()) return cells_.skip(fmt::format("metric {} is not compared", metric));
    result_.quantity = std::string(known->second);
    result_.measured = cells_.required_number("value");
    result_.excluded = cells_.cell("exclude_reason");
    if (result_.excluded.empty() && cells_.boolean("speculative_decoding", false)) {
      result_.excluded = "speculative decoding, which is not modelled";
    }
  }

  void read_run() {
    const std::string mode = cells_.required("mode");
    if (mode == "microbenchmark") return read_operator();
    if (mode != "training" && mode != "inference" && mode != "generation") {
      return cells_.skip(fmt::format("mode \"{}\" is not known", mode));
    }
    generation_ = mode == "generation";
    training_ = mode == "training";
    cells_.set("workload.mode", mode);
    read_machine();
    read_model();
    if (generation_) {
      read_request();
    } else if (images_) {
      cells_.set("workload.image_size", cells_.count("image_size", 256));
    } else if (const auto length = cells_.required_count("seq_len")) {
      cells_.set("workload.sequence_length", *length);
    }
    if (!cells_.cell("masked_tokens").empty()) cells_.set("workload.masked_tokens", cells_.count("masked_tokens", 1));
    if (training_) cells_.set("workload.recompute", cells_.boolean("recompute", false));
    if (training_) cells_.set("rdu.host_model", cells_.boolean("profiled", false) ? "profiled" : "production");
    cells_.set("rdu.mapping_quality", cells_.boolean("human_decision", false) ? "human-decision" : "generated");
    read_command();
  }

  // A square product or a pass over elements, alone on one RDU.
  void read_operator() {
    read_machine();
    const bool product = !cells_.cell("gemm_size").empty();
    if (!product && cells_.cell("elements").empty()) return cells_.skip("the operators are not listed");
    cells_.set("model.config", product ? "matmul" : "relu");
    if (product) {
      for (const char* dimension : {"model.rows", "model.inner", "model.columns"}) {
        cells_.set(dimension, cells_.count("gemm_size", 1));
      }
    } else {
      cells_.set("model.elements", std::max<std::int64_t>(1, std::llround(cells_.number("elements", 1))));
    }
    cells_.set("rdu.compile", "python app.py compile --inference -b 1 --pef-name=app");
  }

  void read_machine() {
    static constexpr std::array<std::string_view, 4> k_chips{"sn10", "sn20", "sn30", "sn40l"};
    const std::string hardware = cells_.required("hardware");
    if (std::ranges::count(k_chips, hardware) == 0) {
      return cells_.skip(fmt::format("hardware \"{}\" is not known", hardware));
    }
    const double rdus = cells_.number("rdus", 1);
    std::string system = hardware;
    if (hardware == "sn40l") system = rdus > 8 ? "sn40l-16" : "sn40l-8";
    cells_.set("system.name", system);
    cells_.set("system.nodes", cells_.count("nodes", 1));
    hbm_ = hardware == "sn40l";
    chips_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(rdus));
  }

  // A shipped configuration of the family; the columns replace its dimensions.
  void read_model() {
    std::string model = cells_.required("model_config");
    const bool gpt2 = model.starts_with("gpt2");
    if (gpt2) model = "gpt2-xl";
    if (model.starts_with("bert-large")) model = "bert-large-uncased";
    images_ = model.starts_with("unet");
    if (images_) {
      model = "unet";
      cells_.set("model.init_features", cells_.count("init_features", 32));
      if (result_.quantity == "sequences_per_s") result_.quantity = "images_per_s";
    }
    cells_.set("model.config", model);
    legacy_ = generation_ && hbm_ && model.starts_with("llama-2");
    if (legacy_) cells_.set("rdu.endpoint", "legacy");
    if (!gpt2) return;
    const std::array<std::pair<const char*, const char*>, 5> columns{{{"hidden_size", "hidden_size"},
                                                                      {"layers", "num_hidden_layers"},
                                                                      {"heads", "num_attention_heads"},
                                                                      {"ffn", "intermediate_size"},
                                                                      {"vocab", "vocab_size"}}};
    for (const auto& [column, field] : columns) {
      if (cells_.cell(column).empty()) continue;
      cells_.set(fmt::format("model.{}", field), cells_.count(column, 1));
    }
    if (!cells_.cell("heads").empty() && !cells_.cell("hidden_size").empty()) read_heads();
  }

  // Some rows record a number of heads that does not divide the width: the next one below that does stands in.
  void read_heads() {
    const std::int64_t width = cells_.count("hidden_size", 1);
    const std::int64_t recorded = std::max<std::int64_t>(1, cells_.count("heads", 1));
    std::int64_t heads = recorded;
    while (width % heads != 0) --heads;
    if (heads == recorded) return;
    cells_.took_default("heads", fmt::format("{}, since {} do not divide the width", heads, recorded));
    cells_.set("model.num_attention_heads", heads);
  }

  void read_request() {
    const std::int64_t output = cells_.count("output_tokens", 1);
    const std::int64_t length = cells_.count("static_seq_length", 4096);
    const std::int64_t input = cells_.cell("input_tokens").empty() ? length - output : cells_.count("input_tokens", 1);
    cells_.set("workload.input_tokens", input);
    cells_.set("workload.output_tokens", output);
    // Of an endpoint the column has the longest of its contexts.
    const bool endpoint = hbm_ && !legacy_;
    if (endpoint && cells_.cell("static_seq_length").empty()) return;
    cells_.set(endpoint ? "rdu.longest_context" : "rdu.static_sequence_length", length);
  }

  void read_command() {
    const std::int64_t batch = cells_.count("batch", 1);
    const std::string level = cells_.cell("opt_mode");
    std::string command = fmt::format("python app.py compile -b {} --pef-name=app", batch);
    if (level == "o0" || level == "o1" || level == "o3") command += " -" + level;
    if (level.empty()) cells_.took_default("opt_mode", "o3");
    if (!level.empty() && !level.starts_with("o0") && !level.starts_with("o1") && !level.starts_with("o3") &&
        !level.starts_with("fused")) {
      cells_.skip(fmt::format("opt_mode \"{}\" is not known", level));
    }
    if (!cells_.cell("tiles").empty()) command += fmt::format(" --num-tiles {}", cells_.count("tiles", 4));
    if (!training_) command += " --inference";
    if (generation_ && hbm_) command += fmt::format(" --tensor-parallel weight --n-chips {}", chips_);
    const std::int64_t replicas = cells_.count("data_parallel", 1);
    if (training_ && replicas > 1) command += " --data-parallel -ws 2";
    cells_.set("rdu.compile", command);
    if (training_ && replicas > 1) {
      const bool on_rdu = cells_.boolean("reduce_on_rdu", true);
      cells_.set("rdu.launch",
                 fmt::format("mpirun -np {} python app.py run -b {} --data-parallel{} --pef=out/app/app.pef", replicas,
                             batch, on_rdu ? " --reduce-on-rdu" : ""));
    }
    cells_.set("workload.micro_batch_size", batch);
  }

  CaseRowReader cells_;
  PublishedCase result_;
  bool generation_ = false;
  bool training_ = false;
  bool hbm_ = false;
  bool images_ = false;
  bool legacy_ = false;
  std::int64_t chips_ = 1;
};

CaseFeature word(std::string name, std::string text, double weight) {
  return {std::move(name), std::move(text), std::nullopt, weight};
}

CaseFeature count(std::string name, std::int64_t number, double weight) {
  return {std::move(name), std::to_string(number), static_cast<double>(number), weight};
}

}  // namespace

bool RduCaseReader::accepts(const std::vector<std::string>& columns) const {
  const auto has = [&](std::string_view name) { return std::ranges::count(columns, name) > 0; };
  return has("id") && has("hardware") && has("opt_mode") && has("batch") && has("metric") && has("value");
}

std::vector<PublishedCase> RduCaseReader::read(const CaseRow& row) const {
  return {RowToExperiment(row).convert()};
}

std::vector<CaseFeature> RduCaseReader::features(const Plan& plan) const {
  const auto* rdu_plan = dynamic_cast<const RduPlan*>(plan.family_plan.get());
  if (rdu_plan == nullptr) return {};
  const RduSetup& setup = rdu_plan->setup;
  const auto& unet = rdu_plan->unet;
  const char* mode = setup.run == RunMode::training    ? "training"
                     : setup.run == RunMode::inference ? "inference"
                                                       : "generation";
  return {word("model", plan.shape.type, 4),
          word("mode", mode, 4),
          word("chip", plan.chip, 2),
          word("execution",
               setup.training()         ? std::string(name(setup.host))
               : setup.fused_generation ? "fused"
                                        : "sections",
               4),
          word("level", std::string(to_text(setup.level)), 1),
          word("mapping", setup.human_decision ? "human-decision" : "generated", 1),
          count("hidden_size", unet ? unet->sizes.features : rdu_plan->model.hidden, 1),
          count("layers", unet ? unet->sizes.depth : rdu_plan->model.layers, 1),
          count("sequence_length",
                setup.run == RunMode::generation ? setup.static_length : plan.settings.sequence_length, 1),
          count("batch", setup.batch, 0.5),
          count("parts", setup.parts, 1),
          count("replicas", setup.replicas, 0.5)};
}

}  // namespace podsim::rdu
