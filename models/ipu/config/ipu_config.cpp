#include "models/ipu/config/ipu_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "models/ipu/config/ipu_config_keys.hpp"
#include "sim/core/check.hpp"
#include "sim/plan/settings_reader.hpp"

namespace podsim::ipu {
namespace {

constexpr std::int64_t k_most_ipus = 65'536;  // the largest system Graphcore ever named
constexpr std::int64_t k_most_iterations = 1'000'000'000;

// check_keys lets numbers such as 4.0 pass as integers.
std::int64_t whole(const Value& value) {
  return value.is(Value::Kind::integer) ? value.as_integer() : static_cast<std::int64_t>(value.as_number());
}

template <class T>
T typed(const Value& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value.as_boolean();
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return whole(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value.as_string();
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    T list;
    for (const Value& element : value.elements()) list.push_back(element.as_string());
    return list;
  } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
    T list;
    for (const Value& element : value.elements()) list.push_back(whole(element));
    return list;
  } else {
    if (!value.is(Value::Kind::array)) return {value.as_number()};
    T list;
    for (const Value& element : value.elements()) list.push_back(element.as_number());
    return list;
  }
}

bool bare_wildcard(const std::vector<std::int64_t>& layers) {
  return layers.size() == 1 && layers[0] == -1;
}

bool has_wildcard(const std::vector<std::int64_t>& layers) {
  return std::find(layers.begin(), layers.end(), -1) != layers.end();
}

std::string entries(std::size_t n) {
  return n == 1 ? "1 entry" : fmt::format("{} entries", n);
}

class Resolver {
 public:
  Resolver(const MergedSection& merged, Diagnostics& diagnostics) : merged_(merged), diagnostics_(diagnostics) {}

  IpuConfig run() {
    config_.version = merged_.version;
    config_.section = merged_.table.place();
    config_.from_file = !merged_.file_text.empty();
    config_.by_hand = merged_.by_hand;
    warn_without_effect();
    read_shared();
    read_training();
    read_inference();
    spread_over_ipus(config_.training);
    spread_over_ipus(config_.inference);
    check_splits_shape(config_.training);
    check_splits_shape(config_.inference);
    check_mode(config_.training);
    inherit_problems();
    check_mode(config_.inference);
    check_half_layers();
    return std::move(config_);
  }

 private:
  template <class T>
  Setting<T> read(const std::string& key) const {
    Setting<T> setting;
    setting.place = merged_.table.place();
    setting.valid = !merged_.bad.contains(key);
    if (const Value* value = merged_.table.find(key); value != nullptr) {
      setting.given = true;
      setting.place = value->place();
      setting.origin = origin_of(value->place());
      const auto entry = merged_.pod_entries.find(key);
      if (entry != merged_.pod_entries.end()) setting.origin += ", " + entry->second;
      if (setting.valid) setting.value = typed<T>(*value);
      return setting;
    }
    const KeyHistory* history = key_history(key);
    PODSIM_CHECK(history != nullptr, "a key without description: " + key);
    if (merged_.bad.contains("config")) setting.valid = false;  // the file would have said it
    Default value = default_of(*history, merged_.version);
    setting.origin = std::move(value.origin);
    if (!value.value.is(Value::Kind::null)) setting.value = typed<T>(value.value);
    return setting;
  }

  // A default that follows from another setting.
  template <class T, class U>
  static void derive(Setting<T>& setting, T value, const Setting<U>& from, std::string origin) {
    if (setting.given) return;
    setting.value = std::move(value);
    setting.place = from.place;
    setting.valid = setting.valid && from.valid;
    setting.origin = "default: " + std::move(origin);
  }

  void warn_without_effect() {
    for (const auto& [key, reason] : keys_without_effect()) {
      const Value* value = merged_.table.find(key);
      if (value == nullptr || merged_.bad.contains(key)) continue;
      const bool off = (value->is(Value::Kind::boolean) && !value->as_boolean()) ||
                       (value->is(Value::Kind::string) && value->as_string().empty());
      if (!off) diagnostics_.warning(value->place(), "ipu." + key, "no effect on the result: " + reason);
    }
  }

