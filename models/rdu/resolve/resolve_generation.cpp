// Generation: tokens of a request, the compiled cache, who launches, and models that a node switches among.

#include <fmt/format.h>

#include <algorithm>

#include "models/rdu/resolve/resolution.hpp"
#include "sim/config/key_spec.hpp"

namespace podsim::rdu {
namespace {

// The longest context among which a request finds its own: what is written, else the model's positions. `why_idle` says
// why none is looked for; empty when one is.
std::int64_t read_longest_context(Resolution& resolution, const std::string& why_idle) {
  const std::int64_t positions = resolution.plan->model.positions;
  const std::optional<std::int64_t> written = read_integer(resolution.context.section, "longest_context");
  if (!written) return positions;
  const Place place = resolution.place_of("longest_context");
  if (!why_idle.empty()) {
    resolution.diagnostics.warning(place, "rdu.longest_context", "has no effect: " + why_idle);
    return positions;
  }
  resolution.record("longest_context", std::to_string(*written), resolution.origin("longest_context", ""));
  if (*written <= positions) return std::max<std::int64_t>(1, *written);
  resolution.diagnostics.error(place, "rdu.longest_context",
                               fmt::format("{} is more than the model's {} positions", *written, positions),
                               "at most as many, or a larger model.max_position_embeddings");
  return positions;
}

void read_static_length(Resolution& resolution) {
  RduSetup& setup = resolution.setup();
  const std::int64_t positions = resolution.plan->model.positions;
  const std::optional<std::int64_t> written = read_integer(resolution.context.section, "static_sequence_length");
  const Argument<std::int64_t>* compiled = resolution.compile().shape("max-seq-length");
  const bool from_command = compiled != nullptr && compiled->known && sound(*compiled) && compiled->value > 0;
  const bool deployed = setup.fused_generation && !setup.legacy_endpoint;
  std::string idle = deployed ? "" : "it is of current endpoints on a chip with HBM alone";
  if (written || from_command) idle = "the context of the run is stated";
  const std::int64_t longest = read_longest_context(resolution, idle);
  const std::int64_t needed = setup.input_tokens + setup.output_tokens;
  const std::int64_t chosen =
      deployed ? deployed_context(needed, longest, resolution.plan->constants.serving) : longest;
  setup.static_length = written.value_or(from_command ? compiled->value : chosen);
  const char* const otherwise =
      deployed ? "default: the shortest deployed context that holds a request" : "default: the model's maximum";
  resolution.record("static_sequence_length", std::to_string(setup.static_length),
                    resolution.origin("static_sequence_length", from_command ? compiled->origin : otherwise));
  const Place& place = resolution.context.section.place();
  if (setup.static_length > positions) {
    resolution.diagnostics.error(
        place, "rdu.static_sequence_length",
        fmt::format("{} is more than the model's {} positions", setup.static_length, positions),
        "at most as many, or a larger model.max_position_embeddings");
  }
  if (needed > setup.static_length) {
    resolution.diagnostics.error(place, "rdu.static_sequence_length",
                                 fmt::format("{} is less than the {} tokens of a request", setup.static_length, needed),
                                 fmt::format("at least {}", needed));
  }
}

void read_orchestration(Resolution& resolution) {
  RduSetup& setup = resolution.setup();
  const bool hbm = resolution.chip().hbm.has_value();
  const std::string chosen = resolution.choose("orchestration", hbm ? "hardware" : "software", "default of the chip");
  setup.orchestration = chosen == "hardware" ? Orchestration::hardware : Orchestration::software;
  if (setup.orchestration == Orchestration::hardware && !hbm) {
    resolution.diagnostics.error(resolution.place_of("orchestration"), "rdu.orchestration",
                                 "the hardware of this chip does not launch sections", "\"software\"");
  }
}

void read_experts(Resolution& resolution) {
  RduSetup& setup = resolution.setup();
  if (!setup.fused_generation) {
    resolution.warn_without_effect({"experts", "switch_every_request"}, "of a chip with HBM alone");
    return;
  }
  const std::optional<std::int64_t> experts = read_integer(resolution.context.section, "experts");
  const bool possible = experts && *experts >= 1 && *experts <= 100000;  // else reported
  setup.experts = possible ? *experts : 1;
  resolution.record("experts", std::to_string(setup.experts), resolution.origin("experts", "default"));
  setup.switch_every_request = resolution.choose("switch_every_request", false);
  if (setup.switch_every_request && setup.experts == 1) {
    resolution.diagnostics.warning(
        resolution.place_of("switch_every_request"), "rdu.switch_every_request",
        "with one model: rdu.experts does not say how many there are, nor that DDR holds them");
  }
}

}  // namespace

void read_generation(Resolution& resolution) {
  RduSetup& setup = resolution.setup();
  if (setup.run != RunMode::generation) {
    resolution.warn_without_effect(
        {"orchestration", "static_sequence_length", "longest_context", "endpoint", "experts", "switch_every_request"},
        "of generation alone");
    return;
  }
  setup.input_tokens = resolution.context.settings.input_tokens;
  setup.output_tokens = resolution.context.settings.output_tokens;
  setup.legacy_endpoint = resolution.choose("endpoint", "current", "default") == "legacy";
  read_static_length(resolution);
  read_orchestration(resolution);
  setup.padded_prompt =
      padded_prompt(setup.input_tokens, setup.static_length, setup.legacy_endpoint, resolution.plan->constants.serving);
  read_experts(resolution);
}

}  // namespace podsim::rdu
