#pragma once
// What a section moves and how long it takes: max(issue interval, loads + max(products, off-chip bytes)).

#include <cstdint>
#include <string>
#include <vector>

#include "models/rdu/partition.hpp"
#include "sim/units/bytes.hpp"
#include "sim/units/quantity.hpp"

namespace podsim::rdu {

// Weights count once per operator that reads them; a tensor counts once per section that reads it from outside and
// once when another section needs it or the model returns it.
struct SectionWork {
  FlopCount flop;
  Bytes weights;
  Bytes read;
  Bytes written;
  Bytes bytes() const { return weights + read + written; }
};

std::vector<SectionWork> section_work(const OperatorGraph& graph, const Partition& partition);

// Bytes on chip while each section runs: the weights that its operators keep, and of every tensor that they read or
// write one of the pieces that stream through. An operator over several sections has an equal part in each.
std::vector<Bytes> section_resident_bytes(const OperatorGraph& graph, const Partition& partition,
                                          const SectionCapacity& capacity);

// Of the tiles that run the model.
struct SectionRates {
  FlopRate peak;            // of the allotted tiles, at factor 1
  double efficiency = 0;    // achieved over peak when products decide
  Bandwidth memory;         // off chip
  Duration issue_interval;  // least time between two launches by host software
  Duration program_load;
  Duration argument_load;
};

enum class SectionBound : std::uint8_t { issue, compute, memory };

struct SectionTime {
  Duration compute;                          // products at the achieved rate
  Duration memory;                           // off-chip traffic
  Duration loads;                            // program and arguments
  Duration execute;                          // max(compute, memory)
  Duration total;                            // max(issue interval, loads + execute)
  SectionBound bound = SectionBound::issue;  // what decides `total`
};

// `factor` is the resource factor of the section's graph type.
SectionTime section_time(const SectionWork& work, double factor, const SectionRates& rates);
// The same where the traffic takes `memory`.
SectionTime section_time(FlopCount products, Duration memory, double factor, const SectionRates& rates);
std::vector<SectionTime> section_times(const Partition& partition, const std::vector<SectionWork>& work,
                                       const SectionRates& rates);

// The inside of a section: its operators as stages of a pipeline over `tiles` pieces of work.
struct SectionStage {
  OperatorId op;
  double compute_share = 0;  // of the section's compute units, in proportion to the products
  std::int64_t units = 0;    // whole compute units, at least one
  Duration per_tile;
};

struct StageView {
  std::int64_t tiles = 0;
  std::vector<SectionStage> stages;
  Duration slowest;  // per tile
  Duration filled;   // (tiles + stages - 1) times the slowest: products with fill and drain
};

// `compute_units` are those of the allotted tiles. Reports only: the calibrated efficiency includes fill and drain.
StageView section_stages(const OperatorGraph& graph, const RduSection& section, double factor,
                         const SectionRates& rates, std::int64_t compute_units, std::int64_t tiles);

}  // namespace podsim::rdu
