#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sim/config/key_spec.hpp"

using namespace podsim;

namespace {

KeySpec key(std::string path, KeyType type) {
  KeySpec spec;
  spec.path = std::move(path);
  spec.type = type;
  return spec;
}

std::vector<KeySpec> keys() {
  std::vector<KeySpec> all = {key("on", KeyType::boolean),
                              key("count", KeyType::integer),
                              key("share", KeyType::number),
                              key("title", KeyType::text),
                              key("mode", KeyType::choice),
                              key("rate", KeyType::quantity),
                              key("layers", KeyType::integer_list),
                              key("shares", KeyType::number_list),
                              key("either", KeyType::number_or_list),
                              key("file", KeyType::path),
                              key("open", KeyType::table),
                              key("work.batch_size", KeyType::integer),
                              key("work.steps", KeyType::integer)};
  all[1].minimum = 1;
  all[1].maximum = 100;
  all[2].minimum = 0;
  all[4].choices = {"training", "inference", "generation"};
  all[5].unit = "bandwidth";
  all[5].minimum = 1e9;
  all[6].minimum = 0;
  all[7].maximum = 1;
  all[8].minimum = 0;
  all[8].maximum = 1;
  all[11].maximum = 1e6;
  return all;
}

std::string problems(std::string_view text, std::string_view section = "") {
  Diagnostics diagnostics;
  const auto table = parse_toml(text, "f", diagnostics);
  REQUIRE_MESSAGE(table.has_value(), diagnostics.to_text());
  check_keys(*table, section, keys(), diagnostics);
  return diagnostics.to_text();
}

Value json(std::string_view text) {
  Diagnostics diagnostics;
  const auto value = parse_json(text, "f", diagnostics);
  REQUIRE_MESSAGE(value.has_value(), diagnostics.to_text());
  return *value;
}

}  // namespace

TEST_CASE("check keys: valid tables pass") {
  CHECK(problems("") == "");
  CHECK(problems("on = true\ncount = 100\nshare = 0\ntitle = 'x'\nmode = 'training'\nrate = '1 GB/s'\nlayers = []\n"
                 "shares = [1, 0.5]\neither = 0.5\nfile = 'a'\nopen = { any = 1 }\nwork.steps = 3\n") == "");
  CHECK(problems("either = [0, 1.0]\nlayers = [1, 2.0]\ncount = 1.0\n") == "");
}

TEST_CASE("check keys: each mistake is told with its place and what was expected") {
  struct Row {
    std::string text;
    std::string problem;
  };
  const Row table[] = {
      {"on = 1", "f:1:6: on: is an integer; expected true or false\n"},
      {"count = 'x'", "f:1:9: count: is a string; expected an integer\n"},
      {"count = 1.5", "f:1:9: count: 1.5 is not a whole number; expected an integer\n"},
      {"count = 0", "f:1:9: count: 0 is out of range; expected from 1 to 100\n"},
      {"count = 101", "f:1:9: count: 101 is out of range; expected from 1 to 100\n"},
      {"count = 1e300", "f:1:9: count: 1e+300 is out of range; expected from 1 to 100\n"},
      {"work.steps = 1e300", "f:1:14: work.steps: 1e+300 is out of range; expected an integer of 64 bits\n"},
      {"share = true", "f:1:9: share: is a boolean; expected a number\n"},
      {"share = -0.5", "f:1:9: share: -0.5 is out of range; expected at least 0\n"},
      {"title = 3", "f:1:9: title: is an integer; expected a string\n"},
      {"mode = 'trainig'",
       "f:1:8: mode: unknown value \"trainig\"; expected training, inference or generation; did you mean "
       "\"training\"?\n"},
      {"mode = 1", "f:1:8: mode: is an integer; expected training, inference or generation\n"},
      {"rate = 5",
       "f:1:8: rate: 5 has no unit; expected a string with a unit: B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s "
       "or, for bits, Gb/s\n"},
      {"rate = '5'",
       "f:1:8: rate: \"5\" has no unit; units here are B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s or, for bits, "
       "Gb/s\n"},
      {"rate = '5 kB/s'", "f:1:8: rate: 5 kB/s is out of range; expected at least 1 GB/s\n"},
      {"rate = 0", "f:1:8: rate: 0 is out of range; expected at least 1 GB/s\n"},
      {"layers = 3", "f:1:10: layers: is an integer; expected a list of integers\n"},
      {"layers = [1, 'x', 2.5, -1]",
       "f:1:14: layers[1]: is a string; expected an integer\n"
       "f:1:19: layers[2]: 2.5 is not a whole number; expected an integer\n"
       "f:1:24: layers[3]: -1 is out of range; expected at least 0\n"},
      {"shares = 'x'", "f:1:10: shares: is a string; expected a list of numbers\n"},
      {"shares = [2]", "f:1:11: shares[0]: 2 is out of range; expected at most 1\n"},
      {"either = 'x'", "f:1:10: either: is a string; expected a number or a list of numbers\n"},
      {"either = [3]", "f:1:11: either[0]: 3 is out of range; expected from 0 to 1\n"},
      {"either = [[0]]", "f:1:11: either[0]: is a list; expected a number\n"},
      {"file = 3", "f:1:8: file: is an integer; expected a path\n"},
      {"open = 3", "f:1:8: open: is an integer; expected a table\n"},
      {"work.batch_size = 2000000", "f:1:19: work.batch_size: 2000000 is out of range; expected at most 1000000\n"},
      {"work = 3", "f:1:8: work: is an integer; expected a table\n"},
  };
  for (const Row& row : table) {
    CAPTURE(row.text);
    CHECK(problems(row.text) == row.problem);
  }
}