  void read_shared() {
    config_.attention_layers_per_ipu = read<std::vector<std::int64_t>>("attention_layers_per_ipu");
    config_.ffn_layers_per_ipu = read<std::vector<std::int64_t>>("ffn_layers_per_ipu");
    config_.gradient_accumulation_steps = read<std::int64_t>("gradient_accumulation_steps");
    limit(config_.gradient_accumulation_steps, "gradient_accumulation_steps", k_most_iterations);
    config_.optimizer_state_offchip = read<bool>("optimizer_state_offchip");
    config_.replicated_tensor_sharding = read<bool>("replicated_tensor_sharding");
    config_.enable_half_partials = read<bool>("enable_half_partials");
    config_.enable_half_first_order_momentum = read<bool>("enable_half_first_order_momentum");
    config_.recompute_checkpoint_every_layer = read<bool>("recompute_checkpoint_every_layer");
    config_.auto_loss_scaling = read<bool>("auto_loss_scaling");
    config_.sharded_execution_for_inference = read<bool>("sharded_execution_for_inference");
    config_.output_mode = read<std::string>("output_mode");
    config_.instances = read<std::int64_t>("instances");
    config_.n_ipu = read<std::int64_t>("n_ipu");
    limit(config_.n_ipu, "n_ipu", k_most_ipus);
    config_.recompute_segments = read<std::int64_t>("recompute_segments");
    config_.recompute_checkpoints = read<std::vector<std::string>>("recompute_checkpoints");
    config_.distributed_batch_norm_replicas = read<std::int64_t>("distributed_batch_norm_replicas");
    read_io_tiles();
    note_overtaken_keys();
    const Value* on_host = merged_.table.find("execute_encoder_on_cpu_for_generation");
    if (on_host != nullptr && on_host->is(Value::Kind::boolean) && on_host->as_boolean()) {
      diagnostics_.error(on_host->place(), "ipu.execute_encoder_on_cpu_for_generation",
                         "no version runs the encoder on the host", "false");
    }
  }

  void read_io_tiles() {
    Setting<std::int64_t>& tiles = config_.io_tiles;
    tiles = read<std::int64_t>("io_tiles");
    if (!tiles.given || !tiles.valid || tiles.value % 2 == 0) return;
    tiles.valid = false;
    diagnostics_.error(tiles.place, "ipu.io_tiles", fmt::format("{} is odd", tiles.value), "an even number");
  }

  // Keys that later versions read without following them.
  void note_overtaken_keys() {
    Setting<bool>& half = config_.enable_half_first_order_momentum;
    if (half.given && half.valid && !half.value && merged_.version.at_least({4, 3})) {
      half.value = true;
      diagnostics_.warning(half.place, "ipu.enable_half_first_order_momentum",
                           "no effect from 0.4.3: the first moment is kept in half precision");
    }
    const Setting<bool>& sharded = config_.sharded_execution_for_inference;
    if (sharded.given && sharded.valid && config_.always_sharded_inference()) {
      diagnostics_.warning(sharded.place, "ipu.sharded_execution_for_inference",
                           "no effect from 0.4.0: inference is always sharded");
    }
  }

  // What no system has, and what would only exhaust memory or simulated time.
  void limit(Setting<std::int64_t>& setting, const std::string& key, std::int64_t most) const {
    if (!setting.valid || setting.value <= most) return;
    setting.valid = false;
    setting.value = 1;
    diagnostics_.error(setting.place, "ipu." + key, "is more than any system has or runs",
                       fmt::format("at most {}", most));
  }

  void read_common(ModeSettings& mode) const {
    const std::string& p = mode.prefix;
    mode.replication_factor = read<std::int64_t>(p + "replication_factor");
    mode.device_iterations = read<std::int64_t>(p + "device_iterations");
    limit(mode.replication_factor, p + "replication_factor", k_most_ipus);
    limit(mode.device_iterations, p + "device_iterations", k_most_iterations);
    mode.layers_per_ipu = read<std::vector<std::int64_t>>(p + "layers_per_ipu");
    mode.ipus_per_replica = read<std::int64_t>(p + "ipus_per_replica");
    limit(mode.ipus_per_replica, p + "ipus_per_replica", k_most_ipus);
    mode.matmul_proportion = read<std::vector<double>>(p + "matmul_proportion");
    mode.embedding_serialization_factor = read<std::int64_t>(p + "embedding_serialization_factor");
    mode.projection_serialization_factor = read<std::int64_t>(p + "projection_serialization_factor");
    mode.embedding_splits = read<std::vector<std::int64_t>>(p + "serialized_embedding_splits_per_ipu");
    mode.projection_splits = read<std::vector<std::int64_t>>(p + "serialized_projection_splits_per_ipu");
    // The projection of most models shares the embedding's table.
    if (mode.embedding_splits.value.empty()) {
      derive(mode.projection_serialization_factor, mode.embedding_passes(), mode.embedding_serialization_factor,
             fmt::format("as {}embedding_serialization_factor", p));
    } else {
      derive(mode.projection_serialization_factor, mode.embedding_passes(), mode.embedding_splits,
             fmt::format("sum of {}serialized_embedding_splits_per_ipu", p));
    }
    read_conditional_encoder(mode);
  }

