#include <doctest/doctest.h>

#include "sim/config/value.hpp"
#include "sim/core/check.hpp"

using namespace podsim;

namespace {
const Place k_here{"f", 1, 2};
}

TEST_CASE("value: every kind gives back what it was made of") {
  CHECK(Value().is(Value::Kind::null));
  CHECK(Value::boolean(true, k_here).as_boolean());
  CHECK(Value::integer(7, k_here).as_integer() == 7);
  CHECK(Value::integer(7, k_here).as_number() == 7.0);
  CHECK(Value::floating(0.5, k_here).as_number() == 0.5);
  CHECK(Value::string("s", k_here).as_string() == "s");
  CHECK(Value::array({Value::integer(1, k_here)}, k_here).elements().size() == 1);
  CHECK(Value::table(k_here).members().empty());
  CHECK(Value::string("s", k_here).place() == k_here);
}

TEST_CASE("value: access as another kind is our fault") {
  const Value value = Value::floating(1.0, k_here);
  CHECK_THROWS_AS(value.as_boolean(), InternalError);
  CHECK_THROWS_AS(value.as_integer(), InternalError);
  CHECK_THROWS_AS(value.as_string(), InternalError);
  CHECK_THROWS_AS(value.elements(), InternalError);
  CHECK_THROWS_AS(value.members(), InternalError);
  CHECK_THROWS_AS(Value().as_number(), InternalError);
  Value number = Value::integer(1, k_here);
  CHECK_THROWS_AS(number.add("k", k_here, Value()), InternalError);
}

TEST_CASE("value: a path is set through missing tables and found again") {
  Value root = Value::table(k_here);
  root.set("a.b.c", Value::integer(1, k_here));
  root.set("a.d", Value::integer(2, k_here));
  root.set("a.b.c", Value::integer(3, {"g", 5, 6}));
  REQUIRE(root.find("a.b.c") != nullptr);
  CHECK(root.find("a.b.c")->as_integer() == 3);
  CHECK(root.find("a.b")->members().front().key_place == Place{"g", 5, 6});
  CHECK(root.find("a")->members().size() == 2);
  CHECK(root.find("a.x") == nullptr);
  CHECK(root.find("a.d.e") == nullptr);
  CHECK(Value::integer(1, k_here).find("a") == nullptr);
}

TEST_CASE("value: a path set through a plain value replaces it by a table") {
  Value root = Value::table(k_here);
  root.set("a", Value::integer(1, k_here));
  root.set("a.b", Value::integer(2, k_here));
  CHECK(root.find("a.b")->as_integer() == 2);
}

TEST_CASE("value: kinds have names for messages") {
  CHECK(kind_name(Value::Kind::null) == "null");
  CHECK(kind_name(Value::Kind::boolean) == "a boolean");
  CHECK(kind_name(Value::Kind::integer) == "an integer");
  CHECK(kind_name(Value::Kind::floating) == "a number");
  CHECK(kind_name(Value::Kind::string) == "a string");
  CHECK(kind_name(Value::Kind::array) == "a list");
  CHECK(kind_name(Value::Kind::table) == "a table");
}
