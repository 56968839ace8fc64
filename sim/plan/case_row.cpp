#include "sim/plan/case_row.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/units/text.hpp"

namespace podsim {

CaseRowReader::CaseRowReader(const CaseRow& row) : row_(row), place_{row.file, row.line, 0} {
  experiment_.document = Value::table(place_);
}

bool CaseRowReader::has_column(std::string_view column) const {
  return row_.cells.find(column) != row_.cells.end();
}

std::string CaseRowReader::cell(std::string_view column) const {
  const auto found = row_.cells.find(column);
  if (found == row_.cells.end()) return {};
  const std::string& text = found->second;
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

void CaseRowReader::skip(std::string reason) {
  if (reason_.empty()) reason_ = std::move(reason);
}

void CaseRowReader::unreadable(std::string_view column, std::string_view expected) {
  skip(fmt::format("{} \"{}\" is not {}", column, cell(column), expected));
}

std::optional<Value> CaseRowReader::value_of(std::string_view column) const {
  const std::string text = cell(column);
  if (text.empty()) return std::nullopt;
  return parse_override_value(text, place_);
}

std::string CaseRowReader::required(std::string_view column) {
  std::string text = cell(column);
  if (text.empty()) skip(fmt::format("{} is not given", column));
  return text;
}

std::optional<std::int64_t> CaseRowReader::required_count(std::string_view column) {
  if (required(column).empty()) return std::nullopt;
  const Value value = *value_of(column);
  if (value.is(Value::Kind::integer) && value.as_integer() >= 1) return value.as_integer();
  unreadable(column, "a whole number from 1");
  return std::nullopt;
}

std::optional<double> CaseRowReader::required_number(std::string_view column) {
  if (required(column).empty()) return std::nullopt;
  const Value value = *value_of(column);
  const bool number = value.is(Value::Kind::integer) || value.is(Value::Kind::floating);
  if (number && value.as_number() > 0) return value.as_number();
  unreadable(column, "a positive number");
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> CaseRowReader::required_counts(std::string_view column) {
  if (required(column).empty()) return std::nullopt;
  const Value value = *value_of(column);
  std::vector<std::int64_t> counts;
  bool sound = value.is(Value::Kind::array);
  if (sound) {
    for (const Value& element : value.elements()) {
      sound = sound && element.is(Value::Kind::integer);
      if (sound) counts.push_back(element.as_integer());
    }
  }
  if (sound && !counts.empty()) return counts;
  unreadable(column, "a list such as [3, 7, 7, 7]");
  return std::nullopt;
}

void CaseRowReader::took_default(std::string_view column, std::string_view value) {
  defaults_.push_back(fmt::format("{} = {}", column, value));
}

std::string CaseRowReader::text(std::string_view column, std::string_view fallback) {
  std::string given = cell(column);
  if (!given.empty()) return given;
  took_default(column, fallback);
  return std::string(fallback);
}

bool CaseRowReader::boolean(std::string_view column, bool fallback) {
  std::string given = text(column, fallback ? "true" : "false");
  std::transform(given.begin(), given.end(), given.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (given != "true" && given != "false") unreadable(column, "true or false");
  return given == "true";
}

std::int64_t CaseRowReader::count(std::string_view column, std::int64_t fallback) {
  if (!cell(column).empty()) return required_count(column).value_or(fallback);
  took_default(column, std::to_string(fallback));
  return fallback;
}

double CaseRowReader::number(std::string_view column, double fallback) {
  if (!cell(column).empty()) return required_number(column).value_or(fallback);
  took_default(column, format_number(fallback));
  return fallback;
}

void CaseRowReader::set(std::string_view path, std::string value) {
  experiment_.document.set(path, Value::string(std::move(value), place_));
}

void CaseRowReader::set(std::string_view path, bool value) {
  experiment_.document.set(path, Value::boolean(value, place_));
}

void CaseRowReader::set(std::string_view path, std::int64_t value) {
  experiment_.document.set(path, Value::integer(value, place_));
}

void CaseRowReader::set(std::string_view path, double value) {
  experiment_.document.set(path, Value::floating(value, place_));
}

void CaseRowReader::set(std::string_view path, const std::vector<std::int64_t>& values) {
  std::vector<Value> elements;
  elements.reserve(values.size());
  for (const std::int64_t value : values) elements.push_back(Value::integer(value, place_));
  experiment_.document.set(path, Value::array(std::move(elements), place_));
}

void CaseRowReader::set_numbers(std::string_view path, std::string_view column, double fallback) {
  const std::optional<Value> value = value_of(column);
  if (!value) {
    took_default(column, format_number(fallback));
    return set(path, fallback);
  }
  const auto is_number = [](const Value& v) { return v.is(Value::Kind::integer) || v.is(Value::Kind::floating); };
  if (is_number(*value)) return set(path, value->as_number());
  const bool sound = value->is(Value::Kind::array) && !value->elements().empty() &&
                     std::all_of(value->elements().begin(), value->elements().end(), is_number);
  if (!sound) return unreadable(column, "a number or a list of numbers");
  if (value->elements().size() == 1) return set(path, value->elements().front().as_number());
  experiment_.document.set(path, *value);
}

Experiment CaseRowReader::take() {
  for (const auto& [column, text] : row_.cells) experiment_.source_text += column + " = " + text + "\n";
  return std::move(experiment_);
}

void CaseRowReader::identify(PublishedCase& published) {
  published.id = cell("id");
  published.source_id = published.id;
  published.source = cell("source");
  if (!published.id.empty()) return;
  published.id = fmt::format("{}:{}", row_.file, row_.line);
  skip("id is not given");
}

void CaseRowReader::finish(PublishedCase& published) {
  published.defaults = defaults_;
  if (skipped()) {
    published.content = SkippedCase{reason_};
  } else {
    published.content = take();
  }
}

}  // namespace podsim
