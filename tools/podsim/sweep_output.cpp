#include "tools/podsim/sweep_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/report/human.hpp"
#include "sim/report/report.hpp"
#include "sim/report/result_columns.hpp"
#include "tools/podsim/output.hpp"

namespace podsim {
namespace {

constexpr std::chrono::milliseconds k_commit_interval{200};

}  // namespace

void StoreSink::add(std::vector<PointRow> rows) {
  if (!rows.empty() && !batch_) batch_.emplace(store_);
  for (const PointRow& row : rows) batch_->add(row);
  if (Clock::now() - last_ >= k_commit_interval) flush();
}

void StoreSink::flush() {
  if (batch_) batch_->commit();
  batch_.reset();
  last_ = Clock::now();
}

CsvSink::CsvSink(const std::vector<Column>& columns, std::string file, bool in_order)
    : file_(std::move(file)), in_order_(in_order) {
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  simulated_column_ = static_cast<std::size_t>(std::find(names.begin(), names.end(), "simulated_ps") - names.begin());
  if (file_.empty())
    print(csv_line(names));
  else
    text_ += csv_line(names);
}

void CsvSink::add(std::vector<PointRow> rows) {
  for (PointRow& row : rows) {
    const auto* simulated = std::get_if<std::int64_t>(&row.cells[simulated_column_]);
    if (simulated != nullptr) simulated_.emplace(row.point, *simulated);
    if (in_order_)
      put(row);
    else
      waiting_.emplace(row.point, std::move(row));
  }
}

void CsvSink::put(const PointRow& row) {
  std::vector<std::string> cells;
  for (const Cell& cell : row.cells) cells.push_back(csv_text(cell));
  if (file_.empty())
    print(csv_line(cells));
  else
    text_ += csv_line(cells);
}

void CsvSink::finish() {
  for (const auto& [point, row] : waiting_) put(row);
  waiting_.clear();
  if (!file_.empty()) write_file(file_, text_);
}

std::string merge_sweeps(const std::string& target, const std::vector<std::string>& parts) {
  SweepIdentity identity = SweepStore::read(parts.front()).identity();
  const std::int64_t all = identity.shards;
  refuse_input(target, parts);
  // Before anything is written: a part that cannot be taken leaves no target behind.
  for (const std::string& part : parts) SweepStore::read(part).refuse_other_sweep(identity);
  identity.shard = 1;
  identity.shards = 1;
  SweepStore store = SweepStore::open(target, identity);
  std::string text;
  std::set<std::int64_t> complete;
  for (const std::string& part : parts) {
    const SweepIdentity theirs = SweepStore::read(part).identity();
    if (theirs.complete) complete.insert(theirs.shard);
    const std::int64_t added = store.merge(part);
    text += fmt::format("{}: {} rows added\n", part, grouped(added));
  }
  if (static_cast<std::int64_t>(complete.size()) == all) store.set_complete();
  text += fmt::format("{}: {} rows of {} points\n", target, grouped(store.count()), grouped(identity.points));
  if (!store.identity().complete) text += "not all shards are complete\n";
  store.finish();
  return text;
}

std::string shard_path(const std::string& path, const Shard& shard) {
  if (shard.of == 1) return path;
  const std::size_t dot = path.rfind('.');
  const std::size_t slash = path.rfind('/');
  const bool has_extension = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  const std::size_t end = has_extension ? dot : path.size();
  return fmt::format("{}.shard-{}-of-{}{}", path.substr(0, end), shard.number, shard.of, path.substr(end));
}

}  // namespace podsim
