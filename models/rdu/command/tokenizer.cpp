#include "models/rdu/command/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/core/utf8.hpp"

namespace podsim::rdu {
namespace {

constexpr std::size_t k_longest_text = std::size_t{128} << 10;
const char* const k_key = "command";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_letter(char c) {
  return is_upper(c) || (c >= 'a' && c <= 'z');
}
bool is_name_character(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
bool is_special_parameter(char c) {
  return is_digit(c) || c == '@' || c == '*' || c == '#' || c == '?' || c == '!' || c == '$' || c == '-';
}

// The names by which documentation marks what a reader must fill in.
bool is_documentation_placeholder(std::string_view word) {
  if (word == "MAJOR.MINOR.PATCH") return true;
  return word.starts_with("PATH_TO_") &&
         std::all_of(word.begin(), word.end(), [](char c) { return is_upper(c) || is_digit(c) || c == '_'; });
}

// Characters that editors and web pages put in the place of ASCII ones.
struct Typographic {
  std::string_view bytes;
  const char* problem;
  const char* expected;
  bool only_at_start;
};
const Typographic k_typographic[] = {
    {"\u201c", "has a curly quote", "straight quotes", false},
    {"\u201d", "has a curly quote", "straight quotes", false},
    {"\u2018", "has a curly quote", "straight quotes", false},
    {"\u2019", "has a curly quote", "straight quotes", false},
    {"\u00a0", "has a no-break space", "a plain blank", false},
    {"\u2013", "begins with a long dash", "- or --", true},
    {"\u2014", "begins with a long dash", "- or --", true},
    {"\u2212", "begins with a minus sign", "- or --", true},
};

// One pass over the text. Every step moves `at_` forward, so it ends.
class Splitter {
 public:
  Splitter(std::string_view text, const Place& begin, const Defines& defines, Diagnostics& diagnostics)
      : text_(text), begin_(begin), defines_(defines), diagnostics_(diagnostics), now_{begin.line, begin.column} {}

  ShellText split() {
    while (at_ < text_.size()) step();
    end_command();
    return std::move(result_);
  }

 private:
  bool looking_at(std::string_view piece) const { return text_.substr(at_, piece.size()) == piece; }
  bool ends_line(std::size_t at) const { return at >= text_.size() || text_[at] == '\n'; }

  void advance(std::size_t bytes = 1) {
    for (; bytes > 0 && at_ < text_.size(); --bytes, ++at_) {
      const char c = text_[at_];
      if (begin_.line == 0) continue;
      if (c == '\n') {
        ++now_.line;
        now_.column = 1;
      } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {  // UTF-8: continuation bytes take no column
        ++now_.column;
      }
    }
  }

  Place place() const { return {begin_.file, now_.line, now_.column}; }

  void problem(const Place& place, std::string what, std::string expected = {}) {
    diagnostics_.error(place, k_key, std::move(what), std::move(expected));
  }

  void step() {
    const char c = text_[at_];
    if (c == '\n' || c == ';') {
      end_command();
      advance();
    } else if (is_blank(c)) {
      end_word();
      advance();
    } else if (c == '#' && !in_word_) {
      while (!ends_line(at_)) advance();
    } else if (c == '\\') {
      backslash();
    } else if (c == '\'') {
      single_quotes();
    } else if (c == '"') {
      double_quotes();
    } else if (c == '$' || c == '`') {
      dollar(false);
    } else if (c == '&' || c == '|') {
      joint();
    } else if (c == '<' || c == '>') {
      angle();
    } else {
      plain();
    }
  }

  void begin_word() {
    if (in_word_) return;
    in_word_ = true;
    word_ = Word{};
    word_.place = place();
    word_.for_shell = in_pipe_ || after_redirection_;
    after_redirection_ = false;
  }

  void put(std::string_view bytes, TextPosition position) {
    begin_word();
    word_.text += bytes;
    word_.positions.insert(word_.positions.end(), bytes.size(), position);
  }

  // Takes a character of the text as it is.
  void take() {
    begin_word();
    put(text_.substr(at_, 1), now_);
    advance();
  }

  void plain() {
    for (const Typographic& odd : k_typographic) {
      if (!looking_at(odd.bytes) || (odd.only_at_start && in_word_)) continue;
      problem(place(), odd.problem, odd.expected);
      if (odd.only_at_start) {
        // Read on as if the dash had been right, so that nothing else is reported because of it.
        const std::size_t behind = at_ + odd.bytes.size();
        const bool short_name = ends_line(behind + 1) || is_blank(text_[behind + 1]) || text_[behind + 1] == '=';
        const TextPosition position = now_;
        put(short_name ? "-" : "--", position);
        advance(odd.bytes.size());
        return;
      }
      break;
    }
    const std::size_t length = std::max<std::size_t>(1, utf8_length_at(text_, at_));
    for (std::size_t i = 0; i < length; ++i) take();
  }

  void backslash() {
    std::size_t behind = at_ + 1;
    if (behind < text_.size() && text_[behind] == '\r' && behind + 1 < text_.size() && text_[behind + 1] == '\n') {
      ++behind;
    }
    if (behind < text_.size() && text_[behind] == '\n') {
      advance(behind + 1 - at_);
      return;
    }
    std::size_t end = at_ + 1;
    while (end < text_.size() && is_blank(text_[end])) ++end;
    if (end > at_ + 1 && end < text_.size() && text_[end] == '\n') {
      problem(place(), "a blank stands behind the backslash, so that the command ends here",
              "the backslash as last character of the line");
      advance(end + 1 - at_);
      return;
    }
    advance();
    if (at_ < text_.size()) take();
  }

  void single_quotes() {
    const Place opening = place();
    begin_word();
    advance();
    while (at_ < text_.size() && text_[at_] != '\'') take();
    if (at_ == text_.size()) problem(opening, "single quote without end", "a second '");
    advance();
  }

  void double_quotes() {
    const Place opening = place();
    begin_word();
    advance();
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '$' || text_[at_] == '`') {
        dollar(true);
      } else if (text_[at_] == '\\' && at_ + 1 < text_.size() &&
                 std::string_view("$`\"\\\n").find(text_[at_ + 1]) != std::string_view::npos) {
        advance();
        if (text_[at_] == '\n') {
          advance();
        } else {
          take();
        }
      } else {
        take();
      }
    }
    if (at_ == text_.size()) problem(opening, "double quote without end", "a second \"");
    advance();
  }

