// What the Markdown files of the tree show is what a reader gets who follows them in a fresh clone.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/lint/source_tree.hpp"
#include "tests/readme/blocks.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/run_command.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace podsim;
using namespace podsim::readme;
using lint::SourceFile;

namespace fs = std::filesystem;

namespace {

using Lines = std::vector<std::string>;

const std::set<std::string> k_languages = {"", "text", "console", "bash", "toml", "json", "csv", "cpp"};

const std::set<std::string> k_code = {"toml", "json", "csv", "cpp"};

std::vector<SourceFile> markdown_files() {
  std::vector<SourceFile> files = lint::read_tree(test::source_dir());
  std::erase_if(files, [](const SourceFile& file) { return !file.path.ends_with(".md"); });
  return files;
}

// A clone as a reader has it behind the build: the tree, the program in its place, and files of the reader's own.
class Clone {
 public:
  Clone() {
    const fs::path source = test::source_dir();
    for (const auto& entry : fs::directory_iterator(source)) {
      const std::string name = entry.path().filename().string();
      if (name != "build" && !name.starts_with(".")) fs::create_symlink(entry.path(), folder_.path(name));
    }
    fs::create_directories(folder_.path("build/release"));
    fs::create_symlink(test::program(), folder_.path("build/release/podsim"));
    for (const auto& entry : fs::directory_iterator(source / "tests/readme/own_files")) {
      fs::copy_file(entry.path(), folder_.path(entry.path().filename().string()));
    }
  }

  void write(const std::string& name, const Lines& lines) const { folder_.write(name, lint::joined(lines)); }

  // Everything printed stands in `out`, as on a terminal. `podsim` alone is the program too.
  test::CommandResult run(const std::string& command) const {
    const std::string shell = "PATH=\"$PWD/build/release:$PATH\" bash -c " + test::shell_quoted(command) + " 2>&1";
    return test::run_command(shell, folder_.path());
  }

