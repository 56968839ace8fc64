#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include "sim/core/check.hpp"
#include "sim/core/json_writer.hpp"
#include "sim/core/utf8.hpp"

using namespace podsim;

TEST_CASE("json writer: nested levels are indented by two spaces, empty ones stay on their line") {
  JsonWriter json;
  json.begin_object();
  json.member("name", "x");
  json.key("list");
  json.begin_array();
  json.value(1);
  json.value(2.5);
  json.null();
  json.end_array();
  json.key("none");
  json.begin_array();
  json.end_array();
  json.key("empty");
  json.begin_object();
  json.end_object();
  json.member("yes", true);
  json.end_object();
  CHECK(json.text() ==
        "{\n  \"name\": \"x\",\n  \"list\": [\n    1,\n    2.5,\n    null\n  ],\n  \"none\": [],\n  \"empty\": {},\n"
        "  \"yes\": true\n}\n");
}

TEST_CASE("json writer: the compact layout has the same values on one line") {
  JsonWriter json(JsonLayout::compact);
  json.begin_object();
  json.member("name", "x");
  json.key("list");
  json.begin_array();
  json.value(1);
  json.null();
  json.end_array();
  json.end_object();
  CHECK(json.text() == "{\"name\":\"x\",\"list\":[1,null]}\n");
}

TEST_CASE("json writer: numbers are exact and shortest") {
  JsonWriter json;
  json.begin_array();
  json.value(0.1);
  json.value(1e300);
  json.value(std::int64_t{INT64_MIN});
  json.value(std::uint32_t{4294967295u});
  json.value(1.0 / 3.0);
  json.end_array();
  CHECK(json.text() == "[\n  0.1,\n  1e+300,\n  -9223372036854775808,\n  4294967295,\n  0.3333333333333333\n]\n");
}

TEST_CASE("json writer: strings are escaped and always valid UTF-8") {
  CHECK(json_quoted("a\"b\\c\n\t\r\b\f") == "\"a\\\"b\\\\c\\n\\t\\r\\b\\f\"");
  CHECK(json_quoted(std::string_view("\0\x1f\x7f", 3)) == "\"\\u0000\\u001f\x7f\"");
  CHECK(json_quoted("µ€𝄞") == "\"µ€𝄞\"");
  CHECK(json_quoted("a\xff"
                    "b\xe2\x82") ==
        "\"a\xEF\xBF\xBD"
        "b\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST_CASE("json writer: misuse is our fault") {
  JsonWriter json;
  CHECK_THROWS_AS(json.key("k"), InternalError);
  CHECK_THROWS_AS(json.text(), InternalError);
  json.begin_object();
  CHECK_THROWS_AS(json.value(1), InternalError);
  CHECK_THROWS_AS(json.end_array(), InternalError);
  json.key("k");
  CHECK_THROWS_AS(json.key("l"), InternalError);
  CHECK_THROWS_AS(json.end_object(), InternalError);
  CHECK_THROWS_AS(json.value(std::numeric_limits<double>::quiet_NaN()), InternalError);
  CHECK_THROWS_AS(json.value(std::numeric_limits<double>::infinity()), InternalError);
  CHECK_THROWS_AS(json.value(UINT64_MAX), InternalError);
  json.value(1);
  json.end_object();
  CHECK_THROWS_AS(json.value(1), InternalError);
  CHECK(json.text() == "{\n  \"k\": 1\n}\n");
}

TEST_CASE("utf8: well-formed sequences have a length, all others none") {
  CHECK(utf8_length_at("a", 0) == 1);
  CHECK(utf8_length_at("\xC3\xA9", 0) == 2);
  CHECK(utf8_length_at("x\xE2\x82\xAC", 1) == 3);
  CHECK(utf8_length_at("\xF0\x9D\x84\x9E", 0) == 4);
  for (const std::string_view bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                                     "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xC3", "\xE2\x28\xA1"}) {
    CAPTURE(json_quoted(bad));
    CHECK(utf8_length_at(bad, 0) == 0);
  }
}
