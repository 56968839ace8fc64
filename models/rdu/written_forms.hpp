#pragma once
// How the user wrote what a remedy would change, so that it can be told in the same words.

#include <cstdint>
#include <string>
#include <string_view>

namespace podsim::rdu {

struct WrittenForms {
  bool overrides = false;     // Model Zoo's key=value, else options
  bool num_tiles = false;     // whether the compile command says how many tiles
  bool n_chips = false;       // and how many RDUs
  std::string batch;          // name of the compile command's flag; empty: a key of the experiment
  bool batch_at_run = false;  // the launch command repeats it
  bool ranks = false;         // the launch command says how many copies there are

  // "--n-chips 2" or "samba_compile.n_chips=2"; `path` as in the table of flags.
  std::string flag(std::string_view path, std::string_view value) const;
  // "-b 8", "-b 8 in both commands", "workload.micro_batch_size = 8".
  std::string batch_text(std::int64_t batch) const;
  // "rdu.replicas = 4", "4 ranks in the launch command".
  std::string copies_text(std::int64_t copies) const;
};

}  // namespace podsim::rdu
