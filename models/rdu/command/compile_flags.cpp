// What the compiler is asked for: names, optimisation, resources, target.

#include "models/rdu/command/flag_builder.hpp"
#include "models/rdu/command/flag_tables.hpp"

namespace podsim::rdu {
namespace {

using Builder = FlagBuilder;
using enum KeyType;

const char* const k_only_text = "changes only what the compiler prints";

void add_names_and_output(std::vector<FlagSpec>& table) {
  table.push_back(Builder("pef-name", text, {"--pef-name"}, "name of the PEF file and of the folder of its artifacts")
                      .source(k_argument_reference)
                      .by_default("made of the time and the process id")
                      .only_checked("only a name; launch commands are checked against it")
                      .use(FlagUse::compile)
                      .done());
  table.push_back(
      Builder("output-folder", path, {"--output-folder"}, "the PEF lands in <output-folder>/<pef-name>/<pef-name>.pef")
          .source(k_argument_reference)
          .by_default("./out")
          .only_checked("only a path; launch commands are checked against it")
          .use(FlagUse::compile)
          .done());
  table.push_back(
      Builder("verbose", boolean, {"--verbose"}, "prints more; the line that names the PEF is not last then")
          .source(k_argument_reference)
          .by_default("false")
          .no_effect(k_only_text)
          .done());
  table.push_back(Builder("debug", boolean, {"--debug"}, "prints more and lists experimental options in the help")
                      .source(k_argument_reference)
                      .by_default("false")
                      .no_effect(k_only_text)
                      .done());
  table.push_back(Builder("log-dir", path, {"--log-dir"},
                          "folder of warnings at compile; at run often the application's own folder")
                      .source(k_argument_reference)
                      .no_effect("only where logs are written")
                      .done());
  table.push_back(Builder("log-level", text, {"--log-level"}, "error, warning, info, …")
                      .source(k_recorded_defaults)
                      .by_default("warning")
                      .no_effect("only how much is logged")
                      .done());
}

FlagSpec level_flag(const char* path, const char* name, const char* summary, const char* time) {
  return Builder(path, boolean, {name}, summary)
      .source("SambaFlow documentation, Compiler optimization modes")
      .by_default("false")
      .effects(time, "tensors between sections go to off-chip memory")
      .use(FlagUse::compile)
      .done();
}

void add_optimisation(std::vector<FlagSpec>& table) {
  table.push_back(level_flag("o0", "-o0", "a section per operator: safest and slowest",
                             "most sections, so most launches and most off-chip traffic"));
  table.push_back(level_flag("o1", "-o1", "operators are fused to subgraphs by rules, each compiled alone",
                             "about five forward sections per decoder layer"));
  table.push_back(level_flag("o3", "-o3", "the whole graph is optimised: longest compile, may fail; the default",
                             "fewest sections, packed by capacity"));
  table.push_back(Builder("optim-level", choice, {}, "Model Zoo's spelling of -o0, -o1, -o3")
                      .source(k_model_zoo)
                      .by_default("o3")
                      .choices({"o0", "o1", "o3"})
                      .effects("as -o0, -o1, -o3", "as -o0, -o1, -o3")
                      .use(FlagUse::compile)
                      .zoo({"samba_compile.optim_level"})
                      .done());
  table.push_back(Builder("optimization-rules", path, {"--optimization-rules"}, "YAML file of fusion rules, for -o1")
                      .source("SambaFlow documentation, Operator fusion rule syntax; sambanova/modelzoo, examples/nlp")
                      .by_default("the built-in rules")
                      .effects("decides which operators share a section", "as -o1")
                      .use(FlagUse::compile)
                      .done());
  table.push_back(
      Builder("use-o1-default-rules", boolean, {"--use-o1-default-rules"}, "fuses by the built-in rules too")
          .source(k_model_zoo)
          .by_default("true without a rules file; inferred")
          .effects("decides which operators share a section", "as -o1")
          .use(FlagUse::compile)
          .done());
  table.push_back(Builder("o1-experimental-opts", boolean, {"--o1-experimental-opts"},
                          "enables -o1 where the release still asks for it (up to 1.17)")
                      .source("SambaFlow documentation, Compiler argument reference, release 1.17; "
                              "sambanova/modelzoo, examples/nlp, calls it a legacy flag")
                      .by_default("false")
                      .only_checked("only allows -o1")
                      .use(FlagUse::compile)
                      .done());
  table.push_back(Builder("compiler-mode", text, {"--compiler-mode"}, "nlp: improves transformers")
                      .source(k_model_zoo)
                      .no_effect("no published measurement separates it")
                      .use(FlagUse::compile)
                      .done());
  table.push_back(Builder("enable-hypersection", boolean, {"--enable-hypersection"},
                          "compiles annotated equal subgraphs once and reuses them; for -o3")
                      .source(k_argument_reference)
                      .by_default("false")
                      .effects("shortens the compile, not the step")
                      .use(FlagUse::compile)
                      .done());
}

void add_resources_and_target(std::vector<FlagSpec>& table) {
  table.push_back(Builder("resources-scaling-factors", number_list, {"--resources-scaling-factors"},
                          "visible share of the compute and memory units: forward, backward, optimizer; with four: "
                          "forward, backward, gradient norm, optimizer (the third place is inferred, not documented)")
                      .source(k_argument_reference)
                      .by_default("-1: the compiler decides")
                      .effects("less gives more sections and slower ones", "less on-chip memory per section")
                      .use(FlagUse::compile)
                      .done());
  table.push_back(Builder("arch", choice, {"--arch"}, "machine to compile for")
                      .source(k_argument_reference)
                      .by_default("native")
                      .choices({"native", "sn10", "sn20", "sn30", "sn40"})
                      .only_checked("a check: a PEF runs on the machine it was compiled for")
                      .use(FlagUse::compile)
                      .done());
  table.push_back(Builder("mac-human-decision", path, {"--mac-human-decision"},
                          "JSON file of placement decisions made by hand for one model")
                      .source(k_alcf_guides)
                      .effects("raises the efficiency of compute-bound sections")
                      .use(FlagUse::compile)
                      .done());
  table.push_back(Builder("compiler-configs-file", path, {"--compiler-configs-file"}, "JSON file of compiler settings")
                      .source(k_alcf_guides)
                      .no_effect("its contents are not published")
                      .use(FlagUse::compile)
                      .done());
}

void add_middle_compiler(std::vector<FlagSpec>& table) {
  table.push_back(Builder("mac-v1", boolean, {"--mac-v1"}, "for models tuned on the older middle compiler")
                      .source(k_recorded_defaults)
                      .by_default("false")
                      .no_effect("no published measurement separates the middle compilers")
                      .done());
  table.push_back(Builder("mac-v2", boolean, {"--mac-v2"}, "older releases: chooses the newer middle compiler")
                      .source(k_alcf_guides)
                      .by_default("false")
                      .no_effect("no published measurement separates the middle compilers")
                      .done());
  table.push_back(Builder("enable-conv-tiling", boolean, {"--enable-conv-tiling"}, "splits convolutions into tiles")
                      .source(k_alcf_guides)
                      .by_default("false")
                      .no_effect("no published measurement separates it")
                      .use(FlagUse::compile)
                      .done());
  table.push_back(
      Builder("enable-stochastic-rounding", boolean, {"--enable-stochastic-rounding"}, "rounds BF16 results by chance")
          .source(k_alcf_guides)
          .by_default("false")
          .no_effect("changes the numbers, not their time")
          .use(FlagUse::compile)
          .done());
  table.push_back(Builder("graphamp-preset", choice, {"--graphamp-preset"},
                          "mixed precision chosen by the compiler; mp1 is the recommended one")
                      .source("SambaFlow documentation, Compile with mixed precision")
                      .by_default("none: BF16 until a cast is met")
                      .choices({"mp0", "mp1", "mp4"})
                      .no_effect("no published measurement separates the presets")
                      .since({1, 18, 0})
                      .use(FlagUse::compile)
                      .done());
  table.push_back(Builder("target-sambaflow-version", text, {"--target-sambaflow-version"},
                          "runtime that the PEF must run on, MAJOR.MINOR.PATCH")
                      .source("sambanova/modelzoo, README")
                      .only_checked("a check: an older runtime refuses a newer PEF")
                      .use(FlagUse::compile)
                      .zoo_plus()
                      .done());
}

}  // namespace

void add_compile_flags(std::vector<FlagSpec>& table) {
  add_names_and_output(table);
  add_optimisation(table);
  add_resources_and_target(table);
  add_middle_compiler(table);
}

}  // namespace podsim::rdu
