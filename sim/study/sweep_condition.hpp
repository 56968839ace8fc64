#pragma once
// Conditions over the keys of a point: "workload.micro_batch_size * stages > 64 and mode == \"training\"".
//
//   or, and, not;  == != < <= > >=;  + - * / %;  parentheses;  numbers, "texts", true, false, dotted keys
//
// Texts compare as quantities where both are such: "64 GB/s" > "32000 MB/s". A key stands for the axis of that name,
// else for what the base experiment says.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sim/config/value.hpp"

namespace podsim {

// The value of a key at a point; null: it has none.
using KeyLookup = std::function<const Value*(std::string_view key)>;

class SweepCondition {
 public:
  // Throws ConfigError: what is wrong at the text's place.
  explicit SweepCondition(const Value& text);
  SweepCondition(SweepCondition&&) noexcept;
  SweepCondition& operator=(SweepCondition&&) noexcept;
  ~SweepCondition();

  // Throws ConfigError when a key has no value or operands cannot be combined.
  bool holds(const KeyLookup& lookup) const;

  const std::string& text() const { return text_; }
  const Place& place() const { return place_; }

  struct Node;

 private:
  std::string text_;
  Place place_;
  std::unique_ptr<const Node> root_;
};

}  // namespace podsim
