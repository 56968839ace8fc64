#pragma once
// What a compile and a launch command cannot mean together, or on the system they are for. Errors are what SambaFlow
// or the machine would refuse, warnings what works differently from what was likely meant.

#include <cstdint>
#include <optional>
#include <string>

#include "models/rdu/command/compile_command.hpp"
#include "models/rdu/command/launch_command.hpp"
#include "models/rdu/command/release.hpp"

namespace podsim::rdu {

// What the checks need to know of the system; numbers come from its configuration.
struct CommandSystem {
  std::string name;                // for messages: "SN30"
  std::string arch;                // as --arch names it: "sn10", "sn20", "sn30", "sn40"
  std::int64_t nodes = 1;          // ≥ 1
  std::int64_t rdus_per_node = 8;  // ≥ 1
  std::int64_t tiles_per_rdu = 4;  // ≥ 1
  std::optional<Release> release;  // of SambaFlow; empty: not told, checks that need it are skipped
};

// Tiles per RDU and RDUs of one copy as they will be: what is not given follows the documented rules (one RDU with all
// its tiles; with --n-chips 1 written out, 4 tiles). Source: SambaFlow documentation, Transition to DataScale SN30.
struct CopySize {
  std::int64_t tiles = 0;  // per RDU
  std::int64_t rdus = 1;
  // Whether two halves of an SN30 each take half of the batch: all tiles and no other mode given.
  bool halves_batch = false;
  bool rdus_share_batch = false;  // several RDUs in batch mode
  // In how many equal shares the batch of a copy is worked on.
  std::int64_t batch_shares() const { return (rdus_share_batch ? rdus : 1) * (halves_batch ? 2 : 1); }
  // Who works on them: "the two halves of an RDU", "2 RDUs", "the 4 halves of 2 RDUs".
  std::string sharers() const;
};
CopySize copy_size(const CompileCommand& command, const CommandSystem& system);

// How many copies a node holds; 0 when one copy needs more than a node.
std::int64_t copies_per_node(const CopySize& size, const CommandSystem& system);

// Each reports all problems; arguments with reported problems are skipped.
void check_compile(const CompileCommand& command, const CommandSystem& system, Diagnostics& diagnostics);
void check_launch(const LaunchCommand& command, const CommandSystem& system, Diagnostics& diagnostics);
// That both belong together. Neither of the others is included.
void check_pair(const CompileCommand& compile, const LaunchCommand& launch, const CommandSystem& system,
                Diagnostics& diagnostics);

}  // namespace podsim::rdu
