#pragma once
// The tables of an HTML page, and texts as they stand in one.

#include <cstddef>
#include <string>
#include <string_view>

#include "sim/report/page.hpp"

namespace podsim {

// Text as text, whatever it holds: markup, quotes, control characters, bytes that are not UTF-8.
std::string html_escaped(std::string_view text);

// JSON inside a script element, which only "</script" or "<!--" could end or confuse.
std::string json_inside_script(const std::string& json);

// The table of a section, which has one, in a box that scrolls. Of more than 500 rows the first hundred are written as
// rows and the others as data, from which the page's script makes those that are looked at.
std::string html_table(const PageSection& section, const std::string& id);

// How narrow a browser can make a table, in characters: it breaks texts between words, numbers nowhere.
std::size_t least_table_width(const Table& table);

}  // namespace podsim
