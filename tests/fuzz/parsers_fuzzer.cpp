// Any bytes through every text parser: none may crash, and each must either give a value or say what is wrong.
// Linked with libFuzzer for searching, with replay_test.cpp for replaying.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sim/config/value.hpp"
#include "sim/units/text.hpp"

namespace {

using namespace podsim;

void require(bool condition) {
  if (!condition) std::abort();
}

void require_places(const Value& value) {
  require(value.place().line >= 1 && value.place().column >= 1);
  if (value.is(Value::Kind::array)) {
    for (const Value& element : value.elements()) require_places(element);
  } else if (value.is(Value::Kind::table)) {
    for (const Value::Member& member : value.members()) {
      require(member.key_place.line >= 1);
      require_places(member.value);
    }
  }
}

template <class Parse>
void parse(Parse parse_text, std::string_view text) {
  Diagnostics diagnostics;
  const auto value = parse_text(text, "input", diagnostics);
  require(value.has_value() == !diagnostics.has_errors());
  if (value) require_places(*value);
}

void parse_number_with_unit(std::string_view text) {
  const auto parsed = parse_quantity(text);
  if (const auto* quantity = std::get_if<ParsedQuantity>(&parsed)) {
    require(std::isfinite(quantity->base_value) && !quantity->dimension.empty());
  } else {
    require(!std::get<std::string>(parsed).empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  parse(parse_toml, text);
  parse(parse_json, text);
  parse_number_with_unit(text);
  (void)parse_override_value(text, {"command line", 0, 0});
  return 0;
}
