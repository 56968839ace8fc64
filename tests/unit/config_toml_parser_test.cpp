#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sim/config/value.hpp"

using namespace podsim;

namespace {

std::string problems(std::string_view text) {
  Diagnostics diagnostics;
  const auto value = parse_toml(text, "f.toml", diagnostics);
  CHECK(value.has_value() == !diagnostics.has_errors());
  return diagnostics.to_text();
}

Value parsed(std::string_view text) {
  Diagnostics diagnostics;
  const auto value = parse_toml(text, "f.toml", diagnostics);
  REQUIRE_MESSAGE(value.has_value(), diagnostics.to_text());
  return *value;
}

Value override_value(std::string_view text) {
  return parse_override_value(text, {"command line", 0, 0});
}

}  // namespace

TEST_CASE("toml: members stand in the order of the text, not of the alphabet") {
  const Value root = parsed("zebra = 1\napple = 2\n[tail.inner]\nx = 1\n[body]\n");
  std::vector<std::string> keys;
  for (const Value::Member& member : root.members()) keys.push_back(member.key);
  CHECK(keys == std::vector<std::string>{"zebra", "apple", "tail", "body"});
}

TEST_CASE("toml: keys, values and elements know their places") {
  const Value root = parsed("a = 1\n[t]\n  names = [ \"x\", 2.5,\n   true ]\nq.r = { k = -3 }\n");
  CHECK(root.members()[0].key_place == Place{"f.toml", 1, 1});
  CHECK(root.find("a")->place() == Place{"f.toml", 1, 5});
  const Value& names = *root.find("t.names");
  CHECK(root.find("t")->members()[0].key_place == Place{"f.toml", 3, 3});
  CHECK(names.place() == Place{"f.toml", 3, 11});
  CHECK(names.elements()[0].place() == Place{"f.toml", 3, 13});
  CHECK(names.elements()[1].place() == Place{"f.toml", 3, 18});
  CHECK(names.elements()[2].place() == Place{"f.toml", 4, 4});
  CHECK(root.find("t.q.r.k")->place() == Place{"f.toml", 5, 13});
  CHECK(root.find("t.q.r.k")->as_integer() == -3);
  CHECK(names.elements()[1].as_number() == 2.5);
  CHECK(names.elements()[2].as_boolean());
}

TEST_CASE("toml: columns count letters, not bytes") {
  CHECK(parsed("\"é\" = 1").find("é")->place() == Place{"f.toml", 1, 7});
}

TEST_CASE("toml: an array of tables is a list of tables") {
  const Value root = parsed("[[axis]]\nkey = 'a'\n[[axis]]\nkey = 'b'\n");
  REQUIRE(root.find("axis")->elements().size() == 2);
  CHECK(root.find("axis")->elements()[1].find("key")->as_string() == "b");
  CHECK(root.find("axis")->elements()[1].find("key")->place() == Place{"f.toml", 4, 7});
}

TEST_CASE("toml: an empty text is an empty table") {
  CHECK(parsed("").members().empty());
}

TEST_CASE("toml: the first syntax error is told with its place") {
  struct Row {
    std::string text;
    std::string problem;
  };
  const Row table[] = {
      {"a = \n", "f.toml:1:5: not valid TOML: key-value pair: expected value, saw '\\n'\n"},
      {"b = 1\na=1\na=2\n", "f.toml:3:3: not valid TOML: key-value pair: cannot redefine existing integer 'a'\n"},
      {"a = \"abc", "f.toml:1:9: not valid TOML: string: encountered end-of-file\n"},
      {"[a\n", "f.toml:1:3: not valid TOML: table header: expected ']', saw '\\n'\n"},
      {"a = \"\xff\"", "f.toml:1:5: not valid TOML: Encountered invalid utf-8 sequence\n"},
      {"k = 99999999999999999999",
       "f.toml:1:25: not valid TOML: decimal integer: '99999999999999999999' is not representable in 64 bits\n"},
  };
  for (const Row& row : table) {
    CAPTURE(row.text);
    CHECK(problems(row.text) == row.problem);
  }
}

TEST_CASE("toml: values that no key takes are refused, all of them") {
  CHECK(problems("x = nan\n[t]\ny = [1.0, -inf]\nd = 1979-05-27\n") ==
        "f.toml:1:5: x: is not a finite number; expected a number\n"
        "f.toml:3:11: t.y[1]: is not a finite number; expected a number\n"
        "f.toml:4:5: t.d: dates and times are not used here; expected a string, number, boolean, list or table\n");
}

TEST_CASE("toml: nesting without end is an error, not a crash") {
  const std::string deep = "a = " + std::string(100000, '[');
  CHECK(problems(deep).starts_with("f.toml:1:"));
}

TEST_CASE("override values: TOML where it is TOML, else the bare text") {
  CHECK(override_value("2").as_integer() == 2);
  CHECK(override_value(" 0.5 ").as_number() == 0.5);
  CHECK(override_value("true").as_boolean());
  CHECK(override_value("\"a b\"").as_string() == "a b");
  CHECK(override_value("fp16.16").as_string() == "fp16.16");
  CHECK(override_value("32 GB/s").as_string() == "32 GB/s");
  CHECK(override_value("[3, 7]").elements().size() == 2);
  CHECK(override_value("{ a = 1 }").find("a")->as_integer() == 1);
  CHECK(override_value("[3, 7").as_string() == "[3, 7");
  CHECK(override_value("").as_string().empty());
  CHECK(override_value("nan").as_string() == "nan");
  CHECK(override_value("2020-01-01").as_string() == "2020-01-01");
}

TEST_CASE("override values: text with a second assignment is no single value") {
  CHECK(override_value("1\nx = 2").as_string() == "1\nx = 2");
}

TEST_CASE("override values: every part stands at the place of the whole") {
  const Place place{"command line", 0, 0};
  const Value value = override_value("[1, { a = [2] }]");
  CHECK(value.place() == place);
  CHECK(value.elements()[1].members()[0].key_place == place);
  CHECK(value.elements()[1].find("a")->elements()[0].place() == place);
}
