// Does each controller give the sequence of scales that its source gives?
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "models/catalog.hpp"
#include "models/loss_scaling/keys.hpp"

using namespace podsim;

namespace {

const Catalog& catalog() {
  static const Catalog all = make_catalog();
  return all;
}

struct Made {
  std::unique_ptr<LossScaleController> controller;
  std::vector<ResolvedKey> resolved;
  std::string problems;
};

std::string without_newline(std::string text) {
  if (!text.empty()) text.pop_back();
  return text;
}

// A controller by its keys in TOML.
Made make(const std::string& mode, const std::string& keys) {
  Made made;
  Diagnostics diagnostics;
  const auto document = parse_toml("[loss_scaling]\nmode = \"" + mode + "\"\n" + keys, "x.toml", diagnostics);
  if (!document) {
    made.problems = without_newline(diagnostics.to_text());
    return made;
  }
  check_keys(*document->find("loss_scaling"), "loss_scaling", catalog().loss_scaling_keys, diagnostics);
  if (!diagnostics.has_errors()) {
    const LossScalingScheme* scheme = catalog().loss_scaling_scheme(mode);
    REQUIRE(scheme != nullptr);
    loss_scaling::warn_unread(*document, *scheme, catalog(), diagnostics);
    SettingsReader settings(*document, made.resolved, diagnostics);
    made.controller = scheme->make(settings, 4096, *document, diagnostics);
  }
  made.problems = without_newline(diagnostics.to_text());
  return made;
}

struct Counts {
  double below;
  double at_or_above;
};

using Scales = std::vector<double>;

constexpr Counts k_low{100, 0};
constexpr Counts k_high{0, 100};
constexpr double k_infinite = std::numeric_limits<double>::infinity();

// The scales used by as many updates as there are counts, and the one after them. No such controller skips an update.
Scales scales_of(const std::string& mode, const std::string& keys, const std::vector<Counts>& counts) {
  const Made made = make(mode, keys);
  Scales scales;
  for (const Counts& count : counts) {
    scales.push_back(static_cast<double>(made.controller->scale()));
    CHECK(made.controller->finish_update({count.below, count.at_or_above, false}));
  }
  scales.push_back(static_cast<double>(made.controller->scale()));
  return scales;
}

// The same for overflows (1) and clean updates (0); overflows are skipped.
Scales scales_after(const std::string& mode, const std::string& keys, const std::vector<int>& overflows) {
  const Made made = make(mode, keys);
  Scales scales;
  for (const int overflow : overflows) {
    scales.push_back(static_cast<double>(made.controller->scale()));
    CHECK(made.controller->finish_update({0, 0, overflow == 1}) == (overflow == 0));
  }
  scales.push_back(static_cast<double>(made.controller->scale()));
  return scales;
}

std::vector<Counts> repeated(Counts counts, std::size_t n) {
  return std::vector<Counts>(n, counts);
}

}  // namespace

TEST_CASE("popart automatic: the sequences of its own tests") {
  const std::string keys = "initial = 10\nthreshold_upper_count_proportion = 0.2\n";
  CHECK(scales_of("popart_als", keys, repeated(k_low, 8)) == Scales{10, 20, 40, 80, 160, 320, 640, 1280, 2560});
  CHECK(scales_of("popart_als", keys + "update_period = 2\n", repeated(k_low, 8)) ==
        Scales{10, 20, 20, 40, 40, 80, 80, 160, 160});
}

TEST_CASE("popart automatic: too many large values halve, a tie or fewer double") {
  const auto from = [](const std::string& keys, const std::vector<Counts>& counts) {
    return scales_of("popart_als", keys, counts);
  };
  CHECK(from("initial = 1024", repeated(k_high, 4)) == Scales{1024, 512, 256, 128, 64});
  CHECK(from("initial = 1024", {k_low, k_low, k_high, k_low, k_high, k_high}) ==
        Scales{1024, 2048, 4096, 2048, 4096, 2048, 1024});
  CHECK(from("initial = 1024", {k_low, k_high, k_low, k_high, k_low, k_high}) ==
        Scales{1024, 2048, 1024, 2048, 1024, 2048, 1024});
  const std::string half = "initial = 8\nthreshold_upper_count_proportion = 0.5\n";
  CHECK(from(half, {{1, 1}, {1, 1}}) == Scales{8, 16, 32});
  CHECK(from(half, {{1, 2}, {2, 1}}) == Scales{8, 4, 8});
  CHECK(from("initial = 64\nthreshold_upper_count_proportion = 0\n", {{1e6, 1}, {1e6, 0}}) == Scales{64, 32, 64});
  CHECK(from("initial = 64\nthreshold_upper_count_proportion = 1\n", {{5, 5}, {0, 5}}) == Scales{64, 128, 256});
}

