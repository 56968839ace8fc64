#pragma once
// Colour in a report's text, for terminals.

#include <string>
#include <string_view>

namespace podsim {

// The text with ANSI sequences that change nothing else: headings bold, bars blue, verdicts and faults in red, green or
// yellow. Without its sequences it is the text again.
std::string coloured(std::string_view text);

}  // namespace podsim