  void read_conditional_encoder(ModeSettings& mode) const {
    const std::string key = mode.prefix + "parallelize_kwargs";
    const Value* arguments = merged_.table.find(key);
    const Value* asked = arguments == nullptr ? nullptr : arguments->find("use_cond_encoder");
    if (asked == nullptr || !asked->is(Value::Kind::boolean) || merged_.bad.contains(key)) return;
    mode.conditional_encoder = {asked->as_boolean(), origin_of(asked->place()), asked->place(), true, true};
  }

  void read_training() {
    ModeSettings& mode = config_.training;
    read_common(mode);
    const auto length = [](const Setting<std::vector<std::int64_t>>& list) {
      return std::max<std::int64_t>(1, static_cast<std::int64_t>(list.value.size()));
    };
    if (config_.half_layers()) {
      derive(mode.ipus_per_replica, length(config_.attention_layers_per_ipu), config_.attention_layers_per_ipu,
             "length of attention_layers_per_ipu");
    } else {
      derive(mode.ipus_per_replica, length(mode.layers_per_ipu), mode.layers_per_ipu, "length of layers_per_ipu");
    }
  }

  void read_inference() {
    const ModeSettings& training = config_.training;
    ModeSettings& mode = config_.inference;
    mode.prefix = "inference_";
    read_common(mode);
    derive(mode.layers_per_ipu, training.layers_per_ipu.value, training.layers_per_ipu, "as layers_per_ipu");
    const std::int64_t own_length = static_cast<std::int64_t>(mode.layers_per_ipu.value.size());
    const std::int64_t training_length = static_cast<std::int64_t>(training.layers_per_ipu.value.size());
    if (training.ipus_per_replica.value == training_length || !bare_wildcard(mode.layers_per_ipu.value)) {
      derive(mode.ipus_per_replica, std::max<std::int64_t>(1, own_length), mode.layers_per_ipu,
             "length of inference_layers_per_ipu");
    } else {
      derive(mode.ipus_per_replica, training.ipus_per_replica.value, training.ipus_per_replica, "as ipus_per_replica");
    }
    derive_inference_proportion();
  }

  // The trainer's n_ipu argument: as many replicas as the IPUs hold, whatever the key says (trainer.py, 0.7).
  void spread_over_ipus(ModeSettings& mode) {
    const Setting<std::int64_t>& ipus = config_.n_ipu;
    Setting<std::int64_t>& replicas = mode.replication_factor;
    if (!ipus.given || !ipus.valid || !mode.ipus_per_replica.valid) return;
    const std::int64_t held = std::max<std::int64_t>(1, ipus.value / mode.ipus_per_replica.value);
    if (replicas.valid && replicas.value != held) mode.replaced_replication = replicas;
    replicas = {held,
                fmt::format("n_ipu {} / {}ipus_per_replica {}", ipus.value, mode.prefix, mode.ipus_per_replica.value),
                ipus.place, true, true};
  }

  void derive_inference_proportion() {
    const Setting<std::vector<double>>& from = config_.training.matmul_proportion;
    ModeSettings& mode = config_.inference;
    const std::size_t size = from.value.size();
    const bool fits = size == 1 || static_cast<std::int64_t>(size) == mode.ipus_per_replica.value;
    if (fits || mode.matmul_proportion.given || !from.valid || !mode.ipus_per_replica.valid) {
      derive(mode.matmul_proportion, from.value, from, "as matmul_proportion");
      return;
    }
    derive(mode.matmul_proportion, std::vector<double>{0.2}, from,
           fmt::format("matmul_proportion has {} for {}", plural(static_cast<std::int64_t>(size), "value"),
                       plural(mode.ipus_per_replica.value, "inference IPU")));
    fell_back_ = true;
  }

