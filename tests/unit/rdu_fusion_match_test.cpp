// Where fusion rules match, and what they make of sections and time.

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "models/rdu/fusion_match.hpp"
#include "models/rdu/rdu_plan.hpp"
#include "models/rdu/traced_graph.hpp"
#include "tests/support/rdu_scene.hpp"
#include "tests/support/run_experiment.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace podsim;
using namespace podsim::rdu;
using namespace podsim::test;

namespace {

std::vector<FusionRule> rules_of(const std::string& text) {
  Diagnostics diagnostics;
  const auto rules = read_fusion_rules(text, "r.yaml", diagnostics);
  INFO(diagnostics.to_text());
  REQUIRE(rules.has_value());
  return *rules;
}

OperatorGraph gpt2(int layers, bool training = false) {
  StepRequest request = training_step(16, 1024);
  request.training = training;
  return build_transformer_step(gpt2_of(768, layers, 12), request);
}

OperatorGraph llama(bool training = false) {
  StepRequest request = training_step(1, 4096);
  request.training = training;
  GatedDecoder shape = k_llama_2_7b;
  shape.layers = 2;
  return build_transformer_step(gated_decoder(shape), request);
}

// Operators of one layer with the pattern of this name, in order.
std::vector<std::string> fused(const OperatorGraph& graph, const Fusion& fusion, const std::string& pattern,
                               int layer = 0) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const RduOperator& op = graph.operators[i];
    if (op.layer == layer && fusion.patterns[i].name == pattern) names.push_back(op.name);
  }
  return names;
}

Partition cut(const OperatorGraph& graph, const Fusion& fusion) {
  PartitionOptions options;
  options.level = OptimizationLevel::o1;
  options.patterns = fusion.patterns;
  return make_partition(graph, options, HalfSn30().capacity);
}

using Names = std::vector<std::string>;

// The subgraphs of a decoder layer with RMS norms, as a framework traces them.
const std::string k_decoder = R"(
qkv:
  priority: 5
  pattern:
    square: {op_type: pow, child: mean}
    mean: {op_type: mean, child: epsilon}
    epsilon: {op_type: add, child: root}
    root: {op_type: rsqrt, child: scale}
    scale: {op_type: mul, child: weight}
    weight: {op_type: mul, children: [q, k, v]}
    q: {op_type: linear}
    k: {op_type: linear}
    v: {op_type: linear}
positions:
  priority: 1
  pattern:
    before: {op_type: linear, included: false, child: heads}
    heads: {op_type: view, child: turned}
    turned: {match_first_option: [with_split, with_items]}
    with_split: {op_type: transpose, children: [cosine, halves]}
    halves: {op_type: split, children: [minus, swapped]}
    with_items: {op_type: transpose, children: [cosine, low, high]}
    low: {op_type: getitem, child: swapped}
    high: {op_type: getitem, child: minus}
    cosine: {op_type: mul, child: sum}
    minus: {op_type: neg, child: swapped}
    swapped: {op_type: cat, child: sine}
    sine: {op_type: mul, child: sum}
    sum: {op_type: add}
attention:
  priority: 3
  pattern:
    cast: {op_type: to, required: false, child: scores}
    turned: {op_type: transpose, child: scores}
    scores: {op_type: matmul, child: scale}
    scale: {op_type: div, child: mask}
    mask: {op_type: [masked_fill, add], required: false, child: second_mask}
    second_mask: {op_type: add, required: false, child: softmax}
    softmax: {op_type: softmax, child: values}
    values: {op_type: matmul, child: merged}
    merged: {op_type: transpose, child: flat}
    flat: {op_type: reshape}
feed_forward:
  priority: 7
  pattern:
    gate: {op_type: linear, child: activation}
    activation: {op_type: [silu, gelu], child: product}
    up: {op_type: linear, child: product}
    product: {op_type: mul, child: down}
    down: {op_type: linear, child: residual}
    residual: {op_type: add}
)";

}  // namespace

