// What a report says of an RDU plan beside its figures: assumptions, and cliffs of memory with what they cost.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/rdu/rdu_plan.hpp"
#include "models/rdu/step_time.hpp"
#include "sim/units/text.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

std::string gpt2_xl(const std::string& system, const std::string& flags, const std::string& rdu = "",
                    const std::string& model = "gpt2-xl") {
  return "system = \"" + system + "\"\n[model]\nconfig = \"" + model +
         "\"\n[workload]\nsequence_length = 1024\n[rdu]\n" + "compile = \"python app.py compile --pef-name=p " + flags +
         "\"\n" + rdu;
}

std::vector<std::string> notes_of(const Plan& plan) {
  return plan.family->notes(plan);
}

const rdu::RduPlan& own(const Plan& plan) {
  return dynamic_cast<const rdu::RduPlan&>(*plan.family_plan);
}

const std::string k_by_hand = "mapping_quality = \"human-decision\"\n";

}  // namespace

TEST_CASE("rdu notes: that a mapping by hand hides all traffic is told as assumed") {
  const std::string toml = gpt2_xl("sn30", "-o3 -b 16 --num-tiles 4", k_by_hand);
  CHECK(notes_of(plan_of(gpt2_xl("sn30", "-o3 -b 16 --num-tiles 4"), {"workload.recompute=true"})).empty());
  CHECK(notes_of(plan_of(toml, {"workload.recompute=true"})) ==
        std::vector<std::string>{
            "a mapping made by hand is taken to hide all off-chip traffic behind products: assumed, two published runs "
            "of one model show no more; it is said of recomputation alone, so that without it a step may read slower, "
            "and memory is that of sections without recomputation"});
}

// Without recomputation: FLOP / (tuned efficiency x peak of the tiles), and loads of every section.
TEST_CASE("rdu notes: a mapping by hand without recomputation is told with what hidden traffic would make of it") {
  const Plan plan = plan_of(gpt2_xl("sn30", "-o3 -b 16 --num-tiles 4", k_by_hand), {"workload.recompute=false"});
  double hidden = 0;
  for (const rdu::SectionWork& work : own(plan).compiled.work)
    hidden += work.flop.in_base() / (0.26 * 344e12) + 0.13e-3;
  CHECK(notes_of(plan) ==
        std::vector<std::string>{
            "a mapping made by hand is published with recomputation alone: without it all off-chip traffic counts "
            "here, " +
            format_time(rdu::section_sums(own(plan)).total) +
            " of sections; with all of it hidden, as with recomputation, they would take " +
            format_time(seconds(hidden))});
}

TEST_CASE("rdu notes: tensors that leave HBM are told with what they cost") {
  const std::string flags = "-o0 --num-tiles 4 -b ";
  CHECK(notes_of(plan_of(gpt2_xl("sn40l-8", flags + "16", "", "gpt2"))).empty());
  const Plan plan = plan_of(gpt2_xl("sn40l-8", flags + "32", "", "gpt2"));
  const rdu::CompiledGraph& compiled = own(plan).compiled;
  // Half of the HBM's 1.8 TB/s for all bytes, beside products at the calibrated efficiency.
  double fast = 0;
  for (const rdu::SectionWork& work : compiled.work) {
    const rdu::SectionRates& rates = own(plan).rates;
    const double products = work.flop.in_base() / (rates.peak.in_base() * rates.efficiency);
    fast += std::max(products, work.bytes().size().in_base() / 0.9e12) +
            (rates.program_load + rates.argument_load).in_base();
  }
  const std::vector<std::string> notes = notes_of(plan);
  REQUIRE(notes.size() == 1);
  CHECK(notes.front() ==
        "HBM has no room for tensors between sections (36.5 GiB): in DDR at 100 GB/s, sections take " +
            format_time(rdu::section_sums(own(plan)).total) + ", with all in HBM " + format_time(seconds(fast)) +
            "; a kind of memory stands in one tier, so that a little more of it costs all of this at once");
}

TEST_CASE("rdu notes: weights that every token reads from DDR are told") {
  const Plan plan = plan_of(experiment("llama-3-70b-sn40l-8"),
                            {"rdu.compile=\"python app.py compile -b 1 --inference --n-chips 1 --pef-name=llama\""});
  CHECK(notes_of(plan) ==
        std::vector<std::string>{"HBM has no room for weights (131.4 GiB): in DDR at 200 GB/s, where every token reads "
                                 "it"});
}