TEST_CASE("popart automatic: the default threshold accepts one large value in ten million") {
  const auto from = [](const std::vector<Counts>& counts) { return scales_of("popart_als", "initial = 4096", counts); };
  CHECK(from({{999'999, 1}, {999'999, 0}}) == Scales{4096, 2048, 4096});
  CHECK(from({{999'999'900, 100}, {999'999'899, 101}}) == Scales{4096, 8192, 4096});
  CHECK(from({{999'999'910, 90}, {999'999'890, 110}}) == Scales{4096, 8192, 4096});
}

TEST_CASE("popart automatic: updates between two looks are not seen") {
  CHECK(scales_of("popart_als", "initial = 256\nupdate_period = 4\n",
                  {k_low, k_high, k_high, k_high, k_high, k_low, k_low, k_low, k_low}) ==
        Scales{256, 512, 512, 512, 512, 256, 256, 256, 256, 512});
  const Made made = make("popart_als", "update_period = 3");
  std::vector<bool> reads;
  for (int i = 0; i < 5; ++i) {
    reads.push_back(made.controller->reads_counts());
    made.controller->finish_update({1, 0, false});
  }
  CHECK(reads == std::vector<bool>{true, false, false, true, false});
}

TEST_CASE("popart automatic: without large values the scale runs to infinity and never returns") {
  std::vector<Counts> counts = repeated(k_low, 128);
  counts.push_back(k_high);
  counts.push_back(k_high);
  const Scales scales = scales_of("popart_als", "initial = 1", counts);
  CHECK(scales[0] == 1);
  CHECK(scales[126] == 0x1p126);
  CHECK(scales[127] == 0x1p127);
  CHECK(scales[128] == k_infinite);
  CHECK(scales[129] == k_infinite);
  CHECK(scales[130] == k_infinite);
}

TEST_CASE("popart automatic: another optimizer's scale is multiplied by the old factor") {
  const Made made = make("popart_als", "initial = 1000");
  Scales scales;
  for (int update = 0; update < 4; ++update) {
    if (update == 3) made.controller->set_base_scale(500);
    scales.push_back(static_cast<double>(made.controller->scale()));
    made.controller->finish_update({100, 0, false});
  }
  CHECK(scales == Scales{1000, 2000, 4000, 4000});
}

TEST_CASE("popart automatic: each release has its edge and its clamp") {
  const auto edge = [](const std::string& keys) { return make("popart_als", keys).controller->edge(); };
  CHECK(edge("") == 8188);
  CHECK(edge("sdk_version = \"2.5\"") == 8188);
  CHECK(edge("sdk_version = \"3.4\"") == 8188);
  CHECK(edge("sdk_version = \"2.4\"") == 4096);
  CHECK(edge("sdk_version = \"2.3\"") == 65504);
  CHECK(edge("sdk_version = \"2.1\"") == 65504);
  CHECK(edge("bin_edge_location = 0.5") == 32752);
  CHECK(edge("bin_edge_location = 0") == 0);
  for (const char* version : {"2.2", "2.3"}) {
    CHECK(scales_of("popart_als", "initial = 16384\nsdk_version = \"" + std::string(version) + "\"\n",
                    repeated(k_low, 4)) == Scales{16384, 32768, 32768, 32768, 32768});
  }
  CHECK(scales_of("popart_als", "initial = 16384\nsdk_version = \"2.1\"\n", repeated(k_low, 3)).back() == 131072);
  CHECK(make("popart_als", "sdk_version = \"2.4\"\nupdate_period = 2\n").problems ==
        "x.toml:4:17: loss_scaling.update_period: SDK 2.4 has no such setting; expected loss_scaling.sdk_version = "
        "\"2.5\" or later");
  CHECK(make("popart_als", "sdk_version = \"2.2\"\ninitial = 65536\n").problems ==
        "x.toml:4:11: loss_scaling.initial: 65536 is above 32768, where SDK 2.2 clamps the scale; expected at most "
        "32768");
}