TEST_CASE("rdu fusion: rules written for traced operators take the operators that those are parts of") {
  const OperatorGraph graph = llama();
  const Fusion fusion = apply_fusion_rules(graph, rules_of(k_decoder), {true, false});
  for (int layer = 0; layer < 2; ++layer) {
    CHECK(fused(graph, fusion, "qkv", layer) == Names{"norm1", "qkv"});
    CHECK(fused(graph, fusion, "attention", layer) == Names{"scores", "softmax", "weighted_values", "merge_heads"});
    CHECK(fused(graph, fusion, "feed_forward", layer) == Names{"fc", "activation", "fc2", "ffn_add"});
    CHECK(fused(graph, fusion, "projection", layer) == Names{"projection"});  // no rule: alone
  }
  // Query and key each have positions; their operators stand between each other's.
  CHECK(fused(graph, fusion, "positions") == Names{"query_heads", "key_heads", "rotary_query", "rotary_key"});
  CHECK(fusion.uses[1].matches == 4);
  CHECK(fusion.uses[1].cut == 4);
  CHECK(fusion.uses[0].matches == 2);
  CHECK(fusion.uses[0].cut == 0);
}

TEST_CASE("rdu fusion: rules of the built-in subgraphs make the built-in sections, forward and backward") {
  const OperatorGraph graph = llama(true);
  const std::string rules =
      k_decoder.substr(0, k_decoder.find("positions:")) + k_decoder.substr(k_decoder.find("attention:"));
  const Fusion fusion = apply_fusion_rules(graph, rules_of(rules), {true, true});
  const Partition own = cut(graph, fusion);
  PartitionOptions options;
  options.level = OptimizationLevel::o1;
  const Partition built_in = make_partition(graph, options, HalfSn30().capacity);
  REQUIRE(own.sections.size() == built_in.sections.size());
  for (std::size_t i = 0; i < own.sections.size(); ++i) {
    CHECK(own.sections[i].operators == built_in.sections[i].operators);
  }
  CHECK(own.unique_sections() == built_in.unique_sections());
}

TEST_CASE("rdu fusion: the higher priority wins where matches overlap, in files of any order") {
  const OperatorGraph graph = gpt2(1);
  const std::string norm =
      "norm_linear:\n  priority: 1\n  pattern: {n: {op_type: layer_norm, child: l}, "
      "l: {op_type: linear}}\n";
  const std::string linear =
      "linear_gelu:\n  priority: 2\n  pattern: {l: {op_type: linear, child: g}, "
      "g: {op_type: gelu}}\n";
  for (const std::string& text : {norm + linear, linear + norm}) {
    const Fusion fusion = apply_fusion_rules(graph, rules_of(text), {});
    CHECK(fused(graph, fusion, "norm_linear") == Names{"norm1", "qkv"});
    CHECK(fused(graph, fusion, "linear_gelu") == Names{"fc", "activation"});
    CHECK(fused(graph, fusion, "projection").back() == "norm2");  // built in: its linear is taken
  }
}

TEST_CASE("rdu fusion: of equal priorities the first rule wins and the other says why it has no match") {
  const OperatorGraph graph = gpt2(1);
  const Fusion fusion = apply_fusion_rules(
      graph,
      rules_of("a: {priority: 1, pattern: {g: {op_type: gelu}}}\nb: {priority: 1, pattern: {g: {op_type: gelu}}}\n"
               "c: {priority: 1, pattern: {s: {op_type: silu}}}\n"),
      {});
  CHECK(fusion.uses[0].matches == 1);
  CHECK(fusion.uses[1].matches == 0);
  CHECK(fusion.uses[1].overlapped);
  CHECK(fusion.uses[2].matches == 0);
  CHECK_FALSE(fusion.uses[2].overlapped);
}

TEST_CASE("rdu fusion: an optional operator is fused where it is, and bridged where it is not") {
  const std::string rule =
      "r: {priority: 1, pattern: {l: {op_type: linear, child: d}, "
      "d: {op_type: dropout, required: false, child: a}, a: {op_type: add}}}\n";
  const OperatorGraph training = gpt2(1, true);
  CHECK(fused(training, apply_fusion_rules(training, rules_of(rule), {}), "r") ==
        Names{"projection", "projection_dropout", "attention_add", "fc2", "ffn_dropout", "ffn_add"});
  const OperatorGraph inference = gpt2(1);
  CHECK(fused(inference, apply_fusion_rules(inference, rules_of(rule), {}), "r") ==
        Names{"projection", "attention_add", "fc2", "ffn_add"});
}

