#include "models/rdu/resolve.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/rdu/command/command_checks.hpp"
#include "models/rdu/commands.hpp"
#include "models/rdu/node.hpp"
#include "models/rdu/rdu_keys.hpp"
#include "models/rdu/step_cost.hpp"
#include "models/rdu/transformer_graph.hpp"
#include "sim/config/key_spec.hpp"
#include "sim/plan/settings_reader.hpp"

namespace podsim::rdu {
namespace {

template <class T>
bool sound(const Argument<T>& argument) {
  return argument.valid && !argument.unset;
}

class Resolver {
 public:
  Resolver(FamilyContext& context, Diagnostics& diagnostics) : context_(context), diagnostics_(diagnostics) {}

  std::unique_ptr<RduPlan> resolve() {
    check_keys(context_.section, "rdu", rdu_keys(), diagnostics_);
    ConstantReader reader(context_.constants);
    plan_->constants = read_rdu_constants(reader);
    commands_ = read_commands(context_.section, diagnostics_);
    if (!commands_.compile) return nullptr;
    check_commands();
    read_model();
    read_parallelism();
    read_run();
    check_slowdown();
    if (diagnostics_.has_errors()) return nullptr;
    fill_rates();
    compile_graphs(*plan_, context_.settings);
    plan_->constant_ids = reader.read_ids();
    return std::move(plan_);
  }

 private:
  RduSetup& setup() { return plan_->setup; }
  const CompileCommand& compile() const { return *commands_.compile; }
  const ChipConstants& chip() const { return plan_->constants.chip; }
  bool training() const { return context_.settings.mode == RunMode::training; }

  void record(const std::string& key, std::string value, const std::string& origin) {
    plan_->resolved_keys.push_back({"rdu." + key, std::move(value), origin});
  }

  std::string choose(const char* key, const std::string& fallback, const std::string& origin) {
    const std::optional<std::string> written = read_text(context_.section, key);
    record(key, toml_string(written.value_or(fallback)),
           written ? origin_of(context_.section.find(key)->place()) : origin);
    return written.value_or(fallback);
  }

  void check_commands() {
    for (const char* key : {"compile", "launch"}) {
      const Value* written = context_.section.find(key);
      if (written != nullptr && written->is(Value::Kind::string)) {
        record(key, toml_string(written->as_string()), origin_of(written->place()));
      }
    }
    for (const auto& [name, value] : commands_.defines) {
      record("define." + name, toml_string(value), origin_of(context_.section.find("define")->place()));
    }
    const std::string release = choose("release", "1.18", "default");
    std::optional<Release> parsed = parse_release(release);
    if (!parsed) {
      diagnostics_.error(context_.section.find("release")->place(), "rdu.release",
                         fmt::format("\"{}\" is no release", release), "a text such as \"1.17\"");
      return;
    }
    system_ = {context_.system, arch(), context_.nodes, plan_->constants.system.rdus, chip().tiles, parsed};
    if (commands_.compile_given) check_compile(compile(), system_, diagnostics_);
    if (!commands_.launch) return;
    settle_ranks(commands_.launch->ranks);
    check_launch(*commands_.launch, system_, diagnostics_);
    if (commands_.compile_given) check_pair(compile(), *commands_.launch, system_, diagnostics_);
  }

  // A launch line inside a batch job does not say how many ranks there are; rdu.replicas does.
  void settle_ranks(Argument<std::int64_t>& ranks) const {
    if (ranks.given) return;
    const std::optional<std::int64_t> replicas = read_integer(context_.section, "replicas");
    if (replicas) {
      ranks.value = *replicas;
      ranks.place = context_.section.find("replicas")->place();
    } else {
      ranks.valid = !compile().data_parallel.value;
    }
  }

  // "sn30" of "sn30", "sn40" of "sn40l-8".
  std::string arch() const {
    std::string name = context_.system.substr(context_.system.rfind('/') + 1);
    name = name.substr(0, name.find_first_of("-."));
    return name == "sn40l" ? "sn40" : name;
  }

