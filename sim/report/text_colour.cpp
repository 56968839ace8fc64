#include "sim/report/text_colour.hpp"

#include <array>

namespace podsim {
namespace {

constexpr std::string_view k_end = "\x1b[0m";
constexpr std::string_view k_bold = "\x1b[1m";
constexpr std::string_view k_blue = "\x1b[34m";

struct Word {
  std::string_view text;
  std::string_view colour;
};

// Looked for in lines that stand under a heading, from the left.
constexpr std::array k_words = {
    Word{"DOES NOT FIT", "\x1b[1;31m"},       Word{"DIFFERS", "\x1b[31m"}, Word{"WRONG", "\x1b[31m"},
    Word{"BELOW BOUND", "\x1b[31m"},          Word{"WORSE", "\x1b[31m"},   Word{"CHOSEN", "\x1b[32m"},
    Word{"none meets the goals", "\x1b[31m"}, Word{" over", "\x1b[31m"},   Word{"Verdict      fits", "\x1b[32m"},
    Word{"outside of it:", "\x1b[33m"},       Word{"warning:", "\x1b[33m"}};

bool is_block(std::string_view text) {
  return text.starts_with("█") || text.starts_with("▌");
}

void add_painted(std::string& out, std::string_view text, std::string_view colour) {
  out += colour;
  out += text;
  out += k_end;
}

void add_line(std::string& out, std::string_view line, bool heading) {
  if (heading) return add_painted(out, line, k_bold);
  while (!line.empty()) {
    if (is_block(line)) {
      std::size_t end = 0;
      while (is_block(line.substr(end))) end += std::string_view("█").size();
      add_painted(out, line.substr(0, end), k_blue);
      line.remove_prefix(end);
      continue;
    }
    bool found = false;
    for (const Word& word : k_words) {
      // At the end of a line alone: elsewhere it is a word like others.
      if (!line.starts_with(word.text) || (word.text == " over" && line != word.text)) continue;
      add_painted(out, word.text, word.colour);
      line.remove_prefix(word.text.size());
      found = true;
      break;
    }
    if (found) continue;
    out += line.front();
    line.remove_prefix(1);
  }
}

}  // namespace

std::string coloured(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    // The first line, and what stands above an indented one.
    const bool above = end != std::string_view::npos && text.substr(end).starts_with("\n ");
    const bool heading = (out.empty() || above) && !text.starts_with(' ') && !text.starts_with('\n');
    add_line(out, text.substr(0, end), heading);
    if (end == std::string_view::npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace podsim
