#pragma once
// The numbers of the machine and of its cost model, read once from the constant set. The data files under configs/
// hold each with unit, source, confidence and spread; names start with chip., system., software., cost. or memory.

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "sim/config/constants.hpp"
#include "sim/units/bytes.hpp"
#include "sim/units/quantity.hpp"

namespace podsim::ipu {

// How the matrix units of a tile multiply: type of the inputs, then of the partial sums.
enum class AmpMode : std::uint8_t { half_half, half_single, single };
inline constexpr std::size_t k_amp_modes = 3;

// From a workload's precision: "fp16.16" (and "fp8", whose weights the chips here cannot multiply: half), "fp16.32",
// "fp32". PODSIM_CHECK fails on another.
AmpMode amp_mode(const std::string& precision);
std::int64_t element_bytes(AmpMode mode);

struct ChipConstants {
  std::int64_t tiles = 0;
  Bytes tile_memory;
  Clock clock;
  std::array<FlopRate, k_amp_modes> peak;  // by mode, whole chip
  bool half_partials = true;               // false: half inputs are multiplied at one rate, and `peak` says it twice
  std::optional<FlopRate> peak_fp8;
  friend bool operator==(const ChipConstants&, const ChipConstants&) = default;
};

// Everything of an operator that is not in a matmul plan.
struct CostConstants {
  Cycles pass;                  // one half element, one pass, on one tile: arithmetic, relayout and exchange
  Cycles pass_exchange;         // of which exchange
  Cycles launch;                // one launched operation
  Cycles launch_sync;           // of which synchronisation
  Cycles misaligned;            // more per element and pass of rows that start off an 8-byte boundary
  Cycles lookup;                // one row gathered or scattered, whole chip
  double optimizer_passes = 0;  // over single-precision state
  std::int64_t optimizer_launches_lamb = 0;  // per tensor
  std::int64_t optimizer_launches_other = 0;
  // Of networks of convolutions, whose optimizers keep one moment in half precision.
  double optimizer_passes_momentum = 0;  // over half-precision parameters
  std::int64_t optimizer_launches_momentum = 0;
  std::int64_t optimizer_launches_lars = 0;
  friend bool operator==(const CostConstants&, const CostConstants&) = default;
};

// Of automatic loss scaling: a histogram of each gradient by six workers of a tile, and the sum over tiles.
struct LossScalingConstants {
  Cycles by_data;        // start and end of a worker that counts its part of the data
  Cycles by_limit;       // start and end of a worker that counts all data against its limit
  Cycles four_elements;  // counting four halves
  Cycles remainder;      // an odd element, and a pair
  Cycles reduction;      // per gradient
  friend bool operator==(const LossScalingConstants&, const LossScalingConstants&) = default;
};

struct LinkConstants {
  Bandwidth neighbour_bandwidth;    // to the next IPU of a pipeline
  Duration message_latency;         // fixed cost of a message between IPUs
  Bandwidth ring_bandwidth;         // a hop of a replica ring inside a pod, shared by all pipeline positions
  Duration ring_latency;            // per step of it
  bool one_ring = false;            // replicas of all pods form one ring, not one in each pod and one between them
  Bandwidth gateway_bandwidth;      // a hop of a ring from pod to pod
  Duration gateway_latency;         // per step of a ring between pods
  Duration norm_exchange_latency;   // a step of the exchange of a norm's statistics between replicas
  Bandwidth streaming_bandwidth;    // streaming memory of one machine
  Bytes streaming_memory;           // of one machine
  Bytes streaming_memory_per_ipu;   // an IPU's share unless it asks for more
  Bandwidth host_bandwidth;         // from the host into one IPU
  Duration host_latency;            // fixed cost of a host call of inference
  Bandwidth host_output_bandwidth;  // from one IPU into the host
  Bandwidth host_link_bandwidth;    // from the host to the machines behind one link
  std::int64_t machines_per_host_link = 1;
  friend bool operator==(const LinkConstants&, const LinkConstants&) = default;
};

struct SystemConstants {
  std::int64_t ipus = 0;
  std::int64_t ipus_per_machine = 0;
  std::int64_t machines = 0;
  std::int64_t hosts = 0;
  std::int64_t ipus_per_pod = 0;       // IPUs joined by IPU-Links; larger systems are several of these
  bool has_streaming_memory = true;    // memory of a machine beside that of its IPUs
  std::optional<Power> machine_power;  // of one machine, without hosts
  LinkConstants links;
  std::int64_t sharding_minimum_elements = 0;  // smaller tensors are not sharded over replicas
  friend bool operator==(const SystemConstants&, const SystemConstants&) = default;
};

struct SoftwareConstants {
  double framework_factor = 1;  // on all stage times
  bool state_off_chip = true;   // where optimizer state lives unless said
  bool state_sharded = false;   // whether the replicas divide it unless said
  Duration update_overhead;     // per weight update
  Duration call_overhead;       // per host call
  // In which one host process makes a sample of a training batch ready, where it is known. The next micro-batch is made
  // while the last one runs.
  std::optional<Duration> instance_sample_time;
};

struct MemoryConstants {
  Bytes code_base;
  Bytes code_per_layer;
  double embedding_and_head_layers = 0;  // layers' worth of code of embedding and head together
  Bytes code_off_chip;                   // more when optimizer state is off-chip
  Bytes code_replicated;                 // more when replicated or sharded
  Bytes code_convolution;                // all of it, in training of a network of convolutions on one IPU
  std::int64_t convolution_kinds = 1;    // convolutions of different shape in that network
  double code_inference_factor = 0;
  Bytes loss_scaling;            // automatic loss scaling, on any IPU
  Bytes loss_scaling_embedding;  // and on the IPU of the embedding
  double usable_fraction = 0;    // of all tile memory; the rest is lost to imbalance and gaps
  Bytes host_stream;             // longest copy between an IPU and the host that is not known to fail
  double plan_tolerance = 0;     // slower plans up to this part more are taken for less temporary memory
  friend bool operator==(const MemoryConstants&, const MemoryConstants&) = default;
};

// Whether the software divides optimizer state over the replicas where nobody says; absent: it does not.
inline constexpr const char* k_state_sharding = "software.replicated_tensor_sharding";

// "off-chip" or "on-chip"; throws ConfigError on another word.
bool read_state_off_chip(ConstantReader& reader, const std::string& name);

ChipConstants read_chip_constants(ConstantReader& reader);
CostConstants read_cost_constants(ConstantReader& reader);
LossScalingConstants read_loss_scaling_constants(ConstantReader& reader);
SystemConstants read_system_constants(ConstantReader& reader);
SoftwareConstants read_software_constants(ConstantReader& reader);
MemoryConstants read_memory_constants(ConstantReader& reader);

}  // namespace podsim::ipu
