#pragma once
// Whole numbers of things as people read them. Independent of the locale.

#include <cstdint>
#include <string>
#include <string_view>

namespace podsim {

// "12,288".
std::string grouped(std::int64_t value);

// "1 stage", "2 stages", "12,288 copies": the word is given as it is of one.
std::string counted(std::int64_t number, std::string_view word);

}  // namespace podsim
