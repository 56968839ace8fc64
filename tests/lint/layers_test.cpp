// Who may include whom: the layers of sim/ are one line, and headers of others have owners.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/lint/cpp_scan.hpp"
#include "tests/lint/source_tree.hpp"
#include "tests/support/paths.hpp"

namespace podsim::lint {
namespace {

// A layer may include itself and those before it.
const std::vector<std::string> k_layers = {"units",   "core", "config", "hardware", "workload", "numerics", "program",
                                           "observe", "plan", "engine", "report",   "store",    "study"};
const std::string k_last_layer_for_models = "plan";

struct Owner {
  std::string header;                // prefix of the included path
  std::vector<std::string> folders;  // or files: who may include it
  bool one_file = false;             // by a single file
};

const std::vector<Owner> k_owners = {
    {"simgrid/", {"sim/engine/simgrid_simulator.cpp"}, true},
    {"xbt", {"sim/engine/simgrid_simulator.cpp"}, true},
    {"toml++/", {"sim/config/"}, true},
    {"nlohmann/", {"sim/config/"}, true},
    {"sqlite3", {"sim/store/"}},
    {"yaml-cpp/", {"models/rdu/"}},
    {"Eigen/", {"sim/numerics/", "sim/study/"}},
    {"boost/", {"tools/podsim/"}},
    {"doctest/", {"tests/"}},
    {"benchmark/", {"bench/"}},
};

std::size_t rank(const std::string& layer) {
  return static_cast<std::size_t>(std::find(k_layers.begin(), k_layers.end(), layer) - k_layers.begin());
}

// "hardware" of "sim/hardware/platform.hpp"; empty for a path outside of sim/.
std::string layer_of(const std::string& path) {
  if (!path.starts_with("sim/")) return "";
  return path.substr(4, path.find('/', 4) - 4);
}

std::string fault_of_include(const std::string& path, const std::string& included) {
  if (!starts_with_any(included, {"sim/", "models/", "tools/", "tests/", "bench/"})) {
    return "is not written from the root of the tree";
  }
  const bool in_sim = path.starts_with("sim/");
  if (!in_sim && !path.starts_with("models/")) return "";
  const std::string target = layer_of(included);
  if (target.empty()) {
    return !in_sim && included.starts_with("models/") ? "" : "leaves the libraries it may use";
  }
  if (rank(target) == k_layers.size()) return "is in no known layer";
  const std::string last = in_sim ? layer_of(path) : k_last_layer_for_models;
  return rank(target) > rank(last) ? "is above " + last : "";
}

std::vector<std::string> wrong_includes(const std::string& path, const std::string& text) {
  std::vector<std::string> findings;
  if (path.starts_with("sim/") && rank(layer_of(path)) == k_layers.size()) {
    findings.push_back(path + " is in no known layer");
  }
  for (const Include& include : includes_of(text)) {
    if (!include.quoted) continue;
    const std::string fault = fault_of_include(path, include.path);
    if (!fault.empty())
      findings.push_back(path + ":" + std::to_string(include.line) + ": " + include.path + " " + fault);
  }
  return findings;
}

std::vector<std::string> headers_without_right(const std::vector<SourceFile>& files) {
  std::vector<std::string> findings;
  for (const Owner& owner : k_owners) {
    int users = 0;
    for (const SourceFile& file : files) {
      if (!is_cpp(file.path)) continue;
      const std::vector<Include> includes = includes_of(file.text);
      const auto found = std::find_if(includes.begin(), includes.end(), [&](const Include& include) {
        return !include.quoted && include.path.starts_with(owner.header);
      });
      if (found == includes.end()) continue;
      ++users;
      if (!starts_with_any(file.path, owner.folders)) {
        findings.push_back(file.path + ": <" + found->path + "> belongs to " + owner.folders.front());
      } else if (owner.one_file && users > 1) {
        findings.push_back(file.path + ": <" + found->path + "> is included by another file already");
      }
    }
  }
  return findings;
}

TEST_CASE("layers: every include goes to its own layer or one below") {
  std::vector<std::string> findings;
  for (const SourceFile& file : read_tree(test::source_dir())) {
    if (is_cpp(file.path)) append(findings, wrong_includes(file.path, file.text));
  }
  INFO(joined(findings));
  CHECK(findings.empty());
}

TEST_CASE("layers: headers of other projects are included by their owners only") {
  const std::vector<std::string> findings = headers_without_right(read_tree(test::source_dir()));
  INFO(joined(findings));
  CHECK(findings.empty());
}

TEST_CASE("layers: a planted include of a higher layer is found") {
  CHECK(wrong_includes("sim/units/a.cpp", "#include \"sim/core/check.hpp\"\n") ==
        std::vector<std::string>{"sim/units/a.cpp:1: sim/core/check.hpp is above units"});
  CHECK(wrong_includes("sim/core/a.cpp", "#include \"sim/units/bytes.hpp\"\n").empty());
  CHECK(wrong_includes("models/a.cpp", "\n# include \"sim/engine/engine.hpp\"\n") ==
        std::vector<std::string>{"models/a.cpp:2: sim/engine/engine.hpp is above plan"});
  CHECK(wrong_includes("models/a.cpp", "#include \"sim/plan/plan.hpp\"\n#include \"models/b.hpp\"\n").empty());
  CHECK(wrong_includes("sim/study/a.cpp", "#include \"models/catalog.hpp\"\n").size() == 1);
  CHECK(wrong_includes("models/a.cpp", "#include \"tools/podsim/version.hpp\"\n").size() == 1);
  CHECK(wrong_includes("sim/plan/a.cpp", "#include \"plan.hpp\"\n").size() == 1);
  CHECK(wrong_includes("sim/other/a.cpp", "").size() == 1);
  CHECK(wrong_includes("sim/study/a.cpp", "#include \"sim/other/b.hpp\"\n").size() == 1);
  CHECK(wrong_includes("tools/podsim/a.cpp", "#include \"sim/study/sweep.hpp\"\n").empty());
}

TEST_CASE("layers: a planted include of a header without right is found") {
  const std::string toml = "#include <toml++/toml.h>\n";
  CHECK(headers_without_right({{"sim/config/a.cpp", toml}}).empty());
  CHECK(headers_without_right({{"sim/config/a.cpp", toml}, {"sim/config/b.cpp", toml}}).size() == 1);
  CHECK(headers_without_right({{"sim/plan/a.cpp", toml}}).size() == 1);
  CHECK(headers_without_right({{"sim/engine/engine.cpp", "#include <simgrid/s4u.hpp>\n"}}).size() == 1);
  CHECK(headers_without_right({{"sim/config/a.cpp", "#include <boost/program_options.hpp>\n"}}).size() == 1);
}

}  // namespace
}  // namespace podsim::lint
