#pragma once
// One row of a published table on its way to an experiment: typed cells, the defaults taken, the first reason to skip.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plan/case_reader.hpp"

namespace podsim {

class CaseRowReader {
 public:
  explicit CaseRowReader(const CaseRow& row);

  bool has_column(std::string_view column) const;
  // The cell without blanks around it; empty when it is empty or the column is missing.
  std::string cell(std::string_view column) const;
  // Remembers the first reason only.
  void skip(std::string reason);
  bool skipped() const { return !reason_.empty(); }
  const std::string& reason() const { return reason_; }
  const std::vector<std::string>& defaults() const { return defaults_; }

  // Cells that decide the run: skips the row when one is empty or unreadable.
  std::string required(std::string_view column);
  std::optional<std::int64_t> required_count(std::string_view column);
  std::optional<double> required_number(std::string_view column);
  // A list of whole numbers such as "[3, 7, 7, 7]".
  std::optional<std::vector<std::int64_t>> required_counts(std::string_view column);

  // Cells with a default, which is recorded when it is taken.
  std::string text(std::string_view column, std::string_view fallback);
  bool boolean(std::string_view column, bool fallback);
  std::int64_t count(std::string_view column, std::int64_t fallback);
  double number(std::string_view column, double fallback);
  void took_default(std::string_view column, std::string_view value);

  // Sets a key of the experiment; its place is the row.
  void set(std::string_view path, std::string value);
  void set(std::string_view path, const char* value) { set(path, std::string(value)); }
  void set(std::string_view path, bool value);
  void set(std::string_view path, std::int64_t value);
  void set(std::string_view path, double value);
  void set(std::string_view path, const std::vector<std::int64_t>& values);
  // A number or a list of numbers as written; a list of one becomes its number.
  void set_numbers(std::string_view path, std::string_view column, double fallback);

  Experiment take();

  // Names the case after its columns id and source; a row without id is named after its place, and skipped.
  void identify(PublishedCase& published);
  // Gives the case what the cells came to: the experiment, or the reason to skip it, and the defaults taken.
  void finish(PublishedCase& published);

 private:
  std::optional<Value> value_of(std::string_view column) const;
  void unreadable(std::string_view column, std::string_view expected);

  const CaseRow& row_;
  Place place_;
  Experiment experiment_;
  std::string reason_;
  std::vector<std::string> defaults_;
};

}  // namespace podsim
