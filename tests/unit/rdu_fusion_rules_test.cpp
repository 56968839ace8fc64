// Reading files of fusion rules: what is kept, and what is refused with which words.

#include <doctest/doctest.h>

#include <string>

#include "models/rdu/fusion_rules.hpp"

using namespace podsim;
using namespace podsim::rdu;

namespace {

std::string problems(const std::string& text) {
  Diagnostics diagnostics;
  const bool read = read_fusion_rules(text, "r.yaml", diagnostics).has_value();
  CHECK(read == !diagnostics.has_errors());
  return diagnostics.to_text();
}

std::string with_pattern(const std::string& nodes) {
  return "fused:\n  priority: 1\n  pattern:\n" + nodes;
}

}  // namespace

TEST_CASE("rdu fusion rules: all that a rule may say is read") {
  const std::string text =
      "first:\n"
      "  priority: 2.5\n"
      "  pattern:\n"
      "    norm: {op_type: layer_norm, child: either, included: false}\n"
      "    either: {match_first_option: [lin, add]}\n"
      "    lin: {op_type: [linear, matmul], children: [drop]}\n"
      "    add: {op_type: add, child: drop}\n"
      "    drop: {op_type: dropout, required: false}\n"
      "second:\n"
      "  pattern: {one: {op_type: linear}}\n"
      "  priority: -1\n";
  Diagnostics diagnostics;
  const auto rules = read_fusion_rules(text, "r.yaml", diagnostics);
  INFO(diagnostics.to_text());
  REQUIRE(rules.has_value());
  REQUIRE(rules->size() == 2);
  const FusionRule& rule = rules->front();
  CHECK(rule.name == "first");
  CHECK(rule.priority == 2.5);
  CHECK(rule.place == Place{"r.yaml", 1, 1});
  REQUIRE(rule.nodes.size() == 5);
  CHECK_FALSE(rule.nodes[0].included);
  CHECK(rule.nodes[0].children == std::vector<std::uint32_t>{1});
  CHECK(rule.nodes[1].options == std::vector<std::uint32_t>{2, 3});
  CHECK(rule.nodes[2].types == std::vector<std::string>{"linear", "matmul"});
  CHECK_FALSE(rule.nodes[4].required);
  CHECK(rule.nodes[4].included);
  CHECK(rules->back().priority == -1);
}

TEST_CASE("rdu fusion rules: the first heuristic of a file is told to have no effect") {
  const std::string pattern = "  pattern: {one: {op_type: linear}}\n";
  CHECK(problems("a:\n  priority: 1\n  heuristic: MHA\n" + pattern +
                 "b:\n  priority: 1\n  heuristic: {name: SAFE_GEMM, tp_dim: Auto}\n" + pattern) ==
        "r.yaml:3:3: warning: a.heuristic: has no effect: heuristics choose the mapping inside a section, which is not "
        "modelled\n");
}

TEST_CASE("rdu fusion rules: each mistake is told with its place") {
  struct Case {
    const char* text;
    const char* problem;
  };
  const Case cases[] = {
      {"", "r.yaml:1:1: is nothing; expected a map of rules\n"},
      {"- a\n", "r.yaml:1:1: is a list; expected a map of rules\n"},
      {"a: 3\n", "r.yaml:1:4: a: is one value; expected a map with priority and pattern\n"},
      {"a:\n", "r.yaml:1:1: a: is nothing; expected a map with priority and pattern\n"},
      {"a: {pattern: {x: {op_type: linear}}}\n", "r.yaml:1:1: a.priority: is missing; expected a number\n"},
      {"a: {priority: 1}\n", "r.yaml:1:1: a.pattern: is missing; expected a map of operators\n"},
      {"a: {priority: high, pattern: {x: {op_type: linear}}}\n",
       "r.yaml:1:15: a.priority: \"high\" is no number; expected a number\n"},
      {"a: {priority: .inf, pattern: {x: {op_type: linear}}}\n",
       "r.yaml:1:15: a.priority: \".inf\" is no number; expected a number\n"},
      {"a: {priority: 1, patern: {}, pattern: {x: {op_type: linear}}}\n",
       "r.yaml:1:18: a.patern: unknown key; expected one of priority, heuristic, pattern; did you mean \"pattern\"?\n"},
      {"a: {priority: 1, pattern: {x: {op_type: linear}}}\na: {priority: 1, pattern: {x: {op_type: linear}}}\n",
       "r.yaml:2:1: warning: a: is there already, in line 1: that one counts; expected each name once\n"},
      {"a: {priority: 1, heuristic: {tp_dim: Auto}, pattern: {x: {op_type: linear}}}\n",
       "r.yaml:1:18: a.heuristic.name: is missing; expected the heuristic's name\n"
       "r.yaml:1:18: warning: a.heuristic: has no effect: heuristics choose the mapping inside a section, which is not "
       "modelled\n"},
      {"a: {priority: 1, pattern: {x: {op_type: linear}}}\n---\nb: {}\n",
       "r.yaml:3:1: a second document; expected one document of rules\n"},
      {"a: b: c\n", "r.yaml:1:5: cannot be read as YAML: illegal map value; expected a map of rules\n"},
      {"a: *b\n",
       "r.yaml:1:4: cannot be read as YAML: the referenced anchor is not defined; expected a map of rules\n"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.text);
    CHECK(problems(one.text) == one.problem);
  }
}

