#include <doctest/doctest.h>

#include <string>

#include "sim/config/value.hpp"

using namespace podsim;

namespace {

std::string problems(std::string_view text) {
  Diagnostics diagnostics;
  const auto value = parse_json(text, "f.json", diagnostics);
  CHECK(value.has_value() == !diagnostics.has_errors());
  return diagnostics.to_text();
}

Value parsed(std::string_view text) {
  Diagnostics diagnostics;
  const auto value = parse_json(text, "f.json", diagnostics);
  REQUIRE_MESSAGE(value.has_value(), diagnostics.to_text());
  return *value;
}

}  // namespace

TEST_CASE("json: keys, values and elements know their places") {
  const Value root = parsed("{\n \"b\": 1,\n \"\xC3\xA9\\\"\": [1.5, true,\n {\"x\" : null}], \"a\":-3e2}");
  CHECK(root.place() == Place{"f.json", 1, 1});
  CHECK(root.members()[0].key == "b");
  CHECK(root.members()[0].key_place == Place{"f.json", 2, 2});
  CHECK(root.find("b")->place() == Place{"f.json", 2, 7});
  CHECK(root.members()[1].key == "\xC3\xA9\"");
  const Value& list = root.members()[1].value;
  CHECK(list.place() == Place{"f.json", 3, 9});
  CHECK(list.elements()[0].place() == Place{"f.json", 3, 10});
  CHECK(list.elements()[1].place() == Place{"f.json", 3, 15});
  CHECK(list.elements()[2].place() == Place{"f.json", 4, 2});
  CHECK(list.elements()[2].members()[0].key_place == Place{"f.json", 4, 3});
  CHECK(list.elements()[2].find("x")->place() == Place{"f.json", 4, 9});
  CHECK(list.elements()[2].find("x")->is(Value::Kind::null));
  CHECK(root.members()[2].key_place == Place{"f.json", 4, 17});
  CHECK(root.find("a")->as_number() == -300.0);
}

TEST_CASE("json: members keep the order of the text") {
  const Value root = parsed("{\"z\":1,\"a\":{},\"m\":[]}");
  CHECK(root.members()[0].key == "z");
  CHECK(root.members()[1].key == "a");
  CHECK(root.members()[2].key == "m");
}

TEST_CASE("json: a byte order mark does not count as a column") {
  CHECK(parsed("\xEF\xBB\xBF[7]").elements()[0].place() == Place{"f.json", 1, 2});
}

TEST_CASE("json: integers beyond 64 bits become numbers") {
  const Value root =
      parsed("[9223372036854775807, -9223372036854775808, 9223372036854775808, 1000000000000000019884624838656]");
  CHECK(root.elements()[0].as_integer() == INT64_MAX);
  CHECK(root.elements()[1].as_integer() == INT64_MIN);
  CHECK(root.elements()[2].is(Value::Kind::floating));
  CHECK(root.elements()[2].as_number() == 0x1p63);
  CHECK(root.elements()[3].as_number() == 1e30);
}