  void read_model() {
    const auto model = describe_transformer(context_.shape, context_.settings);
    if (!model) {
      diagnostics_.error(context_.section.place(), "model.config",
                         fmt::format("the operators of a {} are not known for RDUs", context_.shape.type),
                         "a model of type gpt2, llama, mistral, bert or roberta");
      return;
    }
    plan_->model = *model;
    setup().run = context_.settings.mode;
    setup().fused_generation = setup().run == RunMode::generation && chip().hbm.has_value();
    WorkloadSettings& settings = context_.settings;
    const std::string origin = settings.precision.empty() ? "default of the compiler" : "experiment";
    if (settings.precision.empty()) settings.precision = "bf16";
    if (settings.precision != "bf16") {
      diagnostics_.error(context_.section.place(), "workload.precision",
                         fmt::format("\"{}\" is not calibrated for RDUs", settings.precision), "bf16");
    }
    plan_->resolved_keys.push_back({"workload.precision", "\"bf16\"", origin});
    if (settings.packing_factor != 1.0) {
      diagnostics_.error(context_.section.place(), "workload.packing_factor", "is not modelled for RDUs", "1");
    }
  }

  // ---- how the RDUs share a copy
  void read_parallelism() {
    setup().level = compile().optimization_level.value;
    setup().tensor_parallel = compile().tensor_parallel.value;
    const CopySize size = copy_size(compile(), system_);
    setup().parts = size.rdus;
    setup().tiles_per_part = std::min(size.tiles, chip().tiles);
    if (setup().fused_generation) {
      if (!compile().n_chips.given) setup().parts = plan_->constants.system.rdus * context_.nodes;
      setup().tiles_per_part = chip().tiles;
      if (setup().parts > 1) setup().tensor_parallel = TensorParallel::weight;
    } else if (size.halves_batch) {
      setup().tensor_parallel = TensorParallel::batch;
      setup().parts = size.rdus * 2;
      setup().tiles_per_part = size.tiles / 2;
    }
    if (setup().parts > 1 && setup().tensor_parallel == TensorParallel::none) {
      diagnostics_.error(compile().n_chips.place, "rdu.compile",
                         fmt::format("{} RDUs for one copy without a way to share it", setup().parts),
                         "--tensor-parallel batch or weight");
    }
    read_replicas();
    share_model();
  }

  void read_replicas() {
    const std::optional<std::int64_t> written = read_integer(context_.section, "replicas");
    std::string origin = "default";
    if (written) {
      setup().replicas = *written;
      origin = origin_of(context_.section.find("replicas")->place());
    } else if (commands_.launch && commands_.launch->ranks.given && sound(commands_.launch->ranks)) {
      setup().replicas = commands_.launch->ranks.value;
      origin = commands_.launch->ranks.origin;
    } else if (compile().data_parallel.value) {
      diagnostics_.error(compile().data_parallel.place, "rdu.replicas",
                         "is missing: a data-parallel program runs as many copies as it is launched with",
                         "rdu.replicas, or a launch command with its number of ranks");
      return;
    }
    record("replicas", std::to_string(setup().replicas), origin);
    const SystemConstants& system = plan_->constants.system;
    const std::int64_t tiles = system.rdus * context_.nodes * chip().tiles;
    const std::int64_t per_replica = setup().parts * setup().tiles_per_part;
    const std::int64_t most = tiles / per_replica;
    if (setup().replicas <= most) return;
    diagnostics_.error(written ? context_.section.find("replicas")->place() : compile().line.place, "rdu.replicas",
                       fmt::format("{} of {} tiles each need {} tiles; {} node{} of {} have {}", setup().replicas,
                                   per_replica, setup().replicas * per_replica, context_.nodes,
                                   context_.nodes == 1 ? "" : "s", context_.system, tiles),
                       most >= 1 ? fmt::format("at most {}, or more in system.nodes", most) : "more in system.nodes");
  }

  void share_model() {
    plan_->share = plan_->model;
    if (setup().tensor_parallel != TensorParallel::weight || setup().parts == 1 || plan_->model.layers == 0) return;
    std::string problem;
    const auto share = cut_weights(plan_->model, setup().parts, problem);
    if (!share) {
      diagnostics_.error(compile().n_chips.place, "rdu.compile", problem, "a number of RDUs that divides them");
      return;
    }
    plan_->share = *share;
  }

