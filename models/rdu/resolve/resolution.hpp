#pragma once
// The steps from an [rdu] section to a plan, and what they share. Each step reads one concern, reports all its problems
// and leaves sound values behind, so that the steps after it can go on.

#include <initializer_list>
#include <memory>
#include <string>

#include "models/rdu/command/command_checks.hpp"
#include "models/rdu/commands.hpp"
#include "models/rdu/rdu_plan.hpp"
#include "sim/plan/family.hpp"

namespace podsim::rdu {

struct Resolution {
  Resolution(FamilyContext& family_context, Diagnostics& all) : context(family_context), diagnostics(all) {}

  FamilyContext& context;
  Diagnostics& diagnostics;
  Commands commands;  // from the first step on
  CommandSystem system;
  std::unique_ptr<RduPlan> plan = std::make_unique<RduPlan>();

  RduSetup& setup() { return plan->setup; }
  const CompileCommand& compile() const { return *commands.compile; }
  const ChipConstants& chip() const { return plan->constants.chip; }
  bool training() const { return context.settings.mode == RunMode::training; }

  // Where a key of the section is written; fails a check when it is not.
  Place place_of(const char* key) const;
  // "experiment.toml:9:1" of a key that is written, else `otherwise`.
  std::string origin(const char* key, const std::string& otherwise) const;
  // A resolved key of the section, as TOML.
  void record(const std::string& key, std::string value, const std::string& origin);
  // A text or a truth value of the section, recorded with its origin; `fallback` when it is not written.
  std::string choose(const char* key, const std::string& fallback, const std::string& fallback_origin);
  bool choose(const char* key, bool fallback);
  // Warns of those that are written: "has no effect: it is `why`".
  void warn_without_effect(std::initializer_list<const char*> keys, const char* why);
  void too_large(const std::string& why);
};

template <class T>
bool sound(const Argument<T>& argument) {
  return argument.valid && !argument.unset;
}

// In the order in which they are taken.
void read_and_check_commands(Resolution& resolution);  // resolve_commands.cpp
void read_model(Resolution& resolution);               // resolve_model.cpp: what is run
void read_layout(Resolution& resolution);              // resolve_layout.cpp: RDUs of a copy, copies, nodes
void read_run(Resolution& resolution);                 // resolve_run.cpp: batch, compiler settings, host
void read_generation(Resolution& resolution);          // resolve_generation.cpp: requests, cache, models to switch to
void read_rules(Resolution& resolution);               // resolve_rules.cpp: fusion rules of o1
void check_slowdown(Resolution& resolution);           // resolve_layout.cpp
void warn_of_idle_settings(Resolution& resolution);    // resolve_idle.cpp; of a workload without problems
void warn_of_idle_parts(Resolution& resolution);       // resolve_layout.cpp; of layouts without problems
void warn_of_idle_rules(Resolution& resolution);       // resolve_rules.cpp; once the graphs are compiled

}  // namespace podsim::rdu
