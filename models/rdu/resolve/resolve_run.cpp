// The run: batch, what the compiler is asked for, the host around a step, the rates that follow.

#include <fmt/format.h>

#include <algorithm>

#include "models/rdu/resolve/resolution.hpp"

namespace podsim::rdu {
namespace {

bool widens(const Argument<std::string>& accumulation) {
  return accumulation.valid && accumulation.value == "fp32";
}

// Of the rate of products. Without mixed precision everything is as wide as the other two would make it.
double precision_factor(const Resolution& resolution) {
  const PrecisionConstants& precision = resolution.plan->constants.precision;
  const CompileCommand& compile = resolution.compile();
  if (!compile.mixed_precision.value) return precision.without_mixed_precision;
  double factor = 1;
  if (widens(compile.tiling_accum)) factor *= precision.single_accumulation;
  if (resolution.training() && widens(compile.weight_grad_reduce)) factor *= precision.single_weight_gradients;
  return factor;
}

void note_written_forms(Resolution& resolution) {
  const CompileCommand& compile = resolution.compile();
  const std::optional<LaunchCommand>& launch = resolution.commands.launch;
  WrittenForms& written = resolution.plan->written;
  written.command = resolution.commands.compile_given;
  if (!resolution.training()) written.mode_flag = "--inference";
  written.overrides = compile.line.spelling == Spelling::overrides;
  if (compile.num_tiles.value != k_tiles_by_compiler) written.tiles = compile.num_tiles.value;
  written.n_chips = compile.n_chips.known;
  const auto note = [](const Argument<std::int64_t>& argument, WrittenBatch& batch) {
    if (argument.given && sound(argument)) batch = {argument.name, argument.value, argument.origin};
  };
  note(compile.batch_size, written.batch);
  note(compile.microbatch_size, written.micro_batch);
  const Argument<std::int64_t>* per_device = compile.shape("per-device-train-batch-size");
  if (per_device != nullptr) note(*per_device, written.per_device);
  written.batch_at_run = launch && launch->batch_size.given;
  written.ranks = launch && launch->ranks.known && resolution.context.section.find("replicas") == nullptr;
  // Of launch commands alone: rdu.replicas is not held against the world size.
  if (written.ranks && compile.data_parallel.value && launch->data_parallel.value) {
    written.least_ranks = std::max(compile.world_size.value, launch->world_size.value);
  }
}

// The batch is shared in equal parts. What the compile command says itself is checked with it, but for halves in Model
// Zoo's spelling.
void check_shares_of_batch(const Resolution& resolution, const RduSetup& setup) {
  const CompileCommand& compile = resolution.compile();
  if (setup.tensor_parallel != TensorParallel::batch || setup.batch % setup.parts == 0) return;
  const CopySize size = copy_size(compile, resolution.system);
  const bool zoo = compile.line.spelling == Spelling::overrides;
  const bool checked = compile.batch_size.known && !(zoo && size.halves_batch);
  if (checked && compile.batch_size.value % size.batch_shares() != 0) return;
  if (!resolution.commands.compile_given) {
    resolution.diagnostics.error(
        compile.batch_size.place, "rdu.compile",
        fmt::format("is missing: without it {} share a batch of {}", size.sharers(), setup.batch),
        fmt::format("a compile command that says -b and --num-tiles, or workload.micro_batch_size = {}", setup.parts));
    return;
  }
  resolution.diagnostics.error(
      compile.batch_size.place, "workload.micro_batch_size",
      fmt::format("a batch of {} cannot be shared by {}", setup.batch, size.sharers()),
      fmt::format("a multiple of {}{}", setup.parts, size.halves_batch ? ", or 4 tiles of each RDU" : ""));
}

void read_batch(Resolution& resolution) {
  const CompileCommand& compile = resolution.compile();
  RduSetup& setup = resolution.setup();
  setup.batch = resolution.context.settings.micro_batch_size;
  // Of a batch that could not be read nothing follows, nor of shares that nobody said how to make.
  const bool readable = compile.batch_size.valid && compile.n_chips.valid && compile.num_tiles.valid;
  if (readable && compile.tensor_parallel.valid) check_shares_of_batch(resolution, setup);
  if (resolution.training() && sound(compile.grad_accumulation_steps)) {
    setup.gradient_accumulation_steps = std::max<std::int64_t>(1, compile.grad_accumulation_steps.value);
  }
}

void read_factors(Resolution& resolution) {
  const Argument<std::vector<double>>& written = resolution.compile().resources_scaling_factors;
  const std::vector<double>& factors = written.value;
  if (!sound(written) || factors.empty()) return;
  constexpr double k_least = 0.05;
  if (*std::ranges::min_element(factors) < k_least) {
    resolution.diagnostics.error(written.place, written.name, "leaves a graph type hardly any resources",
                                 "factors of at least 0.05");
    return;
  }
  ResourceFactors& used = resolution.setup().factors;
  if (factors.size() == 3) used = {factors[0], factors[1], factors[2], factors[2]};
  if (factors.size() == 4) used = {factors[0], factors[1], factors[2], factors[3]};
}

void read_compiler(Resolution& resolution) {
  RduSetup& setup = resolution.setup();
  setup.rate_factor = precision_factor(resolution);
  setup.hypersections = resolution.compile().enable_hypersection.value;
  setup.placement_reused = resolution.choose("placement_reused", false);
  setup.recompute = resolution.training() && resolution.context.settings.recompute;
  read_factors(resolution);
  const Argument<std::string>& decisions = resolution.compile().human_decision;
  const bool file = !decisions.value.empty();
  setup.human_decision = resolution.choose("mapping_quality", file ? "human-decision" : "generated",
                                           file ? decisions.origin : "default") == "human-decision";
}

void read_host(Resolution& resolution) {
  if (!resolution.training()) {
    resolution.warn_without_effect({"host_model"}, "of training alone");
    return;
  }
  const std::optional<LaunchCommand>& launch = resolution.commands.launch;
  RduSetup& setup = resolution.setup();
  setup.reduce_on_rdu = launch && launch->reduce_on_rdu.value;
  const bool profiled = launch && launch->uses(LauncherKind::sambatune);
  const std::string host =
      resolution.choose("host_model", profiled ? "profiled" : "production", profiled ? "sambatune" : "default");
  setup.host = host == "profiled" ? HostModel::profiled : HostModel::production;
}

// Flags that decide other runs than this one, or that are read and not modelled.
void warn_of_idle_flags(Resolution& resolution) {
  const CompileCommand& compile = resolution.compile();
  const RduSetup& setup = resolution.setup();
  const auto idle = [&](const auto& argument, const char* why) {
    if (argument.given && argument.valid) resolution.diagnostics.warning(argument.place, argument.name, why);
  };
  const char* const streaming = "has no effect: the whole batch of a step streams through each section once";
  if (compile.microbatch_size.value != compile.batch_size.value) idle(compile.microbatch_size, streaming);
  if (compile.num_spatial_batches.value > 1) idle(compile.num_spatial_batches, streaming);
  if (compile.mapping.value == Mapping::spatial) {
    idle(compile.mapping, "has no effect: sections follow each other in time");
  }
  idle(compile.human_decision, "is not read: that there is such a file sets rdu.mapping_quality");
  if (!setup.fused_generation) return;
  const char* const fused = "has no effect: generation on this chip has a fused section per layer, over all tiles";
  if (setup.level != OptimizationLevel::o3) idle(compile.optimization_level, fused);
  if (compile.tensor_parallel.value == TensorParallel::batch) {
    idle(compile.tensor_parallel, "is taken as weight: generation on this chip shares the weights");
  }
  if (compile.num_tiles.value != resolution.chip().tiles) idle(compile.num_tiles, fused);
}

void warn_of_idle_precision(Resolution& resolution) {
  const CompileCommand& compile = resolution.compile();
  const auto idle = [&](const Argument<std::string>& argument, const char* why) {
    if (argument.given && widens(argument)) resolution.diagnostics.warning(argument.place, argument.name, why);
  };
  if (!resolution.training()) idle(compile.weight_grad_reduce, "has no effect: there are no gradients of weights");
  if (compile.mixed_precision.value) return;
  const char* const wide = "has no effect: without mixed precision sums are in FP32 already";
  idle(compile.tiling_accum, wide);
  if (resolution.training()) idle(compile.weight_grad_reduce, wide);
}

}  // namespace

void read_run(Resolution& resolution) {
  note_written_forms(resolution);
  read_batch(resolution);
  read_compiler(resolution);
  read_host(resolution);
  warn_of_idle_flags(resolution);
  warn_of_idle_precision(resolution);
}

}  // namespace podsim::rdu
