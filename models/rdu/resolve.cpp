#include "models/rdu/resolve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "models/rdu/command/command_checks.hpp"
#include "models/rdu/commands.hpp"
#include "models/rdu/compile_graphs.hpp"
#include "models/rdu/fusion_match.hpp"
#include "models/rdu/node.hpp"
#include "models/rdu/rdu_keys.hpp"
#include "models/rdu/resolve_checks.hpp"
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

constexpr double k_most_bytes = 4e18;  // of one kind, so that sums fit 64 bits

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
    read_rules();
    check_slowdown();
    if (diagnostics_.has_errors()) return nullptr;
    fill_rates();
    if (!build_graphs()) return nullptr;
    warn_of_idle_rules();
    plan_->constant_ids = reader.read_ids();
    return std::move(plan_);
  }

 private:
  bool build_graphs() {
    const RduSetup& own = setup();
    const double cache = 4.0 * static_cast<double>(plan_->model.layers) * static_cast<double>(plan_->model.kv_width()) *
                         static_cast<double>(own.static_length) * static_cast<double>(own.batch);
    if (own.run == RunMode::generation && cache > k_most_bytes) {
      too_large("the key-value cache exceeds 64-bit byte counts");
      return false;
    }
    try {
      compile_graphs(*plan_, context_.settings);
      return true;
    } catch (const std::range_error& error) {
      too_large(error.what());
      return false;
    }
  }

  void too_large(const std::string& why) {
    diagnostics_.error(context_.section.place(), "model.config", why, "a smaller model, or a smaller batch");
  }

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
    const bool before_1_18 = plan_->constants.o1_enabling_flag;
    const std::string release = choose("release", before_1_18 ? "1.17" : "1.18", "default of the software");
    std::optional<Release> parsed = parse_release(release);
    if (!parsed) {
      diagnostics_.error(context_.section.find("release")->place(), "rdu.release",
                         fmt::format("\"{}\" is no release", release), "a text such as \"1.17\"");
      return;
    }
    system_ = {context_.system, arch(), context_.nodes, plan_->constants.system.rdus, chip().tiles, parsed};
    if (commands_.compile_given) check_compile(compile(), system_, diagnostics_);
    if (!commands_.launch) return;
    settle_ranks(*commands_.launch);
    check_launch(*commands_.launch, system_, diagnostics_);
    if (commands_.compile_given) check_pair(compile(), *commands_.launch, system_, diagnostics_);
  }

  // A launch line inside a batch job does not say how many ranks there are; rdu.replicas does.
  void settle_ranks(LaunchCommand& launch) const {
    Argument<std::int64_t>& ranks = launch.ranks;
    if (ranks.given) return;
    if (launch.nodes.given && launch.ranks_per_node.given && sound(launch.nodes) && sound(launch.ranks_per_node)) {
      ranks = launch.ranks_per_node;
      ranks.value *= launch.nodes.value;
      return;
    }
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
    plan_->unet = describe_unet(context_.shape, context_.settings);
    plan_->isolated = describe_isolated(context_.shape);
    if (!model && !plan_->unet && !plan_->isolated) {
      diagnostics_.error(context_.section.place(), "model.config",
                         fmt::format("the operators of a {} are not known for RDUs", context_.shape.type),
                         "a model of type gpt2, llama, mistral, bert, roberta or unet");
      return;
    }
    if (plan_->unet) check_image(*plan_->unet, context_, diagnostics_);
    if (plan_->isolated) check_isolated(context_, diagnostics_);
    if (model) plan_->model = *model;
    if (const std::string why = model ? too_many_weights(*model) : ""; !why.empty()) too_large(why);
    setup().run = context_.settings.mode;
    if (setup().run == RunMode::generation && (!model || model->head != RduHead::causal_lm)) {
      diagnostics_.error(
          context_.section.place(), "workload.mode",
          fmt::format("a {} with head {} generates no tokens", context_.shape.type, context_.settings.head),
          "a model with head causal-lm, or mode inference");
    }
    const std::string& optimizer = context_.settings.optimizer;
    if (training() && optimizer != "adam" && optimizer != "adamw") {
      diagnostics_.warning(context_.section.place(), "workload.optimizer",
                           fmt::format("the update of {} is given the traffic of Adam", optimizer));
    }
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
      if (!compile().n_chips.given) {
        setup().parts = default_parts(plan_->model, plan_->constants.system.rdus, compile().line.place, diagnostics_);
      }
      setup().tiles_per_part = chip().tiles;
      if (setup().parts > 1) setup().tensor_parallel = TensorParallel::weight;
    } else if (size.halves_batch) {
      setup().tensor_parallel = TensorParallel::batch;
      setup().parts = size.rdus * 2;
      setup().tiles_per_part = size.tiles / 2;
    }
    if (plan_->isolated) setup().parts = 1;
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
    } else if (compile().data_parallel.value && training()) {
      diagnostics_.error(compile().data_parallel.place, "rdu.replicas",
                         "is missing: a data-parallel program runs as many copies as it is launched with",
                         "rdu.replicas, or a launch command with its number of ranks");
      return;
    }
    record("replicas", std::to_string(setup().replicas), origin);
    setup().reduces_gradients = training() && compile().data_parallel.value;
    if (training() && written && setup().replicas > 1 && !setup().reduces_gradients) {
      diagnostics_.warning(context_.section.find("replicas")->place(), "rdu.replicas",
                           "copies without --data-parallel train a model each: nothing is reduced among them");
    }
    const SystemConstants& system = plan_->constants.system;
    const std::int64_t tiles = system.rdus * context_.nodes * chip().tiles;
    const std::int64_t per_replica = setup().parts * setup().tiles_per_part;
    const std::int64_t most = tiles / per_replica;
    if (setup().replicas >= 1 && setup().replicas <= most) return;
    const std::int64_t asked = setup().replicas;
    setup().replicas = 1;   // for the checks that follow
    if (asked < 1) return;  // reported
    diagnostics_.error(written ? context_.section.find("replicas")->place() : compile().line.place, "rdu.replicas",
                       fmt::format("{} of {} tiles each need {} tiles; {} node{} of {} have {}", asked, per_replica,
                                   static_cast<double>(asked) * static_cast<double>(per_replica), context_.nodes,
                                   context_.nodes == 1 ? "" : "s", context_.system, tiles),
                       most >= 1 ? fmt::format("at most {}, or more in system.nodes", most) : "more in system.nodes");
  }

  void share_model() {
    plan_->share = plan_->model;
    if (plan_->unet && setup().tensor_parallel == TensorParallel::weight && setup().parts > 1) {
      diagnostics_.error(compile().n_chips.place, "rdu.compile",
                         "the kernels of an image network are not cut over RDUs", "--tensor-parallel batch");
      return;
    }
    if (setup().tensor_parallel != TensorParallel::weight || setup().parts == 1 || plan_->model.layers == 0) return;
    std::string problem;
    const auto share = cut_weights(plan_->model, setup().parts, problem);
    if (!share) {
      diagnostics_.error(compile().n_chips.place, "rdu.compile", problem, "a number of RDUs that divides them");
      return;
    }
    plan_->share = *share;
    tell_of_copied_heads(plan_->model, setup().parts, compile().n_chips.place, diagnostics_);
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
    if (training() && sound(compile().grad_accumulation_steps)) {
      setup().gradient_accumulation_steps = std::max<std::int64_t>(1, compile().grad_accumulation_steps.value);
    }
    setup().hypersections = compile().enable_hypersection.value;
    const std::optional<bool> reused = read_boolean(context_.section, "placement_reused");
    setup().placement_reused = reused.value_or(false);
    record("placement_reused", setup().placement_reused ? "true" : "false",
           reused ? origin_of(context_.section.find("placement_reused")->place()) : "default");
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
      warn_without_effect(
          {"orchestration", "static_sequence_length", "longest_context", "endpoint", "experts", "switch_every_request"},
          "of generation alone");
    } else {
      warn_without_effect({"host_model"}, "of training alone");
    }
    if (setup().run == RunMode::generation) {
      read_generation();
      read_experts();
    }
    warn_of_idle_flags();
  }

  // Flags that decide other runs than this one, or that are read and not modelled.
  void warn_of_idle_flags() {
    const auto idle = [&](const auto& argument, const char* why) {
      if (argument.given && argument.valid) diagnostics_.warning(argument.place, argument.name, why);
    };
    const char* const streaming = "has no effect: the whole batch of a step streams through each section once";
    if (compile().microbatch_size.value != compile().batch_size.value) idle(compile().microbatch_size, streaming);
    if (compile().num_spatial_batches.value > 1) idle(compile().num_spatial_batches, streaming);
    if (compile().mapping.value == Mapping::spatial) {
      idle(compile().mapping, "has no effect: sections follow each other in time");
    }
    idle(compile().human_decision, "is not read: that there is such a file sets rdu.mapping_quality");
    if (!setup().fused_generation) return;
    const char* const fused = "has no effect: generation on this chip has a fused section per layer, over all tiles";
    if (setup().level != OptimizationLevel::o3) idle(compile().optimization_level, fused);
    if (compile().tensor_parallel.value == TensorParallel::batch) {
      idle(compile().tensor_parallel, "is taken as weight: generation on this chip shares the weights");
    }
    if (compile().num_tiles.value != chip().tiles) idle(compile().num_tiles, fused);
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
    constexpr double k_least = 0.05;
    if (*std::ranges::min_element(factors) < k_least) {
      diagnostics_.error(compile().resources_scaling_factors.place, compile().resources_scaling_factors.name,
                         "leaves a graph type hardly any resources", "factors of at least 0.05");
      return;
    }
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
    setup().legacy_endpoint = choose("endpoint", "current", "default") == "legacy";
    const bool deployed = setup().fused_generation && !setup().legacy_endpoint;
    std::string idle = deployed ? "" : "it is of current endpoints on a chip with HBM alone";
    if (written || from_command) idle = "the context of the run is stated";
    const std::int64_t longest =
        read_longest_context(context_, plan_->model.positions, idle, plan_->resolved_keys, diagnostics_);
    const std::int64_t tokens = settings.input_tokens + settings.output_tokens;
    const std::int64_t chosen = deployed ? deployed_context(tokens, longest, plan_->constants.serving) : longest;
    setup().static_length = written.value_or(from_command ? compiled->value : chosen);
    const char* const origin =
        deployed ? "default: the shortest deployed context that holds a request" : "default: the model's maximum";
    record("static_sequence_length", std::to_string(setup().static_length),
           written ? origin_of(context_.section.find("static_sequence_length")->place())
                   : (from_command ? compiled->origin : origin));
    const std::int64_t needed = setup().input_tokens + setup().output_tokens;
    if (setup().static_length > plan_->model.positions) {
      diagnostics_.error(
          context_.section.place(), "rdu.static_sequence_length",
          fmt::format("{} is more than the model's {} positions", setup().static_length, plan_->model.positions),
          "at most as many, or a larger model.max_position_embeddings");
    }
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
    setup().padded_prompt =
        padded_prompt(setup().input_tokens, setup().static_length, setup().legacy_endpoint, plan_->constants.serving);
  }

  // ---- fusion rules of o1
  void read_rules() {
    const Argument<std::string>& file = compile().optimization_rules;
    const Argument<bool>& built_in = compile().use_o1_default_rules;
    setup().built_in_rules = !built_in.known || built_in.value;
    if (!file.given || !file.valid || setup().level != OptimizationLevel::o1) return;
    if (file.unset) {
      diagnostics_.error(file.place, file.name, "holds a variable without value", "its value in rdu.define");
      return;
    }
    if (setup().fused_generation) {
      diagnostics_.warning(file.place, file.name, "has no effect: generation on this chip has a section per layer");
      return;
    }
    const std::string path = path_from(Value::string(file.value, file.place));
    const std::optional<std::string> text = read_text_file(path, file.place, file.name, diagnostics_);
    if (!text) return;
    if (auto rules = read_fusion_rules(*text, path, diagnostics_)) plan_->fusion_rules = std::move(*rules);
  }

  void warn_of_idle_rules() {
    for (std::size_t i = 0; i < plan_->compiled.rule_uses.size(); ++i) {
      const RuleUse& use = plan_->compiled.rule_uses[i];
      const FusionRule& rule = plan_->fusion_rules[i];
      if (use.gave_up) {
        diagnostics_.warning(rule.place, rule.name, "stands for more patterns than are looked for",
                             "fewer operators that are optional or alternatives");
      } else if (use.matches == 0) {
        diagnostics_.warning(
            rule.place, rule.name,
            use.overlapped ? "matches only what rules of higher priority have fused" : "matches nothing in this model");
      } else if (use.cut > 0) {
        diagnostics_.warning(rule.place, rule.name,
                             fmt::format("{} of its {} matches are cut: their operators do not follow each other in "
                                         "the order of execution",
                                         use.cut, use.matches));
      }
    }
  }

  void read_experts() {
    if (!setup().fused_generation) {
      warn_without_effect({"experts", "switch_every_request"}, "of a chip with HBM alone");
      return;
    }
    const std::optional<std::int64_t> experts = read_integer(context_.section, "experts");
    const bool sound = experts && *experts >= 1 && *experts <= 100000;  // else reported
    setup().experts = sound ? *experts : 1;
    record("experts", std::to_string(setup().experts),
           experts ? origin_of(context_.section.find("experts")->place()) : "default");
    const std::optional<bool> switches = read_boolean(context_.section, "switch_every_request");
    setup().switch_every_request = switches.value_or(false);
    record("switch_every_request", setup().switch_every_request ? "true" : "false",
           switches ? origin_of(context_.section.find("switch_every_request")->place()) : "default");
    if (setup().switch_every_request && setup().experts == 1) {
      diagnostics_.warning(context_.section.find("switch_every_request")->place(), "rdu.switch_every_request",
                           "with one model: rdu.experts does not say how many there are, nor that DDR holds them");
    }
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
    const PrecisionConstants& precision = plan_->constants.precision;
    if (compile().tiling_accum.value == "fp32") setup().rate_factor *= precision.single_accumulation;
    if (compile().weight_grad_reduce.value == "fp32") setup().rate_factor *= precision.single_weight_gradients;
    plan_->rates.efficiency *= setup().rate_factor;
    if (chip().hbm) plan_->rates.memory = chip().hbm->bandwidth * plan_->allotment.chips;
    // A training loop prepares launches ahead; the hardware of a chip with HBM launches by itself.
    const bool ahead = training() && setup().host == HostModel::production;
    if (ahead || chip().hbm) plan_->rates.issue_interval = Duration();
    if (plan_->isolated) take_isolated_rates(*plan_);
  }

  FamilyContext& context_;
  Diagnostics& diagnostics_;
  Commands commands_;
  CommandSystem system_;
  std::unique_ptr<RduPlan> plan_ = std::make_unique<RduPlan>();
};

}  // namespace

std::unique_ptr<RduPlan> resolve_plan(FamilyContext& context, Diagnostics& diagnostics) {
  return Resolver(context, diagnostics).resolve();
}

}  // namespace podsim::rdu