TEST_CASE("keras automatic: the average of a period decides, between 1 and 16384") {
  const auto shares = [](const std::vector<double>& ratios) {
    std::vector<Counts> counts;
    for (const double ratio : ratios) counts.push_back({1 - ratio, ratio});
    return counts;
  };
  CHECK(scales_of("keras_als", "", shares(std::vector<double>(9, 0))) == Scales{1, 1, 1, 1, 1, 1, 1, 1, 2, 2});
  CHECK(scales_of("keras_als", "initial = 8192\ngrowth_interval = 1\n", shares({0, 0, 0, 0})) ==
        Scales{8192, 16384, 16384, 16384, 16384});
  CHECK(scales_of("keras_als", "initial = 2\ngrowth_interval = 1\n", shares({1, 1, 1})) == Scales{2, 1, 1, 1});
  CHECK(scales_of("keras_als", "initial = 64\ngrowth_interval = 4\n", shares({0, 0, 3e-5, 0, 0, 0, 5e-5, 0})) ==
        Scales{64, 64, 64, 64, 128, 128, 128, 128, 64});
}

TEST_CASE("grad scaler: backs off and skips on overflow, grows after an interval without") {
  CHECK(scales_after("grad_scaler", "growth_interval = 3", {1, 1, 1, 0, 0, 0, 0}) ==
        Scales{65536, 32768, 16384, 8192, 8192, 8192, 16384, 16384});
  CHECK(scales_after("grad_scaler", "initial = 1024\ngrowth_interval = 3\n", {0, 0, 1, 0, 0, 0, 1, 0}) ==
        Scales{1024, 1024, 1024, 512, 512, 512, 1024, 512, 512});
  CHECK(scales_after("grad_scaler", "initial = 1", {1, 1, 1}) == Scales{1, 0.5, 0.25, 0.125});
  CHECK(scales_after("grad_scaler", "initial = 1.7014118346046923e38\ngrowth_interval = 1\n", {0, 0}) ==
        Scales{0x1p127, 0x1p127, 0x1p127});
}

TEST_CASE("apex: cap at two to the 24th, floor only when asked for") {
  CHECK(scales_after("apex", "initial = 8388608\ngrowth_interval = 1\n", {0, 0, 0, 0}) ==
        Scales{0x1p23, 0x1p24, 0x1p24, 0x1p24, 0x1p24});
  CHECK(scales_after("apex", "initial = 1", {1, 1, 0}) == Scales{1, 0.5, 0.25, 0.25});
  CHECK(scales_after("apex", "initial = 256\nminimum = 128\n", {1, 1, 1}) == Scales{256, 128, 128, 128});
}

TEST_CASE("megatron: hysteresis is spent by any overflow and restored by growth alone") {
  CHECK(scales_after("megatron", "initial = 65536", {1, 1, 1, 0, 1}) ==
        Scales{65536, 65536, 32768, 16384, 16384, 8192});
  CHECK(scales_after("megatron", "initial = 4096", {1, 0, 0, 1}) == Scales{4096, 4096, 4096, 4096, 2048});
  CHECK(scales_after("megatron", "initial = 4096\ngrowth_interval = 2\n", {1, 0, 0, 1, 1}) ==
        Scales{4096, 4096, 4096, 8192, 8192, 4096});
  CHECK(scales_after("megatron", "", {}) == Scales{0x1p32});
}

TEST_CASE("deepspeed: first growth one update late, hysteresis, failure at the minimum") {
  CHECK(scales_after("deepspeed", "initial = 1024\ngrowth_interval = 3\n", {0, 0, 0, 0, 0, 0, 0}) ==
        Scales{1024, 1024, 1024, 1024, 2048, 2048, 2048, 4096});
  CHECK(scales_after("deepspeed", "", {1, 1, 1, 0}) == Scales{65536, 65536, 32768, 16384, 16384});
  const Made made = make("deepspeed", "initial = 2\nhysteresis = 1\n");
  made.controller->finish_update({0, 0, true});
  CHECK(made.controller->scale() == 1);
  CHECK(made.controller->failure().empty());
  made.controller->finish_update({0, 0, true});
  CHECK(made.controller->failure() == "the loss scale is at its minimum and gradients still overflow");
}

