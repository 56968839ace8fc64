#pragma once
// Reads the fields of a published model configuration into a ModelShape: strict types, ranges, class defaults, and the
// replacements of an experiment's [model] table.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/plan/model_kind.hpp"

namespace podsim {

// One dimension: its name in the ModelShape and how files spell it.
struct DimensionField {
  std::string dimension;            // "hidden_size"
  std::vector<std::string> fields;  // in the file, the first that is present counts: {"n_positions", "n_ctx"}
  std::int64_t fallback = 0;        // the class default
  std::int64_t minimum = 1;
  std::int64_t maximum = 10'000'000;
  bool null_is_default = false;  // JSON null means the default
};

// A width or a table length, a number of layers, of attention heads, of positions.
inline constexpr std::int64_t k_maximum_layers = 10'000;
inline constexpr std::int64_t k_maximum_heads = 10'000;
inline constexpr std::int64_t k_maximum_positions = 1'000'000;

class ShapeReader {
 public:
  // `config` and `overrides` must outlive the reader. A configuration that is no table, or that names another
  // model_type than `type`, is an error.
  ShapeReader(std::string type, const Value& config, const Value& overrides, Diagnostics& diagnostics);

  // An override (by dimension name or by a spelling of the file) goes before the file, the file before the default.
  // Wrong types and values out of range are errors at the value's place; the default stands in then.
  std::int64_t read(const DimensionField& field);
  // Labels of a classifier: "num_labels", else the length of "id2label", else 2.
  std::int64_t read_labels();
  // A boolean as dimension 1 or 0, from the file only; null means `fallback`.
  bool read_flag(const std::string& field, bool fallback);
  // A word of the file that becomes no dimension.
  std::string read_word(const std::string& field, const std::string& fallback);
  // A list of as many integers as `fallback`, as dimensions "field.0", "field.1", …; "field" is their number.
  std::vector<std::int64_t> read_list(const std::string& field, const std::vector<std::int64_t>& fallback);
  // The same with `shortest` to `longest` integers.
  std::vector<std::int64_t> read_open_list(const std::string& field, const std::vector<std::int64_t>& fallback,
                                           std::size_t shortest, std::size_t longest, std::int64_t minimum = 1);
  // A word of the file as the index of one of `choices`, which becomes `dimension`.
  std::int64_t read_choice(const std::string& dimension, const std::string& field,
                           const std::vector<std::string>& choices, std::int64_t fallback);
  // A number of the file that becomes no dimension.
  double read_number(const std::string& field, double fallback, double minimum, double maximum);
  // Whether file or overrides had the dimension.
  bool wrote(const std::string& dimension) const { return written_.count(dimension) > 0; }
  // "field" must divide "whole"; an error at the divisor's place (or the whole's, if that one was written).
  void check_divides(const std::string& divisor, const std::string& whole);

  bool good() const { return !failed_; }
  const ModelShape& shape() const { return shape_; }  // as far as it was read
  ModelShape take() { return std::move(shape_); }

 private:
  struct Written {
    const Value* value = nullptr;
    std::string key;  // as the user knows it
  };
  Written find(const DimensionField& field) const;
  void fail(const Place& place, const std::string& key, std::string problem, std::string expected);

  const Value& config_;
  const Value& overrides_;
  Diagnostics& diagnostics_;
  ModelShape shape_;
  std::map<std::string, Written> written_;  // by dimension
  bool failed_ = false;
};

// Each name as it is and as the IPU classes spell it: BertForMaskedLM, PipelinedBertForMaskedLM, …
std::vector<std::pair<std::string, std::string>> with_pipelined_names(
    const std::vector<std::pair<std::string, std::string>>& architectures);

}  // namespace podsim
