#pragma once
// How the user wrote what a remedy would change, so that it can be told in the same words.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace podsim::rdu {

// A flag of the compile command that holds a number of samples.
struct WrittenBatch {
  std::string name;  // as written; empty: not given
  std::int64_t size = 0;
  std::string origin;
};

struct WrittenForms {
  bool command = true;           // there is a compile command
  std::string mode_flag;         // that a new one would need: "--inference"; or empty
  bool overrides = false;        // Model Zoo's key=value, else options
  std::int64_t tiles = 0;        // that the compile command says; 0: it leaves them open
  bool n_chips = false;          // whether it says how many RDUs
  WrittenBatch batch;            // of the compile command; without a name it is a key of the experiment
  WrittenBatch micro_batch;      // must divide the batch
  WrittenBatch per_device;       // the application's, must equal the batch
  bool batch_at_run = false;     // the launch command repeats it
  bool ranks = false;            // the launch command says how many copies there are
  std::int64_t least_ranks = 1;  // copies that the program is compiled for

  using Flag = std::pair<std::string_view, std::string>;  // path as in the table of flags, value
  // "--tensor-parallel weight --n-chips 2" or "samba_compile.tensor_parallel=weight samba_compile.n_chips=2"; without a
  // command, one that says so.
  std::string flags(const std::vector<Flag>& flags) const;
  // "-b 8", "-b 8 in both commands", "workload.micro_batch_size = 8". `key`, where one is given, must be
  // changed, too.
  std::string batch_text(std::int64_t size, const std::string& key = "") const;
  // "rdu.replicas = 4", "4 ranks in the launch command".
  std::string copies_text(std::int64_t copies) const;
};

}  // namespace podsim::rdu