TEST_CASE("constant, schedule and none: the scale depends on nothing that is seen") {
  const Made constant = make("constant", "initial = 16384");
  for (const bool overflow : {false, true, false}) {
    CHECK(constant.controller->scale() == 16384);
    CHECK(constant.controller->finish_update({0, 100, overflow}));
  }
  CHECK(make("constant", "").controller->scale() == 4096);
  CHECK(make("none", "").controller->scale() == 1);
  const Made schedule = make("schedule", "initial = 16\nfinal = 128\nepochs = 100\nupdates_per_epoch = 2\n");
  std::vector<double> by_epoch;
  for (int update = 0; update < 240; ++update) {
    if (update % 2 == 0) by_epoch.push_back(static_cast<double>(schedule.controller->scale()));
    schedule.controller->finish_update({0, 0, false});
  }
  const auto epoch = [&](std::size_t number) { return by_epoch[number - 1]; };
  CHECK(epoch(1) == 16);
  CHECK(epoch(25) == 16);
  CHECK(epoch(26) == 32);
  CHECK(epoch(50) == 32);
  CHECK(epoch(51) == 64);
  CHECK(epoch(75) == 64);
  CHECK(epoch(76) == 128);
  CHECK(epoch(100) == 128);
  CHECK(epoch(120) == 128);
}

TEST_CASE("loss scaling keys: what is no usable number is refused with its range") {
  const auto problems = [](const std::string& key) { return make("grad_scaler", key).problems; };
  CHECK(problems("initial = nan") == "x.toml:3:11: loss_scaling.initial: is not a finite number; expected a number");
  CHECK(problems("initial = inf") == "x.toml:3:11: loss_scaling.initial: is not a finite number; expected a number");
  CHECK(problems("initial = -1") ==
        "x.toml:3:11: loss_scaling.initial: -1 is out of range; expected from 7.888609052210118e-31 to "
        "3.4028234663852886e+38");
  CHECK(problems("initial = 0").find("0 is out of range") != std::string::npos);
  CHECK(problems("initial = 1e39").find("1e+39 is out of range") != std::string::npos);
  CHECK(problems("growth_interval = -2") ==
        "x.toml:3:19: loss_scaling.growth_interval: -2 is out of range; expected from 1 to 1000000000");
  CHECK(problems("backoff_factor = nan").find("is not a finite number") != std::string::npos);
  CHECK(problems("growth_facto = 2") ==
        "x.toml:3:1: loss_scaling.growth_facto: unknown key; did you mean \"growth_factor\"?");
  CHECK(problems("gradients.noise = -1") ==
        "x.toml:3:19: loss_scaling.gradients.noise: -1 is out of range; expected from 0 to 8");
}

TEST_CASE("loss scaling keys: contradictions and keys of other modes are told") {
  CHECK(make("apex", "initial = 1\nminimum = 4\nmaximum = 2\n").problems ==
        "x.toml:4:11: loss_scaling.minimum: 4 is above the maximum, 2");
  CHECK(make("apex", "initial = 1\nminimum = 4\n").problems ==
        "x.toml:3:11: loss_scaling.initial: 1 is outside of the mode's bounds; expected 4 to 16777216");
  CHECK(make("megatron", "initial = 0.5").problems ==
        "x.toml:3:11: loss_scaling.initial: 0.5 is outside of the mode's bounds; expected at least 1");
  CHECK(make("schedule", "initial = 16\nfinal = 100\n").problems ==
        "x.toml:4:9: loss_scaling.final: is not reached from the initial scale by doubling; expected "
        "loss_scaling.initial times a power of two");
  CHECK(make("schedule", "initial = 256").problems.find("is not reached") != std::string::npos);
  CHECK(make("constant", "initial = 50000").problems ==
        "x.toml:3:11: warning: loss_scaling.initial: 50000 is no power of two: scaling by it rounds; expected a power "
        "of two");
  CHECK(make("constant", "initial = 2\nhysteresis = 2\n").problems ==
        "x.toml:4:14: warning: loss_scaling.hysteresis: has no effect: mode \"constant\" does not read it");
}
