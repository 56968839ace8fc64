#include "tests/readme/blocks.hpp"

#include <algorithm>
#include <optional>
#include <regex>

#include "tests/lint/source_tree.hpp"

namespace podsim::readme {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view k_fence = "```";
constexpr std::string_view k_prompt = "$ ";
constexpr std::string_view k_ellipsis = "…";
constexpr std::string_view k_generated = "<!-- generated: ";
constexpr std::string_view k_mark_end = " -->";
constexpr std::string_view k_generated_end = "<!-- end -->";

bool is_gap(const std::string& line) {
  return line == k_ellipsis;
}

// Takes the marks behind a command and puts what they say into it.
Command command_of(std::string text, int line) {
  static const std::regex exit_code(R"(\s+# exit code (\d+)$)");
  static const std::regex not_run(R"(\s+# not run by the tests: (.+)$)");
  Command command;
  command.line = line;
  std::smatch found;
  if (std::regex_search(text, found, exit_code)) {
    command.exit_code = std::stoi(found[1]);
    text = found.prefix();
  } else if (std::regex_search(text, found, not_run)) {
    command.not_run = found[1];
    text = found.prefix();
  }
  command.text = text;
  return command;
}

// The command that begins at `lines[at]` with the lines it goes on in; `at` is left on the last of them.
std::string joined_command(const Lines& lines, std::size_t& at, std::size_t prompt) {
  std::string text = lines[at].substr(prompt);
  while (text.ends_with('\\') && at + 1 < lines.size()) text = text.substr(0, text.size() - 1) + lines[++at];
  return text;
}

std::vector<Command> console_commands(const Block& block) {
  std::vector<Command> commands;
  for (std::size_t i = 0; i < block.lines.size(); ++i) {
    if (block.lines[i].starts_with(k_prompt)) {
      const int line = block.line + 1 + static_cast<int>(i);
      commands.push_back(command_of(joined_command(block.lines, i, k_prompt.size()), line));
      commands.back().shows_output = true;
      commands.back().first_shown = block.line + 2 + static_cast<int>(i);
    } else if (!commands.empty()) {
      commands.back().shown.push_back(block.lines[i]);
    }
  }
  for (Command& command : commands) {  // an empty line in front of the next prompt parts two commands
    while (!command.shown.empty() && command.shown.back().empty()) command.shown.pop_back();
  }
  return commands;
}

std::vector<Command> script_commands(const Block& block) {
  std::vector<Command> commands;
  for (std::size_t i = 0; i < block.lines.size(); ++i) {
    const int line = block.line + 1 + static_cast<int>(i);
    const std::string text = joined_command(block.lines, i, 0);
    if (!text.empty() && !text.starts_with('#')) commands.push_back(command_of(text, line));
  }
  return commands;
}

std::string shown_difference(std::size_t line, const std::string& shown, const std::string& printed) {
  return "line " + std::to_string(line + 1) + " of the output\n  shown:   " + shown + "\n  printed: " + printed;
}

bool match_at(const Lines& shown, const Lines& printed, std::size_t at) {
  if (at + shown.size() > printed.size()) return false;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (!matches(shown[i], printed[at + i])) return false;
  }
  return true;
}

std::optional<std::size_t> found_from(const Lines& shown, const Lines& printed, std::size_t from) {
  for (std::size_t at = from; at + shown.size() <= printed.size(); ++at) {
    if (match_at(shown, printed, at)) return at;
  }
  return std::nullopt;
}

// The lines between gaps: one part more than there are gaps.
std::vector<Lines> parts_between_gaps(const Lines& shown) {
  std::vector<Lines> parts(1);
  for (const std::string& line : shown) {
    if (is_gap(line)) {
      parts.emplace_back();
    } else {
      parts.back().push_back(line);
    }
  }
  return parts;
}

// Line by line against the printed ones from `at` on.
Lines line_differences(const Lines& shown, const Lines& printed, std::size_t at, bool to_the_end) {
  Lines findings;
  const std::size_t printed_count = printed.size() - std::min(at, printed.size());
  const std::size_t count = to_the_end ? std::max(shown.size(), printed_count) : shown.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string pattern = i < shown.size() ? shown[i] : "(nothing)";
    const std::string line = i < printed_count ? printed[at + i] : "(nothing)";
    if (i < shown.size() && i < printed_count && matches(pattern, line)) continue;
    findings.push_back(shown_difference(at + i, pattern, line));
  }
  return findings;
}

// The words of a line: neither figures with their units nor bars nor the space that lines them up.
std::string without_figures(const std::string& line) {
  static const std::regex figure(R"([-+]?[0-9][0-9.,^e+-]*( ?([KMGT]i?B|[mun]?s|min|h|days|%|[A-Z]?Wh?))?|█|▌|\s)");
  return std::regex_replace(line, figure, "");
}

}  // namespace

