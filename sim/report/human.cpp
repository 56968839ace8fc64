#include "sim/report/human.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/core/diagnostics.hpp"

namespace podsim {
namespace {

constexpr double k_longest = 1e15;  // what is larger is written with an exponent

// A value from 0 up to some thousands with four significant digits.
std::string four_digits(double value) {
  if (value < 9.9995) return fmt::format("{:.3f}", value);
  if (value < 99.995) return fmt::format("{:.2f}", value);
  if (value < 999.95) return fmt::format("{:.1f}", value);
  return grouped(std::llround(value));
}

}  // namespace

double in_seconds(SimTime time) {
  return static_cast<double>(time.picoseconds()) / 1e12;
}

std::string human_long_time(double seconds) {
  if (seconds >= k_longest) return fmt::format("{:.4g} days", seconds / 86400);
  if (seconds < 120) return four_digits(seconds) + " s";
  const std::int64_t minutes = std::llround(seconds / 60);
  if (minutes < 120) return fmt::format("{} min", minutes);
  if (minutes < 48 * 60) return fmt::format("{} h {} min", minutes / 60, minutes % 60);
  return four_digits(seconds / 86400) + " days";
}

std::string human_number(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::fabs(value);
  if (size >= 9e15 || (size != 0 && size < 1e-3)) return fmt::format("{:.4g}", value);
  if (size == std::floor(size)) return grouped(static_cast<std::int64_t>(value));
  if (size < 1) return fmt::format("{:.4g}", value);
  return (value < 0 ? "-" : "") + four_digits(size);
}

std::string human_percent(double percent) {
  if (std::fabs(percent) >= k_longest) return fmt::format("{:.4g} %", percent);
  return fmt::format("{:.1f} %", percent);
}

std::string human_share(double share) {
  constexpr double k_nothing = 1e-12;
  constexpr double k_small = 1e-3;
  const double size = std::fabs(share);
  if (size == 0) return "0 %";
  if (size < k_nothing) return "practically 0 %";
  return size < k_small ? fmt::format("{:.2g} %", 100 * share) : human_percent(100 * share);
}

std::string human_power(double value) {
  const double exponent = std::log2(value);
  if (!std::isfinite(exponent)) return exponent > 0 ? "infinite" : "0";
  return exponent == std::floor(exponent) ? fmt::format("2^{}", static_cast<int>(exponent))
                                          : fmt::format("{}", static_cast<float>(value));
}

std::size_t text_width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return width;
}

std::string fit_width(std::string_view text, std::size_t width) {
  if (text_width(text) <= width) return std::string(text);
  std::size_t end = 0;
  for (std::size_t columns = 0; end < text.size(); ++end) {
    if ((static_cast<unsigned char>(text[end]) & 0xc0) != 0x80 && columns++ == width - 1) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string result;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column > 0 && column + 1 + text_width(word) > width) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > 0) {
      result += ' ';
      ++column;
    }
    result += word;
    column += text_width(word);
  }
  return result;
}

namespace {

// The first `width` columns.
std::string_view first_columns(std::string_view text, std::size_t width) {
  std::size_t end = 0;
  for (std::size_t columns = 0; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
    if (begins && columns++ == width) break;
  }
  return text.substr(0, end);
}

// The begin of a text that fits a line: up to the last of `breaks` in it, behind which a line may end.
std::string_view line_of(std::string_view text, std::size_t width, std::string_view breaks) {
  const std::string_view room = first_columns(text, width);
  if (room.size() == text.size() || text[room.size()] == ' ') return room;
  // A blank, unless it leaves more than half of the line empty.
  const std::size_t blank = room.find_last_of(' ');
  const bool at_blank = blank != std::string_view::npos && blank >= room.size() / 2;
  const std::size_t last = at_blank ? blank : room.find_last_of(breaks);
  return last == std::string_view::npos ? room : room.substr(0, last + 1);
}

std::vector<std::string> lines_at(std::string_view text, std::size_t first, std::size_t width,
                                  std::string_view breaks) {
  std::vector<std::string> lines;
  while (text_width(text) > first) {
    std::string_view line = line_of(text, first, breaks);
    text.remove_prefix(line.size());
    line = line.substr(0, line.find_last_not_of(' ') + 1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    first = width;
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

}  // namespace

std::vector<std::string> broken_lines(std::string_view text, std::size_t width) {
  return lines_at(text, width, width, " .,/_=");
}

std::string within_width(std::string_view text, std::size_t width) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line = printable(std::string(text.substr(0, end)));
    const std::size_t indent = std::min(line.find_first_not_of(' '), width / 2);
    if (text_width(line) <= width) {
      result += line;
    } else {
      const std::string_view content = std::string_view(line).substr(std::min(indent, line.size()));
      const std::size_t room = width - indent;
      const std::vector<std::string> lines = lines_at(content, room, room - 2, " ");
      for (std::size_t i = 0; i < lines.size(); ++i) {
        result += (i == 0 ? "" : "\n") + std::string(indent + (i == 0 ? 0 : 2), ' ') + lines[i];
      }
    }
    if (end < text.size()) result += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string_view base_unit(std::string_view dimension) {
  if (dimension == "time") return "s";
  if (dimension == "data") return "byte";
  if (dimension == "bandwidth") return "byte/s";
  if (dimension == "flop_rate") return "FLOP/s";
  if (dimension == "cycles") return "cycle";
  if (dimension == "clock") return "Hz";
  if (dimension == "power") return "W";
  return "";
}

}  // namespace podsim
