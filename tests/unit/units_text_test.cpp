#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "sim/units/text.hpp"

using namespace podsim;

namespace {

struct Good {
  const char* text;
  double base_value;
  const char* dimension;
};

struct Bad {
  const char* text;
  const char* problem;
};

std::string problem_of(const std::string& text) {
  const auto parsed = parse_quantity(text);
  const auto* problem = std::get_if<std::string>(&parsed);
  return problem == nullptr ? "none" : *problem;
}

std::string problem_of(const std::string& text, const std::string& dimension) {
  const auto parsed = parse_quantity_of(text, dimension);
  const auto* problem = std::get_if<std::string>(&parsed);
  return problem == nullptr ? "none" : *problem;
}

}  // namespace

TEST_CASE("quantity text: every dimension is read into its base unit") {
  const Good table[] = {
      {"2 s", 2, "time"},
      {"3 ms", 3e-3, "time"},
      {"12us", 12e-6, "time"},
      {"12 \xC2\xB5s", 12e-6, "time"},
      {"12 \xCE\xBCs", 12e-6, "time"},
      {"3 ns", 3e-9, "time"},
      {"5 ps", 5e-12, "time"},
      {"1.5 min", 90, "time"},
      {"2 h", 7200, "time"},
      {"17 B", 17, "data"},
      {"4 kB", 4000, "data"},
      {"4 KiB", 4096, "data"},
      {"624 KiB", 624.0 * 1024, "data"},
      {"897 MiB", 897.0 * 1024 * 1024, "data"},
      {"2 GiB", 2147483648.0, "data"},
      {"1 TiB", 1099511627776.0, "data"},
      {"64 GB/s", 64e9, "bandwidth"},
      {"64 GB / s", 64e9, "bandwidth"},
      {"1 MiB/s", 1048576, "bandwidth"},
      {"100 Gb/s", 12.5e9, "bandwidth"},
      {"8 b/s", 1, "bandwidth"},
      {"1.85 GHz", 1.85e9, "clock"},
      {"350 TFLOP/s", 350e12, "flop_rate"},
      {"2 EFLOP", 2e18, "flop_count"},
      {"300 W", 300, "power"},
      {"1.5 kW", 1500, "power"},
      {"25 pJ", 25e-12, "energy"},
      {"3 J", 3, "energy"},
      {"715 cycles", 715, "cycles"},
      {"1 cycle", 1, "cycles"},
      {"1472", 1472, "number"},
      {"-0.5", -0.5, "number"},
      {".5 h", 1800, "time"},
      {" \t1e3 B ", 1000, "data"},
      {"0", 0, "number"},
  };
  for (const Good& row : table) {
    CAPTURE(row.text);
    const auto parsed = parse_quantity(row.text);
    REQUIRE(std::holds_alternative<ParsedQuantity>(parsed));
    CHECK(std::get<ParsedQuantity>(parsed).base_value == row.base_value);
    CHECK(std::get<ParsedQuantity>(parsed).dimension == row.dimension);
  }
}

TEST_CASE("quantity text: each mistake is named") {
  const Bad table[] = {
      {"", "an empty text is not a quantity"},
      {"   ", "an empty text is not a quantity"},
      {"fast", "\"fast\" does not begin with a number"},
      {"inf", "\"inf\" does not begin with a number"},
      {"nan s", "\"nan s\" does not begin with a number"},
      {"-", "\"-\" does not begin with a number"},
      {"--3", "\"--3\" does not begin with a number"},
      {"+3", "\"+3\" does not begin with a number"},
      {".", "\".\" does not begin with a number"},
      {"1e999 s", "\"1e999 s\" is beyond the range of numbers"},
      {"1e308 PB", "\"1e308 PB\" is beyond the range of numbers"},
      {"-3 ms", "\"-3 ms\" is negative"},
      {"12 parsecs", "unknown unit \"parsecs\""},
      {"1,000 B", "unknown unit \",000 B\""},
      {"3 ms later", "unknown unit \"ms later\""},
      {"0x10", "unknown unit \"x10\""},
      {"5 KB", "unknown unit \"KB\", did you mean \"kB\"?"},
      {"5 kiB", "unknown unit \"kiB\""},
      {"100 Gb", "\"Gb\" counts bits, which stand in rates only; write B for bytes"},
      {"8 b", "\"b\" counts bits, which stand in rates only; write B for bytes"},
      {"3 flops", "\"flops\" is not a unit; write FLOP for a count or FLOP/s for a rate"},
      {"3 FLOPS", "\"FLOPS\" is not a unit; write FLOP for a count or FLOP/s for a rate"},
      {"350 TFLOPs", "\"TFLOPs\" is not a unit; write TFLOP for a count or TFLOP/s for a rate"},
      {"350 Tflop/s", "\"Tflop/s\" is not a unit; write TFLOP for a count or TFLOP/s for a rate"},
      {"3 xflops", "unknown unit \"xflops\""},
      {"1 a\nb", "unknown unit \"a?b\""},
  };
  for (const Bad& row : table) {
    CAPTURE(row.text);
    CHECK(problem_of(row.text) == row.problem);
  }
  // Long texts are cut between letters: 39 of them, then a letter of two bytes across the limit of 40.
  CHECK(problem_of("1 " + std::string(39, 'x') + "\xC3\xA9y") == "unknown unit \"" + std::string(39, 'x') + "…\"");
}