  // What was found wrong with a training list is wrong with its copies too, and reported once.
  void inherit_problems() {
    const ModeSettings& training = config_.training;
    ModeSettings& mode = config_.inference;
    if (!mode.layers_per_ipu.given && !training.layers_per_ipu.valid) mode.layers_per_ipu.valid = false;
    if (!mode.ipus_per_replica.given && !mode.layers_per_ipu.valid) mode.ipus_per_replica.valid = false;
    if (!mode.matmul_proportion.given && !training.matmul_proportion.valid) mode.matmul_proportion.valid = false;
  }

  void fail(Setting<std::vector<std::int64_t>>& setting, const std::string& key, std::string problem,
            std::string expected) {
    setting.valid = false;
    diagnostics_.error(setting.place, "ipu." + key, std::move(problem), std::move(expected));
  }

  void check_splits_shape(ModeSettings& mode) {
    check_splits_shape(mode.embedding_splits, mode.prefix + "serialized_embedding_splits_per_ipu");
    check_splits_shape(mode.projection_splits, mode.prefix + "serialized_projection_splits_per_ipu");
  }

  void check_splits_shape(Setting<std::vector<std::int64_t>>& splits, const std::string& key) {
    if (!splits.given || !splits.valid) return;
    const std::vector<std::int64_t>& values = splits.value;
    const auto filled = [](std::int64_t value) { return value > 0; };
    const auto first = std::find_if(values.begin(), values.end(), filled);
    if (first == values.end()) {
      fail(splits, key, list_text(values) + " has no split", "at least one");
      return;
    }
    const auto gap = std::find_if_not(first, values.end(), filled);
    if (std::find_if(gap, values.end(), filled) != values.end()) {
      fail(splits, key, list_text(values) + " has a gap between its splits", "splits on consecutive IPUs");
    }
  }

  void check_mode(ModeSettings& mode) {
    if (mode.ipus_per_replica.valid) {
      check_proportion(mode);
      check_layers_length(mode);
      check_splits_length(mode, mode.embedding_splits, "embedding");
      check_splits_length(mode, mode.projection_splits, "projection");
    }
    check_one_way(mode, mode.embedding_serialization_factor, mode.embedding_splits, "embedding");
    check_one_way(mode, mode.projection_serialization_factor, mode.projection_splits, "projection");
  }

  void check_proportion(ModeSettings& mode) {
    Setting<std::vector<double>>& proportion = mode.matmul_proportion;
    const std::string key = "ipu." + mode.prefix + "matmul_proportion";
    if (&mode == &config_.inference && fell_back_ && proportion.valid) {
      diagnostics_.warning(proportion.place, key,
                           proportion.origin.substr(std::string("default: ").size()) + ": inference takes 0.2");
    }
    if (!proportion.given || !proportion.valid) return;
    const Value* written = merged_.table.find(mode.prefix + "matmul_proportion");
    const std::size_t ipus = static_cast<std::size_t>(mode.ipus_per_replica.value);
    const std::size_t size = proportion.value.size();
    if (!written->is(Value::Kind::array) || size == ipus) return;
    if (size == 1 && !merged_.version.at_least({6, 1})) {
      diagnostics_.warning(proportion.place, key,
                           fmt::format("a list of one value is spread over {} IPUs; from 0.6.1 it is refused", ipus),
                           fmt::format("{}, or one per IPU", proportion.value[0]));
      return;
    }
    proportion.valid = false;
    diagnostics_.error(proportion.place, key,
                       fmt::format("{} in the list for {}", plural(static_cast<std::int64_t>(size), "value"),
                                   plural(static_cast<std::int64_t>(ipus), "IPU")),
                       fmt::format("one number, or {} values", ipus));
  }

  void check_layers_length(ModeSettings& mode) {
    Setting<std::vector<std::int64_t>>& layers = mode.layers_per_ipu;
    const std::size_t ipus = static_cast<std::size_t>(mode.ipus_per_replica.value);
    const bool is_training = &mode == &config_.training;
    const bool own = layers.given || is_training;  // a copy's problem is the original's
    const bool replaced = is_training && config_.half_layers();
    if (!own || !layers.valid || replaced || has_wildcard(layers.value) || layers.value.size() == ipus) return;
    fail(layers, mode.prefix + "layers_per_ipu",
         fmt::format("{}{} has {}, but {}ipus_per_replica is {}", list_text(layers.value),
                     layers.given ? "" : " (" + layers.origin + ")", entries(layers.value.size()), mode.prefix, ipus),
         layers.value.empty()
             ? entries(ipus)
             : fmt::format("{}, or {}ipus_per_replica = {}", entries(ipus), mode.prefix, layers.value.size()));
  }

