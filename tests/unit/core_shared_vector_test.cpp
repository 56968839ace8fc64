#include <doctest/doctest.h>

#include <string>

#include "sim/core/shared_vector.hpp"

using namespace podsim;

TEST_CASE("shared vector: copies share until one is changed") {
  SharedVector<std::string> first;
  first.push_back("a");
  first.push_back("b");
  SharedVector<std::string> second = first;
  CHECK(second.identity() == first.identity());
  second.push_back("c");
  CHECK(second.identity() != first.identity());
  CHECK(first.size() == 2);
  CHECK(second.back() == "c");
  SharedVector<std::string> third = first;
  third[0] = "z";
  CHECK(first.front() == "a");
  CHECK(third.front() == "z");
}

TEST_CASE("shared vector: reading does not separate copies") {
  const SharedVector<int> first{1, 2, 3};
  const SharedVector<int> second = first;
  int sum = 0;
  for (const int value : second) sum += value;
  CHECK(sum == 6);
  CHECK(second[1] == 2);
  CHECK(second.identity() == first.identity());
}

TEST_CASE("shared vector: what was moved from is empty and usable") {
  SharedVector<int> first{1, 2};
  SharedVector<int> second = std::move(first);
  CHECK(second.size() == 2);
  first = SharedVector<int>();
  first.push_back(5);
  CHECK(first.size() == 1);
  CHECK(second.size() == 2);
}

TEST_CASE("shared vector: a fresh one is empty and can be read") {
  const SharedVector<int> fresh;
  CHECK(fresh.empty());
  CHECK(fresh.begin() == fresh.end());
  CHECK(fresh.get().empty());
  CHECK(fresh.identity() == SharedVector<int>().identity());
}
