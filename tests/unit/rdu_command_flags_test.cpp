#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include "models/rdu/command/flags.hpp"
#include "models/rdu/command/release.hpp"

namespace podsim::rdu {

TEST_CASE("rdu flags: every flag says what it is, where that is written and what it changes, or why nothing") {
  CHECK(flag_table().size() > 60);
  for (const FlagSpec& spec : flag_table()) {
    CAPTURE(spec.key.path);
    CHECK_FALSE(spec.key.summary.empty());
    CHECK_FALSE(spec.key.source.empty());
    CHECK((!spec.names.empty() || !spec.zoo_keys.empty()));
    const bool has_effect = !spec.key.time_effect.empty() || !spec.key.memory_effect.empty();
    CHECK(has_effect == spec.without_effect.empty());
    CHECK((spec.key.type == KeyType::choice) == !spec.key.choices.empty());
    if (spec.only_checked) CHECK_FALSE(spec.without_effect.empty());
    if (spec.since) CHECK(spec.key.versions == "from " + to_text(*spec.since));
  }
}

TEST_CASE("rdu flags: those without effect are listed with the reason, the others are not") {
  std::map<std::string, std::string> reasons;
  for (const auto& [name, reason] : flags_without_effect()) reasons[name] = reason;
  CHECK(reasons.at("--log-level") == "only how much is logged");
  CHECK(reasons.at("SAMBA_SEED") == "changes the numbers, not their time");
  CHECK_FALSE(reasons.contains("-b"));
  CHECK_FALSE(reasons.contains("--num-tiles"));
}

TEST_CASE("rdu flags: paths, names and keys are unique") {
  std::set<std::string> paths, zoo_keys;
  std::map<std::string, std::string> owner_of;
  for (const FlagSpec& spec : flag_table()) {
    CAPTURE(spec.key.path);
    CHECK(paths.insert(spec.key.path).second);
    for (const std::string& name : spec.names) CHECK(owner_of.emplace(name, spec.key.path).second);
    for (const std::string& key : spec.zoo_keys) CHECK(zoo_keys.insert(key).second);
  }
}

TEST_CASE("rdu flags: the documentation's flags are found by each of their names") {
  const std::map<std::string, std::string> expected{
      {"--pef-name", "pef-name"},
      {"--inference", "inference"},
      {"--output-folder", "output-folder"},
      {"-b", "batch-size"},
      {"--batch-size", "batch-size"},
      {"--verbose", "verbose"},
      {"--debug", "debug"},
      {"--log-dir", "log-dir"},
      {"-o0", "o0"},
      {"-o1", "o1"},
      {"-o3", "o3"},
      {"--optimization-rules", "optimization-rules"},
      {"--o1-experimental-opts", "o1-experimental-opts"},
      {"--compiler-mode", "compiler-mode"},
      {"--enable-hypersection", "enable-hypersection"},
      {"--resources-scaling-factors", "resources-scaling-factors"},
      {"--mac-v1", "mac-v1"},
      {"--arch", "arch"},
      {"--tensor-parallel", "tensor-parallel"},
      {"--n-chips", "n-chips"},
      {"--num-chips", "n-chips"},
      {"--num-tiles", "num-tiles"},
      {"--data-parallel", "data-parallel"},
      {"-ws", "world-size"},
      {"--world-size", "world-size"},
      {"-mb", "microbatch-size"},
  };
  for (const auto& [name, path] : expected) {
    CAPTURE(name);
    const FlagSpec* spec = find_flag(name, FlagUse::compile);
    REQUIRE(spec != nullptr);
    CHECK(spec->key.path == path);
    CHECK(spec->used_by(FlagUse::compile));
    CHECK(&flag(path) == spec);
  }
  CHECK(find_flag("--no-such", FlagUse::compile) == nullptr);
}

TEST_CASE("rdu flags: one letter belongs to its own sub-command only, longer names are known to both") {
  CHECK(find_flag("-p", FlagUse::run)->key.path == "pef");
  CHECK(find_flag("-p", FlagUse::compile) == nullptr);
  CHECK(find_flag("--num-tiles", FlagUse::run)->key.path == "num-tiles");
  CHECK_FALSE(find_flag("--num-tiles", FlagUse::run)->used_by(FlagUse::run));
}

TEST_CASE("rdu flags: Model Zoo's keys are the options with underscores, or listed") {
  CHECK(find_zoo_key("samba_compile.num_tiles")->key.path == "num-tiles");
  CHECK(find_zoo_key("samba_compile.resources_scaling_factors")->key.path == "resources-scaling-factors");
  CHECK(find_zoo_key("training.batch_size")->key.path == "batch-size");
  CHECK(find_zoo_key("generation.batch_size")->key.path == "batch-size");
  CHECK(find_zoo_key("samba_run.pef")->key.path == "pef");
  CHECK(find_zoo_key("model.max_seq_length")->key.path == "max-seq-length");
  CHECK(find_zoo_key("samba_compile.no_such") == nullptr);
  CHECK(find_zoo_key("num_tiles") == nullptr);
}

TEST_CASE("rdu flags: a beginning fits every long option that begins so") {
  CHECK(flags_beginning_with("--compiler-configs", FlagUse::compile).size() == 1);
  CHECK(flags_beginning_with("--num-t", FlagUse::compile).size() == 1);
  CHECK(flags_beginning_with("--num-t", FlagUse::run).empty());
  CHECK(flags_beginning_with("--num", FlagUse::compile).size() == 3);  // tiles, chips, spatial batches
  CHECK(flags_beginning_with("--in-w", FlagUse::compile).empty());     // the application's
}

TEST_CASE("rdu flags: a slip of one letter, of dashes or of case is recognised, a different word is not") {
  CHECK(likely_flag("--data-paralel", FlagUse::compile) == "--data-parallel");
  CHECK(likely_flag("--dtaa-parallel", FlagUse::compile) == "--data-parallel");
  CHECK(likely_flag("--num-tilesx", FlagUse::compile) == "--num-tiles");
  CHECK(likely_flag("--num-tjles", FlagUse::compile) == "--num-tiles");
  CHECK(likely_flag("--batch_size", FlagUse::compile) == "--batch-size");
  CHECK(likely_flag("--Data-Parallel", FlagUse::compile) == "--data-parallel");
  for (const std::string& other : std::vector<std::string>{"--data-dir", "--epochs", "--model", "--lrs", "-data"}) {
    CAPTURE(other);
    CHECK(likely_flag(other, FlagUse::compile) == "");
  }
}

TEST_CASE("rdu flags: releases are two or three numbers and compare as such") {
  CHECK(parse_release("1.17") == Release{1, 17, 0});
  CHECK(parse_release("1.17.7") == Release{1, 17, 7});
  CHECK(*parse_release("1.9") < *parse_release("1.17"));
  CHECK(to_text(Release{1, 17, 0}) == "1.17");
  CHECK(to_text(Release{1, 19, 1}) == "1.19.1");
  for (const std::string& bad :
       std::vector<std::string>{"", "1", "1.", "1.17.", "1.17.7.1", "v1.17", "1.x", "1.99999"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_release(bad).has_value());
  }
}

}  // namespace podsim::rdu
