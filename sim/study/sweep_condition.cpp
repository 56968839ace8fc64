#include "sim/study/sweep_condition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "sim/units/text.hpp"

namespace podsim {

struct SweepCondition::Node {
  std::string op;    // an operator, "key" or "value"
  std::string text;  // of a key or a text
  std::variant<std::monostate, bool, double, std::string> value;
  std::vector<std::unique_ptr<const Node>> operands;
};

namespace {

using Node = SweepCondition::Node;
using Operand = std::variant<std::monostate, bool, double, std::string>;
using NodePointer = std::unique_ptr<const Node>;

struct Fault {
  std::string problem;
  std::string expected;
};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// Recursive descent; nesting is bounded, so that a text cannot exhaust the stack.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  NodePointer parse() {
    NodePointer root = either();
    if (!peek().empty()) throw Fault{fmt::format("\"{}\" is left over", peek()), "an operator or the end"};
    return root;
  }

 private:
  static constexpr int k_deepest = 100;

  // The next token; empty at the end.
  std::string_view peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    const std::string_view rest = text_.substr(at_);
    if (rest.empty()) return rest;
    if (rest.front() == '"') {
      const std::size_t end = rest.find('"', 1);
      if (end == std::string_view::npos) throw Fault{"a text is not closed", "a \" at its end"};
      return rest.substr(0, end + 1);
    }
    if (is_word(rest.front())) {
      return rest.substr(0,
                         static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), is_word) - rest.begin()));
    }
    for (const std::string_view two : {"==", "!=", "<=", ">="}) {
      if (rest.starts_with(two)) return rest.substr(0, 2);
    }
    return rest.substr(0, 1);
  }

  std::string_view take() {
    const std::string_view token = peek();
    at_ += token.size();
    return token;
  }

  NodePointer binary(NodePointer left, NodePointer (Parser::*next)(),
                     std::initializer_list<std::string_view> operators) {
    while (std::find(operators.begin(), operators.end(), peek()) != operators.end()) {
      auto node = std::make_unique<Node>();
      node->op = std::string(take());
      node->operands.push_back(std::move(left));
      node->operands.push_back((this->*next)());
      left = std::move(node);
    }
    return left;
  }

  NodePointer either() { return binary(both(), &Parser::both, {"or"}); }
  NodePointer both() { return binary(negated(), &Parser::negated, {"and"}); }

  NodePointer negated() {
    if (peek() != "not") return compared();
    take();
    const Depth depth(*this);
    auto node = std::make_unique<Node>();
    node->op = "not";
    node->operands.push_back(negated());
    return node;
  }

  NodePointer compared() {
    NodePointer left = sum();
    for (const std::string_view op : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (peek() != op) continue;
      auto node = std::make_unique<Node>();
      node->op = std::string(take());
      node->operands.push_back(std::move(left));
      node->operands.push_back(sum());
      return node;
    }
    return left;
  }

  NodePointer sum() { return binary(product(), &Parser::product, {"+", "-"}); }
  NodePointer product() { return binary(primary(), &Parser::primary, {"*", "/", "%"}); }

  NodePointer primary() {
    const Depth depth(*this);
    const std::string_view token = take();
    if (token == "(") {
      NodePointer inner = either();
      if (take() != ")") throw Fault{"a parenthesis is not closed", "a ) at its end"};
      return inner;
    }
    auto node = std::make_unique<Node>();
    node->op = "value";
    if (token == "-") {
      node->op = "negative";
      node->operands.push_back(primary());
      return node;
    }
    if (token == "true" || token == "false") {
      node->value = token == "true";
      return node;
    }
    if (!token.empty() && token.front() == '"') {
      node->value = std::string(token.substr(1, token.size() - 2));
      return node;
    }
    return word(std::move(node), token);
  }

  NodePointer word(std::unique_ptr<Node> node, std::string_view token) {
    const bool is_operator = token == "and" || token == "or" || token == "not";
    if (token.empty() || !is_word(token.front()) || is_operator) {
      throw Fault{token.empty() ? "ends too early" : fmt::format("\"{}\" stands where a value should", token),
                  "a key, a number or a text in double quotes"};
    }
    double number = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
    if (error == std::errc() && end == token.data() + token.size()) {
      node->value = number;
      return node;
    }
    node->op = "key";
    node->text = std::string(token);
    return node;
  }

  struct Depth {
    explicit Depth(Parser& of) : parser(of) {
      if (++of.depth_ > k_deepest) throw Fault{"is nested too deeply", "at most a hundred levels"};
    }
    ~Depth() { --parser.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    Parser& parser;
  };

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Operand operand_of(const Value& value, const std::string& key) {
  switch (value.kind()) {
    case Value::Kind::boolean:
      return value.as_boolean();
    case Value::Kind::integer:
    case Value::Kind::floating:
      return value.as_number();
    case Value::Kind::string:
      return value.as_string();
    case Value::Kind::null:
    case Value::Kind::array:
    case Value::Kind::table:
      break;
  }
  throw Fault{fmt::format("\"{}\" is {}", key, kind_name(value.kind())), "a number, a text or a truth value"};
}

double number_of(const Operand& operand, const std::string& op) {
  if (const double* number = std::get_if<double>(&operand)) return *number;
  throw Fault{fmt::format("\"{}\" combines what is no number", op), "numbers on both sides"};
}

bool truth_of(const Operand& operand, const std::string& op) {
  if (const bool* truth = std::get_if<bool>(&operand)) return *truth;
  throw Fault{fmt::format("\"{}\" wants truth values", op), "comparisons"};
}

// Below, equal or above as -1, 0, 1.
int order_of(Operand left, Operand right, const std::string& op) {
  const std::string* a = std::get_if<std::string>(&left);
  const std::string* b = std::get_if<std::string>(&right);
  if (a != nullptr && b != nullptr) {
    const auto first = parse_quantity(*a);
    const auto second = parse_quantity(*b);
    const ParsedQuantity* x = std::get_if<ParsedQuantity>(&first);
    const ParsedQuantity* y = std::get_if<ParsedQuantity>(&second);
    if (x != nullptr && y != nullptr && x->dimension == y->dimension) {
      return x->base_value < y->base_value ? -1 : x->base_value > y->base_value ? 1 : 0;
    }
    if (op != "==" && op != "!=") throw Fault{fmt::format("\"{}\" orders texts", op), "quantities of one dimension"};
    return a->compare(*b);
  }
  if (left.index() != right.index()) {
    throw Fault{fmt::format("\"{}\" compares values of different kinds", op), "two numbers or two texts"};
  }
  return left < right ? -1 : left == right ? 0 : 1;
}

Operand evaluate(const Node& node, const KeyLookup& lookup);

bool compare(const Node& node, const KeyLookup& lookup) {
  const int order = order_of(evaluate(*node.operands[0], lookup), evaluate(*node.operands[1], lookup), node.op);
  if (node.op == "==") return order == 0;
  if (node.op == "!=") return order != 0;
  if (node.op == "<") return order < 0;
  if (node.op == "<=") return order <= 0;
  if (node.op == ">") return order > 0;
  return order >= 0;
}

Operand combine(const Node& node, const KeyLookup& lookup) {
  const double left = number_of(evaluate(*node.operands[0], lookup), node.op);
  const double right = number_of(evaluate(*node.operands[1], lookup), node.op);
  if (node.op == "+") return left + right;
  if (node.op == "-") return left - right;
  if (node.op == "*") return left * right;
  if (right == 0) throw Fault{fmt::format("\"{}\" divides by 0", node.op), "a divisor that is never 0"};
  return node.op == "/" ? left / right : std::fmod(left, right);
}

Operand evaluate(const Node& node, const KeyLookup& lookup) {
  if (node.op == "value") return node.value;
  if (node.op == "key") {
    const Value* value = lookup(node.text);
    if (value == nullptr)
      throw Fault{fmt::format("\"{}\" has no value", node.text), "an axis or a key of the experiment"};
    return operand_of(*value, node.text);
  }
  if (node.op == "negative") return -number_of(evaluate(*node.operands[0], lookup), "-");
  if (node.op == "not") return !truth_of(evaluate(*node.operands[0], lookup), node.op);
  if (node.op == "and" || node.op == "or") {
    const bool left = truth_of(evaluate(*node.operands[0], lookup), node.op);
    if (left == (node.op == "or")) return left;
    return truth_of(evaluate(*node.operands[1], lookup), node.op);
  }
  static constexpr std::string_view k_arithmetic = "+-*/%";
  if (node.op.size() == 1 && k_arithmetic.find(node.op) != std::string_view::npos) return combine(node, lookup);
  return compare(node, lookup);
}

[[noreturn]] void refuse(const Place& place, const std::string& text, const Fault& fault) {
  Diagnostics diagnostics;
  diagnostics.error(place, "sweep.exclude", fmt::format("condition '{}': {}", text, fault.problem), fault.expected);
  throw ConfigError(diagnostics);
}

}  // namespace

SweepCondition::SweepCondition(const Value& text) : text_(text.as_string()), place_(text.place()) {
  try {
    // A chain of operators is a tree as deep as it is long.
    constexpr std::size_t k_longest = 4000;
    if (text_.size() > k_longest) {
      text_.resize(20);
      throw Fault{"is too long", "at most 4,000 characters"};
    }
    root_ = Parser(text_).parse();
  } catch (const Fault& fault) {
    refuse(place_, text_, fault);
  }
}

SweepCondition::SweepCondition(SweepCondition&&) noexcept = default;
SweepCondition& SweepCondition::operator=(SweepCondition&&) noexcept = default;
SweepCondition::~SweepCondition() = default;

bool SweepCondition::holds(const KeyLookup& lookup) const {
  try {
    return truth_of(evaluate(*root_, lookup), "condition");
  } catch (const Fault& fault) {
    refuse(place_, text_, fault);
  }
}

}  // namespace podsim