TEST_CASE("rdu fusion: operators that are not included must be there and stay out") {
  const std::string rule =
      "r: {priority: 1, pattern: {g: {op_type: gelu, included: false, child: l}, "
      "l: {op_type: linear, child: a}, a: {op_type: add}}}\n";
  const OperatorGraph graph = gpt2(1);
  CHECK(fused(graph, apply_fusion_rules(graph, rules_of(rule), {}), "r") == Names{"fc2", "ffn_add"});
}

TEST_CASE("rdu fusion: the first option that matches is taken") {
  const auto with = [](const std::string& options) {
    return "r: {priority: 1, pattern: {l: {op_type: linear, child: c}, c: {match_first_option: " + options +
           "}, s: {op_type: silu}, g: {op_type: gelu}, v: {op_type: view}}}\n";
  };
  const OperatorGraph graph = gpt2(1);
  CHECK(fused(graph, apply_fusion_rules(graph, rules_of(with("[s, g, v]")), {}), "r") ==
        Names{"qkv", "query_heads", "fc", "activation"});
}

TEST_CASE("rdu fusion: a match may reach over layers") {
  const std::string rule =
      "r: {priority: 1, pattern: {a: {op_type: add, child: n}, "
      "n: {op_type: layer_norm, child: l}, l: {op_type: linear}}}\n";
  const OperatorGraph graph = gpt2(3);
  const Partition sections = cut(graph, apply_fusion_rules(graph, rules_of(rule), {}));
  const auto across = std::ranges::count_if(sections.sections, [&](const RduSection& section) {
    return graph[section.operators.front()].layer != graph[section.operators.back()].layer;
  });
  CHECK(across == 3);  // twice between layers, and from the last to the head
}

TEST_CASE("rdu fusion: the trace is a graph without cycles whose types rules may name") {
  for (const OperatorGraph& graph : {gpt2(2, true), llama(true)}) {
    const std::vector<TracedOperator> trace = trace_forward(graph, graph.name != "GPT-2");
    CHECK(std::ranges::is_sorted(traced_types()));
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
      CHECK(std::ranges::binary_search(traced_types(), trace[i].type));
      for (const std::uint32_t child : trace[i].children) {
        CHECK(std::ranges::binary_search(trace[child].parents, i));
        CHECK(trace[i].part_of.value() <= trace[child].part_of.value());
      }
    }
  }
}

TEST_CASE("rdu fusion: a pattern with too many readings is given up and not searched for ever") {
  std::string nodes = "n0: {op_type: add, child: n1}";
  for (int i = 1; i < 20; ++i) {
    const std::string name = std::to_string(i);
    nodes += ", n" + name + ": {op_type: add, required: false" +
             (i < 19 ? ", child: n" + std::to_string(i + 1) : std::string()) + "}";
  }
  const OperatorGraph graph = gpt2(1);
  const Fusion fusion = apply_fusion_rules(graph, rules_of("r: {priority: 1, pattern: {" + nodes + "}}\n"), {});
  CHECK(fusion.uses[0].gave_up);
  CHECK(fusion.uses[0].matches == 0);
}

namespace {

const std::string k_gpt2_o1 = R"(
system = "sn30"
[model]
config = "gpt2-xl"
num_hidden_layers = 6
[workload]
sequence_length = 1024
[rdu]
host_model = "profiled"
compile = "python app.py compile -b 16 -o1 --num-tiles 4 --pef-name=gpt"
)";

std::string compile_with(const std::string& flags) {
  return "rdu.compile=\"python app.py compile -b 16 -o1 --num-tiles 4 --pef-name=gpt " + flags + "\"";
}

struct Cut {
  std::size_t sections;
  double step_s;
};