TEST_CASE("check keys: an unknown key is told with the near one") {
  CHECK(problems("cuont = 1") == "f:1:1: cuont: unknown key; did you mean \"count\"?\n");
  CHECK(problems("[work]\nbatchsize = 1") == "f:2:1: work.batchsize: unknown key; did you mean \"batch_size\"?\n");
  CHECK(problems("wrok.steps = 1") == "f:1:1: wrok: unknown key; did you mean \"work\"?\n");
  CHECK(problems("nothing_like_it = 1") ==
        "f:1:1: nothing_like_it: unknown key; expected one of on, count, "
        "share, title, mode, rate, layers, shares, either, file, open, work\n");
}

TEST_CASE("check keys: a key in the wrong table is told where it belongs") {
  CHECK(problems("batch_size = 1") == "f:1:1: batch_size: unknown key; did you mean \"work.batch_size\"?\n");
}

TEST_CASE("check keys: a section's name stands before its keys") {
  CHECK(problems("count = 0\nxyz = 1\nbatch_size = 1", "part") ==
        "f:1:9: part.count: 0 is out of range; expected from 1 to 100\n"
        "f:2:1: part.xyz: unknown key; expected one of on, count, share, title, mode, rate, layers, shares, either, "
        "file, open, work\n"
        "f:3:1: part.batch_size: unknown key; did you mean \"part.work.batch_size\"?\n");
}

TEST_CASE("check keys: a section that is no table is an error") {
  Diagnostics diagnostics;
  check_keys(Value::integer(3, {"f", 2, 1}), "part", keys(), diagnostics);
  CHECK(diagnostics.to_text() == "f:2:1: part: is an integer; expected a table\n");
}

TEST_CASE("check keys: null counts as absent") {
  Diagnostics diagnostics;
  check_keys(json("{\"count\": null, \"open\": null, \"work\": null, \"mode\": null}"), "", keys(), diagnostics);
  CHECK(diagnostics.to_text().empty());
}

TEST_CASE("typed reads: values of the asked type, nothing otherwise") {
  const Value table = json(
      "{\"on\": true, \"n\": 3, \"whole\": 3.0, \"half\": 0.5, \"s\": \"x\", \"ns\": [1, 2.0], \"xs\": [1, 0.5], "
      "\"mixed\": [1, \"x\"], \"null\": null, \"t\": {\"k\": 7}, \"huge\": 1e300, \"rate\": \"64 GB/s\", \"zero\": 0}");
  CHECK(read_boolean(table, "on") == true);
  CHECK(read_boolean(table, "n") == std::nullopt);
  CHECK(read_integer(table, "n") == 3);
  CHECK(read_integer(table, "whole") == 3);
  CHECK(read_integer(table, "half") == std::nullopt);
  CHECK(read_integer(table, "huge") == std::nullopt);
  CHECK(read_integer(table, "t.k") == 7);
  CHECK(read_integer(table, "absent") == std::nullopt);
  CHECK(read_integer(table, "null") == std::nullopt);
  CHECK(read_number(table, "n") == 3.0);
  CHECK(read_number(table, "s") == std::nullopt);
  CHECK(read_text(table, "s") == "x");
  CHECK(read_text(table, "n") == std::nullopt);
  CHECK(read_integers(table, "ns") == std::vector<std::int64_t>{1, 2});
  CHECK(read_integers(table, "xs") == std::nullopt);
  CHECK(read_integers(table, "n") == std::nullopt);
  CHECK(read_numbers(table, "xs") == std::vector<double>{1, 0.5});
  CHECK(read_numbers(table, "mixed") == std::nullopt);
  CHECK(read_quantity(table, "rate", "bandwidth") == 64e9);
  CHECK(read_quantity(table, "rate", "time") == std::nullopt);
  CHECK(read_quantity(table, "zero", "time") == 0.0);
  CHECK(read_quantity(table, "n", "time") == std::nullopt);
}
