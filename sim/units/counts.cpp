#include "sim/units/counts.hpp"

#include <cstddef>

namespace podsim {

std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

std::string counted(std::int64_t number, std::string_view word) {
  std::string text = grouped(number) + " ";
  if (number == 1) return text.append(word);
  const std::size_t size = word.size();
  const bool changes =
      size > 1 && word.back() == 'y' && std::string_view("aeiou").find(word[size - 2]) == std::string_view::npos;
  return text.append(word.substr(0, changes ? size - 1 : size)).append(changes ? "ies" : "s");
}

}  // namespace podsim