  // The text up to the bracket that closes the one at `open`, both included; empty when there is none.
  std::string_view bracketed(std::size_t open, char opening, char closing) const {
    std::size_t depth = 0;
    for (std::size_t i = open; i < text_.size(); ++i) {
      if (text_[i] == opening) ++depth;
      if (text_[i] == closing && --depth == 0) return text_.substr(open, i + 1 - open);
    }
    return {};
  }

  // At a dollar sign or a back quote: a variable, a substitution, or the character itself.
  void dollar(bool quoted) {
    if (text_[at_] == '`') {
      const std::size_t end = text_.find('`', at_ + 1);
      if (end == std::string_view::npos) return unclosed("back quote without end");
      const std::string_view written = text_.substr(at_, end + 1 - at_);
      return expand(written, fmt::format("$({})", written.substr(1, written.size() - 2)), std::nullopt, quoted);
    }
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (next == '{' || next == '(') {
      const std::string_view body = bracketed(at_ + 1, next, next == '{' ? '}' : ')');
      if (body.empty()) return unclosed(next == '{' ? "${ without }" : "$( without )");
      const std::string_view written = text_.substr(at_, body.size() + 1);
      if (next == '(') return expand(written, std::string(written), std::nullopt, quoted);
      return braces(written, quoted);
    }
    std::size_t end = at_ + 1;
    if (is_letter(next) || next == '_') {
      while (end < text_.size() && is_name_character(text_[end])) ++end;
    } else if (is_special_parameter(next)) {
      ++end;
    } else {
      return take();
    }
    expand(text_.substr(at_, end - at_), std::string(text_.substr(at_ + 1, end - at_ - 1)), std::nullopt, quoted);
  }

