#include "sim/report/html_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/core/json_writer.hpp"
#include "sim/core/utf8.hpp"
#include "sim/report/human.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

constexpr std::size_t k_long_heading = 32;  // of a column of numbers: it gets room to break into few lines
constexpr std::size_t k_long_text = 160;    // a cell with more scrolls
constexpr std::size_t k_most_written = 500;
constexpr std::size_t k_written_of_more = 100;
constexpr int k_shades = 10;

std::optional<double> number_of(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&cell); number && std::isfinite(*number)) return *number;
  return std::nullopt;
}

std::string number_attribute(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return fmt::format(" data-v=\"{}\"", *integer);
  const std::optional<double> number = number_of(cell);
  return number ? fmt::format(" data-v=\"{}\"", format_number(*number)) : std::string();
}

// The numbers of a heat map between their ends.
class Shades {
 public:
  explicit Shades(const PageSection& section) : heat_(section.heat) {
    if (!heat_) return;
    for (const auto& row : section.table->rows) {
      for (std::size_t c = 1; c < row.size(); ++c) {
        const std::optional<double> number = number_of(row[c]);
        if (!number) continue;
        low_ = std::min(low_, *number);
        high_ = std::max(high_, *number);
      }
    }
  }
  bool any() const { return heat_ && low_ <= high_; }
  double worst() const { return *heat_ == HeatMap::higher_is_better ? low_ : high_; }
  double best() const { return *heat_ == HeatMap::higher_is_better ? high_ : low_; }

  // Classes of a cell of this column.
  std::string classes(const Cell& cell, std::size_t column) const {
    if (!heat_ || column == 0) return "";
    const std::optional<double> number = number_of(cell);
    if (!number) return std::holds_alternative<std::string>(cell) ? "n none" : "n";
    const double share = best() == worst() ? 1 : (*number - worst()) / (best() - worst());
    const int shade = std::clamp(static_cast<int>(share * k_shades), 0, k_shades - 1);
    return fmt::format("n h{}{}", shade, *number == best() ? " best" : "");
  }

 private:
  std::optional<HeatMap> heat_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

// With places where a browser may break a key.
std::string breakable(const std::string& escaped_heading) {
  std::string text;
  for (const char c : escaped_heading) {
    text += c;
    if (c == '.' || c == '_') text += "<wbr>";
  }
  return text;
}

std::string head_html(const Table& table, const std::vector<bool>& numeric) {
  std::string text = "<thead><tr>";
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    const std::string heading = html_escaped(heading_text(column));
    const bool is_long = heading.size() > k_long_heading;
    const std::string_view classes = numeric[c] ? is_long ? " class=\"n l\"" : " class=\"n\"" : "";
    text += fmt::format("<th scope=\"col\"{} data-name=\"{}\" data-unit=\"{}\">{}</th>", classes, heading,
                        html_escaped(column.unit), breakable(heading));
  }
  return text + "</tr></thead>";
}

std::string row_html(const Table& table, const std::vector<Cell>& row, const std::vector<bool>& numeric,
                     const Shades& shades) {
  std::string text = "<tr>";
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const std::string content = cell_text(row[c], table.columns[c]);
    std::string classes = shades.classes(row[c], c);
    if (classes.empty() && numeric[c]) classes = "n";
    text += "<td" + (classes.empty() ? "" : " class=\"" + classes + "\"") + number_attribute(row[c]) + ">";
    text += content.size() > k_long_text ? "<div>" + html_escaped(content) + "</div>" : html_escaped(content);
    text += "</td>";
  }
  return text + "</tr>\n";
}