  // ---- the run
  void read_run() {
    WorkloadSettings& settings = context_.settings;
    setup().batch = settings.micro_batch_size;
    if (setup().tensor_parallel == TensorParallel::batch && setup().batch % setup().parts != 0) {
      diagnostics_.error(
          compile().batch_size.place, "workload.micro_batch_size",
          fmt::format("{} does not divide among {} copies of half an RDU or more", setup().batch, setup().parts),
          fmt::format("a multiple of {}, or fewer tiles", setup().parts));
    }
    if (sound(compile().grad_accumulation_steps)) {
      setup().gradient_accumulation_steps = std::max<std::int64_t>(1, compile().grad_accumulation_steps.value);
    }
    setup().recompute = training() && settings.recompute;
    read_factors();
    const bool file = !compile().human_decision.value.empty();
    setup().human_decision = choose("mapping_quality", file ? "human-decision" : "generated",
                                    file ? compile().human_decision.origin : "default") == "human-decision";
    if (training()) {
      setup().reduce_on_rdu = commands_.launch && commands_.launch->reduce_on_rdu.value;
      const bool profiled = commands_.launch && commands_.launch->uses(LauncherKind::sambatune);
      setup().host =
          choose("host_model", profiled ? "profiled" : "production", profiled ? "sambatune" : "default") == "profiled"
              ? HostModel::profiled
              : HostModel::production;
      warn_without_effect({"orchestration", "static_sequence_length", "endpoint"}, "of generation alone");
    } else {
      warn_without_effect({"host_model"}, "of training alone");
    }
    if (setup().run == RunMode::generation) read_generation();
  }

  void warn_without_effect(std::initializer_list<const char*> keys, const char* why) {
    for (const char* key : keys) {
      const Value* written = context_.section.find(key);
      if (written != nullptr)
        diagnostics_.warning(written->place(), std::string("rdu.") + key, std::string("has no effect: it is ") + why);
    }
  }

  void read_factors() {
    const std::vector<double>& factors = compile().resources_scaling_factors.value;
    if (!sound(compile().resources_scaling_factors) || factors.empty()) return;
    if (factors.size() == 3) setup().factors = {factors[0], factors[1], factors[2], factors[2]};
    if (factors.size() == 4) setup().factors = {factors[0], factors[1], factors[2], factors[3]};
  }

  void read_generation() {
    const WorkloadSettings& settings = context_.settings;
    setup().input_tokens = settings.input_tokens;
    setup().output_tokens = settings.output_tokens;
    const std::optional<std::int64_t> written = read_integer(context_.section, "static_sequence_length");
    const Argument<std::int64_t>* compiled = compile().shape("max-seq-length");
    const bool from_command = compiled != nullptr && compiled->known && sound(*compiled) && compiled->value > 0;
    setup().static_length = written.value_or(from_command ? compiled->value : plan_->model.positions);
    record("static_sequence_length", std::to_string(setup().static_length),
           written ? origin_of(context_.section.find("static_sequence_length")->place())
                   : (from_command ? compiled->origin : "default: the model's maximum"));
    const std::int64_t needed = setup().input_tokens + setup().output_tokens;
    if (needed > setup().static_length) {
      diagnostics_.error(context_.section.place(), "rdu.static_sequence_length",
                         fmt::format("{} is less than the {} tokens of a request", setup().static_length, needed),
                         fmt::format("at least {}", needed));
    }
    setup().orchestration =
        choose("orchestration", chip().hbm ? "hardware" : "software", "default of the chip") == "hardware"
            ? Orchestration::hardware
            : Orchestration::software;
    if (setup().orchestration == Orchestration::hardware && !chip().hbm) {
      diagnostics_.error(context_.section.find("orchestration")->place(), "rdu.orchestration",
                         "the hardware of this chip does not launch sections", "\"software\"");
    }
    setup().legacy_endpoint = choose("endpoint", "current", "default") == "legacy";
    setup().padded_prompt =
        padded_prompt(setup().input_tokens, setup().static_length, setup().legacy_endpoint, plan_->constants.serving);
  }