  void unclosed(const char* what) {
    problem(place(), what);
    while (at_ < text_.size()) take();
  }

  // ${NAME}, ${NAME:-default}, ${NAME-default}; other forms are looked up as a whole.
  void braces(std::string_view written, bool quoted) {
    const std::string_view body = written.substr(2, written.size() - 3);
    const std::size_t dash = body.find('-');
    if (dash == std::string_view::npos || dash == 0) return expand(written, std::string(body), std::nullopt, quoted);
    const std::string_view name = body.substr(0, body[dash - 1] == ':' ? dash - 1 : dash);
    expand(written, std::string(name), std::string(body.substr(dash + 1)), quoted);
  }

  std::optional<std::string> value_of_variable(const std::string& name) {
    std::optional<std::string> value;
    if (const auto given = defines_.find(name); given != defines_.end()) {
      value = given->second;
      result_.used.insert(name);
    } else if (const auto assigned = assigned_.find(name); assigned != assigned_.end()) {
      value = assigned->second;
    }
    if (value) value = within_limit(std::move(*value));
    return value;
  }

  // Values may hold values that hold values: without a limit a short text could fill the memory.
  std::string within_limit(std::string value) {
    const bool first = filled_in_ <= k_longest_text;
    filled_in_ += value.size();
    if (filled_in_ <= k_longest_text) return value;
    if (first) problem(place(), "the values of all variables together are too long", "at most 128 KiB");
    return {};
  }

  // Puts the value of a variable in the place of `written`, which the text has at `at_`.
  void expand(std::string_view written, const std::string& name, const std::optional<std::string>& otherwise,
              bool quoted) {
    const TextPosition position = now_;
    std::optional<std::string> value = value_of_variable(name);
    if (!value) value = otherwise;
    if (value) {
      insert(*value, position, quoted);
    } else {
      begin_word();
      word_.unset.push_back({name, place()});
      put(written, position);
    }
    advance(written.size());
  }

  // Without quotes a value with blanks makes several words.
  void insert(std::string_view value, TextPosition position, bool quoted) {
    if (quoted) return put(value, position);
    for (const char& c : value) {
      if (is_blank(c) || c == '\n') {
        end_word();
      } else {
        put(std::string_view(&c, 1), position);
      }
    }
  }

  // At & or |.
  void joint() {
    if (looking_at("&>")) return redirection(looking_at("&>>") ? 3 : 2);
    if (looking_at("&&") || looking_at("||") || text_[at_] == '&') {
      const std::size_t length = looking_at("&&") || looking_at("||") ? 2 : 1;
      end_command();
      advance(length);
      return;
    }
    end_word();
    in_pipe_ = true;
    begin_word();
    take();
    end_word();
  }

  // At < or >: a placeholder in angle brackets, or a redirection.
  void angle() {
    if (text_[at_] == '<') {
      std::size_t end = at_ + 1;
      const std::string_view allowed = "_-. /";
      while (end < text_.size() && (is_name_character(text_[end]) || allowed.find(text_[end]) < allowed.size())) ++end;
      const bool closed = end < text_.size() && text_[end] == '>' && end > at_ + 1 && is_letter(text_[at_ + 1]);
      if (closed) {
        return expand(text_.substr(at_, end + 1 - at_), std::string(text_.substr(at_ + 1, end - at_ - 1)), std::nullopt,
                      false);
      }
    }
    std::size_t length = 1;
    while (at_ + length < text_.size() && (text_[at_ + length] == text_[at_] || text_[at_ + length] == '&')) ++length;
    redirection(length);
  }

  void redirection(std::size_t length) {
    const bool has_number = in_word_ && std::all_of(word_.text.begin(), word_.text.end(), is_digit);
    if (!has_number) end_word();
    begin_word();
    word_.for_shell = true;
    for (std::size_t i = 0; i < length; ++i) take();
    end_word();
    after_redirection_ = true;
  }

