#include "models/ipu/search/search_settings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace podsim::ipu {
namespace {

Place place() {
  return {"search", 0, 0};
}

}  // namespace

Value search_value(std::int64_t value) {
  return Value::integer(value, place());
}

Value search_value(bool value) {
  return Value::boolean(value, place());
}

Value search_value(const std::vector<std::int64_t>& values) {
  std::vector<Value> elements;
  for (const std::int64_t value : values) elements.push_back(search_value(value));
  return Value::array(std::move(elements), place());
}

Value search_value(const std::vector<double>& values) {
  const bool same = std::ranges::all_of(values, [&](double value) { return value == values.front(); });
  if (same) return Value::floating(values.front(), place());
  std::vector<Value> elements;
  for (const double value : values) elements.push_back(Value::floating(value, place()));
  return Value::array(std::move(elements), place());
}

Value no_value() {
  return Value::null(place());
}

std::vector<double> offered_proportions(const SearchRequest& request, const std::vector<double>& own) {
  std::vector<double> offered = own;
  if (!request.fixes("ipu.matmul_proportion")) {
    offered.insert(offered.end(), {0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0});
  }
  std::ranges::sort(offered);
  offered.erase(std::unique(offered.begin(), offered.end()), offered.end());
  return offered;
}

std::vector<std::int64_t> offered_factors(const Plan& plan, const IpuPlan& ipu_plan, const SearchRequest& request) {
  constexpr std::int64_t k_most = 8;
  const std::int64_t own = ipu_plan.setup.embedding_serialization_factor;
  if (plan.graph.vocabulary == 0) return {own};
  std::vector<std::int64_t> factors{own};
  const bool pads = plan.model_kind->type() == "gpt2";  // its vocabulary need not divide
  for (std::int64_t factor = 1; factor <= k_most; ++factor) {
    if (factor != own && (pads || plan.graph.vocabulary % factor == 0)) factors.push_back(factor);
  }
  std::ranges::sort(factors);
  return request.values("ipu.embedding_serialization_factor", factors, own);
}

std::vector<SearchSetting> settings_of(const RunSetup& setup, const SearchedWorkload& workload, const IpuPlan& ipu_plan,
                                       const Plan& plan, const SearchRequest& request) {
  std::vector<SearchSetting> settings;
  const auto add = [&](const char* key, Value value) {
    if (!request.fixes(key)) settings.push_back({key, std::move(value)});
  };
  const WrittenKeys& written = ipu_plan.written;
  const LayerPlacement& layers = setup.placement;
  add("workload.micro_batch_size", search_value(workload.micro_batch));
  add("workload.recompute", search_value(workload.recompute));
  add("ipu.ipus_per_replica", search_value(setup.ipus_per_replica));
  if (layers.attention != layers.feed_forward) {
    add("ipu.attention_layers_per_ipu", search_value(layers.attention));
    add("ipu.ffn_layers_per_ipu", search_value(layers.feed_forward));
  } else {
    add("ipu.layers_per_ipu", search_value(layers.attention));
    if (written.half_layers) {
      add("ipu.attention_layers_per_ipu", no_value());
      add("ipu.ffn_layers_per_ipu", no_value());
    }
  }
  if (written.n_ipu) add("ipu.n_ipu", no_value());
  add("ipu.replication_factor", search_value(setup.replication_factor));
  add("ipu.gradient_accumulation_steps", search_value(setup.gradient_accumulation_steps));
  add("ipu.matmul_proportion", search_value(setup.matmul_proportion));
  add("ipu.optimizer_state_offchip", search_value(setup.optimizer_state_offchip));
  add("ipu.replicated_tensor_sharding", search_value(setup.replicated_tensor_sharding));
  if (plan.graph.convolutional()) {
    if (!ipu_plan.setup.recompute_cuts.empty()) add("ipu.recompute_checkpoints", no_value());
    add("ipu.recompute_segments", search_value(setup.recompute_segments));
  } else {
    add("ipu.recompute_checkpoint_every_layer", search_value(setup.recompute_checkpoint_every_layer));
  }
  if (plan.graph.vocabulary == 0) return settings;
  if (!written.embedding_splits.empty()) add("ipu.serialized_embedding_splits_per_ipu", no_value());
  add("ipu.embedding_serialization_factor", search_value(setup.embedding_serialization_factor));
  if (!written.projection_splits.empty()) {
    add("ipu.serialized_projection_splits_per_ipu", no_value());
    add("ipu.projection_serialization_factor", search_value(setup.projection_serialization_factor));
  }
  return settings;
}

std::string ranges_text(const std::vector<std::int64_t>& values) {
  std::string text;
  for (std::size_t begin = 0; begin < values.size();) {
    std::size_t end = begin + 1;
    while (end < values.size() && values[end] == values[end - 1] + 1) ++end;
    if (!text.empty()) text += ", ";
    text +=
        end - begin > 2 ? fmt::format("{} to {}", values[begin], values[end - 1]) : fmt::format("{}", values[begin]);
    begin = end - begin > 2 ? end : begin + 1;
  }
  return text;
}

}  // namespace podsim::ipu
