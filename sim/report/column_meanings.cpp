#include "sim/report/column_meanings.hpp"

#include <array>

namespace podsim {
namespace {

constexpr std::array k_meanings = {
    MetricSpec{"sweep.point", "", "Number of the point in the sweep, from 0, in the order of the axes.", ""},
    MetricSpec{"sweep.key", "", "Hash of the point's inputs: equal ones are not simulated twice.", ""},
    MetricSpec{"sweep.status", "", "ok, does_not_fit, or invalid: no plan can be made of the point.", ""},
    MetricSpec{"sweep.reason", "", "Why an invalid point has no plan: the problems as `check` prints them.", ""},
    MetricSpec{"sweep.broken_limit", "", "The first limit that a point breaks.", "as verdict.why_not"},
    MetricSpec{"sweep.broken_device", "", "The device whose limit it is.", ""},
    MetricSpec{"sweep.broken_need", "", "What the plan needs of it, in broken_unit.", ""},
    MetricSpec{"sweep.broken_have", "", "What is there of it, in broken_unit.", ""},
    MetricSpec{"sweep.broken_unit", "", "The unit of both; empty: a count.", ""},
    MetricSpec{"sweep.model", "", "The model, by its shipped name or its file.", ""},
    MetricSpec{"sweep.fits", "", "Whether every memory holds what the plan needs there.", "as verdict.fits"},
    MetricSpec{"sweep.why_not", "", "Every limit broken, with need and have.", "as verdict.why_not"},
    MetricSpec{"sweep.micro_batch", "", "Samples that one replica works on at once.", "batch.micro"},
    MetricSpec{"sweep.global_batch", "", "Samples of one step, over all replicas.", "batch.global"},
    MetricSpec{"sweep.devices", "", "Devices in use or reserved.", ""},
    MetricSpec{"sweep.step_time_s", "s", "Time of one step.", "step.time_s"},
    MetricSpec{"sweep.compute_s", "s", "Part of the step of the busiest device.", "step.breakdown_s.compute"},
    MetricSpec{"sweep.recompute_s", "s", "Part of the step of the busiest device.", "step.breakdown_s.recompute"},
    MetricSpec{"sweep.exchange_s", "s", "Part of the step of the busiest device.", "step.breakdown_s.exchange"},
    MetricSpec{"sweep.sync_s", "s", "Part of the step of the busiest device.", "step.breakdown_s.sync"},
    MetricSpec{"sweep.inter_device_s", "s", "Part of the step of the busiest device.", "step.breakdown_s.inter_device"},
    MetricSpec{"sweep.host_io_s", "s", "Part of the step of the busiest device.", "step.breakdown_s.host_io"},
    MetricSpec{"sweep.off_chip_memory_s", "s", "Part of the step of the busiest device.",
               "step.breakdown_s.off_chip_memory"},
    MetricSpec{"sweep.collective_s", "s", "Part of the step of the busiest device.", "step.breakdown_s.collective"},
    MetricSpec{"sweep.weight_update_s", "s", "Part of the step of the busiest device.",
               "step.breakdown_s.weight_update"},
    MetricSpec{"sweep.launch_s", "s", "Part of the step of the busiest device.", "step.breakdown_s.launch"},
    MetricSpec{"sweep.bubble_s", "s", "Part of the step of the busiest device.", "step.breakdown_s.bubble"},
    MetricSpec{"sweep.other_s", "s", "Part of the step of the busiest device.", "step.breakdown_s.other"},
    MetricSpec{"sweep.bottleneck_pct", "%", "Share of the step that the bottleneck takes.", "bottleneck.share_pct"},
    MetricSpec{"sweep.fullest_memory", "", "The memory with the largest share of its limit in use.", ""},
    MetricSpec{"sweep.fullest_memory_pct", "%", "That share, at its peak.", "100 x peak / limit"},
    MetricSpec{"sweep.training_time_s", "s", "Time to the target of the training.", "training.time_s"},
    MetricSpec{"sweep.compile_estimate_s", "s", "How long the compiler takes, where that is modelled.",
               "compile.estimate_s"},
    MetricSpec{"sweep.loss_scale_scheme", "", "The controller of the loss scale.", "loss_scaling.mode"},
    MetricSpec{"sweep.loss_scale_verdict", "", "Whether the scale holds.", "loss_scaling.verdict"},
    MetricSpec{"sweep.reached_loss_scale", "", "The scale of the last update followed.", "loss_scaling.reached_scale"},
    MetricSpec{"sweep.engine", "", "The engine that simulated the point.", ""},
    MetricSpec{"sweep.simulated_ps", "ps", "Length of the simulated run in whole picoseconds.", ""},
    MetricSpec{"sweep.tool", "", "The program that wrote the row, with its version.", ""},
    MetricSpec{"sweep.inputs_sha256", "", "Hash of every byte of input of the sweep.", ""},

    MetricSpec{"report.need", "byte", "Bytes in use at the peak.", "devices.memories.peak_bytes"},
    MetricSpec{"report.limit", "byte", "Bytes that a program may fill.", "devices.memories.limit_bytes"},
    MetricSpec{"report.fill", "%", "Share of the limit that the peak takes.", "100 x need / limit"},
    MetricSpec{"report.carried", "byte", "Bytes over the link in one run of the program.", "links.bytes"},
    MetricSpec{"report.alike", "", "Further devices, memories or links for which the row stands: they do the same.",
               ""},

    MetricSpec{"capacity.systems", "", "How many of the system.", "--nodes; with --users as many as serve them"},
    MetricSpec{"capacity.idle", "", "Devices of these systems that no copy of the model uses.", ""},
    MetricSpec{"capacity.hosts", "", "Host servers of these systems.", "hosts of a system x systems"},
    MetricSpec{"capacity.training", "", "Time to the target, without failures.", "training.time_s"},
    MetricSpec{"capacity.goodput", "%",
               "Share of the time that brings the training forward, with failures and checkpoints.",
               "training / in all"},
    MetricSpec{"capacity.checkpoint_every", "", "The interval between checkpoints that loses least.", ""},
    MetricSpec{"capacity.in_all", "", "Time to the target with checkpoints, failures and restarts.",
               "training / goodput"},
    MetricSpec{"capacity.power", "W", "Of the systems, without hosts whose power is not given.", ""},
    MetricSpec{"capacity.energy", "kWh", "Power over the whole time.", "power x time"},
    MetricSpec{"capacity.cost", "", "At the prices of --costs.",
               "price_per_hour x systems x hours + energy x its price"},
    MetricSpec{"capacity.tokens/s_per_user", "1/s", "Tokens made per second for each of the requests at once.", ""},
    MetricSpec{"capacity.verdict", "",
               "CHOSEN is the cheapest row that meets the goals or, where a cost is not known, the one with the fewest "
               "devices.",
               ""},

    MetricSpec{"compare.change", "%", "Of B against A.", "100 x (B / A - 1)"},
    MetricSpec{"compare.verdict", "", "Whether a change beyond the tolerance is for the worse.", ""},

    MetricSpec{"validate.measured", "", "The published figure.", ""},
    MetricSpec{"validate.predicted", "", "What podsim computes with the published settings.", ""},
    MetricSpec{"validate.error", "%", "Of the prediction.", "100 x (predicted / measured - 1)"},
    MetricSpec{"validate.is", "",
               "fitted: a constant that the run reads was fitted on this row, too; held out: none was; lower bound, "
               "skipped: not counted.",
               ""},
    MetricSpec{"validate.mean_|error|", "%", "Mean of the errors without their signs.", "mean of |error|"},
    MetricSpec{"validate.largest", "%", "The largest error without its sign.", "max of |error|"},
    MetricSpec{"validate.bias", "%", "Mean of the errors with their signs.", "mean of error"},
    MetricSpec{"validate.spearman", "", "Rank correlation: 1 when predictions order the cases as measurements do.",
               "correlation of the ranks of measured and predicted"},
    MetricSpec{"validate.wrong", "", "Memory points judged to fit that do not, or the other way.", ""},

    MetricSpec{"loss-scale.flushed", "", "Share of a tensor's non-zero values that become zero, at its median update.",
               ""},
    MetricSpec{"loss-scale.most", "", "The same at the update where it is largest.", ""},
    MetricSpec{"loss-scale.subnormal", "", "Share that is kept below the smallest normal number.", ""},
    MetricSpec{"loss-scale.at_edge", "", "Share above the edge that the controller counts.",
               "loss_scaling.bin_edge_location x the largest half"},
    MetricSpec{"loss-scale.overflowed", "", "Share above the largest number of the format.", ""},
    MetricSpec{"loss-scale.low", "", "The lowest recommended constant scale.", "loss_scaling.recommended_window"},
    MetricSpec{"loss-scale.high", "", "The highest one.", "loss_scaling.recommended_window"},
    MetricSpec{"loss-scale.update_loss", "",
               "How far rounding turns the update: one minus the cosine between the rounded and the exact gradient.",
               ""},
};

}  // namespace

std::span<const MetricSpec> column_meanings() {
  return k_meanings;
}

}  // namespace podsim
