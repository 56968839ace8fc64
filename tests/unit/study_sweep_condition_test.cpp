#include <doctest/doctest.h>

#include "sim/study/sweep_condition.hpp"

using namespace podsim;

namespace {

const Place k_place{"f.toml", 4, 2};

const Value& sample() {
  static const Value k_document = [] {
    Diagnostics diagnostics;
    return *parse_toml("count = 4\nshare = 0.5\nname = \"x\"\nrate = \"64 GB/s\"\non = true\nlist = [1]\n[a]\nb = 3\n",
                       "f", diagnostics);
  }();
  return k_document;
}

bool holds(const std::string& text) {
  return SweepCondition(Value::string(text, k_place)).holds([](std::string_view key) { return sample().find(key); });
}

std::string told(const std::string& text) {
  try {
    holds(text);
  } catch (const ConfigError& error) {
    return error.diagnostics().to_text();
  }
  return "";
}

}  // namespace

TEST_CASE("sweep condition: arithmetic binds before comparison, and before or, not first of all") {
  CHECK(holds("count * a.b + 1 == 13"));
  CHECK(holds("count - 1 - 1 == 2"));
  CHECK(holds("count % 3 == 1 and not a.b > 3"));
  CHECK(holds("count == 5 or share < 1 and name == \"x\""));
  CHECK_FALSE(holds("(count == 5 or share < 1) and name != \"x\""));
  CHECK(holds("-count / 8 == -0.5"));
  CHECK(holds("on"));
  CHECK(holds("on == true"));
}

TEST_CASE("sweep condition: texts with units compare as quantities") {
  CHECK(holds("rate > \"32000 MB/s\""));
  CHECK(holds("rate == \"0.064 TB/s\""));
  CHECK_FALSE(holds("rate <= \"1 GB/s\""));
}

TEST_CASE("sweep condition: the second operand of and, or is asked only where it matters") {
  CHECK_FALSE(holds("count == 5 and missing == 1"));
  CHECK(holds("count == 4 or missing == 1"));
}

TEST_CASE("sweep condition: faults of writing are told") {
  CHECK(told("count >") ==
        "f.toml:4:2: sweep.exclude: condition 'count >': ends too early; expected a key, a number or a text in double "
        "quotes\n");
  CHECK(told("count 3") ==
        "f.toml:4:2: sweep.exclude: condition 'count 3': \"3\" is left over; expected an operator or the end\n");
  CHECK(told("(count == 3") ==
        "f.toml:4:2: sweep.exclude: condition '(count == 3': a parenthesis is not closed; expected a ) at its end\n");
  CHECK(told("name == \"x") ==
        "f.toml:4:2: sweep.exclude: condition 'name == \"x': a text is not closed; expected a \" at its end\n");
  CHECK(told("count = 3") ==
        "f.toml:4:2: sweep.exclude: condition 'count = 3': \"=\" is left over; expected an operator or the end\n");
  CHECK(told(std::string(200, '(')).find("is nested too deeply; expected at most a hundred levels") !=
        std::string::npos);
}

TEST_CASE("sweep condition: long chains are evaluated, longer ones refused") {
  std::string chain = "1";
  for (int i = 0; i < 1900; ++i) chain += "+1";
  CHECK(holds(chain + " == 1901"));
  CHECK(told(chain + chain) ==
        "f.toml:4:2: sweep.exclude: condition '1+1+1+1+1+1+1+1+1+1+': is too long; expected at most 4,000 "
        "characters\n");
}

TEST_CASE("sweep condition: faults of meaning are told") {
  CHECK(
      told("missing > 1") ==
      "f.toml:4:2: sweep.exclude: condition 'missing > 1': \"missing\" has no value; expected an axis or a key of the "
      "experiment\n");
  CHECK(told("list == 1") ==
        "f.toml:4:2: sweep.exclude: condition 'list == 1': \"list\" is a list; expected a number, a text or a truth "
        "value\n");
  CHECK(told("name > \"a\"") ==
        "f.toml:4:2: sweep.exclude: condition 'name > \"a\"': \">\" orders texts; expected quantities of one "
        "dimension\n");
  CHECK(told("name == 1") ==
        "f.toml:4:2: sweep.exclude: condition 'name == 1': \"==\" compares values of different kinds; expected two "
        "numbers or two texts\n");
  CHECK(told("name * 2 == 1") ==
        "f.toml:4:2: sweep.exclude: condition 'name * 2 == 1': \"*\" combines what is no number; expected numbers on "
        "both sides\n");
  CHECK(told("count / 0 == 1") ==
        "f.toml:4:2: sweep.exclude: condition 'count / 0 == 1': \"/\" divides by 0; expected a divisor that is never "
        "0\n");
  CHECK(told("count") ==
        "f.toml:4:2: sweep.exclude: condition 'count': \"condition\" wants truth values; expected comparisons\n");
}
