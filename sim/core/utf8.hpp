#pragma once
// Where UTF-8 text is well formed.

#include <cstddef>
#include <string_view>

namespace podsim {

// Length (1 to 4) of the well-formed UTF-8 sequence at `offset`; 0 when there is none (overlong forms, surrogates and
// cut sequences included). `offset` is below the size of the text.
std::size_t utf8_length_at(std::string_view text, std::size_t offset);

}  // namespace podsim