  void end_word() {
    if (!in_word_) return;
    in_word_ = false;
    if (is_documentation_placeholder(word_.text) || is_documentation_placeholder(value_of(word_.text))) fill_in();
    command_.push_back(std::move(word_));
  }

  static std::string_view value_of(std::string_view word) {
    const std::size_t sign = word.find('=');
    return sign == std::string_view::npos ? std::string_view() : word.substr(sign + 1);
  }

  // The word ends in a documentation placeholder.
  void fill_in() {
    const std::string name(is_documentation_placeholder(word_.text) ? word_.text : value_of(word_.text));
    const std::size_t start = word_.text.size() - name.size();
    const TextPosition position = word_.positions[start];
    const std::optional<std::string> value = value_of_variable(name);
    if (!value) {
      word_.unset.push_back({name, {word_.place.file, position.line, position.column}});
      return;
    }
    word_.text = word_.text.substr(0, start) + *value;
    word_.positions.resize(start);
    word_.positions.resize(word_.text.size(), position);
  }

  void end_command() {
    end_word();
    in_pipe_ = false;
    after_redirection_ = false;
    const bool exports = !command_.empty() && command_.front().text == "export";
    const auto first = command_.begin() + (exports ? 1 : 0);
    const bool only_assignments = !command_.empty() && std::all_of(first, command_.end(), [&](const Word& word) {
      return is_assignment(word.text) ||
             (exports && std::all_of(word.text.begin(), word.text.end(), is_name_character));
    });
    if (!only_assignments) {
      if (!command_.empty()) result_.commands.push_back(std::move(command_));
      command_.clear();
      return;
    }
    for (auto it = first; it != command_.end(); ++it) {
      if (!is_assignment(it->text)) continue;
      const std::size_t sign = it->text.find('=');
      if (it->unset.empty()) assigned_[it->text.substr(0, sign)] = it->text.substr(sign + 1);
      result_.assignments.push_back(std::move(*it));
    }
    command_.clear();
  }

  std::string_view text_;
  Place begin_;
  const Defines& defines_;
  Defines assigned_;  // by the text itself; what the user defines comes first
  Diagnostics& diagnostics_;
  std::size_t at_ = 0;
  std::size_t filled_in_ = 0;  // bytes of the values of variables
  TextPosition now_;
  bool in_word_ = false;
  bool in_pipe_ = false;
  bool after_redirection_ = false;
  Word word_;
  std::vector<Word> command_;
  ShellText result_;
};

}  // namespace

Word Word::part(std::size_t begin, std::size_t end) const {
  Word rest;
  end = std::min(end, text.size());
  rest.text = text.substr(begin, end - begin);
  rest.positions.assign(positions.begin() + static_cast<std::ptrdiff_t>(begin),
                        positions.begin() + static_cast<std::ptrdiff_t>(end));
  rest.place = place;
  rest.for_shell = for_shell;
  if (!positions.empty()) {
    const bool behind = begin == positions.size();
    const TextPosition at = behind ? positions.back() : positions[begin];
    rest.place.line = at.line;
    rest.place.column = at.column + (behind && at.line > 0 ? 1 : 0);
  }
  for (const UnsetVariable& variable : unset) {
    const bool before = variable.place.line < rest.place.line ||
                        (variable.place.line == rest.place.line && variable.place.column < rest.place.column);
    const bool inside = rest.text.find(variable.name) != std::string::npos;
    if (!before && inside) rest.unset.push_back(variable);
  }
  return rest;
}

ShellText split_shell_text(std::string_view text, const Place& begin, const Defines& defines,
                           Diagnostics& diagnostics) {
  if (text.size() > k_longest_text) {
    diagnostics.error(begin, k_key, fmt::format("has {} bytes", text.size()), "at most 128 KiB");
    return {};
  }
  return Splitter(text, begin, defines, diagnostics).split();
}

bool is_assignment(std::string_view word) {
  const std::size_t sign = word.find('=');
  if (sign == std::string_view::npos || sign == 0 || is_digit(word.front())) return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(sign), is_name_character);
}

}  // namespace podsim::rdu