TEST_CASE("quantity text: a wanted dimension names its units when they are missing or wrong") {
  CHECK(std::get<double>(parse_quantity_of("64 GB/s", "bandwidth")) == 64e9);
  CHECK(std::get<double>(parse_quantity_of("0", "bandwidth")) == 0);
  CHECK(problem_of("64", "time") == "\"64\" has no unit; units here are s, ms, us, ns, ps, min, h or days");
  CHECK(problem_of("64 GB", "clock") == "\"64 GB\" has the wrong unit; units here are Hz, kHz, MHz or GHz");
  CHECK(problem_of("64 Gz", "clock") == "unknown unit \"Gz\"; units here are Hz, kHz, MHz or GHz");
  CHECK(problem_of("-1 s", "time") == "\"-1 s\" is negative");
  CHECK(problem_of("3 flops", "flop_rate") == "\"flops\" is not a unit; write FLOP for a count or FLOP/s for a rate");
}

TEST_CASE("quantity text: the units that messages name are units of that dimension") {
  for (const std::string dimension :
       {"time", "data", "bandwidth", "clock", "flop_rate", "flop_count", "power", "energy", "cycles"}) {
    std::string units = accepted_units(dimension);
    REQUIRE_FALSE(units.empty());
    for (char& c : units) c = c == ',' ? ' ' : c;
    for (std::size_t begin = 0; begin < units.size();) {
      const std::size_t end = std::min(units.find(' ', begin), units.size());
      const std::string word = units.substr(begin, end - begin);
      begin = end + 1;
      if (word.empty() || word == "or" || word == "for" || word == "bits") continue;
      CAPTURE(word);
      CHECK(std::holds_alternative<double>(parse_quantity_of("1 " + word, dimension)));
    }
  }
  CHECK(accepted_units("mood").empty());
}

TEST_CASE("formatting: times take a scaled unit and four digits") {
  CHECK(format_time(seconds(0)) == "0 s");
  CHECK(format_time(seconds(93.247)) == "93.25 s");
  CHECK(format_time(seconds(0.0123449)) == "12.34 ms");
  CHECK(format_time(seconds(0.99996)) == "1 s");
  CHECK(format_time(seconds(4.2e-6)) == "4.2 us");
  CHECK(format_time(seconds(0.75e-9)) == "750 ps");
  CHECK(format_time(seconds(7.5e-9)) == "7.5 ns");
  CHECK(format_time(seconds(600)) == "10 min");
  CHECK(format_time(seconds(3600 * 53.26)) == "53.26 h");
  CHECK(format_time(seconds(-0.5)) == "-500 ms");
  CHECK(format_time(SimTime(1500)) == "1.5 ns");
}

TEST_CASE("formatting: bytes take binary prefixes, all else decimal ones") {
  CHECK(format_bytes(Bytes(0)) == "0 B");
  CHECK(format_bytes(Bytes(1023)) == "1023 B");
  CHECK(format_bytes(Bytes(1024)) == "1 KiB");
  CHECK(format_bytes(Bytes(897LL << 20)) == "897 MiB");
  CHECK(format_bytes(Bytes((1LL << 30) - 1)) == "1 GiB");
  CHECK(format_bytes(Bytes(-2048)) == "-2 KiB");
  CHECK(format_bytes(Bytes(std::numeric_limits<std::int64_t>::max())) == "8 EiB");
  CHECK(format_bandwidth(bytes_per_second(64e9)) == "64 GB/s");
  CHECK(format_bandwidth(bytes_per_second(999.96e6)) == "1 GB/s");
  CHECK(format_rate(flop_per_second(3.4965e14)) == "349.6 TFLOP/s");
  CHECK(format_clock(hertz(1.325e9)) == "1.325 GHz");
  CHECK(format_count(flop(1.23456e16)) == "12.35 PFLOP");
  CHECK(format_count(334123456.0) == "334.1 M");
  CHECK(format_count(76.0) == "76");
  CHECK(format_count(1e24) == "1000000 E");
}

TEST_CASE("formatting: a quantity is written in the units of its dimension") {
  CHECK(format_quantity(1e9, "bandwidth") == "1 GB/s");
  CHECK(format_quantity(2048, "data") == "2 KiB");
  CHECK(format_quantity(0.5, "data") == "0.5 B");
  CHECK(format_quantity(0.001, "time") == "1 ms");
  CHECK(format_quantity(2e9, "clock") == "2 GHz");
  CHECK(format_quantity(1e12, "flop_rate") == "1 TFLOP/s");
  CHECK(format_quantity(1e12, "flop_count") == "1 TFLOP");
  CHECK(format_quantity(300, "power") == "300 W");
  CHECK(format_quantity(3, "energy") == "3 J");
  CHECK(format_quantity(715, "cycles") == "715 cycles");
  CHECK(format_quantity(0.1, "number") == "0.1");
}

TEST_CASE("formatting: what is written is read back within half a unit of the fourth digit") {
  for (double value = 1.2345e-11; value < 1e7; value *= 3.7) {
    CAPTURE(value);
    const double back = std::get<double>(parse_quantity_of(format_time(seconds(value)), "time"));
    CHECK(std::abs(back - value) <= 5.0001e-4 * value);
  }
  for (double value = 1.2345; value < 1e18; value *= 3.7) {
    CAPTURE(value);
    const double back = std::get<double>(parse_quantity_of(format_bandwidth(bytes_per_second(value)), "bandwidth"));
    CHECK(std::abs(back - value) <= 5.0001e-4 * value);
  }
}

TEST_CASE("formatting: the shortest decimal reads back the same") {
  CHECK(format_number(0.1) == "0.1");
  CHECK(format_number(1) == "1");
  CHECK(format_number(1e300) == "1e+300");
  CHECK(format_number(-2.5) == "-2.5");
  CHECK(format_number(5e-324) == "5e-324");
  CHECK(format_number(std::numeric_limits<double>::max()) == "1.7976931348623157e+308");
  CHECK(format_significant(0.123456) == "0.1235");
  CHECK(format_significant(123456.7) == "123457");
}
