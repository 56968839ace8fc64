#pragma once
// How a machine family plugs in. `sim/` knows families and their sections by string only.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config_files.hpp"
#include "sim/config/constants.hpp"
#include "sim/config/key_spec.hpp"
#include "sim/hardware/platform.hpp"
#include "sim/observe/run_result.hpp"
#include "sim/observe/table.hpp"
#include "sim/plan/search_space.hpp"
#include "sim/plan/verdict.hpp"
#include "sim/plan/workload_settings.hpp"
#include "sim/program/program.hpp"
#include "sim/units/quantity.hpp"
#include "sim/workload/model_graph.hpp"

namespace podsim {

struct Plan;
struct ModelShape;
struct OperatorEstimate;
struct OperatorQuery;
class ModelKind;
class PlanCache;
class ProgramStorage;

// One resolved key: as TOML it reproduces the run, and it says where it came from.
struct ResolvedKey {
  std::string path;        // "section.key"
  std::string toml_value;  // "4", "[3, 7, 7, 7]", "\"lamb\""
  std::string origin;      // "experiment.toml:12:5", "command line", "default: …"
  bool is_path = false;    // of a file, from the current folder
};

// What a family made of its section. Opaque to sim/, but for what it says of itself.
class FamilyPlan {
 public:
  virtual ~FamilyPlan() = default;
  virtual std::vector<ResolvedKey> resolved() const = 0;
  virtual const std::vector<ConstantId>& constants_read() const = 0;  // ascending
  // What files hold that decide the run and whose content stands in no key: part of the hash of the inputs.
  virtual std::string file_contents() const { return {}; }
};

// What a family keeps from plan to plan of a sweep. Opaque to sim/.
class FamilyCache {
 public:
  virtual ~FamilyCache() = default;
};

// Everything a family may look at while resolving.
struct FamilyContext {
  const Value& section;  // its own table; empty when the user wrote none
  const ConstantSet& constants;
  const ModelKind& model_kind;
  const ModelShape& shape;
  WorkloadSettings& settings;                     // a family may fill what only it knows (precision from its own flags)
  std::string system;                             // its name, for messages
  std::int64_t nodes = 1;                         // how many systems
  const std::map<std::string, double>& slowdown;  // by device name: factors on the duration of its own work
  PlanCache* cache = nullptr;                     // of earlier plans; null: there are none
};

// How many samples one step and one program run stand for, and the FLOP behind them.
struct StepFacts {
  std::int64_t micro_batch = 0;
  std::int64_t global_batch = 0;      // samples (packs) per step
  std::int64_t samples_per_call = 0;  // samples (packs) per host call = one program run
  std::string call_factors;           // what multiplies to them, in words; may be empty
  std::string assumption;             // on which the settings rest, in words; may be empty
  std::string condition;              // under which alone the rate is reached, in words; may be empty
  std::int64_t steps_per_run = 1;     // weight updates in one program run
  double sequences_per_sample = 1.0;
  std::int64_t tokens_per_sample = 0;  // 0: not a token model
  bool images = false;
  FlopCount model_flop;            // per step, without recompute
  FlopCount hardware_flop;         // per step, recompute counted
  FlopRate device_peak;            // of the multiply mode used
  std::int64_t devices = 0;        // in use or reserved
  std::int64_t output_tokens = 0;  // of a request in generation, at equal times; 0: no generation
};

struct ScheduleFacts {
  std::string kind;  // "pipelined"
  std::int64_t forward_stages = 0;
  std::int64_t stages = 0;
  std::int64_t cycles_per_update = 0;
  std::string cycle_mark;           // the program's mark of one full cycle; empty: none
  std::int64_t request_cycles = 0;  // full cycles that one request takes; 0: it takes a whole step
  std::int64_t sections = 0;
};

// How long the compiler takes, and the interval that the estimate may lie in.
struct CompileEstimate {
  Duration estimate;
  Duration low;
  Duration high;
  std::int64_t sections = 0;
  std::int64_t unique_sections = 0;  // without those that equal an earlier one
  bool cached = false;               // a part of the work is there from an earlier compile
};

// The machine of a plan, for those who buy or book it.
struct MachineFacts {
  std::int64_t devices = 0;    // of all its systems, idle ones too
  std::int64_t hosts = 0;      // likewise
  std::optional<Power> power;  // of its systems without their hosts; empty: not known
  std::string power_source;    // of that figure, with its confidence
};

// Copies of the model that work on one batch together, and the keys that say how many there are.
struct CopyFacts {
  std::string copies_key;        // "section.key"
  std::string accumulation_key;  // of the micro-batches that each copy adds up before an update
  std::int64_t copies = 1;
  std::int64_t accumulation = 1;
};

// A value that only one family reports. Where its name is that of a shared one (time_to_first_token_s), it stands in
// its place.
struct ReportedValue {
  std::string name;  // with its unit at the end: "host_latency_s"
  std::string unit;  // "s", "1/s"; empty: a count
  double value = 0;
};

// What a family's value or a column of its tables means.
struct ReportedMeaning {
  std::string name;  // as in the JSON report: "values.host_latency_s", "tables.sections.bound", blanks as underscores
  std::string meaning;  // a sentence or two
  std::string formula;  // how it is computed; empty: it is read off the simulation
};

// A flag of the commands that a family's section may hold.
struct CommandFlag {
  std::vector<std::string> names;  // as they are written, the usual one first
  KeySpec spec;
  std::string without_effect;  // why it changes nothing; empty: it does
};

struct LowerOptions {
  bool fold = true;    // simulate equal replicas once
  bool merge = false;  // make chains of local ops one op, where the family can
  // Where the program is built, to be given back when it is not needed any more; null: in memory of its own.
  ProgramStorage* storage = nullptr;
};

struct Lowered {
  Platform platform;
  Program program;
  std::vector<std::string> not_folded;  // why some replicas were not folded, for the report
  bool merged = false;                  // no chain of local ops is left
};

class Family {
 public:
  virtual ~Family() = default;
  virtual std::string_view name() const = 0;  // also its section in an experiment
  virtual const std::vector<KeySpec>& keys() const = 0;
  // Keys of the section without any effect on the result, with the reason; for warnings and the generated table.
  virtual std::vector<std::pair<std::string, std::string>> keys_without_effect() const = 0;
  // Whether its costs come from the shared operator graph, so that what is said of that graph is said of the run.
  virtual bool costs_model_graph() const { return true; }
  // An empty cache for its plans; null when it keeps nothing.
  virtual std::shared_ptr<FamilyCache> make_cache() const { return nullptr; }
  // Writes into the shared sections what the family's own says of them (a command that names a batch size), before they
  // are read. Contradictions go to `diagnostics`.
  virtual void fill_shared(Value& /*document*/, Diagnostics&) const {}
  // All problems go to `diagnostics`, in the order of the family's documented checks; empty when there are errors.
  virtual std::unique_ptr<FamilyPlan> resolve(FamilyContext& context, Diagnostics& diagnostics) const = 0;
  virtual StepFacts step_facts(const Plan& plan) const = 0;
  virtual ScheduleFacts schedule_facts(const Plan& plan) const = 0;
  // Empty: not modelled.
  virtual std::optional<CompileEstimate> compile_estimate(const Plan&) const { return std::nullopt; }
  virtual MachineFacts machine_facts(const Plan&) const { return {}; }
  // Empty: the experiment says it otherwise than by two keys, or not at all.
  virtual std::optional<CopyFacts> copy_facts(const Plan&) const { return std::nullopt; }
  virtual MemoryAccount memory_account(const Plan& plan) const = 0;
  // With `remedies`, changes are tried by re-evaluation and the cheapest is named.
  virtual Verdict verdict(const Plan& plan, bool remedies) const = 0;
  // What a user should know of a plan beside its verdict: whole clauses.
  virtual std::vector<std::string> notes(const Plan& plan) const {
    static_cast<void>(plan);
    return {};
  }
  virtual Lowered lower(const Plan& plan, const LowerOptions& options) const = 0;
  virtual std::vector<Table> tables(const Plan& plan, const Lowered& lowered, const RunResult& result) const = 0;
  // Long ones that are shown when they are asked for.
  virtual std::vector<Table> detail_tables(const Plan&) const { return {}; }
  virtual std::vector<ReportedMeaning> meanings() const { return {}; }
  virtual std::vector<CommandFlag> command_flags() const { return {}; }
  virtual std::vector<ReportedValue> values(const Plan&, const Lowered&, const RunResult&) const { return {}; }
  // Settings with which an experiment resolves whatever it says of placement and copies: where a search begins when
  // the experiment itself has problems.
  virtual std::vector<SearchSetting> search_start() const { return {}; }
  // The configurations to choose from, the plan's shared settings given. Empty: the family offers none.
  virtual std::optional<SearchSpace> search_space(const std::shared_ptr<const Plan>&, const SearchRequest&) const {
    return std::nullopt;
  }
  virtual std::vector<Deployment> deployment(const Plan&) const { return {}; }
  // One operator on its own; problems with its text and settings go to `diagnostics`, and the result is empty then.
  // A family that prices no single operators says so.
  virtual std::optional<OperatorEstimate> estimate_operator(const OperatorQuery& query, Diagnostics& diagnostics) const;
};

}  // namespace podsim