Cut cut_of(const std::vector<std::string>& overrides) {
  const Ran ran = run_of(k_gpt2_o1, overrides);
  const auto& plan = dynamic_cast<const RduPlan&>(*ran.plan.family_plan);
  return {plan.compiled.partition.sections.size(), ran.step_s()};
}

}  // namespace

TEST_CASE("rdu fusion: a file that fuses more has fewer sections and takes less time, one that fuses less more") {
  const TemporaryFolder folder;
  const std::string more = folder.path() + "/more.yaml";
  const std::string less = folder.path() + "/less.yaml";
  // From the merged heads to the end of the layer.
  std::ofstream(more) << "block:\n  priority: 1\n  pattern:\n"
                         "    proj: {op_type: linear, child: d1}\n    d1: {op_type: dropout, child: a1}\n"
                         "    a1: {op_type: add, children: [n, a2]}\n    n: {op_type: layer_norm, child: fc}\n"
                         "    fc: {op_type: linear, child: g}\n    g: {op_type: gelu, child: fc2}\n"
                         "    fc2: {op_type: linear, child: d2}\n    d2: {op_type: dropout, child: a2}\n"
                         "    a2: {op_type: add}\n";
  std::ofstream(less) << "only:\n  priority: 1\n  pattern: {l: {op_type: linear}}\n";
  const Cut built_in = cut_of({});
  const Cut fewer = cut_of({compile_with("--optimization-rules " + more)});
  const Cut many = cut_of({compile_with("--optimization-rules " + less + " --use-o1-default-rules false")});
  const std::string zoo =
      "rdu.compile=\"python rdu_train_llm.py command=compile training.batch_size=16 "
      "samba_compile.optim_level=o1 samba_compile.num_tiles=4 "
      "samba_compile.optimization_rules=" +
      more + "\"";
  CHECK(cut_of({zoo}).sections == fewer.sections);
  CHECK(fewer.sections + 6 == built_in.sections);  // one less in every layer, forward
  CHECK(fewer.step_s < built_in.step_s);
  CHECK(many.sections > built_in.sections);
  CHECK(many.step_s > built_in.step_s);
}

TEST_CASE("rdu fusion: problems of the file and rules without effect reach the user") {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/r.yaml";
  std::ofstream(file) << "idle: {priority: 1, pattern: {s: {op_type: silu}}}\n"
                         "high: {priority: 3, pattern: {g: {op_type: gelu}}}\n"
                         "late: {priority: 2, pattern: {g: {op_type: gelu}}}\n"
                         "part: {priority: 1, pattern: {l: {op_type: linear, child: v}, v: {op_type: view, child: t}, "
                         "t: {op_type: transpose, child: t2}, t2: {op_type: transpose, child: m}, "
                         "m: {op_type: matmul}}}\n";
  const std::string flag = "--optimization-rules " + file;
  const Plan plan = plan_of(k_gpt2_o1, {compile_with(flag)});
  const std::string text = plan.warnings.to_text();
  CAPTURE(text);
  CHECK(text.find(file + ":1:1: warning: idle: matches nothing in this model\n") != std::string::npos);
  CHECK(text.find(file + ":3:1: warning: late: matches only what rules of higher priority have fused\n") !=
        std::string::npos);
  CHECK(text.find(file + ":4:1: warning: part: 6 of its 6 matches are cut: their operators do not follow each other in "
                         "the order of execution\n") != std::string::npos);
  std::ofstream(file) << "idle: 3\n";
  CHECK(problems_of(k_gpt2_o1, {compile_with(flag)}).find(file + ":1:7: idle: is one value") != std::string::npos);
  CHECK(problems_of(k_gpt2_o1, {compile_with("--optimization-rules no_such.yaml")})
            .find("--optimization-rules: cannot read \"no_such.yaml\": no such file") != std::string::npos);
  CHECK(problems_of(k_gpt2_o1, {compile_with("--optimization-rules $RULES")})
            .find("--optimization-rules: holds a variable without value; expected its value in rdu.define") !=
        std::string::npos);
}
