#include "sim/config/value.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace podsim {
namespace {

Value::Member* member_named(std::vector<Value::Member>& members, std::string_view key) {
  const auto it = std::find_if(members.begin(), members.end(), [&](const Value::Member& m) { return m.key == key; });
  return it == members.end() ? nullptr : &*it;
}

}  // namespace

Value Value::null(Place place) {
  Value result;
  result.place_ = std::move(place);
  return result;
}

Value Value::boolean(bool value, Place place) {
  Value result = null(std::move(place));
  result.data_ = value;
  return result;
}

Value Value::integer(std::int64_t value, Place place) {
  Value result = null(std::move(place));
  result.data_ = value;
  return result;
}

Value Value::floating(double value, Place place) {
  Value result = null(std::move(place));
  result.data_ = value;
  return result;
}

Value Value::string(std::string value, Place place) {
  Value result = null(std::move(place));
  result.data_ = std::move(value);
  return result;
}

Value Value::array(std::vector<Value> elements, Place place) {
  Value result = null(std::move(place));
  result.data_ = std::move(elements);
  return result;
}

Value Value::table(Place place) {
  Value result = null(std::move(place));
  result.data_ = std::vector<Member>();
  return result;
}

Value::Kind Value::kind() const {
  return static_cast<Kind>(data_.index());
}

bool Value::as_boolean() const {
  PODSIM_CHECK(is(Kind::boolean), "not a boolean: " + kind_name(kind()));
  return std::get<bool>(data_);
}

std::int64_t Value::as_integer() const {
  PODSIM_CHECK(is(Kind::integer), "not an integer: " + kind_name(kind()));
  return std::get<std::int64_t>(data_);
}

double Value::as_number() const {
  if (is(Kind::integer)) return static_cast<double>(std::get<std::int64_t>(data_));
  PODSIM_CHECK(is(Kind::floating), "not a number: " + kind_name(kind()));
  return std::get<double>(data_);
}

const std::string& Value::as_string() const {
  PODSIM_CHECK(is(Kind::string), "not a string: " + kind_name(kind()));
  return std::get<std::string>(data_);
}

const std::vector<Value>& Value::elements() const {
  PODSIM_CHECK(is(Kind::array), "not a list: " + kind_name(kind()));
  return std::get<std::vector<Value>>(data_);
}

const std::vector<Value::Member>& Value::members() const {
  PODSIM_CHECK(is(Kind::table), "not a table: " + kind_name(kind()));
  return std::get<std::vector<Member>>(data_);
}

const Value* Value::find(std::string_view path) const {
  const Value* at = this;
  while (true) {
    if (!at->is(Kind::table)) return nullptr;
    const std::size_t dot = path.find('.');
    const std::string_view step = path.substr(0, dot);
    const auto& members = at->members();
    const auto it = std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.key == step; });
    if (it == members.end()) return nullptr;
    if (dot == std::string_view::npos) return &it->value;
    at = &it->value;
    path.remove_prefix(dot + 1);
  }
}

void Value::set(std::string_view path, Value value) {
  if (!is(Kind::table)) data_ = std::vector<Member>();
  auto& members = std::get<std::vector<Member>>(data_);
  const std::size_t dot = path.find('.');
  const std::string step(path.substr(0, dot));
  Member* member = member_named(members, step);
  if (dot == std::string_view::npos) {
    if (member != nullptr) {
      member->key_place = value.place();
      member->value = std::move(value);
    } else {
      Place place = value.place();
      members.push_back({step, std::move(place), std::move(value)});
    }
    return;
  }
  if (member == nullptr) {
    members.push_back({step, value.place(), table(value.place())});
    member = &members.back();
  }
  member->value.set(path.substr(dot + 1), std::move(value));
}

void Value::add(std::string key, Place key_place, Value value) {
  PODSIM_CHECK(is(Kind::table), "not a table: " + kind_name(kind()));
  std::get<std::vector<Member>>(data_).push_back({std::move(key), std::move(key_place), std::move(value)});
}

std::string kind_name(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::null:
      return "null";
    case Value::Kind::boolean:
      return "a boolean";
    case Value::Kind::integer:
      return "an integer";
    case Value::Kind::floating:
      return "a number";
    case Value::Kind::string:
      return "a string";
    case Value::Kind::array:
      return "a list";
    case Value::Kind::table:
      return "a table";
  }
  return "nothing";
}

}  // namespace podsim
