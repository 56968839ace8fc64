#pragma once
// An Optimum Graphcore IPUConfig, as published, with the [ipu] table of the experiment on top: one resolved value per
// key, each with its origin. Reading goes in two steps, so that a sweep reads its files once:
//   merge_ipu_section: reads the file, finds its version, drops or refuses unknown keys, resolves pod dictionaries;
//   resolve_ipu_config: fills defaults and checks what needs no model and no system.
// What needs them stands in ipu_placement.hpp.
// Rules and defaults: optimum-graphcore, ipu_configuration.py, versions 0.1 to 0.7.1.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/ipu/config/ipu_version.hpp"
#include "sim/config/value.hpp"
#include "sim/plan/family.hpp"

namespace podsim::ipu {

// A resolved value and where it comes from.
template <class T>
struct Setting {
  T value{};
  std::string origin;  // "ipu_config.json:3:5", "command line", "default: documented (…)", "default: version 0.5.0"
  Place place;         // of the value, or of the [ipu] table for a default
  bool given = false;  // written by the user
  bool valid = true;   // false: a problem was reported; checks that need it are skipped
};

// The keys that exist once for training and once, as inference_…, for inference.
struct ModeSettings {
  std::string prefix;                                     // "" or "inference_"
  Setting<std::int64_t> replication_factor;               // ≥ 1
  Setting<std::int64_t> device_iterations;                // ≥ 1
  Setting<std::vector<std::int64_t>> layers_per_ipu;      // each ≥ -1; -1 is a wildcard
  Setting<std::int64_t> ipus_per_replica;                 // ≥ 1
  Setting<std::vector<double>> matmul_proportion;         // 0..1; one value (for all IPUs) or one per IPU
  Setting<std::int64_t> embedding_serialization_factor;   // ≥ 1; 1 when splits are given
  Setting<std::vector<std::int64_t>> embedding_splits;    // empty: none; else one per IPU
  Setting<std::int64_t> projection_serialization_factor;  // ≥ 1; as many as the embedding's when nothing is said
  Setting<std::vector<std::int64_t>> projection_splits;
  Setting<bool> conditional_encoder;  // use_cond_encoder among the parallelize_kwargs
  // What n_ipu put another number in place of; `given` is false for a default.
  std::optional<Setting<std::int64_t>> replaced_replication;

  // In how many passes the embedding, or the projection back to the vocabulary, runs: the factor, or the sum of the
  // splits.
  std::int64_t embedding_passes() const;
  std::int64_t projection_passes() const;
};

struct IpuConfig {
  VersionRange version;
  Place section;           // of the [ipu] table
  bool from_file = false;  // an IPUConfig file was read
  ModeSettings training;
  ModeSettings inference;
  Setting<std::vector<std::int64_t>> attention_layers_per_ipu;  // empty: whole layers, see layers_per_ipu
  Setting<std::vector<std::int64_t>> ffn_layers_per_ipu;
  Setting<std::int64_t> gradient_accumulation_steps;  // ≥ 1
  Setting<bool> optimizer_state_offchip;
  Setting<bool> replicated_tensor_sharding;
  Setting<bool> enable_half_partials;
  Setting<bool> enable_half_first_order_momentum;
  Setting<bool> recompute_checkpoint_every_layer;
  Setting<bool> auto_loss_scaling;
  Setting<bool> sharded_execution_for_inference;            // as written; see always_sharded_inference
  Setting<std::string> output_mode;                         // "all", "sum", "final", "default"
  Setting<std::int64_t> instances;                          // host processes; 0: as many as needed
  Setting<std::int64_t> n_ipu;                              // IPUs of the whole run; 0: as the replicas take
  Setting<std::int64_t> recompute_segments;                 // ≥ -1
  Setting<std::vector<std::string>> recompute_checkpoints;  // blocks behind which a part ends
  Setting<std::int64_t> distributed_batch_norm_replicas;    // ≥ 1
  Setting<std::int64_t> io_tiles;                           // set aside for host copies; 0: none
  std::map<std::string, Place> by_hand;  // IPUConfig keys of the [ipu] table, not of the file it names

  const ModeSettings& of(RunMode mode) const { return mode == RunMode::training ? training : inference; }
  bool half_layers() const { return !attention_layers_per_ipu.value.empty(); }
  // From 0.4.0 inference is sharded whatever the key says.
  bool always_sharded_inference() const { return version.at_least({4, 0}); }
};

// The file and the section in one table: each known key once, no nulls, no pod dictionaries.
struct MergedSection {
  Value table;
  VersionRange version;
  std::set<std::string> bad;                       // keys with a reported problem
  std::map<std::string, Place> by_hand;            // IPUConfig keys of the section itself
  std::map<std::string, std::string> pod_entries;  // by key: which entry of its pod dictionary was taken, in words
  std::string file_text;  // bytes of the IPUConfig file, for the hash of the inputs; empty: no file
};

// `pod` names the entry of a pod dictionary that is taken when the section names none: "pod64"; empty: no such pod.
MergedSection merge_ipu_section(const Value& section, Diagnostics& diagnostics, const std::string& pod = "");

// Always returns; settings with problems are not valid and `diagnostics` has errors then.
IpuConfig resolve_ipu_config(const MergedSection& merged, Diagnostics& diagnostics);

// Both steps; empty when there are errors.
std::optional<IpuConfig> read_ipu_config(const Value& section, Diagnostics& diagnostics);

// Every resolved key that counts in a mode, as a line of the [ipu] table; together they reproduce the run without the
// file. Keys without effect are left out, and those that workload.precision and workload.first_moment_format say.
std::vector<ResolvedKey> resolved_keys(const IpuConfig& config, RunMode mode);

// "[3, 7, 7, 7]"
std::string list_text(const std::vector<std::int64_t>& values);
std::string list_text(const std::vector<double>& values);
// "1 IPU", "4 IPUs"
std::string plural(std::int64_t n, const char* noun);

}  // namespace podsim::ipu
