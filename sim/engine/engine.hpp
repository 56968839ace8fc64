#pragma once
// Runs a program on a platform; both must have passed `verify`. The walk over blocks, repeats and observers is common;
// how the ops of one segment share devices and links in time is the simulator's: `native` (own event heap and max-min)
// or `simgrid` (the reference).

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/segment_simulator.hpp"
#include "sim/hardware/platform.hpp"
#include "sim/observe/measure.hpp"
#include "sim/observe/observer.hpp"
#include "sim/observe/run_result.hpp"
#include "sim/program/program.hpp"

namespace podsim {

struct EngineOptions {
  // Executes every iteration of every repeat instead of one for all.
  bool exact = false;
};

// What a run without measures tells.
struct RunTime {
  SimTime total;
  std::int64_t events = 0;  // ops executed
};

// When the ops of a program's segments start and finish, each from the begin of its segment, and what that does to
// devices and links; room for the next run.
struct SegmentTimes {
  // By segment.
  std::vector<std::vector<SimTime>> start;  // by op
  std::vector<std::vector<SimTime>> finish;
  std::vector<SimTime> duration;
  std::vector<SegmentShare> shares;
  std::vector<char> known;  // 1: it was simulated

  // Nothing is known of the segments of a program with so many.
  void forget(std::size_t segments);
  // Forgets what has changed since, by segment; nothing is known of those that are new.
  void keep_unchanged(std::span<const SegmentChange> changes);
};

class Engine {
 public:
  Engine(std::string name, std::unique_ptr<SegmentSimulator> simulator);
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();
  const std::string& name() const { return name_; }
  // Executes every distinct segment once and tells observers of each place where it stands. Throws InternalError when
  // ops stay unfinished, naming who waits for what. One run at a time per Engine.
  RunResult run(const Platform& platform, const Program& program, std::span<Observer* const> observers = {},
                EngineOptions options = {});
  // The same into `result`, whose memory is used again: a native run after one of the same shape allocates nothing.
  void run_into(RunResult& result, const Platform& platform, const Program& program,
                std::span<Observer* const> observers = {}, EngineOptions options = {});
  // The same, but segments whose times are known already are not simulated: they count as executed all the same.
  // `times` has those of the program's segments, from the same platform, and learns the others.
  void run_again(RunResult& result, const Platform& platform, const Program& program, SegmentTimes& times);
  // How long the program takes, without measuring where the time goes.
  RunTime time(const Platform& platform, const Program& program, EngineOptions options = {});

 private:
  struct Arena;
  void run_with(RunResult& result, const Platform& platform, const Program& program, SegmentTimes& times,
                std::span<Observer* const> observers, EngineOptions options);

  std::string name_;
  std::unique_ptr<SegmentSimulator> simulator_;
  std::unique_ptr<Arena> arena_;  // kept from run to run
};

// The engine of that name: "native", or "simgrid" from the module in `module_folder` (opened on first use; the folder
// of the running program when empty). Throws ConfigError for another name or a module that cannot be opened.
Engine make_engine(std::string_view name, const std::string& module_folder = {});

}  // namespace podsim