  void check_splits_length(const ModeSettings& mode, Setting<std::vector<std::int64_t>>& splits, const char* part) {
    const std::size_t ipus = static_cast<std::size_t>(mode.ipus_per_replica.value);
    if (!splits.given || !splits.valid || splits.value.size() == ipus) return;
    fail(splits, fmt::format("{}serialized_{}_splits_per_ipu", mode.prefix, part),
         fmt::format("{} for {}", entries(splits.value.size()), plural(static_cast<std::int64_t>(ipus), "IPU")),
         "one entry per IPU");
  }

  void check_one_way(const ModeSettings& mode, const Setting<std::int64_t>& factor,
                     Setting<std::vector<std::int64_t>>& splits, const char* part) {
    if (!factor.given || !splits.given) return;
    fail(splits, fmt::format("{}serialized_{}_splits_per_ipu", mode.prefix, part),
         fmt::format("{0}{1}_serialization_factor is set too; they say the same thing", mode.prefix, part),
         "only one of them");
  }

  void check_half_layers() {
    Setting<std::vector<std::int64_t>>& attention = config_.attention_layers_per_ipu;
    Setting<std::vector<std::int64_t>>& ffn = config_.ffn_layers_per_ipu;
    if (attention.given != ffn.given) {
      Setting<std::vector<std::int64_t>>& present = attention.given ? attention : ffn;
      const char* absent = attention.given ? "ffn_layers_per_ipu" : "attention_layers_per_ipu";
      fail(present, attention.given ? "attention_layers_per_ipu" : "ffn_layers_per_ipu",
           fmt::format("{} is missing", absent), "both or none");
      return;
    }
    if (!attention.given || !attention.valid || !ffn.valid || !config_.training.ipus_per_replica.valid) return;
    const std::size_t ipus = static_cast<std::size_t>(config_.training.ipus_per_replica.value);
    const Setting<std::vector<std::int64_t>>& layers = config_.training.layers_per_ipu;
    if (layers.given && layers.place.file == attention.place.file && !has_wildcard(layers.value)) {
      fail(attention, "attention_layers_per_ipu", "layers_per_ipu is set too; they say the same thing",
           "only one of them");
    }
    for (auto* list : {&attention, &ffn}) {
      if (list->value.size() == ipus) continue;
      fail(*list, list == &attention ? "attention_layers_per_ipu" : "ffn_layers_per_ipu",
           fmt::format("{} for {}", entries(list->value.size()), plural(static_cast<std::int64_t>(ipus), "IPU")),
           "one entry per IPU");
    }
  }

  const MergedSection& merged_;
  Diagnostics& diagnostics_;
  IpuConfig config_;
  bool fell_back_ = false;
};

}  // namespace

IpuConfig resolve_ipu_config(const MergedSection& merged, Diagnostics& diagnostics) {
  return Resolver(merged, diagnostics).run();
}

std::optional<IpuConfig> read_ipu_config(const Value& section, Diagnostics& diagnostics) {
  Diagnostics found;
  IpuConfig config = resolve_ipu_config(merge_ipu_section(section, found), found);
  diagnostics.append(found);
  if (found.has_errors()) return std::nullopt;
  return config;
}

std::int64_t ModeSettings::embedding_passes() const {
  const std::vector<std::int64_t>& splits = embedding_splits.value;
  return splits.empty() ? embedding_serialization_factor.value
                        : std::accumulate(splits.begin(), splits.end(), std::int64_t{0});
}

std::int64_t ModeSettings::projection_passes() const {
  const std::vector<std::int64_t>& splits = projection_splits.value;
  return splits.empty() ? projection_serialization_factor.value
                        : std::accumulate(splits.begin(), splits.end(), std::int64_t{0});
}

std::string list_text(const std::vector<std::int64_t>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::string list_text(const std::vector<double>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::string plural(std::int64_t n, const char* noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

}  // namespace podsim::ipu
