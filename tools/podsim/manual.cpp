#include "tools/podsim/manual.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "sim/core/utf8.hpp"
#include "tools/podsim/verbs.hpp"
#include "tools/podsim/version.hpp"

namespace podsim {
namespace {

// The code point of a well-formed UTF-8 sequence of two to four bytes.
std::uint32_t code_point(std::string_view sequence) {
  std::uint32_t code = static_cast<unsigned char>(sequence[0]) & (0xffU >> (sequence.size() + 1));
  for (const char c : sequence.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3fU);
  return code;
}

// Text that no macro or escape of roff can be read in; other letters than those of ASCII by their numbers.
std::string roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t length = utf8_length_at(text, i);
    if (length > 1) {
      out += fmt::format("\\[u{:04X}]", code_point(text.substr(i, length)));
      i += length - 1;
      continue;
    }
    const char c = text[i];
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_begins = c == '\n';
  }
  return out;
}

std::string verb_manual(const VerbSpec& verb) {
  std::string text =
      fmt::format(".SS {}\n.B podsim {}\n.PP\n{}\n", roff(verb.name), roff(verb.usage), roff(verb.summary));
  if (!verb.details.empty()) text += roff(verb.details) + "\n";
  for (const OptionSpec& option : all_options(verb)) {
    text += fmt::format(".TP\n.BI \\-\\-{} {}\n{}{}\n", roff(option.name),
                        option.argument.empty() ? "" : "\" " + roff(option.argument) + "\"", roff(option_help(option)),
                        option.repeatable ? " (repeatable)" : "");
  }
  text += ".PP\n.EX\n";
  for (const std::string_view example : verb.examples) text += roff(example) + "\n";
  return text + ".EE\n";
}

std::string option_words(const VerbSpec& verb) {
  std::string words;
  for (const OptionSpec& option : all_options(verb)) {
    words += (words.empty() ? "--" : " --") + std::string(option.name);
  }
  return words;
}

// How the value of an option is completed; empty: it is not.
std::string value_completion(const OptionSpec& option) {
  std::string commands;
  if (!option.choices.empty()) commands += fmt::format("_podsim_words \"{}\"; ", fmt::join(option.choices, " "));
  if (!option.listed_as.empty()) commands += fmt::format("_podsim_names {}; ", option.listed_as);
  if (option.argument.find("FILE") != std::string_view::npos) commands += "_podsim_files; ";
  if (option.argument.find("DIR") != std::string_view::npos) commands += "_podsim_folders; ";
  return commands;
}

// Of a verb, or of one of its kinds, whose name is its last word.
std::string verb_completion(const VerbSpec& verb) {
  std::string text = fmt::format("    {})\n      case $before in\n", verb.name.substr(verb.name.find_last_of(' ') + 1));
  for (const OptionSpec& option : all_options(verb)) {
    if (option.argument.empty()) continue;
    text += fmt::format("        --{}) {}return ;;\n", option.name, value_completion(option));
  }
  text +=
      fmt::format("      esac\n      [[ $word == -* ]] && {{ _podsim_words \"{}\"; return; }}\n", option_words(verb));
  if (!verb.words_listed_as.empty()) text += fmt::format("      _podsim_names {}\n", verb.words_listed_as);
  return text + "      _podsim_files ;;\n";
}

// Of a verb whose second word says which of its kinds is meant.
std::string kinds_completion(const Verb& verb) {
  std::string words;
  for (const Verb& kind : verb.kinds) {
    const std::string_view name = kind.spec().name;
    words += (words.empty() ? "" : " ") + std::string(name.substr(name.find_last_of(' ') + 1));
  }
  std::string text = fmt::format(
      "    {})\n      [[ $COMP_CWORD -eq 2 ]] && {{ _podsim_words \"{}\"; return; }}\n      case ${{COMP_WORDS[2]}} "
      "in\n",
      verb.spec().name, words);
  for (const Verb& kind : verb.kinds) text += verb_completion(kind.spec());
  return text + "      esac ;;\n";
}

// What the verbs share. `compopt` keeps bash from putting a blank behind a key, which goes on with "=".
constexpr std::string_view k_completion_head =
    R"bash(# Completion of podsim in bash, printed by: podsim help --completion bash
_podsim_words() { COMPREPLY+=($(compgen -W "$1" -- "$word")); }
_podsim_names() {
  local kind
  for kind in "$@"; do
    COMPREPLY+=($(compgen -W "$("${COMP_WORDS[0]}" list "$kind" 2>/dev/null)" -- "$word"))
  done
  if [[ $before == --set ]]; then
    COMPREPLY=("${COMPREPLY[@]/%/=}")
    compopt -o nospace 2>/dev/null
  fi
}
_podsim_files() { compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "$word")); }
_podsim_folders() { compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -d -- "$word")); }
_podsim() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
)bash";

}  // namespace

std::string manual_page() {
  std::string text = fmt::format(".TH PODSIM 1 \"\" \"podsim {}\" \"User commands\"\n", roff(version()));
  text +=
      ".SH NAME\npodsim \\- predicts how fast a model trains or runs on an accelerator pod\n"
      ".SH SYNOPSIS\n.B podsim\n.I VERB\n.RI [ arguments ]\n.SH VERBS\n";
  for (const Verb& verb : verbs()) text += verb_manual(verb.spec());
  text += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : exit_codes()) text += fmt::format(".TP\n.B {}\n{}\n", code, roff(meaning));
  return text +
         ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nwhen set and not empty, reports on a terminal have no colour\n"
         ".SH SEE ALSO\n.BR \"podsim explain\" \" tells what a key, metric or constant means; \" \"podsim list\" \" "
         "names them.\"\n";
}

std::string bash_completion() {
  std::string text(k_completion_head);
  text +=
      fmt::format("  if [[ $COMP_CWORD -eq 1 ]]; then\n    _podsim_words \"{} --help --version\"\n    return\n  fi\n",
                  fmt::join(verb_names(), " "));
  text += "  case ${COMP_WORDS[1]} in\n";
  for (const Verb& verb : verbs()) {
    text += verb.kinds.empty() ? verb_completion(verb.spec()) : kinds_completion(verb);
  }
  return text + "  esac\n}\ncomplete -F _podsim podsim\n";
}

}  // namespace podsim
