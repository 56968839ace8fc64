// podsim list: the names that may be written, one a line.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "models/catalog.hpp"
#include "sim/report/metrics.hpp"
#include "tools/podsim/experiment_input.hpp"
#include "tools/podsim/output.hpp"
#include "tools/podsim/reference.hpp"
#include "tools/podsim/verbs.hpp"

namespace podsim {
namespace {

constexpr std::array<const char*, 5> k_folders{"systems", "chips", "models", "software", "experiments"};

std::vector<std::string> kinds() {
  std::vector<std::string> result(k_folders.begin(), k_folders.end());
  result.insert(result.end(),
                {"families", "model-types", "keys", "constants", "metrics", "engines", "formats", "verbs", "kinds"});
  return result;
}

std::vector<std::string> shipped(const ConfigFiles& configs, const std::string& folder) {
  std::vector<std::string> names;
  for (const std::string& path : configs.list(folder + "/")) {
    const std::string name = path.substr(folder.size() + 1);
    names.push_back(name.substr(0, name.rfind('.')));
  }
  return names;
}

std::vector<std::string> names_of(const std::string& kind, const ConfigFiles& configs) {
  if (kind == "kinds") return kinds();
  if (kind == "engines") return {"native", "simgrid"};
  if (kind == "formats") {
    std::vector<std::string> formats(report_format_option().choices.begin(), report_format_option().choices.end());
    std::sort(formats.begin(), formats.end());
    return formats;
  }
  if (kind == "verbs") return verb_names();
  const Catalog catalog = make_catalog();
  std::vector<std::string> names;
  if (kind == "keys") {
    for (const ReferenceKey& key : all_keys(catalog)) names.push_back(key.path);
    return names;
  }
  if (kind == "metrics") {
    for (const MetricSpec& metric : metrics()) names.emplace_back(metric.name);
    return names;
  }
  if (kind == "constants") {
    std::set<std::string> all;
    for (const ReferenceConstant& constant : all_constants(configs)) all.insert(constant.constant.name);
    return {all.begin(), all.end()};
  }
  if (kind == "families") {
    for (const auto& family : catalog.families) names.emplace_back(family->name());
    return names;
  }
  if (kind == "model-types") {
    for (const auto& model : catalog.model_kinds) names.emplace_back(model->type());
    return names;
  }
  return shipped(configs, kind);
}

}  // namespace

const VerbSpec& list_spec() {
  static const VerbSpec k_spec{
      "list",
      "list [KIND] [options]",
      "Print the names that podsim knows, one a line.",
      "KIND: systems, chips, models, software, experiments, families, model-types, keys, constants, metrics, engines,\n"
      "formats, verbs, kinds (these words); without a kind: all but keys, constants, metrics and kinds.",
      {{"configs", "DIR", "use this folder in place of the shipped configs"}},
      {"podsim list systems", "podsim list models"},
      1,
      "kinds"};
  return k_spec;
}

ExitCode cmd_list(const Arguments& arguments) {
  const ConfigFiles configs = configs_from(arguments);
  if (!arguments.words().empty()) {
    const std::string& kind = arguments.words().front();
    bool known = false;
    for (const std::string& candidate : kinds()) known = known || candidate == kind;
    if (!known) {
      throw UsageError(fmt::format("nothing is listed as \"{}\"; expected {}{}", kind, fmt::join(kinds(), ", "),
                                   suggestion_for(kind, kinds())));
    }
    std::string text;
    for (const std::string& name : names_of(kind, configs)) text += name + '\n';
    print(text);
    return ExitCode::done;
  }
  std::string text;
  for (const std::string& kind : kinds()) {
    if (kind == "keys" || kind == "constants" || kind == "metrics" || kind == "kinds") continue;
    text += (text.empty() ? "" : "\n") + kind + "\n";
    for (const std::string& name : names_of(kind, configs)) text += "  " + name + '\n';
  }
  print(text);
  return ExitCode::done;
}

}  // namespace podsim
