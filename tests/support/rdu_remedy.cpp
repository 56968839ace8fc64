#include "tests/support/rdu_remedy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/support/run_experiment.hpp"

namespace podsim::test {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// Puts " value…" behind a flag of a command, in place of as many; at its end where the command has no such flag.
void set_flag(std::string& command, const std::string& flag, const std::string& values) {
  const std::size_t begin = command.find(" " + flag + " ");
  if (begin == std::string::npos) {
    command += " " + flag + values;
    return;
  }
  const std::size_t first = begin + 1 + flag.size();
  std::size_t end = first;
  for (auto words = std::ranges::count(values, ' '); words > 0; --words) {
    end = std::min(command.find(' ', end + 1), command.size());
  }
  command.replace(first, end - first, values);
}

// Model Zoo's key=value likewise.
void set_override(std::string& command, const std::string& word) {
  const std::size_t begin = command.find(" " + word.substr(0, word.find('=') + 1));
  if (begin != std::string::npos) {
    command.erase(begin, std::min(command.find(' ', begin + 1), command.size()) - begin);
  }
  command += " " + word;
}

void set_flags(std::string& command, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size();) {
    const std::string& flag = words[i++];
    if (!flag.starts_with("-")) {
      set_override(command, flag);
      continue;
    }
    std::string values;
    while (i < words.size() && !words[i].starts_with("-")) values += " " + words[i++];
    set_flag(command, flag, values);
  }
}

// A line of a table, in place of the one that it has of that key.
void set_line(std::string& table, const std::string& key, const std::string& value) {
  const std::size_t begin = table.find(key + " = ");
  if (begin != std::string::npos) table.erase(begin, table.find('\n', begin) + 1 - begin);
  table += key + " = " + value + "\n";
}

void make_change(const std::string& change, RduScene& scene) {
  constexpr const char* k_ranks = " in the launch command";
  constexpr const char* k_both = " in both commands";
  const std::size_t equals = change.find(" = ");
  if (change.starts_with("rdu.compile = ")) {
    scene.compile = change.substr(equals + 4, change.size() - equals - 5);  // without its quotes
  } else if (equals != std::string::npos) {
    std::string& table = change.starts_with("rdu.") ? scene.rdu : scene.workload;
    const std::size_t dot = change.find('.');
    set_line(table, change.substr(dot + 1, equals - dot - 1), change.substr(equals + 3));
  } else if (change.ends_with(k_ranks)) {
    set_flag(scene.launch, "-np", " " + change.substr(0, change.find(' ')));
  } else {
    const std::vector<std::string> words = words_of(change.substr(0, change.find(k_both)));
    set_flags(scene.compile, words);
    if (change.ends_with(k_both)) set_flags(scene.launch, words);
  }
}

}  // namespace

std::string RduScene::toml() const {
  std::string text = machine + "[model]\nconfig = \"" + model + "\"\n[workload]\n" + workload + "[rdu]\n" + rdu;
  if (!compile.empty()) text += "compile = \"" + compile + "\"\n";
  if (!launch.empty()) text += "launch = \"" + launch + "\"\n";
  return text;
}

Verdict verdict_of(const RduScene& scene) {
  const Plan plan = plan_of(scene.toml());
  return plan.family->verdict(plan, false);
}

std::string remedy_of(const RduScene& scene) {
  const Plan plan = plan_of(scene.toml());
  const Verdict verdict = plan.family->verdict(plan, true);
  REQUIRE_FALSE(verdict.fits());
  for (const BrokenLimit& broken : verdict.broken) CHECK(broken.remedy == verdict.broken.front().remedy);
  return verdict.broken.front().remedy;
}

RduScene with_remedy(RduScene scene, const std::string& remedy) {
  for (std::size_t at = 0; at < remedy.size();) {
    const std::size_t end = std::min(remedy.find(" and ", at), remedy.size());
    make_change(remedy.substr(at, end - at), scene);
    at = end + 5;
  }
  return scene;
}

}  // namespace podsim::test