TEST_CASE("json: every malformed text is an error with its place") {
  struct Row {
    std::string text;
    std::string problem;
  };
  const Row table[] = {
      {"", "f.json:1:1: not valid JSON: the text is empty; expected a JSON value\n"},
      {" \n ", "f.json:2:2: not valid JSON: the text is empty; expected a JSON value\n"},
      {"{\"a\":", "f.json:1:6: a: not valid JSON: the text ends before its value is complete\n"},
      {"{\"a\": [1, 2", "f.json:1:12: a[2]: not valid JSON: the text ends before its value is complete\n"},
      {"[\"abc", "f.json:1:6: [0]: not valid JSON: the text ends before its value is complete\n"},
      {"{\"a\":1,}", "f.json:1:8: not valid JSON: a comma before the closing bracket\n"},
      {"[1,\n2,\n]", "f.json:3:1: [2]: not valid JSON: a comma before the closing bracket\n"},
      {"[1 2]", "f.json:1:4: [1]: not valid JSON: unexpected number literal; expected ']'\n"},
      {"{\"a\" 1}", "f.json:1:6: a: not valid JSON: unexpected number literal; expected ':'\n"},
      {"{\"a\":,}", "f.json:1:6: a: not valid JSON: unexpected ','; expected '[', '{', or a literal\n"},
      {"{a: 1}", "f.json:1:2: not valid JSON: a key without double quotes; expected a string\n"},
      {"{\"a\": 1, 2: 3}", "f.json:1:10: not valid JSON: a key without double quotes; expected a string\n"},
      {"{\"\": x}", "f.json:1:6: not valid JSON: invalid literal\n"},
      {"{\"a\": 1 \"b\": 2}", "f.json:1:9: not valid JSON: unexpected string literal; expected '}'\n"},
      {"[1}", "f.json:1:3: [1]: not valid JSON: unexpected '}'; expected ']'\n"},
      {"1 2", "f.json:1:3: not valid JSON: unexpected number literal; expected end of input\n"},
      {"{} x", "f.json:1:4: not valid JSON: invalid literal\n"},
      {"{\"a\": NaN}", "f.json:1:7: a: not valid JSON: NaN is not a number; expected a finite number\n"},
      {"[Infinity]", "f.json:1:2: [0]: not valid JSON: Infinity is not a number; expected a finite number\n"},
      {"[-Infinity]", "f.json:1:2: [0]: not valid JSON: -Infinity is not a number; expected a finite number\n"},
      {"[1e999]", "f.json:1:2: [0]: not valid JSON: a number beyond the range of numbers; expected a finite number\n"},
      {"[tru]", "f.json:1:2: [0]: not valid JSON: invalid literal\n"},
      {"[01]", "f.json:1:3: [1]: not valid JSON: unexpected number literal; expected ']'\n"},
      {"[1.]", "f.json:1:2: [0]: not valid JSON: invalid number; expected digit after '.'\n"},
      {"[-]", "f.json:1:2: [0]: not valid JSON: invalid number; expected digit after '-'\n"},
      {"// c\n{}", "f.json:1:1: not valid JSON: invalid literal\n"},
      {"['a']", "f.json:1:2: [0]: not valid JSON: invalid literal\n"},
      {"[\"\xff\"]", "f.json:1:3: [0]: not valid JSON: invalid string: ill-formed UTF-8 byte\n"},
      {"\xff", "f.json:1:1: not valid JSON: invalid literal\n"},
      {"[\"\\x\"]", "f.json:1:4: [0]: not valid JSON: invalid string: forbidden character after backslash\n"},
  };
  for (const Row& row : table) {
    CAPTURE(row.text);
    CHECK(problems(row.text) == row.problem);
  }
}

TEST_CASE("json: a key that is written twice is an error, each of them") {
  CHECK(problems("{\"a\":1,\n\"b\":[{\"c\":1,\"c\":2}],\n\"a\":3}") ==
        "f.json:2:13: b[0].c: written twice; the first is in line 2\n"
        "f.json:3:1: a: written twice; the first is in line 1\n");
}

TEST_CASE("json: two hundred levels are read, one more is an error") {
  const std::string deepest = std::string(200, '[') + std::string(200, ']');
  CHECK(problems(deepest).empty());
  CHECK(problems(std::string(201, '[') + std::string(201, ']')) == "f.json:1:201: nested deeper than 200 levels\n");
  CHECK(problems(std::string(1000000, '[')) == "f.json:1:201: nested deeper than 200 levels\n");
}

TEST_CASE("json: every cut of a text is an error and never a crash") {
  const std::string whole = "{\"a\": [1, -2.5e3, \"x\\u00e9\\n\", null], \"b\": {\"c\": false}}";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    CHECK_FALSE(problems(whole.substr(0, length)).empty());
  }
  CHECK(problems(whole).empty());
}