std::vector<Block> fenced_blocks(const std::string& markdown) {
  std::vector<Block> blocks;
  const Lines lines = lint::lines_of(markdown);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with(k_fence)) continue;
    Block block{.language = lines[i].substr(k_fence.size()), .line = static_cast<int>(i) + 1, .lines = {}};
    for (++i; i < lines.size() && !lines[i].starts_with(k_fence); ++i) block.lines.push_back(lines[i]);
    blocks.push_back(block);
  }
  return blocks;
}

std::vector<Command> commands_in(const Block& block) {
  if (block.language == "console") return console_commands(block);
  if (block.language == "bash") return script_commands(block);
  return {};
}

std::vector<Command> quoted_commands(const std::string& markdown) {
  static const std::regex quoted("`(podsim [a-z][^`]*)`");
  std::vector<Command> commands;
  bool in_block = false;
  int number = 0;
  for (const std::string& line : lint::lines_of(markdown)) {
    ++number;
    if (line.starts_with(k_fence)) in_block = !in_block;
    if (in_block) continue;
    for (std::sregex_iterator at(line.begin(), line.end(), quoted); at != std::sregex_iterator(); ++at) {
      commands.push_back({.text = (*at)[1], .line = number, .not_run = "quoted"});
    }
  }
  return commands;
}

std::vector<Command> generated_parts(const std::string& markdown) {
  std::vector<Command> parts;
  const Lines lines = lint::lines_of(markdown);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with(k_generated) || !lines[i].ends_with(k_mark_end)) continue;
    const std::size_t length = lines[i].size() - k_generated.size() - k_mark_end.size();
    Command part{
        .text = lines[i].substr(k_generated.size(), length), .line = static_cast<int>(i) + 1, .shows_output = true};
    for (++i; i < lines.size() && lines[i] != k_generated_end; ++i) part.shown.push_back(lines[i]);
    parts.push_back(part);
  }
  return parts;
}

NamedFile named_file(const Block& block) {
  static const std::regex name(R"(^(?:#|//) ([\w./-]+\.(?:toml|json|csv|cpp|hpp))$)");
  std::smatch found;
  if (block.lines.empty() || !std::regex_match(block.lines[0], found, name)) return {"", block.lines};
  return {found[1], Lines(block.lines.begin() + 1, block.lines.end())};
}

bool matches(std::string_view pattern, std::string_view line) {
  std::size_t cut = pattern.find(k_ellipsis);
  if (cut == std::string_view::npos) return pattern == line;
  if (!line.starts_with(pattern.substr(0, cut))) return false;
  line.remove_prefix(cut);
  for (pattern.remove_prefix(cut + k_ellipsis.size()); (cut = pattern.find(k_ellipsis)) != std::string_view::npos;
       pattern.remove_prefix(cut + k_ellipsis.size())) {
    const std::size_t found = line.find(pattern.substr(0, cut));
    if (found == std::string_view::npos) return false;
    line.remove_prefix(found + cut);
  }
  return line.ends_with(pattern);
}

Lines differences(const Lines& shown, const Lines& printed) {
  const std::vector<Lines> parts = parts_between_gaps(shown);
  if (parts.size() == 1) return line_differences(shown, printed, 0, true);
  if (!match_at(parts.front(), printed, 0)) return line_differences(parts.front(), printed, 0, false);
  std::size_t from = parts.front().size();
  for (std::size_t i = 1; i + 1 < parts.size(); ++i) {
    const std::optional<std::size_t> at = found_from(parts[i], printed, from);
    if (!at)
      return {"behind line " + std::to_string(from) + " of the output these lines are not printed:\n" +
              lint::joined(parts[i])};
    from = *at + parts[i].size();
  }
  const Lines& last = parts.back();
  if (from + last.size() > printed.size()) return {"the output ends before:\n" + lint::joined(last)};
  return line_differences(last, printed, printed.size() - last.size(), true);
}

Lines refreshed(const Lines& shown, const Lines& printed) {
  if (shown.empty()) return printed;
  Lines lines = shown;
  std::size_t from = 0;
  for (std::string& line : lines) {
    if (is_gap(line)) continue;
    const auto begin = printed.begin() + static_cast<std::ptrdiff_t>(from);
    auto at = std::find_if(begin, printed.end(), [&](const std::string& other) { return matches(line, other); });
    if (at == printed.end()) {
      const std::string words = without_figures(line);
      at = std::find_if(begin, printed.end(), [&](const auto& other) { return without_figures(other) == words; });
      if (at == printed.end()) continue;
      line = *at;
    }
    from = static_cast<std::size_t>(at - printed.begin()) + 1;
  }
  return lines;
}

bool is_excerpt(const Lines& excerpt, const Lines& text) {
  std::size_t from = 0;
  for (const Lines& part : parts_between_gaps(excerpt)) {
    const auto at = std::search(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), part.begin(), part.end());
    if (at == text.end() && !part.empty()) return false;
    from = static_cast<std::size_t>(at - text.begin()) + part.size();
  }
  return true;
}

}  // namespace podsim::readme
