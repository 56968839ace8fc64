#include "models/workloads/shape_reader.hpp"

#include <algorithm>

#include "sim/units/text.hpp"

namespace podsim {

ShapeReader::ShapeReader(std::string type, const Value& config, const Value& overrides, Diagnostics& diagnostics)
    : config_(config), overrides_(overrides), diagnostics_(diagnostics) {
  shape_.type = std::move(type);
  if (!config.is(Value::Kind::table)) {
    fail(config.place(), "", "the model configuration is " + kind_name(config.kind()), "an object");
    return;
  }
  const Value* model_type = config.find("model_type");
  if (model_type == nullptr || model_type->is(Value::Kind::null)) return;
  if (!model_type->is(Value::Kind::string)) {
    fail(model_type->place(), "model_type", "is " + kind_name(model_type->kind()), "a string");
  } else if (model_type->as_string() != shape_.type) {
    fail(model_type->place(), "model_type", "is \"" + model_type->as_string() + "\"", "\"" + shape_.type + "\"");
  }
}

ShapeReader::Written ShapeReader::find(const DimensionField& field) const {
  const auto usable = [&field](const Value* value) {
    return value != nullptr && !(field.null_is_default && value->is(Value::Kind::null));
  };
  // An override that was refused already is null and reads as not written.
  const auto usable_override = [](const Value* value) { return value != nullptr && !value->is(Value::Kind::null); };
  if (const Value* value = overrides_.find(field.dimension); usable_override(value))
    return {value, "model." + field.dimension};
  for (const std::string& name : field.fields) {
    if (const Value* value = overrides_.find(name); usable_override(value)) return {value, "model." + name};
  }
  for (const std::string& name : field.fields) {
    if (const Value* value = config_.find(name); usable(value)) return {value, name};
  }
  return {};
}

std::int64_t ShapeReader::read(const DimensionField& field) {
  std::int64_t result = field.fallback;
  const Written written = find(field);
  if (written.value == nullptr) {
    shape_.defaulted.push_back(field.dimension);
  } else {
    const std::string expected =
        "an integer from " + std::to_string(field.minimum) + " to " + std::to_string(field.maximum);
    const Value& value = *written.value;
    if (!value.is(Value::Kind::integer)) {
      fail(value.place(), written.key, "is " + kind_name(value.kind()), expected);
    } else if (value.as_integer() < field.minimum || value.as_integer() > field.maximum) {
      fail(value.place(), written.key, "is " + std::to_string(value.as_integer()), expected);
    } else {
      result = value.as_integer();
    }
    written_[field.dimension] = written;
  }
  shape_.dimensions[field.dimension] = result;
  return result;
}

std::int64_t ShapeReader::read_labels() {
  std::int64_t fallback = 2;
  const Value* names = config_.find("id2label");
  if (names != nullptr && names->is(Value::Kind::table) && !names->members().empty()) {
    fallback = static_cast<std::int64_t>(names->members().size());
  }
  return read({"num_labels", {"num_labels"}, fallback});
}

bool ShapeReader::read_flag(const std::string& field, bool fallback) {
  const Value* value = config_.find(field);
  bool flag = fallback;
  if (value != nullptr && value->is(Value::Kind::boolean)) {
    flag = value->as_boolean();
  } else if (value != nullptr && !value->is(Value::Kind::null)) {
    fail(value->place(), field, "is " + kind_name(value->kind()), "true or false");
  }
  shape_.dimensions[field] = flag ? 1 : 0;
  return flag;
}

std::string ShapeReader::read_word(const std::string& field, const std::string& fallback) {
  const Value* value = config_.find(field);
  if (value == nullptr || value->is(Value::Kind::null)) return fallback;
  if (value->is(Value::Kind::string)) return value->as_string();
  fail(value->place(), field, "is " + kind_name(value->kind()), "a string");
  return fallback;
}

std::vector<std::int64_t> ShapeReader::read_list(const std::string& field, const std::vector<std::int64_t>& fallback) {
  return read_open_list(field, fallback, fallback.size(), fallback.size());
}

std::vector<std::int64_t> ShapeReader::read_open_list(const std::string& field,
                                                      const std::vector<std::int64_t>& fallback, std::size_t shortest,
                                                      std::size_t longest, std::int64_t minimum) {
  constexpr std::int64_t k_maximum = 100'000;
  std::vector<std::int64_t> list = fallback;
  const Value* value = config_.find(field);
  const bool array = value != nullptr && value->is(Value::Kind::array);
  const std::size_t length = array ? value->elements().size() : fallback.size();
  if (value == nullptr) shape_.defaulted.push_back(field);
  if ((value != nullptr && !array) || length < shortest || length > longest) {
    const std::string many =
        shortest == longest ? std::to_string(longest) : std::to_string(shortest) + " to " + std::to_string(longest);
    fail(value != nullptr ? value->place() : config_.place(), field,
         value == nullptr || array ? "has another length" : "is " + kind_name(value->kind()),
         "a list of " + many + " integers");
  } else if (array) {
    list.assign(length, minimum);
    for (std::size_t i = 0; i < length; ++i) {
      const Value& element = value->elements()[i];
      const bool good =
          element.is(Value::Kind::integer) && element.as_integer() >= minimum && element.as_integer() <= k_maximum;
      if (good) list[i] = element.as_integer();
      if (!good) {
        fail(element.place(), field, "has a bad element",
             "integers from " + std::to_string(minimum) + " to " + std::to_string(k_maximum));
      }
    }
  }
  shape_.dimensions[field] = static_cast<std::int64_t>(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) shape_.dimensions[field + "." + std::to_string(i)] = list[i];
  return list;
}

std::int64_t ShapeReader::read_choice(const std::string& dimension, const std::string& field,
                                      const std::vector<std::string>& choices, std::int64_t fallback) {
  const std::string word = read_word(field, choices[static_cast<std::size_t>(fallback)]);
  const auto found = std::find(choices.begin(), choices.end(), word);
  if (found == choices.end()) {
    std::string expected = "one of " + choices.front();
    for (std::size_t i = 1; i < choices.size(); ++i) expected += ", " + choices[i];
    fail(config_.find(field)->place(), field, "is \"" + word + "\"", expected);
  }
  const std::int64_t index = found == choices.end() ? fallback : found - choices.begin();
  shape_.dimensions[dimension] = index;
  return index;
}

double ShapeReader::read_number(const std::string& field, double fallback, double minimum, double maximum) {
  const Value* value = config_.find(field);
  if (value == nullptr) {
    shape_.defaulted.push_back(field);
    return fallback;
  }
  const std::string expected = "a number from " + format_number(minimum) + " to " + format_number(maximum);
  const bool number = value->is(Value::Kind::integer) || value->is(Value::Kind::floating);
  if (!number) {
    fail(value->place(), field, "is " + kind_name(value->kind()), expected);
    return fallback;
  }
  const double written = value->as_number();
  if (written >= minimum && written <= maximum) return written;
  fail(value->place(), field, "is " + format_number(written), expected);
  return fallback;
}

void ShapeReader::check_divides(const std::string& divisor, const std::string& whole) {
  if (failed_ || shape_[whole] % shape_[divisor] == 0) return;
  const auto found = written_.count(divisor) > 0 ? written_.find(divisor) : written_.find(whole);
  const Written at = found == written_.end() ? Written{&config_, divisor} : found->second;
  fail(at.value->place(), at.key,
       whole + " " + std::to_string(shape_[whole]) + " is not a multiple of " + divisor + " " +
           std::to_string(shape_[divisor]),
       "");
}

void ShapeReader::fail(const Place& place, const std::string& key, std::string problem, std::string expected) {
  diagnostics_.error(place, key, std::move(problem), std::move(expected));
  failed_ = true;
}

std::vector<std::pair<std::string, std::string>> with_pipelined_names(
    const std::vector<std::pair<std::string, std::string>>& architectures) {
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& [name, head] : architectures) {
    for (const char* prefix : {"", "Pipelined", "PoptorchPipelined"}) names.emplace_back(prefix + name, head);
  }
  return names;
}

}  // namespace podsim