 private:
  test::TemporaryFolder folder_;
};

// A file of the tree, named from its root or from beside the page; a path that begins elsewhere is none of ours.
bool is_there(const fs::path& root, const fs::path& beside, const std::string& path) {
  const std::string first = path.substr(0, path.find('/'));
  if (!fs::exists(root / first) && !fs::exists(beside / first)) return true;
  return fs::exists(root / path) || fs::exists(beside / path);
}

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string place(const SourceFile& file, int line) {
  return file.path + ":" + std::to_string(line);
}

// "--format" and the like, as they stand in a command; what is quoted is no option of the program.
Lines options_in(const std::string& command) {
  static const std::regex quoted(R"("[^"]*"|'[^']*')");
  static const std::regex option(R"((?:^|\s)(--[a-z][a-z-]*))");
  const std::string bare = std::regex_replace(command, quoted, "");
  Lines options;
  for (std::sregex_iterator at(bare.begin(), bare.end(), option); at != std::sregex_iterator(); ++at) {
    options.push_back((*at)[1]);
  }
  return options;
}

// The verb of a command of the program, with a second word where it has one: "sweep run".
std::string verb_of(const std::string& command) {
  static const std::regex sweep(R"(podsim (sweep (?:run|show|export|merge)|[a-z-]+))");
  std::smatch found;
  return std::regex_search(command, found, sweep) ? found[1].str() : "";
}

// A command that is not run is one that could be: the shell reads it, and the program has its verb and its options.
Lines unreadable(const Command& command, const Clone& clone) {
  Lines findings;
  const std::string line = std::regex_replace(command.text, std::regex("…"), "x");
  if (clone.run("bash -n -c " + test::shell_quoted(line)).exit_code != 0) findings.push_back("the shell refuses it");
  static const std::regex script(R"(^(?:\./)?(tools/[\w/-]+))");
  std::smatch found;
  if (std::regex_search(line, found, script) && clone.run("test -x " + found[1].str()).exit_code != 0) {
    findings.push_back("there is no " + found[1].str());
  }
  const std::string verb = verb_of(line);
  if (verb.empty()) return findings;
  const test::CommandResult help = clone.run("podsim help " + verb);
  if (help.exit_code != 0) return {"the program has no verb " + verb};
  for (const std::string& option : options_in(line)) {
    const std::string listed = "\n  " + option + " ";
    if (help.out.find(listed) == std::string::npos) findings.push_back(verb + " has no option " + option);
  }
  return findings;
}

Lines faults_of(const Command& command, const Clone& clone) {
  if (!command.not_run.empty()) return unreadable(command, clone);
  const test::CommandResult result = clone.run(command.text);
  Lines findings;
  if (result.exit_code != command.exit_code) {
    findings.push_back("exit code " + std::to_string(result.exit_code) + ", not " + std::to_string(command.exit_code) +
                       "; printed:\n" + result.out);
  }
  if (command.shows_output) lint::append(findings, differences(command.shown, lint::lines_of(result.out)));
  return findings;
}

// Puts a reader's own file into the clone, or compares an excerpt with its file.
Lines faults_of_code(const Block& block, const Clone& clone) {
  const NamedFile code = named_file(block);
  if (code.name.empty()) return {"its first line names no file"};
  if (code.name.find('/') == std::string::npos) {
    clone.write(code.name, code.lines);
    return {};
  }
  for (const SourceFile& file : lint::read_tree(test::source_dir())) {
    if (file.path == code.name) {
      return is_excerpt(code.lines, lint::lines_of(file.text)) ? Lines{} : Lines{"is not what " + code.name + " has"};
    }
  }
  return {"there is no " + code.name};
}

Lines faults_of_block(const Block& block) {
  if (!k_languages.contains(block.language)) return {"unknown language \"" + block.language + "\""};
  static const std::regex command(R"(^(\$ |(build/release/)?podsim [a-z]|\./tools/))");
  const bool drawing = block.language.empty() || block.language == "text";
  for (const std::string& line : block.lines) {
    if (drawing && std::regex_search(line, command)) return {"shows a command, but no block of console or bash"};
  }
  return {};
}

// Runs every command and puts what it prints now in place of what is shown.
void refresh(const SourceFile& file) {
  const Clone clone;
  Lines lines = lint::lines_of(file.text);
  std::vector<std::pair<Command, Lines>> changes;
  for (const Block& block : fenced_blocks(file.text)) {
    if (k_code.contains(block.language)) faults_of_code(block, clone);
    for (const Command& command : commands_in(block)) {
      if (!command.not_run.empty()) continue;
      const Lines printed = lint::lines_of(clone.run(command.text).out);
      if (command.shows_output) changes.emplace_back(command, refreshed(command.shown, printed));
    }
  }
  for (auto at = changes.rbegin(); at != changes.rend(); ++at) {
    const auto begin = lines.begin() + at->first.first_shown - 1;
    lines.erase(begin, begin + static_cast<std::ptrdiff_t>(at->first.shown.size()));
    lines.insert(lines.begin() + at->first.first_shown - 1, at->second.begin(), at->second.end());
  }
  std::ofstream(fs::path(test::source_dir()) / file.path, std::ios::binary) << lint::joined(lines);
}

}  // namespace

TEST_CASE("readme: every command does what is shown") {
  if (std::getenv("PODSIM_REFRESH_README") != nullptr) {
    for (const SourceFile& file : markdown_files()) refresh(file);
  }
  for (const SourceFile& file : markdown_files()) {
    const Clone clone;
    for (const Block& block : fenced_blocks(file.text)) {
      Lines faults = faults_of_block(block);
      if (k_code.contains(block.language)) {
        lint::append(faults, faults_of_code(block, clone));
      }
      CHECK_MESSAGE(faults.empty(), place(file, block.line), ": ", lint::joined(faults));
      for (const Command& command : commands_in(block)) {
        const Lines wrong = faults_of(command, clone);
        CHECK_MESSAGE(wrong.empty(), place(file, command.line), ": ", command.text, "\n", lint::joined(wrong));
      }
    }
  }
}

TEST_CASE("readme: what the program writes into a page is what it prints") {
  for (const SourceFile& file : markdown_files()) {
    for (const Command& part : generated_parts(file.text)) {
      const Lines wrong = faults_of(part, Clone());
      CHECK_MESSAGE(wrong.empty(), place(file, part.line), ": ", part.text, "\n", lint::joined(wrong));
    }
  }
}

TEST_CASE("readme: commands quoted in the text are the program's") {
  const Clone clone;
  std::map<std::string, Lines> seen;
  for (const SourceFile& file : markdown_files()) {
    for (const Command& command : quoted_commands(file.text)) {
      const auto [at, is_new] = seen.try_emplace(command.text);
      if (is_new) at->second = unreadable(command, clone);
      CHECK_MESSAGE(at->second.empty(), place(file, command.line), ": ", command.text, ": ", lint::joined(at->second));
    }
  }
}

TEST_CASE("readme: every verb is shown") {
  const std::string text = text_of(fs::path(test::source_dir()) / "README.md");
  for (const std::string& verb : lint::lines_of(Clone().run("podsim list verbs").out)) {
    CHECK_MESSAGE(text.find("podsim " + verb) != std::string::npos, verb);
  }
}

TEST_CASE("readme: links lead to files of the tree") {
  static const std::regex link(R"(\]\(([^)#:]+)\))");
  for (const SourceFile& file : markdown_files()) {
    const fs::path folder = fs::path(test::source_dir()) / fs::path(file.path).parent_path();
    for (std::sregex_iterator at(file.text.begin(), file.text.end(), link); at != std::sregex_iterator(); ++at) {
      CHECK_MESSAGE(fs::exists(folder / (*at)[1].str()), file.path, ": ", (*at)[1].str());
    }
  }
}

TEST_CASE("readme: files that are named exist, and have the names that a table gives beside them") {
  static const std::regex path(R"(`([\w.-]+(?:/[\w.-]+)+\.(?:hpp|cpp|toml|json|csv|md|cmake))`)");
  static const std::regex name(R"(`([A-Za-z_]\w*)`)");
  const fs::path root = test::source_dir();
  for (const SourceFile& file : markdown_files()) {
    if (!file.path.ends_with("README.md")) continue;
    for (const std::string& line : lint::lines_of(file.text)) {
      for (std::sregex_iterator at(line.begin(), line.end(), path); at != std::sregex_iterator(); ++at) {
        CHECK_MESSAGE(is_there(root, root / fs::path(file.path).parent_path(), (*at)[1].str()), file.path, ": ",
                      (*at)[1].str());
      }
      std::smatch first;
      if (!line.starts_with("| `") || !std::regex_search(line, first, path) || first.position() != 2) continue;
      const std::string text = text_of(root / first[1].str());
      const std::string names =
          line.substr(line.find('|', 1), line.find('|', line.find('|', 1) + 1) - line.find('|', 1));
      for (std::sregex_iterator at(names.begin(), names.end(), name); at != std::sregex_iterator(); ++at) {
        CHECK_MESSAGE(std::regex_search(text, std::regex("\\b" + (*at)[1].str() + "\\b")), file.path, ": ",
                      first[1].str(), " has no ", (*at)[1].str());
      }
    }
  }
}

TEST_CASE("readme: planted faults of commands are found") {
  const Clone clone;
  const auto faults = [&](Command command) { return lint::joined(faults_of(command, clone)); };
  CHECK(faults({.text = "podsim list engines", .shows_output = true, .shown = {"native", "simgrid"}}).empty());
  CHECK(faults({.text = "podsim list engines", .shows_output = true, .shown = {"native"}}) != "");
  CHECK(faults({.text = "podsim list nothing"}).starts_with("exit code 2, not 0"));
  CHECK(faults({.text = "podsim sweep run x --nonsense 3", .not_run = "x"}) == "sweep run has no option --nonsense\n");
  CHECK(faults({.text = "podsim sing", .not_run = "x"}) == "the program has no verb sing\n");
  CHECK(faults({.text = "./tools/missing", .not_run = "x"}) == "there is no tools/missing\n");
  CHECK(faults({.text = "echo 'open", .not_run = "x"}) == "the shell refuses it\n");
  CHECK(faults_of_block({"", 1, {"podsim run x"}}).size() == 1);
  CHECK(faults_of_block({"haskell", 1, {}}).size() == 1);
  CHECK(faults_of_code({"toml", 1, {"# sim/missing.toml"}}, clone) == Lines{"there is no sim/missing.toml"});
}
