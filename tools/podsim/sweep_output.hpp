#pragma once
// Where the rows of a sweep go: a database, or CSV in the order of the points.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/study/sweep.hpp"

namespace podsim {

// Commits what has come every half second.
class StoreSink : public RowSink {
 public:
  explicit StoreSink(SweepStore& store) : store_(store) {}
  void add(std::vector<PointRow> rows) override;
  void flush();

 private:
  using Clock = std::chrono::steady_clock;
  SweepStore& store_;
  std::optional<SweepStore::Batch> batch_;  // rows that are not yet committed
  Clock::time_point last_ = Clock::now();
};

// To standard output as they come, or into a file when all are there; rows of several threads are sorted at the end.
class CsvSink : public RowSink {
 public:
  // An empty `file`: standard output.
  CsvSink(const std::vector<Column>& columns, std::string file, bool in_order);
  void add(std::vector<PointRow> rows) override;
  void finish();
  // Points that were simulated, with the length of their runs.
  const std::map<std::int64_t, std::int64_t>& simulated() const { return simulated_; }

 private:
  void put(const PointRow& row);
  std::size_t simulated_column_ = 0;
  std::string file_;
  bool in_order_;  // rows come in the order of the points
  std::map<std::int64_t, PointRow> waiting_;
  std::map<std::int64_t, std::int64_t> simulated_;
  std::string text_;
};

// Merges databases into `target`, which is made when it is absent. What was done, a line each.
std::string merge_sweeps(const std::string& target, const std::vector<std::string>& parts);

// "sweep.sqlite" of shard 2 of 4: "sweep.shard-2-of-4.sqlite"; of a whole sweep the name itself.
std::string shard_path(const std::string& path, const Shard& shard);

}  // namespace podsim
