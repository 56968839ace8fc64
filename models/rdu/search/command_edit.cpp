#include "models/rdu/search/command_edit.hpp"

#include <algorithm>
#include <cctype>

namespace podsim::rdu {
namespace {

bool plain(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_./:=,+@%-").find(c) != std::string_view::npos;
  });
}

std::string quoted(std::string_view text) {
  if (plain(text)) return std::string(text);
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'')
      result += "'\\''";
    else
      result += c;
  }
  return result + "'";
}

// What the shell itself reads stays as it is written: variables without value, redirections, names of assignments.
std::string as_written(const ClassifiedWord& word) {
  if (word.owner == WordOwner::shell || !word.unset.empty()) return word.text;
  const std::size_t equals = word.text.find('=');
  if (word.owner != WordOwner::environment || equals == std::string::npos) return quoted(word.text);
  const std::string_view value = std::string_view(word.text).substr(equals + 1);
  return word.text.substr(0, equals + 1) + (value.empty() ? "" : quoted(value));
}

std::string option_text(const FlagSpec& flag, const std::string& value, Spelling spelling) {
  if (spelling == Spelling::options) return value.empty() ? flag.name() : flag.name() + " " + value;
  std::string key = flag.zoo_keys.empty() ? "samba_compile." + flag.key.path : flag.zoo_keys.front();
  std::ranges::replace(key, '-', '_');
  return (flag.zoo_key_needs_plus ? "+" : "") + key + "=" + (value.empty() ? "true" : value);
}

}  // namespace

void CommandEdit::remove(std::string_view path) {
  for (const FlagOccurrence& used : line_.flags) {
    if (used.flag->key.path != path || !used.shipped_in.empty()) continue;
    removed_.push_back(used.place);
    for (const Word& value : used.values) removed_.push_back(value.place);
  }
}

void CommandEdit::set(std::string_view path, const std::string& value) {
  remove(path);
  added_.push_back(option_text(flag(path), value, line_.spelling));
}

bool CommandEdit::replace(const Place& place, const std::string& text) {
  if (std::ranges::count(line_.words, place, &ClassifiedWord::place) != 1) return false;
  replaced_.emplace_back(place, text);
  return true;
}

std::string CommandEdit::text() const {
  std::string text;
  for (const ClassifiedWord& word : line_.words) {
    if (std::ranges::count(removed_, word.place) > 0) continue;
    const auto other = std::ranges::find(replaced_, word.place, &std::pair<Place, std::string>::first);
    text += (text.empty() ? "" : " ") + (other != replaced_.end() ? other->second : as_written(word));
  }
  for (const std::string& more : added_) text += " " + more;
  return text;
}

}  // namespace podsim::rdu