  void check_slowdown() {
    plan_->slowdown.assign(static_cast<std::size_t>(setup().replicas * setup().parts), 1.0);
    for (const auto& [device, factor] : context_.slowdown) {
      bool known = false;
      for (std::int64_t i = 0; i < setup().replicas * setup().parts; ++i) {
        if (device != part_name(setup(), chip().tiles, i / setup().parts, i % setup().parts)) continue;
        plan_->slowdown[static_cast<std::size_t>(i)] = factor;
        known = true;
      }
      if (known) continue;
      diagnostics_.error(context_.section.place(), "system.slowdown." + device, "no such device",
                         fmt::format("such as {}", part_name(setup(), chip().tiles, 0, 0)));
    }
  }

  void fill_rates() {
    plan_->allotment = allot(chip(), setup().tiles_per_part);
    plan_->rates = section_rates(plan_->constants.section, plan_->allotment, setup().human_decision);
    plan_->rates.efficiency *= setup().rate_factor;
    if (chip().hbm) plan_->rates.memory = chip().hbm->bandwidth * plan_->allotment.chips;
    // A training loop prepares launches ahead; the hardware of a chip with HBM launches by itself.
    const bool ahead = training() && setup().host == HostModel::production;
    if (ahead || chip().hbm) plan_->rates.issue_interval = Duration();
  }

  FamilyContext& context_;
  Diagnostics& diagnostics_;
  Commands commands_;
  CommandSystem system_;
  std::unique_ptr<RduPlan> plan_ = std::make_unique<RduPlan>();
};

CompiledGraph compiled(const RduPlan& plan, const StepRequest& request) {
  CompiledGraph result;
  result.graph = build_transformer_step(plan.share, request);
  const SectionCapacity capacity = section_capacity(plan.constants.section, plan.allotment);
  PartitionOptions options;
  options.level = plan.setup.level;
  options.factors = plan.setup.factors;
  result.partition = make_partition(result.graph, options, capacity);
  result.work = section_work(result.graph, result.partition);
  result.times = section_times(result.partition, result.work, plan.rates);
  return result;
}

// A mapping made by hand keeps the sections of the graph without recomputation and hides all traffic behind products,
// those of the recomputed forward included: what two published runs of it show, see facts.md.
CompiledGraph compiled_by_hand(const RduPlan& plan, StepRequest request) {
  const FlopCount all = build_transformer_step(plan.share, request).flop();
  request.recompute = false;
  CompiledGraph result = compiled(plan, request);
  const double more = all / result.graph.flop();
  for (SectionWork& work : result.work) work = {.flop = work.flop * more, .weights = {}, .read = {}, .written = {}};
  result.times = section_times(result.partition, result.work, plan.rates);
  return result;
}

}  // namespace

std::unique_ptr<RduPlan> resolve_plan(FamilyContext& context, Diagnostics& diagnostics) {
  return Resolver(context, diagnostics).resolve();
}

std::optional<TransformerDescription> cut_weights(const TransformerDescription& model, std::int64_t parts,
                                                  std::string& problem) {
  const auto divides = [&](std::int64_t dimension, const char* what) {
    if (dimension % parts != 0) problem = fmt::format("{} {} do not divide among {} RDUs", dimension, what, parts);
    return dimension % parts == 0;
  };
  if (!divides(model.heads, "attention heads") || !divides(model.ffn, "feed-forward columns")) return std::nullopt;
  return weight_shard(model, parts);
}

void compile_graphs(RduPlan& plan, const WorkloadSettings& settings) {
  const RduSetup& setup = plan.setup;
  if (setup.fused_generation) return;
  StepRequest request;
  request.training = setup.training();
  request.batch = setup.tensor_parallel == TensorParallel::batch ? setup.batch / setup.parts : setup.batch;
  request.sequence = settings.sequence_length;
  request.recompute = setup.recompute;
  if (setup.run == RunMode::generation) {
    request.sequence = setup.static_length;
    request.keeps_cache = true;
  }
  plan.compiled = setup.human_decision && setup.training() ? compiled_by_hand(plan, request) : compiled(plan, request);
  if (setup.run != RunMode::generation) return;
  request.context = setup.static_length;
  request.sequence = 1;
  plan.token = compiled(plan, request);
}

}  // namespace podsim::rdu
