#pragma once
// From a row of a published-measurement table to an Experiment, or the reason why it cannot be run.

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/plan/experiment.hpp"

namespace podsim {

struct CaseRow {
  std::string file;
  int line = 0;
  std::map<std::string, std::string> cells;  // by column name; absent columns are missing
};

struct SkippedCase {
  std::string reason;
};

class CaseReader {
 public:
  virtual ~CaseReader() = default;
  // Whether a table with these columns is one of this reader's.
  virtual bool accepts(const std::vector<std::string>& columns) const = 0;
  virtual std::variant<Experiment, SkippedCase> read(const CaseRow& row) const = 0;
};

}  // namespace podsim
