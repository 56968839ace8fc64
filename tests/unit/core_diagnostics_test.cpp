#include <doctest/doctest.h>

#include "sim/core/diagnostics.hpp"

using namespace podsim;

TEST_CASE("diagnostics: text has place, key, problem, expectation and suggestion in this order") {
  const Diagnostic full{Severity::error, {"a.toml", 3, 7}, "workload.mode", "unknown value \"trainng\"",
                        "training or x", "training"};
  CHECK(to_text(full) ==
        "a.toml:3:7: workload.mode: unknown value \"trainng\"; expected training or x; did you mean \"training\"?");
}

TEST_CASE("diagnostics: parts that are not known leave no trace in the text") {
  CHECK(to_text({Severity::error, {"a.toml", 3, 0}, "", "is wrong", "", ""}) == "a.toml:3: is wrong");
  CHECK(to_text({Severity::error, {"command line", 0, 0}, "k", "is wrong", "", ""}) == "command line: k: is wrong");
  CHECK(to_text({Severity::error, {}, "k", "is wrong", "", "kk"}) == "k: is wrong; did you mean \"kk\"?");
}

TEST_CASE("diagnostics: a warning says so before the key") {
  CHECK(to_text({Severity::warning, {"a.toml", 1, 2}, "k", "no effect", "", ""}) ==
        "a.toml:1:2: warning: k: no effect");
}

TEST_CASE("diagnostics: a list keeps its order and knows whether it holds errors") {
  Diagnostics list;
  CHECK_FALSE(list.has_errors());
  list.warning({"f", 1, 1}, "a", "first");
  CHECK_FALSE(list.has_errors());
  Diagnostics more;
  more.error({"f", 2, 1}, "b", "second");
  list.append(more);
  CHECK(list.has_errors());
  CHECK(list.to_text() == "f:1:1: warning: a: first\nf:2:1: b: second\n");
  list.append(list);
  CHECK(list.all().size() == 4);
  CHECK(ConfigError(list).what() == list.to_text());
  CHECK(ConfigError(list).diagnostics().all().size() == 4);
}

TEST_CASE("nearest: a word within a third of its length is meant") {
  const std::vector<std::string> words = {"micro_batch_size", "optimizer", "mode", "lamb", "lars"};
  CHECK(nearest("micro_batchsize", words) == "micro_batch_size");
  CHECK(nearest("optimiser", words) == "optimizer");
  CHECK(nearest("mdoe", words) == "mode");  // two neighbours swapped count once
  CHECK(nearest("LAMB", words) == "lamb");  // letter case counts nothing
  CHECK(nearest("lamp", words) == "lamb");
  CHECK(nearest("laxx", words).empty());  // two of four letters
  CHECK(nearest("", words).empty());
  CHECK(nearest("mode", {}).empty());
  CHECK(nearest("vit-base", {"vit-large-patch16", "vit-base-patch16-224", "vit-base-patch16"}) == "vit-base-patch16");
  CHECK(nearest("vi", {"vit-base-patch16"}).empty());  // too short to tell
}

TEST_CASE("nearest: ties go to the first candidate") {
  CHECK(nearest("pod8", {"pod4", "pod6"}) == "pod4");
  CHECK(nearest("pod8", {"pod6", "pod4"}) == "pod6");
}
