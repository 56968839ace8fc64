#include "sim/engine/engine.hpp"

#include <algorithm>

#include "sim/core/check.hpp"
#include "sim/observe/measure.hpp"

namespace podsim {

struct Engine::Arena {
  std::vector<SimTime> start;  // of all executed segments, one after the other
  std::vector<SimTime> finish;
  std::vector<std::size_t> offset;  // by segment: its place in both; k_not_executed before
  std::vector<SimTime> duration;    // by segment
  Measure measure;
};

namespace {

constexpr std::size_t k_not_executed = SIZE_MAX;
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
  // The arena's parts.
  std::vector<SimTime>& start;
  std::vector<SimTime>& finish;
  std::vector<std::size_t>& offset;
  std::vector<SimTime>& duration;

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
    if (options.exact || offset[id.index()] == k_not_executed) execute(id, segment);
    const std::size_t first = offset[id.index()];
    const std::size_t ops = segment.ops.size();
    listener(SegmentRun{platform, program, segment, id, clock, duration[id.index()], iterations,
                        std::span<const SimTime>(start).subspan(first, ops),
                        std::span<const SimTime>(finish).subspan(first, ops)});
    clock += duration[id.index()];
  }

  void execute(SegmentId id, const Segment& segment) {
    const std::size_t ops = segment.ops.size();
    std::size_t& first = offset[id.index()];
    if (first == k_not_executed) {
      first = start.size();
      start.resize(first + ops);
      finish.resize(first + ops);
    }
    const std::span<SimTime> starts = std::span(start).subspan(first, ops);
    const std::span<SimTime> finishes = std::span(finish).subspan(first, ops);
    std::fill(starts.begin(), starts.end(), k_never);
    std::fill(finishes.begin(), finishes.end(), k_never);
    const std::int64_t finished = simulator.simulate(segment, starts, finishes);
    events += finished;
    ++segments_executed;
    PODSIM_CHECK(finished == static_cast<std::int64_t>(ops), deadlock_text(platform, program, segment, finishes));
    SimTime last;
    for (const SimTime time : finishes) last = std::max(last, time);
    duration[id.index()] = last;
  }
};

}  // namespace

Engine::Engine(std::string name, std::unique_ptr<SegmentSimulator> simulator)
    : name_(std::move(name)), simulator_(std::move(simulator)), arena_(std::make_unique<Arena>()) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

void Engine::begin(const Platform& platform, const Program& program) {
  arena_->start.clear();
  arena_->finish.clear();
  arena_->offset.assign(program.segments.size(), k_not_executed);
  arena_->duration.assign(program.segments.size(), SimTime(0));
  simulator_->prepare(platform, program);
}

RunResult Engine::run(const Platform& platform, const Program& program, std::span<Observer* const> observers,
                      EngineOptions options) {
  RunResult result;
  run_into(result, platform, program, observers, options);
  return result;
}

void Engine::run_into(RunResult& result, const Platform& platform, const Program& program,
                      std::span<Observer* const> observers, EngineOptions options) {
  Arena& arena = *arena_;
  begin(platform, program);
  std::swap(arena.measure.result(), result);
  arena.measure.begin(platform, program);
  for (Observer* observer : observers) observer->begin(platform, program);

  Walk<Tell> walk{platform,     program,      {arena.measure, observers},
                  options,      *simulator_,  arena.start,
                  arena.finish, arena.offset, arena.duration};
  walk.walk(program.blocks, 1);

  arena.measure.end(walk.clock);
  for (Observer* observer : observers) observer->end(walk.clock);
  std::swap(arena.measure.result(), result);
  result.events = walk.events;
  result.segments_executed = walk.segments_executed;
}

RunTime Engine::time(const Platform& platform, const Program& program, EngineOptions options) {
  Arena& arena = *arena_;
  begin(platform, program);
  Walk<TellNobody> walk{platform,    program,      {},           options,       *simulator_,
                        arena.start, arena.finish, arena.offset, arena.duration};
  walk.walk(program.blocks, 1);
  return {walk.clock, walk.events};
}

}  // namespace podsim