double seven_digits(double number) {
  const std::string text = fmt::format("{:.7g}", number);
  double rounded = number;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

// A column of the rows from `first` on: its distinct cells, each a text or [text, number], and which of them the rows
// have. Seven digits are enough to sort and draw by.
void write_column(JsonWriter& json, const Table& table, std::size_t column, std::size_t first) {
  std::map<Cell, std::size_t> places;
  std::vector<const Cell*> distinct;
  std::vector<std::size_t> cells;
  for (std::size_t r = first; r < table.rows.size(); ++r) {
    const Cell& cell = table.rows[r][column];
    const auto [place, is_new] = places.emplace(cell, distinct.size());
    if (is_new) distinct.push_back(&place->first);
    cells.push_back(place->second);
  }
  json.begin_array();
  json.begin_array();
  for (const Cell* cell : distinct) {
    const std::string text = cell_text(*cell, table.columns[column]);
    const std::optional<double> number = number_of(*cell);
    if (!number) {
      json.value(std::string_view(text));
      continue;
    }
    json.begin_array();
    json.value(std::string_view(text));
    json.value(seven_digits(*number));
    json.end_array();
  }
  json.end_array();
  json.begin_array();
  for (const std::size_t cell : cells) json.value(cell);
  json.end_array();
  json.end_array();
}

std::string rest_html(const Table& table, std::size_t first) {
  JsonWriter json(JsonLayout::compact);
  json.begin_array();
  for (std::size_t c = 0; c < table.columns.size(); ++c) write_column(json, table, c, first);
  json.end_array();
  return fmt::format("<script type=\"application/json\" class=\"rows\">{}</script>", json_inside_script(json.text()));
}

std::string scale_html(const Table& table, const Shades& shades) {
  const Column& column = table.columns.back();
  std::string text = fmt::format("<p class=\"scale\">{} ", html_escaped(cell_text(shades.worst(), column)));
  for (int shade = 0; shade < k_shades; ++shade) text += fmt::format("<span class=\"h{}\"></span>", shade);
  return text + fmt::format(" {}</p>\n", html_escaped(cell_text(shades.best(), column)));
}

std::size_t longest_word(std::string_view text, std::string_view ends = " ") {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(ends), text.size());
    longest = std::max(longest, text_width(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return longest;
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length_at(text, i);
    const auto c = static_cast<unsigned char>(text[i]);
    if (length == 0 || (length == 1 && (c < 0x20 || c == 0x7f) && c != '\n' && c != '\t')) {
      out += "\xEF\xBF\xBD";
    } else if (length > 1) {
      out += text.substr(i, length);
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else {
      out += static_cast<char>(c);
    }
    i += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string json_inside_script(const std::string& json) {
  std::string out;
  for (const char c : json) out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return out;
}

std::string html_table(const PageSection& section, const std::string& id) {
  const Table& table = *section.table;
  std::vector<bool> numeric;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    numeric.push_back(is_numeric(table, c) || (section.heat && c > 0));
  const Shades shades(section);
  const bool is_long = table.rows.size() > k_most_written;
  const std::size_t written = is_long ? k_written_of_more : table.rows.size();
  std::string text = fmt::format("<div><div class=\"table\"><table id=\"{}\" aria-label=\"{}\"{}>", id,
                                 html_escaped(section.title), section.heat ? " class=\"heat\"" : "");
  text += head_html(table, numeric) + "<tbody>\n";
  for (std::size_t r = 0; r < written; ++r) text += row_html(table, table.rows[r], numeric, shades);
  text += "</tbody></table></div>\n";
  if (shades.any()) text += scale_html(table, shades);
  if (is_long) text += rest_html(table, written) + "\n";
  return text + "</div>\n";
}

std::size_t least_table_width(const Table& table) {
  constexpr std::size_t k_padding = 3;
  constexpr std::size_t k_least_text = 10;
  std::size_t width = 0;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const bool numeric = is_numeric(table, c);
    std::size_t widest = std::max(longest_word(heading_text(table.columns[c]), " ._"), numeric ? 0 : k_least_text);
    for (const auto& row : table.rows) {
      const std::string text = cell_text(row[c], table.columns[c]);
      widest = std::max(widest, numeric ? text_width(text) : longest_word(text));
    }
    width += widest + k_padding;
  }
  return width;
}

}  // namespace podsim
