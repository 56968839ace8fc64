#include <doctest/doctest.h>

#include <limits>

#include "sim/report/human.hpp"

using namespace podsim;

TEST_CASE("human texts: thousands are grouped by commas") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(-1234567) == "-1,234,567");
}

TEST_CASE("human texts: small shares keep their digits, and only none is nothing") {
  CHECK(human_share(0) == "0 %");
  CHECK(human_share(1e-20) == "practically 0 %");
  CHECK(human_share(3.1e-6) == "0.00031 %");
  CHECK(human_share(0.612) == "61.2 %");
}

TEST_CASE("human texts: numbers have four significant digits and whole ones all of theirs") {
  CHECK(human_number(12288) == "12,288");
  CHECK(human_number(0) == "0");
  CHECK(human_number(263.42) == "263.4");
  CHECK(human_number(-26.342) == "-26.34");
  CHECK(human_number(2.6342) == "2.634");
  CHECK(human_number(999.97) == "1,000");
  CHECK(human_number(1234.6) == "1,235");
  CHECK(human_number(0.5) == "0.5");
  CHECK(human_number(1.25e-7) == "1.25e-07");
  CHECK(human_number(std::numeric_limits<double>::quiet_NaN()) == "-");
}

TEST_CASE("human texts: long times are told in minutes, hours and days") {
  CHECK(human_long_time(2.5) == "2.500 s");
  CHECK(human_long_time(600) == "10 min");
  CHECK(human_long_time(3 * 3600 + 12 * 60) == "3 h 12 min");
  CHECK(human_long_time(2.4 * 86400) == "2.400 days");
}

TEST_CASE("human texts: seconds read back as the decimal text of the picoseconds") {
  CHECK(in_seconds(SimTime(2'917'000'000'001)) == 2.917000000001);
  CHECK(in_seconds(SimTime(1)) == 1e-12);
}

TEST_CASE("human texts: widths count characters and not bytes") {
  CHECK(text_width("µs…") == 3);
  CHECK(fit_width("abcdef", 6) == "abcdef");
  CHECK(fit_width("abcdef", 4) == "abc…");
  CHECK(fit_width("äöüß", 3) == "äö…");
}

TEST_CASE("human texts: lines are broken at blanks") {
  CHECK(wrapped("one two three", 7, 2) == "one two\n  three");
  CHECK(wrapped("unbreakable", 4, 2) == "unbreakable");
  CHECK(wrapped("", 4, 2).empty());
}

TEST_CASE("human texts: every dimension of a constant has its base unit") {
  CHECK(base_unit("bandwidth") == "byte/s");
  CHECK(base_unit("time") == "s");
  CHECK(base_unit("number").empty());
}

TEST_CASE("human: what is beyond a quadrillion has an exponent") {
  CHECK(human_percent(2e15) == "2e+15 %");
  CHECK(human_percent(1e300) == "1e+300 %");
  CHECK(human_long_time(8.64e304) == "1e+300 days");
}

TEST_CASE("lines: a text is broken at blanks, a key behind its parts, a long word anywhere") {
  CHECK(broken_lines("one two three", 8) == std::vector<std::string>{"one two", "three"});
  CHECK(broken_lines("ipu.replication_factor", 12) == std::vector<std::string>{"ipu.", "replication_", "factor"});
  CHECK(broken_lines("abcdefgh", 3) == std::vector<std::string>{"abc", "def", "gh"});
  CHECK(broken_lines("", 3) == std::vector<std::string>{""});
  CHECK(broken_lines("\xC3\xA9\xC3\xA9\xC3\xA9", 2) == std::vector<std::string>{"\xC3\xA9\xC3\xA9", "\xC3\xA9"});
}

TEST_CASE("lines: what fits stays, what does not goes on two columns to the right") {
  CHECK(within_width("short\n  also short\n", 12) == "short\n  also short\n");
  CHECK(within_width("  one two three four\n", 12) == "  one two\n    three\n    four\n");
  CHECK(within_width(std::string(25, 'x'), 10) == "xxxxxxxxxx\n  xxxxxxxx\n  xxxxxxx");
  CHECK(within_width("a\x1b[31mb", 10) == "a?[31mb");
}
