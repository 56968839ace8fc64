#pragma once
// A SambaFlow compile command as a value: what is compiled, how, for which machine, and where the PEF lands.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/rdu/command/arguments.hpp"
#include "models/rdu/command/command_line.hpp"
#include "models/rdu/command/tokenizer.hpp"
#include "models/rdu/compile_options.hpp"

namespace podsim::rdu {

enum class Mapping { section, spatial };

std::string_view to_text(OptimizationLevel level);
std::string_view to_text(TensorParallel mode);

constexpr std::int64_t k_tiles_by_compiler = -1;

// Defaults are SambaFlow's documented ones, or those of the YAML file that a Model Zoo program is known to read.
struct CompileCommand {
  CommandLine line;               // everything that was written, in order
  std::set<std::string> defines;  // names of the values of rdu.define that it uses

  Argument<OptimizationLevel> optimization_level;  // default: o3
  std::vector<FlagOccurrence> levels;              // every one given; more than one is refused by the checks
  Argument<std::int64_t> batch_size;               // ≥ 1; samples per step of one copy
  Argument<std::int64_t> microbatch_size;          // ≥ 1; default: the batch
  Argument<std::int64_t> num_spatial_batches;      // ≥ 1
  Argument<std::int64_t> grad_accumulation_steps;  // ≥ 1
  Argument<std::int64_t> num_tiles;                // tiles per RDU, or k_tiles_by_compiler
  Argument<std::int64_t> n_chips;                  // ≥ 1; RDUs of one copy
  Argument<TensorParallel> tensor_parallel;
  Argument<bool> model_parallel;
  Argument<bool> data_parallel;
  Argument<std::int64_t> world_size;  // ≥ 1; least number of copies
  Argument<bool> inference;
  Argument<Mapping> mapping;
  Argument<std::vector<double>> resources_scaling_factors;  // empty: the compiler decides; else 3 or 4, each > 0
  Argument<bool> enable_hypersection;
  Argument<bool> o1_experimental_opts;
  Argument<bool> use_o1_default_rules;       // default: true without a rules file (inferred)
  Argument<std::string> optimization_rules;  // path; empty: built-in rules
  Argument<std::string> human_decision;      // path; empty: none
  Argument<std::string> compiler_configs_file;
  Argument<std::string> compiler_mode;
  Argument<std::string> arch;  // "native", "sn10", "sn20", "sn30", "sn40"
  Argument<std::string> graphamp_preset;
  Argument<std::string> tiling_accum;        // Model Zoo: "bf16sr", "fp32"; empty: not given
  Argument<std::string> weight_grad_reduce;  // likewise
  Argument<bool> mixed_precision;            // Model Zoo: some operators in mixed FP32 and BF16; default: true
  Argument<std::string> target_version;      // "1.19.1"; empty: not given
  Argument<bool> mac_v1, mac_v2;
  Argument<bool> stochastic_rounding;
  Argument<bool> verbose;
  Argument<std::string> pef_name;       // empty: made of the time and the process id
  Argument<std::string> output_folder;  // default: "out"; Model Zoo: the current folder

  // Flags of the application that shape the static graph, each ≥ 1, by path: "max-seq-length",
  // "per-device-train-batch-size", "in-width", "in-height", "in-channels", "init-features", "max-predictions-per-seq".
  std::map<std::string, Argument<std::int64_t>> shapes;
  Argument<std::string> model_name;   // name or folder; empty: not given
  Argument<std::string> config_name;  // path; empty: not given

  // Null when the command does not have it.
  const Argument<std::int64_t>* shape(const std::string& flag_path) const;
  // Other flags of the application by their name as written, e.g. "--weight_decay"; null when absent.
  const FlagOccurrence* application_flag(std::string_view name) const;
};

// Where a compile leaves its program.
struct PefPath {
  std::string folder;            // "out/gpt"
  std::string file;              // "gpt.pef"
  bool name_is_default = false;  // the name is not known before the compile: "<time and process id>"
  bool unset = false;            // a variable without value stands in it
  std::string text() const { return folder + "/" + file; }
};
PefPath expected_pef(const CompileCommand& command);

// Reads the one compile command of a text; other commands of a script (`cd`, `source`) are passed over with a warning.
// `begin` is the place of the first character, see split_shell_text. All problems go to `diagnostics`; empty when the
// text has no compile command or more than one. Arguments with problems are not valid.
std::optional<CompileCommand> read_compile_command(std::string_view text, const Place& begin, const Defines& defines,
                                                   Diagnostics& diagnostics);

}  // namespace podsim::rdu
