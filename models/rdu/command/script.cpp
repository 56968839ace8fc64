#include "models/rdu/command/script.hpp"

#include <fmt/format.h>

namespace podsim::rdu {
namespace {

bool is_run(const CommandLine& line) {
  return !line.sub_command.text.empty() && !line.compiles();
}

}  // namespace

Script read_script(std::string_view text, const Place& begin, const Defines& defines, Diagnostics& diagnostics) {
  Script script;
  std::vector<CommandLine>& lines = script.lines;
  const auto commands_of = [&](std::string_view of, const Place& at) {
    ShellText parts = split_shell_text(of, at, defines, diagnostics);
    script.defines.merge(parts.used);
    return std::move(parts.commands);
  };
  for (const std::vector<Word>& words : commands_of(text, begin)) {
    lines.push_back(read_command_line(words, diagnostics));
    for (const LauncherCall& launcher : lines.back().launchers) {
      const LauncherOption* wrapped = launcher.find(LauncherRole::wrapped_command);
      if (wrapped == nullptr || wrapped->values.empty()) continue;
      const Word inner = wrapped->values.front();
      for (const std::vector<Word>& command : commands_of(inner.text, inner.place)) {
        lines.push_back(read_command_line(command, diagnostics));
      }
      break;
    }
  }
  return script;
}

std::optional<std::size_t> the_command(const std::vector<CommandLine>& lines, bool compiles, const Place& begin,
                                       Diagnostics& diagnostics) {
  const char* const wanted = compiles ? "a compile command: python app.py compile …"
                                      : "a command that runs: python app.py run …, with or without a launcher";
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool fits = compiles ? lines[i].compiles() : is_run(lines[i]);
    if (!fits) continue;
    if (found) {
      diagnostics.error(lines[i].place, "command", "is the second of its kind", "one");
      return std::nullopt;
    }
    found = i;
  }
  if (found) return found;
  for (const CommandLine& line : lines) {
    if (line.sub_command.text.empty()) continue;
    diagnostics.error(line.sub_command.place, "command", fmt::format("is a {} command", line.sub_command.text), wanted);
    return std::nullopt;
  }
  const bool empty = lines.empty();
  diagnostics.error(empty ? begin : lines.front().place, "command",
                    empty ? "there is no command" : "has no sub-command", wanted);
  return std::nullopt;
}

void report_passed_over(const CommandLine& line, Diagnostics& diagnostics) {
  const std::string name = line.program.text.empty() ? line.words.front().text : line.program.text;
  diagnostics.warning(line.place, "command", fmt::format("{} is passed over", name));
}

}  // namespace podsim::rdu
