#pragma once
// The numbers of the machine and of its cost model, read once from the constant set. The data files under configs/
// hold each with unit, source, confidence and spread; names start with chip., system., software. or cost.

#include <cstdint>
#include <optional>
#include <string>

#include "sim/config/constants.hpp"
#include "sim/units/bytes.hpp"
#include "sim/units/quantity.hpp"

namespace podsim::rdu {

struct OffChipMemory {
  Bytes capacity;
  Bandwidth bandwidth;
  // Of a part of the chip, whole bytes.
  Bytes capacity_of(double share) const;
};

// One RDU.
struct ChipConstants {
  std::int64_t dies = 0;
  std::int64_t tiles = 0;
  std::int64_t pcus = 0;  // pattern compute units
  std::int64_t pmus = 0;  // pattern memory units
  Bytes pmu_memory;
  FlopRate peak_bf16;
  OffChipMemory ddr;
  std::optional<OffChipMemory> hbm;
  Bandwidth host_link;  // one direction; gradients that the host sums cross it
  Bandwidth peer_link;  // between two RDUs of a node, one direction
  Bytes sram() const { return pmu_memory * pmus; }
};

// One node.
struct SystemConstants {
  std::int64_t rdus = 0;
  std::int64_t hosts = 0;
  Bandwidth network;             // per data-parallel rank, as the exposed part of a gradient ring shows it
  Bandwidth node_network;        // out of each host of a node, to other nodes
  double exposed_reduction = 0;  // part of a tensor-parallel reduction that is not hidden behind work
};

// Partition and time of sections.
struct SectionConstants {
  double efficiency = 0;            // achieved over peak, compiler-made mapping
  double tuned_efficiency = 0;      // with a human-decision file for the model
  Duration issue_interval;          // host software
  Duration program_load;            // per section
  Duration argument_load;           // per section
  double operators = 0;             // forward and backward operators of a full section
  Bytes resident_forward;           // per weight
  Bytes resident_backward;          // per weight, each of two products
  Bytes resident_update;            // per weight
  std::int64_t tiles_per_call = 0;  // pieces of a tensor that stream through a section
  double retry_factor = 0;          // of the resource factors, after a failed compile
};

// An operator compiled and run alone.
struct IsolatedConstants {
  double efficiency = 0;         // achieved over peak
  double memory_efficiency = 0;  // share of the off-chip bandwidth
};

// The compiler, on the host.
struct CompileConstants {
  Duration base;             // whatever the number of sections
  Duration section;          // of several operators
  Duration single_operator;  // a section of one operator
  double reuse = 0;          // of the time, with the placement of an earlier compile
  double spread = 0;         // the interval is from estimate / spread to estimate x spread; at least 1
};

// Host software around a training step.
struct HostConstants {
  Duration profiled_step;      // of a profiled run
  Duration profiled_step_o0;   // more at o0
  double profiled_growth = 0;  // per second on the device and 1e9 parameters
  Duration profiled_rest;      // step time that is neither host nor device
  Duration production_gap;     // between two steps of a training loop
};

struct PrecisionConstants {
  double single_accumulation = 0;      // rate with fp32 accumulation over tiles
  double single_weight_gradients = 0;  // rate with weight gradients reduced in fp32
  double without_mixed_precision = 0;  // rate with mixed precision off
};

struct ServingConstants {
  double hbm_efficiency = 0;          // usable share of the bandwidth, fused decoding
  double legacy_efficiency = 0;       // more of it, of the older endpoint
  Duration layer;                     // per layer and token: turn-around of a section
  Duration layer_request;             // per layer, token and request of a batch: attention over its own cache
  std::int64_t shortest_context = 0;  // that a deployment compiles; the next ones are twice as long each
  std::int64_t start_tokens = 0;      // that begin a prompt, from the tokenizer
  std::int64_t prompt_bucket = 0;     // prompts are padded to multiples of it
  double switch_efficiency = 0;       // share of the DDR bandwidth that a copy to HBM reaches
};

struct RduConstants {
  ChipConstants chip;
  SystemConstants system;
  SectionConstants section;
  IsolatedConstants isolated;
  CompileConstants compile;
  HostConstants host;
  PrecisionConstants precision;
  ServingConstants serving;
  bool o1_enabling_flag = false;  // the release refuses o1 without its flag
};

// The tiles of one chip, or of several, that run one copy of a model.
struct Allotment {
  double chips = 0;  // 0.5: half an RDU
  FlopRate peak;
  Bytes sram;
  Bandwidth ddr;
  std::int64_t pcus = 0;
};

ChipConstants read_chip_constants(ConstantReader& reader);
SystemConstants read_system_constants(ConstantReader& reader);
RduConstants read_rdu_constants(ConstantReader& reader);

// `tiles` of each of `chips` RDUs. PODSIM_CHECK fails unless 1 <= tiles <= the chip's.
Allotment allot(const ChipConstants& chip, std::int64_t tiles, std::int64_t chips = 1);

}  // namespace podsim::rdu
