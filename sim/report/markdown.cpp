// A page in GitHub's dialect of Markdown: for pull requests, issues and wikis. Charts are left out, their tables stay.

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sim/core/utf8.hpp"
#include "sim/report/page.hpp"

namespace podsim {
namespace {

constexpr std::size_t k_most_rows = 60;

constexpr std::string_view k_replacement = "\xEF\xBF\xBD";  // of what is no text

void append_escaped(std::string& out, char c) {
  constexpr std::string_view k_markup = "\\`*_{}[]>#|~$@";
  if (c == '\n' || c == '\r' || c == '\t') {
    out += ' ';
  } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
    out += k_replacement;
  } else if (c == '<') {
    out += "&lt;";
  } else if (c == '&') {
    out += "&amp;";
  } else {
    if (k_markup.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
}

// Text that renders as itself: no markup, no HTML, no new row or column of a table, no mention of a user.
std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length_at(text, i);
    if (length == 0) {
      out += k_replacement;
    } else if (length > 1) {
      out += text.substr(i, length);
    } else {
      append_escaped(out, text[i]);
    }
    i += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string table_markdown(const Table& table) {
  std::string heading = "|";
  std::string line = "|";
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    heading += " " + escaped(heading_text(table.columns[c])) + " |";
    line += is_numeric(table, c) ? " ---: |" : " :--- |";
  }
  std::string text = heading + '\n' + line + '\n';
  const std::size_t shown = std::min(table.rows.size(), k_most_rows);
  for (std::size_t r = 0; r < shown; ++r) {
    text += "|";
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      text += " " + escaped(cell_text(table.rows[r][c], table.columns[c])) + " |";
    }
    text += '\n';
  }
  if (shown == table.rows.size()) return text;
  return text + fmt::format("\nRows left out here: {}; --format html or json has them.\n", table.rows.size() - shown);
}

}  // namespace

std::string to_markdown(const Page& page) {
  std::string text = "# " + escaped(page.title) + "\n\n";
  if (!page.subtitle.empty()) text += escaped(page.subtitle) + "\n\n";
  for (const PageFact& fact : page.facts) {
    text += fmt::format("- **{}**: {}\n", escaped(fact.label), escaped(fact.value));
  }
  for (const PageSection& section : page.sections) {
    text += "\n## " + escaped(section.title) + "\n\n";
    for (const std::string& note : section.notes) text += escaped(note) + "\n\n";
    if (section.table) text += table_markdown(*section.table);
  }
  text += "\n---\n\n";
  if (!page.foot.empty()) text += escaped(page.foot) + "\n\n";
  return text + escaped(origin_text(page)) + '\n';
}

}  // namespace podsim
