#include "models/rdu/report_meanings.hpp"

#include <string>
#include <utility>

namespace podsim::rdu {
namespace {

void add_values(std::vector<ReportedMeaning>& all) {
  const std::vector<ReportedMeaning> values = {
      {"rdu_latency_s", "Time of a step on the RDUs: all its sections, one after another.",
       "sum over the sections of max(launch interval, loads + max(products, off-chip bytes))"},
      {"host_latency_s", "Time of a training step that host software takes around the sections.",
       "profiled: base + growth x rdu_latency_s x parameters / 1e9; in production the gap between two steps"},
      {"tile_exec_pct", "Share of the step in which tiles execute sections.",
       "sum of max(products, off-chip bytes) / step.time_s"},
      {"tile_program_load_pct", "Share of the step in which programs of sections are loaded.",
       "sections x cost.section.program_load / step.time_s"},
      {"tile_argument_load_pct", "Share of the step in which arguments of sections are loaded.",
       "sections x cost.section.argument_load / step.time_s"},
      {"tile_idle_pct", "The rest of the step: waits for launches, for other devices and for the host.",
       "100 - the other three"},
      {"achieved_tflops", "Rate of a matrix product that runs alone.", "FLOP / rdu_latency_s"},
      {"achieved_gops", "Rate of an elementwise operator that runs alone.", "elements / rdu_latency_s"},
      {"total_sections", "Sections of a step; those of the accumulation count once.", ""},
      {"ddr_traffic_bytes", "Bytes over the DDR port of the first device in a step.", ""},
      {"hbm_traffic_bytes", "Bytes over the HBM port of the first device in a step.", ""},
      {"time_to_first_token_s", "From the request to the first token of the last prompt of the batch.",
       "batch x prefill; with rdu.switch_every_request also the copy of the model"},
      {"time_per_output_token_s", "A further token of every request of the batch.",
       "(weights + cache at its static length) / usable bandwidth + layers x turn-around"},
      {"output_tokens_per_s", "Tokens made per second by the whole batch, prompts not counted.",
       "batch / time_per_output_token_s"},
      {"output_tokens_per_s_per_user", "Tokens made per second for one request.", "1 / time_per_output_token_s"},
      {"total_tokens_per_s", "Tokens read and made per second over the whole request.",
       "batch x (input + output tokens) / step.time_s"},
      {"model_switch_time_s", "Copying another model of this size from DDR to HBM.",
       "bf16 weights / (RDUs x DDR bandwidth x cost.serving.switch_efficiency)"},
      {"experts_in_hbm", "Models of this size that HBM holds, by capacity.", "RDUs x capacity / weights, whole ones"},
      {"experts_in_ddr", "Models of this size that DDR holds, by capacity.", "RDUs x capacity / weights, whole ones"},
  };
  for (ReportedMeaning value : values) {
    value.name.insert(0, "values.");
    all.push_back(std::move(value));
  }
}

void add_table(const std::string& table, const std::vector<ReportedMeaning>& columns,
               std::vector<ReportedMeaning>& all) {
  for (ReportedMeaning column : columns) {
    column.name.insert(0, "tables." + table + (column.name.empty() ? "" : "."));
    all.push_back(std::move(column));
  }
}

void add_section_tables(std::vector<ReportedMeaning>& all) {
  const std::vector<ReportedMeaning> columns = {
      {"", "Sections: fused subgraphs, each run to its end by one launch.", ""},
      {"section", "Number of the section in the order of execution, from 0.", ""},
      {"graph_type", "forward, backward, gradient norm or optimizer; of the section's first operator.", ""},
      {"name", "Its operator, the pattern of fused operators, or its number.", ""},
      {"time_s", "Time of one call.", "max(launch interval, load_s + execute_s)"},
      {"bound", "What decides its time: compute, off-chip memory or launch.", ""},
      {"stages", "Operators inside; 0 where an operator begins that the next section completes.", ""},
      {"pcu_share_pct", "Share of the compute units that its operators want, by the packing rule.",
       "sum over the operators of their part of a section"},
      {"pmu_share_pct", "Share of the memory units that it fills: resident weights, and a piece of each tensor.", ""},
      {"calls", "Calls in a step.", "accumulation steps; 1 in the update"},
      {"load_s", "Loading of program and arguments, of one call.", ""},
      {"execute_s", "Execution of one call.", "max(products at the achieved rate, off-chip bytes / bandwidth)"},
      {"wait_s", "Wait for the host to launch the next section.", "time_s - load_s - execute_s"},
      {"flop", "Products of one call; a multiply-add counts as two.", ""},
      {"ddr_bytes", "Bytes from and to DDR in one call.", "weights + tensors of other sections read + written"},
      {"hbm_bytes", "Bytes from and to HBM in one call.", "weights + tensors of other sections read + written"},
  };
  add_table("sections", columns, all);
  add_table("longest_sections", columns, all);
  add_table("stages",
            {{"", "The operators of each section as stages of a pipeline: shown by --view sections.", ""},
             {"section", "Number of the section.", ""},
             {"stage", "Place in the section's pipeline, from 0.", ""},
             {"operator", "What the stage computes.", ""},
             {"flop", "Products of one call.", ""},
             {"pcu_share_pct", "Share of the section's compute units.", "flop / flop of the section"},
             {"pcus", "Compute units, whole ones and at least one.", "pcu_share_pct x units of the allotted tiles"},
             {"per_piece_s", "Time for one of the pieces into which tensors are cut.",
              "flop / (achieved rate x share) / cost.section.tiles_per_call"}},
            all);
}

void add_other_tables(std::vector<ReportedMeaning>& all) {
  add_table("tiles",
            {{"", "What the time of the devices goes to, as the runtime's tile statistics tell it.", ""},
             {"device", "The first of the devices of one speed.", ""},
             {"alike", "How many devices have that speed.", ""},
             {"tiles", "Tiles of an RDU that the device has.", ""},
             {"execute_pct", "Share of the step in which sections execute.", ""},
             {"program_load_pct", "Share of the step in which programs are loaded.", ""},
             {"argument_load_pct", "Share of the step in which arguments are loaded.", ""},
             {"idle_pct", "The rest of the step.", ""}},
            all);
  add_table("graph_types",
            {{"", "Sections by the part of the graph that they belong to.", ""},
             {"graph_type", "forward, backward, gradient norm or optimizer.", ""},
             {"sections", "How many there are.", ""},
             {"unique_sections", "Those that do not equal an earlier one: what o1 and hypersections compile.", ""},
             {"flop", "Products of one pass.", ""},
             {"ddr_bytes", "Bytes from and to DDR in one pass.", ""},
             {"hbm_bytes", "Bytes from and to HBM in one pass.", ""},
             {"time_s", "Time of one pass.", "sum over the sections"},
             {"compute_bound", "Sections whose products decide their time.", ""},
             {"memory_bound", "Sections whose off-chip traffic decides their time.", ""},
             {"launch_bound", "Sections that wait for the host's next launch.", ""}},
            all);
}

void add_categories(std::vector<ReportedMeaning>& all) {
  const std::vector<ReportedMeaning> categories = {
      {"weights", "Parameters of the copy that the device holds.", "parameters x 2 bytes / devices that share them"},
      {"optimizer_state", "Master weights and moments of the optimizer.", ""},
      {"gradients", "Gradients of the parameters.", ""},
      {"key-value_cache", "Keys and values of every token of the batch, at its static length.",
       "2 x layers x key-value heads x head width x tokens x 2 bytes / devices that share them"},
      {"models_to_switch_to", "Weights of further models that wait in DDR.", ""},
      {"tensors_between_sections", "What a section writes for later ones, while it is still needed.", ""}};
  for (const ReportedMeaning& category : categories) {
    all.push_back({"devices.memories.categories." + category.name, category.meaning, category.formula});
  }
}

}  // namespace

std::vector<ReportedMeaning> report_meanings() {
  std::vector<ReportedMeaning> all;
  add_categories(all);
  add_values(all);
  add_section_tables(all);
  add_other_tables(all);
  return all;
}

}  // namespace podsim::rdu
