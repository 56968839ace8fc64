#include "sim/config/value_hash.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace podsim {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t more) {
  hash = (hash ^ more) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

std::uint64_t content_hash(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::null:
      return 0;
    case Value::Kind::boolean:
      return value.as_boolean() ? 1 : 2;
    case Value::Kind::integer:
      return static_cast<std::uint64_t>(value.as_integer());
    case Value::Kind::floating:
      return std::hash<double>()(value.as_number());
    case Value::Kind::string:
      return std::hash<std::string>()(value.as_string());
    case Value::Kind::array: {
      std::uint64_t hash = 3;
      for (const Value& element : value.elements()) hash = mixed(hash, hash_of(element));
      return hash;
    }
    case Value::Kind::table: {
      std::uint64_t hash = 5;
      for (const Value::Member& member : value.members()) {
        hash = mixed(mixed(hash, std::hash<std::string>()(member.key)), hash_of(member.value));
      }
      return hash;
    }
  }
  return 0;
}

}  // namespace

std::size_t hash_of(const Value& value) {
  const auto line = static_cast<std::uint64_t>(value.place().line);
  const auto place = line << 32 ^ static_cast<std::uint64_t>(value.place().column);
  return static_cast<std::size_t>(mixed(mixed(static_cast<std::uint64_t>(value.kind()), place), content_hash(value)));
}

}  // namespace podsim