TEST_CASE("rdu fusion rules: each mistake in a pattern is told with its place") {
  struct Case {
    const char* nodes;
    const char* problem;
  };
  const Case cases[] = {
      {"    x: {op_type: linaer}\n",
       "r.yaml:4:18: fused.pattern.x.op_type: no operator is of type \"linaer\"; expected a type such as linear, "
       "layer_norm or matmul; did you mean \"linear\"?\n"},
      {"    x: {op_type: linear, chlid: y}\n    y: {op_type: add}\n",
       "r.yaml:4:26: fused.pattern.x.chlid: unknown key; expected one of op_type, child, children, required, included, "
       "match_first_option; did you mean \"child\"?\n"},
      {"    x: {op_type: linear, child: add1}\n    add2: {op_type: add}\n",
       "r.yaml:4:33: fused.pattern.x.child: the pattern has no \"add1\"; expected a name in the same pattern; did you "
       "mean \"add2\"?\n"},
      {"    x: {op_type: linear, child: [y]}\n    y: {op_type: add}\n",
       "r.yaml:4:33: fused.pattern.x.child: is a list; expected the name of one operator; several stand in children\n"},
      {"    x: {op_type: linear, children: y}\n    y: {op_type: add}\n",
       "r.yaml:4:36: fused.pattern.x.children: is one value; expected a list of names\n"},
      {"    x: {op_type: linear, children: [y, y]}\n    y: {op_type: add}\n",
       "r.yaml:4:40: fused.pattern.x.children: \"y\" is there already; expected each once\n"},
      {"    x: {op_type: linear, child: y, children: [y]}\n    y: {op_type: add}\n",
       "r.yaml:4:36: fused.pattern.x.children: stands beside child; expected one of them\n"},
      {"    x: {op_type: linear, required: maybe}\n",
       "r.yaml:4:36: fused.pattern.x.required: is \"maybe\"; expected true or false\n"},
      {"    x: {child: y}\n    y: {op_type: add}\n",
       "r.yaml:4:5: fused.pattern.x.op_type: is missing; expected the type of an operator, or a list of types\n"},
      {"    x: {op_type: add, match_first_option: [y]}\n    y: {op_type: add}\n",
       "r.yaml:4:9: fused.pattern.x.op_type: stands beside match_first_option; expected one of them\n"},
      {"    x: {op_type: linear}\n    x: {op_type: add}\n",
       "r.yaml:5:5: fused.pattern.x: is there already, in line 4; expected each name once\n"},
      {"    x: {op_type: linear, child: y}\n    y: {op_type: add, child: z}\n    z: {op_type: add, child: y}\n",
       "r.yaml:5:5: fused.pattern.y: is among its own descendants; expected operators without a cycle\n"},
      {"    x: {op_type: linear}\n    y: {op_type: add}\n",
       "r.yaml:5:5: fused.pattern.y: is not connected to \"x\"; expected one connected pattern\n"},
      {"    x: {op_type: linear, included: false}\n",
       "r.yaml:1:1: fused.pattern: fuses nothing: no operator is included; expected at least one\n"},
      {"    x: {op_type: linear, required: false}\n",
       "r.yaml:1:1: fused.pattern: has no operator that is required; expected at least one\n"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.nodes);
    CHECK(problems(with_pattern(one.nodes)) == one.problem);
  }
}

TEST_CASE("rdu fusion rules: all mistakes of a file are told at once") {
  CHECK(problems("a: {priority: x, pattern: {n: {op_type: no_such, child: elsewhere}}}\nb: 1\n") ==
        "r.yaml:1:15: a.priority: \"x\" is no number; expected a number\n"
        "r.yaml:1:41: a.pattern.n.op_type: no operator is of type \"no_such\"; expected a type such as linear, "
        "layer_norm or matmul\n"
        "r.yaml:1:57: a.pattern.n.child: the pattern has no \"elsewhere\"; expected a name in the same pattern\n"
        "r.yaml:2:4: b: is one value; expected a map with priority and pattern\n");
}

TEST_CASE("rdu fusion rules: sizes are capped and deep or circular text is refused") {
  std::string rules;
  for (int i = 0; i < 257; ++i) rules += "r" + std::to_string(i) + ": {priority: 1, pattern: {x: {op_type: add}}}\n";
  CHECK(problems(rules) == "r.yaml:257:1: 257 rules; expected at most 256\n");
  std::string nodes;
  for (int i = 0; i < 257; ++i) nodes += "    n" + std::to_string(i) + ": {op_type: add}\n";
  CHECK(problems(with_pattern(nodes)) == "r.yaml:260:5: fused.pattern: 257 operators; expected at most 256\n");
  CHECK(problems(std::string(300000, ' ')) == "r.yaml:1:1: 300000 bytes of fusion rules; expected at most 262144\n");
  CHECK(problems(std::string(129, 'a') + ": {}\n") == "r.yaml:1:1: a name of 129 characters; expected 1 to 128\n");
  for (const char* piece : {"[", "? ", "- ", "{a: "}) {
    std::string deep;
    for (int i = 0; i < 5000; ++i) deep += piece;
    CHECK(problems(deep).find("cannot be read as YAML") != std::string::npos);
  }
  CHECK(problems("&a {x: *a}\n").find("x.x: unknown key") != std::string::npos);
}
