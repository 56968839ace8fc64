#include "sim/core/diagnostics.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace podsim {
namespace {

char folded(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Insertions, deletions, replacements and swaps of neighbours cost one; letter case costs nothing.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = folded(a[i - 1]) == folded(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0u : 1u)});
      const bool inside = i > 1 && j > 1;
      const bool swapped = inside && folded(a[i - 1]) == folded(b[j - 2]) && folded(a[i - 2]) == folded(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

void append_place(std::string& text, const Place& place) {
  if (place.file.empty()) return;
  text += place.file;
  if (place.line > 0) {
    text += ":" + std::to_string(place.line);
    if (place.column > 0) text += ":" + std::to_string(place.column);
  }
  text += ": ";
}

// A name that was not written to its end; empty: none, or the word is too short to tell.
std::string shortest_that_begins(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t k_telling = 3;
  std::string best;
  if (word.size() < k_telling) return best;
  for (const std::string& candidate : candidates) {
    if (candidate.starts_with(word) && (best.empty() || candidate.size() < best.size())) best = candidate;
  }
  return best;
}

}  // namespace

std::string printable(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return text;
}

std::string to_text(const Diagnostic& diagnostic) {
  std::string text;
  append_place(text, diagnostic.place);
  if (diagnostic.severity == Severity::warning) text += "warning: ";
  if (!diagnostic.key.empty()) text += diagnostic.key + ": ";
  text += diagnostic.problem;
  if (!diagnostic.expected.empty()) text += "; expected " + diagnostic.expected;
  if (!diagnostic.suggestion.empty()) text += "; did you mean \"" + diagnostic.suggestion + "\"?";
  return printable(std::move(text));
}

void Diagnostics::error(Place place, std::string key, std::string problem, std::string expected,
                        std::string suggestion) {
  all_.push_back({Severity::error, std::move(place), std::move(key), std::move(problem), std::move(expected),
                  std::move(suggestion)});
}

void Diagnostics::warning(Place place, std::string key, std::string problem, std::string expected,
                          std::string suggestion) {
  all_.push_back({Severity::warning, std::move(place), std::move(key), std::move(problem), std::move(expected),
                  std::move(suggestion)});
}

void Diagnostics::append(const Diagnostics& other) {
  // By index and with the size taken first, so that a list may be appended to itself.
  const std::size_t count = other.all_.size();
  all_.reserve(all_.size() + count);
  for (std::size_t i = 0; i < count; ++i) all_.push_back(other.all_[i]);
}

bool Diagnostics::has_errors() const {
  return std::any_of(all_.begin(), all_.end(), [](const Diagnostic& d) { return d.severity == Severity::error; });
}

std::string Diagnostics::to_text() const {
  std::string text;
  for (const Diagnostic& diagnostic : all_) text += podsim::to_text(diagnostic) + "\n";
  return text;
}

ConfigError::ConfigError(Diagnostics diagnostics)
    : std::runtime_error(diagnostics.to_text()), diagnostics_(std::move(diagnostics)) {}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty()) return {};
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::string best;
  for (const std::string& candidate : candidates) {
    const std::size_t length_gap =
        candidate.size() > word.size() ? candidate.size() - word.size() : word.size() - candidate.size();
    if (length_gap >= best_distance) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best.empty() ? shortest_that_begins(word, candidates) : best;
}

}  // namespace podsim
