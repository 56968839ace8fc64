#include "sim/report/metrics.hpp"

#include <array>

namespace podsim {
namespace {

constexpr std::array k_metrics = {
    MetricSpec{"batch.micro", "", "Samples that one replica works on at once.", "workload.micro_batch_size"},
    MetricSpec{"batch.global", "", "Samples of one step, over all replicas.",
               "micro-batch x accumulation x replicas; in inference samples_per_call"},
    MetricSpec{"batch.samples_per_call", "", "Samples of one host call, which runs the program once.",
               "global batch x steps of a call"},
    MetricSpec{
        "throughput.samples_per_s", "1/s",
        "Samples worked on per second; a sample is what the model reads at once: a sequence, a pack or an image.",
        "batch.global / step.time_s"},
    MetricSpec{"throughput.sequences_per_s", "1/s", "Sequences per second, those inside packs counted singly.",
               "samples_per_s x workload.packing_factor"},
    MetricSpec{"throughput.packs_per_s", "1/s", "Packs of sequences per second; absent without packing.",
               "samples_per_s"},
    MetricSpec{"throughput.tokens_per_s", "1/s", "Token positions per second, padding included.",
               "samples_per_s x sequence length"},
    MetricSpec{"throughput.images_per_s", "1/s", "Images per second; absent for other models.", "samples_per_s"},
    MetricSpec{"throughput.samples_per_s_per_device", "1/s",
               "Samples per second and reserved device, idle ones counted.", "samples_per_s / devices"},
    MetricSpec{"throughput.mfu_pct", "%",
               "Model FLOP utilisation: the share of the peak of the multiply mode in use that the model's own matrix "
               "products take. A multiply-add counts as two FLOP; recomputation does not count.",
               "model FLOP per step / (devices x peak FLOP/s x step.time_s)"},
    MetricSpec{"throughput.hfu_pct", "%", "Hardware FLOP utilisation: as mfu_pct, with recomputation counted.",
               "(model + recomputed FLOP per step) / (devices x peak FLOP/s x step.time_s)"},
    MetricSpec{"throughput.effective_samples_per_s", "1/s",
               "Samples per second of those updates that the loss scale neither makes the optimizer skip nor clips. A "
               "clipped update is applied and not lost, so this is a lower bound there. Present with loss_scaling.",
               "samples_per_s x (1 - loss_scaling.skipped_updates_pct / 100 - loss_scaling.saturated_updates_pct / "
               "100); 0 where loss_scaling.ended_update is there"},
    MetricSpec{"step.time_s", "s",
               "Time of one step: a weight update in training, a host call in inference, a request in generation.",
               "simulated time of a host call / updates in it"},
    MetricSpec{"step.samples", "", "Samples of one step.", "batch.global"},
    MetricSpec{"step.time_ps", "ps", "The same in whole picoseconds, to compare runs exactly.", ""},
    MetricSpec{"step.breakdown_s.compute", "s", "The busiest device multiplies, adds and moves data within its tiles.",
               ""},
    MetricSpec{"step.breakdown_s.recompute", "s",
               "The same in a forward pass that is run again before its backward pass.", ""},
    MetricSpec{"step.breakdown_s.exchange", "s", "Data moves between the tiles of the device.", ""},
    MetricSpec{"step.breakdown_s.sync", "s", "The tiles of the device wait for each other between supersteps.", ""},
    MetricSpec{"step.breakdown_s.inter_device", "s", "Activations and their gradients cross to neighbouring devices.",
               ""},
    MetricSpec{"step.breakdown_s.host_io", "s", "Data comes from the host, or the device waits for the next host call.",
               ""},
    MetricSpec{"step.breakdown_s.off_chip_memory", "s", "State moves between the device and memory off the chip.", ""},
    MetricSpec{"step.breakdown_s.collective", "s", "Replicas reduce gradients or gather weights.", ""},
    MetricSpec{"step.breakdown_s.weight_update", "s", "The optimizer runs, and the fixed time around an update.", ""},
    MetricSpec{"step.breakdown_s.launch", "s", "Operations start: control code, copies, unrolled loops.", ""},
    MetricSpec{"step.breakdown_s.bubble", "s", "The device waits for another device's work.", ""},
    MetricSpec{"step.breakdown_s.other", "s", "Anything else.", ""},
    MetricSpec{"schedule.forward_stages", "", "Stretches of the forward pass that stay on one device.",
               "changes of device + 1"},
    MetricSpec{"schedule.stages", "", "Stages of a training pipeline.", "2 x forward_stages - 1"},
    MetricSpec{"schedule.cycles_per_update", "", "Lock-step cycles of one update, fill and drain included.",
               "gradient accumulation + stages - 1"},
    MetricSpec{"schedule.sections", "", "Parts that the compiler cuts the model into, each run by itself.", ""},
    MetricSpec{"schedule.cycle_time_s", "s", "A cycle in which every stage works, copies included.", ""},
    MetricSpec{"compile.estimate_s", "s", "How long the compiler takes, an order of magnitude.",
               "base + sections to compile x time of each"},
    MetricSpec{"compile.low_s", "s", "Lower end of the interval of compile.estimate_s.", "estimate_s / spread"},
    MetricSpec{"compile.high_s", "s", "Upper end of the interval of compile.estimate_s.", "estimate_s x spread"},
    MetricSpec{"compile.sections", "", "Sections of the whole program.", ""},
    MetricSpec{"compile.unique_sections", "", "Sections that do not equal an earlier one.", ""},
    MetricSpec{"devices.utilisation_pct", "%", "Share of the run in which the device does something of its own.", ""},
    MetricSpec{"devices.memories.peak_bytes", "byte",
               "Most bytes in use at one instant of the simulated run. `check` does not simulate: it tells the plan's "
               "account, an upper "
               "bound, since the largest parts of it may belong to different instants.",
               ""},
    MetricSpec{"devices.memories.peak_time_s", "s",
               "When a memory is first as full as it gets, from the start of the run.", ""},
    MetricSpec{"devices.memories.capacity_bytes", "byte", "What is built in.", "a constant of the chip or system"},
    MetricSpec{"devices.memories.limit_bytes", "byte",
               "What a program may fill: the capacity less what imbalance between tiles and gaps take.", ""},
    MetricSpec{"devices.memories.always_live_bytes", "byte",
               "Bytes in use throughout: weights, accumulators, state, code.", ""},
    MetricSpec{"links.bytes", "byte", "Bytes carried in one program run.", ""},
    MetricSpec{"links.busy_pct", "%", "Share of the run with at least one transfer on the link.", ""},
    MetricSpec{"bottleneck.share_pct", "%",
               "Share of the step that the bottleneck takes: the largest category of the busiest device, or a link.",
               ""},
    MetricSpec{
        "latency.request_s", "s",
        "From the first cycle of a request on the device to the end of its last, input and results of the cycles "
        "included. The host sees the results at the end of the host call, so a caller waits for step.time_s.",
        "cycles of a request x schedule.cycle_time_s; in generation step.time_s"},
    MetricSpec{"latency.time_to_first_token_s", "s", "In generation: the host call that makes the first token.",
               "step.time_s / output tokens"},
    MetricSpec{
        "latency.time_per_output_token_s", "s",
        "In generation: the host call of each token; all take as long, since the static length is computed anew.",
        "step.time_s / output tokens"},
    MetricSpec{"verdict", "", "Whether every memory holds what the plan needs there; else each limit that is broken.",
               "need <= limit for each memory and stream"},
    MetricSpec{
        "bottleneck", "",
        "The category with the largest share of the busiest device's time, or the link that is busy for longer than "
        "that and than the device works itself; in inference what the host limits.",
        "largest part of step.breakdown_s, or of links[].busy_pct"},
    MetricSpec{"critical_path", "",
               "A table of --view critical-path: the run's time, and its lower bound, in which no transfer shares a "
               "link. The tables critical_path_resources and critical_path_ops say what the run waited for, from its "
               "end back to its begin; saves_s is what the lower bound loses when that work takes no time: little "
               "where another device is as busy.",
               "longest path over the operations"},
    MetricSpec{"critical_path.run_s", "s", "Length of the simulated run.", ""},
    MetricSpec{"critical_path.lower_bound_s", "s",
               "The run's time if no transfer shared a link and only the order of operations made them wait.",
               "longest path over the operations"},
    MetricSpec{"critical_path.above_bound_pct", "%", "How far the run is above its lower bound.",
               "100 x (run_s / lower_bound_s - 1)"},
    MetricSpec{"critical_path_resources.stands_for", "",
               "Resources that the row tells of: itself and those of equal replicas.", ""},
    MetricSpec{"critical_path_resources.share_pct", "%", "Of the run, what it waits for this resource.",
               "100 x time_s / run_s"},
    MetricSpec{"critical_path_resources.time_s", "s", "How long the run waits for the resource.", ""},
    MetricSpec{"critical_path_resources.saves_s", "s",
               "What the lower bound loses when work of the resource takes no time: little where another device is as "
               "busy.",
               "lower_bound_s - lower bound without that work"},
    MetricSpec{"critical_path_ops.time_s", "s", "How long the run waits for the operation, all its times together.",
               ""},
    MetricSpec{"critical_path_ops.sharing_s", "s",
               "Of time_s, what the operation takes longer because its transfer shares a link.", ""},
    MetricSpec{"critical_path_ops.saves_s", "s", "What the lower bound loses when the operation takes no time.",
               "lower_bound_s - lower bound without the operation"},
    MetricSpec{"system.slowdown", "",
               "A key of the experiment: system.slowdown.NAME = 1.1 makes the device of that name take 1.1 times as "
               "long for its own work; transfers keep their time.",
               "duration x factor, from 1 to 1000"},
    MetricSpec{"evidence", "",
               "The published measurement most alike, the error of the prediction there, and in what this run lies "
               "outside of everything that was compared.",
               "least sum of weighted differences over model, chip, software and sizes"},
    MetricSpec{
        "loss_scaling.verdict", "",
        "holds; flushes: most values of some tensor become zero; overflows: training ends, an infinity reaches "
        "the weights, or more updates are skipped or clipped than loss_scaling.limits.lost_updates; runaway: the "
        "scale grows without end. Null where gradients are not modelled.",
        ""},
    MetricSpec{"loss_scaling.initial_scale", "", "The scale of the first update.", ""},
    MetricSpec{"loss_scaling.updates", "", "Weight updates followed, from the first of a training.", ""},
    MetricSpec{"loss_scaling.ramp_updates", "", "Updates before the first fall of the scale.", ""},
    MetricSpec{"loss_scaling.first_overflow_update", "",
               "The first update in which a value overflows; null: none does.", ""},
    MetricSpec{"loss_scaling.reached_scale", "", "The scale of the last update followed; null: infinite.", ""},
    MetricSpec{"loss_scaling.limit_cycle", "",
               "The two scales between which an automatic one ends when neither noise nor spikes are drawn.", ""},
    MetricSpec{"loss_scaling.ended_update", "",
               "The update in which training ends: the controller gives up, or infinities or NaN reach the weights.",
               ""},
    MetricSpec{"loss_scaling.last_updates", "",
               "The last half of the updates followed, over which shares of updates are taken.", "updates / 2"},
    MetricSpec{"loss_scaling.skipped_updates_pct", "%", "Of the last updates, those whose step was not applied.",
               "100 x skipped / last_updates"},
    MetricSpec{"loss_scaling.saturated_updates_pct", "%",
               "Of the last updates, those applied with at least one value clipped to the largest of the format.",
               "100 x clipped / last_updates"},
    MetricSpec{"loss_scaling.flushed_values_pct", "%",
               "Of all non-zero gradient values, those that become zero, at each tensor's median update.", ""},
    MetricSpec{"loss_scaling.subnormal_values_pct", "%",
               "Of the same, those kept below the smallest normal number, with less precision.", ""},
    MetricSpec{
        "loss_scaling.recommended_window", "",
        "Constant scales, as powers of two, at which neither more than loss_scaling.limits.flush of a tensor's "
        "values become zero nor any value overflows more often than loss_scaling.limits.overflow; null where the "
        "format needs no scale.",
        "2^low_log2 to 2^high_log2"},
    MetricSpec{"loss_scaling.recommended_window.low_log2", "", "Its lowest scale, as a power of two.", ""},
    MetricSpec{"loss_scaling.recommended_window.high_log2", "", "Its highest scale, as a power of two.", ""},
    MetricSpec{"interval.seed", "", "From which the constants of each draw follow.", ""},
    MetricSpec{"interval.draws", "", "Runs on the native engine, each under constants of its own.", ""},
    MetricSpec{"interval.varied_constants", "", "Constants that the run reads and that have a spread.", ""},
    MetricSpec{"interval.fits_pct", "%", "Of the draws, those that fit.", "100 x draws that fit / draws"},
    MetricSpec{"interval.samples_per_s.p10", "1/s", "A tenth of the draws that fit are slower.",
               "10th percentile of samples_per_s over the draws"},
    MetricSpec{"interval.samples_per_s.p50", "1/s", "Half of them are slower.", "50th percentile"},
    MetricSpec{"interval.samples_per_s.p90", "1/s", "Nine tenths of them are slower.", "90th percentile"},
    MetricSpec{"interval.step_s.p10", "s", "A tenth of the draws that fit have a shorter step.",
               "10th percentile of step.time_s over the draws"},
    MetricSpec{"interval.step_s.p50", "s", "Half of them have a shorter step.", "50th percentile"},
    MetricSpec{"interval.step_s.p90", "s", "Nine tenths of them have a shorter step.", "90th percentile"},
    MetricSpec{"interval.model_factor", "",
               "What the model leaves out, as P90 over P50 of a factor on each draw; 1: nothing is known of it.",
               "scatter of published measurements that no constant was fitted on"},
    MetricSpec{"interval.parts.share_pct", "%", "How much of the interval comes from one constant.",
               "100 x square of the correlation of its draws with those of log samples_per_s"},
    MetricSpec{"assumed_constants_pct", "%",
               "How much of the step rests on assumed constants; null where the native engine was asked for.",
               "sum over rates, times and numbers of |change of log step / change of log constants|"},
    MetricSpec{"levers.throughput_pct", "%",
               "Change of the throughput with a tenth more of a resource or constant, or with the next value of a "
               "setting; null: it does not run.",
               "100 x (throughput with the change / throughput - 1)"},
    MetricSpec{"evidence.its_error_pct", "%", "How far the prediction is off at the nearest published measurement.",
               "100 x (predicted / measured - 1)"},
    MetricSpec{"engine.events", "", "Operations that the engine executed; a repeat or an equal replica counts once.",
               ""},
    MetricSpec{"engine.simulated_s", "s", "Length of the simulated run of the program.", ""},
    MetricSpec{"engine.wall_s", "s",
               "How long the simulation took here; the only value that differs between equal runs.", ""},
    MetricSpec{"training.target_samples", "",
               "Samples to train on; sequences, where several are packed into one sample.",
               "workload.target_samples; else target_tokens / tokens of a sample; else dataset_samples x epochs"},
    MetricSpec{"training.updates", "", "Weight updates to the target.",
               "target samples / samples of an update, rounded up"},
    MetricSpec{"training.time_s", "s",
               "Time to the target; evaluation, checkpoints, data loading and compilation excluded.",
               "updates x step.time_s"},
};

}  // namespace

std::span<const MetricSpec> metrics() {
  return k_metrics;
}

Better better_value(std::string_view name) {
  for (const std::string_view end : {"_per_s", "_per_s_per_device", "mfu_pct", "hfu_pct", "utilisation_pct"}) {
    if (name.ends_with(end)) return Better::higher;
  }
  for (const std::string_view end :
       {"_s", "_ps", "_bytes", "devices", "memory_pct", "joules_per_sample", "average_watts"}) {
    if (name.ends_with(end)) return Better::lower;
  }
  return Better::neither;
}

std::string_view unit_by_name(std::string_view name) {
  if (name.find("_s.") != std::string_view::npos) return "s";  // a part of a time
  if (name.ends_with("_per_s")) return "";
  if (name.ends_with("_s")) return "s";
  if (name.ends_with("_bytes") || name == "bytes" || name.ends_with(".bytes")) return "byte";
  return name.ends_with("_pct") ? "%" : "";
}

}  // namespace podsim
