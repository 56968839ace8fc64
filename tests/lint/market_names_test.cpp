// sim/ is nameless: whatever has a name in the market lives in models/ or configs/.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/lint/cpp_scan.hpp"
#include "tests/lint/source_tree.hpp"
#include "tests/support/paths.hpp"

namespace podsim::lint {
namespace {

// Words in lower case. A word with digits need not be listed when its letters alone are.
const std::set<std::string> k_market_names = {
    "albert",    "bart",       "bert",         "bow",     "c600",     "cerebras",    "convnext", "cuda",
    "deberta",   "distilbert", "efficientnet", "electra", "flan",     "gc2",         "gc200",    "google",
    "gpt",       "graphcore",  "groupbert",    "habana",  "hubert",   "huggingface", "ipu",      "ipum",
    "ipus",      "llama",      "lxmert",       "m2000",   "megatron", "mistral",     "mk1",      "mk2",
    "mpnet",     "mt5",        "nvidia",       "optimum", "pod",      "pod128",      "pod16",    "pod256",
    "pod4",      "pod64",      "pods",         "popart",  "popdist",  "poplar",      "poplibs",  "poprun",
    "poptorch",  "popxl",      "pytorch",      "rdu",     "rdus",     "resnet",      "resnext",  "roberta",
    "sambaflow", "sambanova",  "sambatune",    "sn10",    "sn20",     "sn30",        "sn40",     "sn40l",
    "t5",        "tensorflow", "tpu",          "vit",     "wav2vec2", "whisper",
};

std::vector<std::string> market_names_in(const std::string& path, const std::string& text) {
  std::vector<std::string> findings;
  int number = 0;
  for (const std::string& line : lines_of(text)) {
    ++number;
    for (const std::string& word : words_of(line)) {
      if (k_market_names.contains(word)) findings.push_back(path + ":" + std::to_string(number) + ": " + word);
    }
  }
  return findings;
}

TEST_CASE("names: nothing in sim has a name in the market") {
  std::vector<std::string> findings;
  for (const SourceFile& file : read_tree(test::source_dir())) {
    if (!file.path.starts_with("sim/")) continue;
    append(findings, market_names_in("name of the file", file.path));
    append(findings, market_names_in(file.path, file.text));
  }
  INFO(joined(findings));
  CHECK(findings.empty());
}

TEST_CASE("names: a planted market name is found in any spelling") {
  for (const std::string& text : std::vector<std::string>{
           "ipu", "IPU", "kIpuCount", "IPUConfig", "make_ipu_plan", "ipu2", "two IPUs.", "\"bow-pod16\"",
           "// the GC200 has", "Gc200Chip", "SN30", "sn40l", "bert-large", "GPT2Model", "T5", "k_pod_4"}) {
    CAPTURE(text);
    CHECK_FALSE(market_names_in("a", text).empty());
  }
  CHECK(market_names_in("a", "x\nint rdu_count;") == std::vector<std::string>{"a:2: rdu"});
}

TEST_CASE("names: words that only contain a market name are innocent") {
  for (const std::string& text :
       std::vector<std::string>{"podsim", "PODSIM_CHECK", "podsim_sim", "manipulate", "input", "elbow", "bowl",
                                "tripod", "invite", "robert", "simgrid", "Rduct", "Quantity<0, 1>"}) {
    CAPTURE(text);
    CHECK(market_names_in("a", text).empty());
  }
}

}  // namespace
}  // namespace podsim::lint
