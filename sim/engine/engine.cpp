#include "sim/engine/engine.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace podsim {

struct Engine::Arena {
  SegmentTimes times;
  std::vector<char> executed;  // by segment
  Measure measure;
};

namespace {

constexpr std::size_t k_reported_ops = 10;

std::string op_text(const Program& program, const Segment& segment, std::size_t op) {
  const LabelId label = segment.ops[op].label;
  return "\"" + (label.index() < program.labels.size() ? program.labels[label.index()] : std::string()) + "\"";
}

// The unfinished predecessors of an op, as text.
std::string waits_for(const Program& program, const Segment& segment, std::size_t op, std::span<const SimTime> finish) {
  std::string text;
  for (std::size_t i = 0; i < segment.ops.size(); ++i) {
    if (finish[i] != k_never) continue;
    for (std::uint32_t s = segment.successor_begin[i]; s < segment.successor_begin[i + 1]; ++s) {
      if (segment.successors[s].index() == op) text += (text.empty() ? "" : ", ") + op_text(program, segment, i);
    }
  }
  return text.empty() ? "nothing" : text;
}

std::string deadlock_text(const Platform& platform, const Program& program, const Segment& segment,
                          std::span<const SimTime> finish) {
  std::string text = "segment \"" + segment.name + "\" stands still:";
  std::size_t unfinished = 0;
  for (std::size_t i = 0; i < segment.ops.size(); ++i) {
    if (finish[i] != k_never || ++unfinished > k_reported_ops) continue;
    const DeviceId device = segment.ops[i].device;
    text += "\n  " + op_text(program, segment, i);
    if (device.index() < platform.devices().size()) text += " on " + platform[device].name;
    text += " waits for " + waits_for(program, segment, i, finish);
  }
  if (unfinished > k_reported_ops) text += "\n  and " + std::to_string(unfinished - k_reported_ops) + " more ops";
  return text;
}

// Who is told of each segment: the measure and the observers, or nobody.
struct Tell {
  Measure& measure;
  std::span<Observer* const> observers;
  void operator()(const SegmentRun& run) const {
    measure.segment(run);
    for (Observer* observer : observers) observer->segment(run);
  }
};
struct TellNobody {
  void operator()(const SegmentRun&) const {}
};

// One run: the common walk over blocks.
template <class Listener>
struct Walk {
  const Platform& platform;
  const Program& program;
  Listener listener;
  EngineOptions options;
  SegmentSimulator& simulator;
  SegmentTimes& times;
  std::vector<char>& executed;  // by segment: in this run

  SimTime clock = SimTime(0);
  std::int64_t events = 0;
  std::int64_t segments_executed = 0;

  void walk(const std::vector<ProgramBlock>& blocks, std::int64_t iterations) {
    for (const ProgramBlock& block : blocks) {
      if (const SegmentId* segment = std::get_if<SegmentId>(&block)) {
        run(*segment, iterations);
      } else {
        repeat(std::get<Repeat>(block), iterations);
      }
    }
  }

  void repeat(const Repeat& repeat, std::int64_t iterations) {
    if (options.exact) {
      for (std::int64_t i = 0; i < repeat.count; ++i) walk(repeat.blocks, 1);
      return;
    }
    const SimTime begin = clock;
    walk(repeat.blocks, iterations * repeat.count);
    clock += (clock - begin) * (repeat.count - 1);
  }

  void run(SegmentId id, std::int64_t iterations) {
    const Segment& segment = program[id];
    const std::size_t place = id.index();
    if (options.exact || !executed[place]) execute(place, segment);
    listener(SegmentRun{platform, program, segment, id, clock, times.duration[place], iterations, times.start[place],
                        times.finish[place]});
    clock += times.duration[place];
  }

  void execute(std::size_t place, const Segment& segment) {
    if (options.exact || !times.known[place]) simulate(place, segment);
    executed[place] = 1;
    events += static_cast<std::int64_t>(segment.ops.size());
    ++segments_executed;
  }

  void simulate(std::size_t place, const Segment& segment) {
    const std::size_t ops = segment.ops.size();
    std::vector<SimTime>& start = times.start[place];
    std::vector<SimTime>& finish = times.finish[place];
    start.assign(ops, k_never);
    finish.assign(ops, k_never);
    const std::int64_t finished = simulator.simulate(segment, start, finish);
    PODSIM_CHECK(finished == static_cast<std::int64_t>(ops), deadlock_text(platform, program, segment, finish));
    SimTime last;
    for (const SimTime time : finish) last = std::max(last, time);
    times.duration[place] = last;
    times.known[place] = 1;
  }
};

}  // namespace

Engine::Engine(std::string name, std::unique_ptr<SegmentSimulator> simulator)
    : name_(std::move(name)), simulator_(std::move(simulator)), arena_(std::make_unique<Arena>()) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

void SegmentTimes::forget(std::size_t segments) {
  start.resize(segments);
  finish.resize(segments);
  duration.assign(segments, SimTime(0));
  shares.resize(segments);
  known.assign(segments, 0);
}

void SegmentTimes::keep_unchanged(std::span<const SegmentChange> changes) {
  start.resize(changes.size());
  finish.resize(changes.size());
  duration.resize(changes.size());
  shares.resize(changes.size());
  known.resize(changes.size(), 0);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (changes[i] != SegmentChange::none) known[i] = 0;
  }
}

RunResult Engine::run(const Platform& platform, const Program& program, std::span<Observer* const> observers,
                      EngineOptions options) {
  RunResult result;
  run_into(result, platform, program, observers, options);
  return result;
}

void Engine::run_into(RunResult& result, const Platform& platform, const Program& program,
                      std::span<Observer* const> observers, EngineOptions options) {
  arena_->times.forget(program.segments.size());
  run_with(result, platform, program, arena_->times, observers, options);
}

void Engine::run_again(RunResult& result, const Platform& platform, const Program& program, SegmentTimes& times) {
  PODSIM_CHECK(times.known.size() == program.segments.size(), "times of another program");
  run_with(result, platform, program, times, {}, {});
}

void Engine::run_with(RunResult& result, const Platform& platform, const Program& program, SegmentTimes& times,
                      std::span<Observer* const> observers, EngineOptions options) {
  Arena& arena = *arena_;
  simulator_->prepare(platform, program);
  arena.executed.assign(program.segments.size(), 0);
  std::swap(arena.measure.result(), result);
  for (std::size_t i = 0; i < times.known.size(); ++i) times.shares[i].measured &= times.known[i] != 0;
  arena.measure.begin(platform, program, times.shares);
  for (Observer* observer : observers) observer->begin(platform, program);

  Walk<Tell> walk{platform, program, {arena.measure, observers}, options, *simulator_, times, arena.executed};
  walk.walk(program.blocks, 1);

  arena.measure.end(walk.clock);
  for (Observer* observer : observers) observer->end(walk.clock);
  std::swap(arena.measure.result(), result);
  result.events = walk.events;
  result.segments_executed = walk.segments_executed;
}

RunTime Engine::time(const Platform& platform, const Program& program, EngineOptions options) {
  Arena& arena = *arena_;
  simulator_->prepare(platform, program);
  arena.times.forget(program.segments.size());
  arena.executed.assign(program.segments.size(), 0);
  Walk<TellNobody> walk{platform, program, {}, options, *simulator_, arena.times, arena.executed};
  walk.walk(program.blocks, 1);
  return {walk.clock, walk.events};
}

}  // namespace podsim
