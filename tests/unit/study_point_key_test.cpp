#include <doctest/doctest.h>

#include "sim/core/random.hpp"
#include "sim/core/sha256.hpp"
#include "sim/study/point_key.hpp"

using namespace podsim;

TEST_CASE("point key: the hash of all values and a cell for each, whatever the points before") {
  const Place place{"sweep.toml", 3, 5};
  const std::vector<std::string> keys{"workload.micro_batch_size", "ipu.layers_per_ipu", "system"};
  const std::vector<Value> sizes{Value::integer(1, place), Value::integer(2, place)};
  const std::vector<Value> lists{Value::array({Value::integer(3, place), Value::integer(7, place)}, place),
                                 Value::array({Value::integer(4, place)}, place)};
  const std::vector<std::string> list_texts{"[3, 7]", "[4]"};
  const std::vector<Value> systems{Value::string("pod4", place), Value::string("pod16", place)};
  PointKey point(keys);
  Random random(3);
  for (int i = 0; i < 100; ++i) {
    const std::size_t size = random.below(2);
    const std::size_t list = random.below(2);
    const std::size_t system = random.below(2);
    point.take({sizes[size], lists[list], systems[system]});
    const std::string lines = "workload.micro_batch_size = " + std::to_string(size + 1) +
                              "\nipu.layers_per_ipu = " + list_texts[list] +
                              "\nsystem = " + (system == 0 ? "\"pod4\"" : "\"pod16\"") + "\n";
    CHECK(point.text() == sha256_hex(lines).substr(0, 16));
    std::vector<Cell> row{Cell(true)};
    point.add_cells(row);
    CHECK(row == std::vector<Cell>{true, static_cast<std::int64_t>(size + 1), list_texts[list],
                                   std::string(system == 0 ? "pod4" : "pod16")});
  }
}
