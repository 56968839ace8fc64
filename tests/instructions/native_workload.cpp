// Runs one workload of the native engine a given number of times, to count instructions under callgrind: those of two
// numbers of runs differ by those of the runs between. Prints the ops of one run; with "compiler" the compiler.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "sim/engine/engine.hpp"
#include "sim/program/builder.hpp"

namespace podsim {
namespace {

struct Workload {
  Platform platform;
  Program program;
};

CostVector compute(std::int64_t time) {
  CostVector cost;
  cost[CostCategory::compute] = SimTime(time);
  return cost;
}

Platform make_platform(std::uint32_t devices, std::uint32_t links) {
  Platform platform;
  for (std::uint32_t i = 0; i < devices; ++i) platform.add(Device{"device " + std::to_string(i)});
  for (std::uint32_t i = 0; i < links; ++i) platform.add(Link{"link " + std::to_string(i), bytes_per_second(64e9)});
  for (std::uint32_t i = 0; i < links; ++i) {
    platform.add(Route{"route", {LinkId(i), LinkId((i + 1) % links), LinkId((i + 2) % links)}, SimTime(150'000)});
  }
  return platform;
}

// Locals in chains on 64 devices, nothing shared.
Workload chains() {
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("chains");
  for (std::uint32_t i = 0; i < 6400; ++i) segment.local(DeviceId(i % 64), compute(1000 + i % 7), "work");
  const SegmentId id = builder.add(std::move(segment));
  return {make_platform(64, 3), std::move(builder).build({id})};
}

// 64 senders, each with a chain of transfers over three of 16 links.
Workload flows() {
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("flows");
  for (std::uint32_t i = 0; i < 64 * 10; ++i) {
    segment.chain(segment.transfer(DeviceId(i % 64), DeviceId::none(), RouteId((i * 7) % 16),
                                   Bytes(100'000 + 1000 * (i % 13)), CostCategory::inter_device, "send"));
  }
  const SegmentId id = builder.add(std::move(segment));
  return {make_platform(64, 16), std::move(builder).build({id})};
}

// 18 segments of 18 ops on four devices, as a folded and merged pipeline has them.
Workload segments() {
  ProgramBuilder builder;
  std::vector<ProgramBlock> blocks;
  for (std::uint32_t s = 0; s < 18; ++s) {
    SegmentBuilder segment = builder.segment("cycle");
    for (std::uint32_t i = 0; i < 18; ++i) {
      if (i % 6 != 5) {
        segment.local(DeviceId(i % 4), compute(1000 + i), "work");
      } else {
        segment.chain(segment.transfer(DeviceId(i % 4), DeviceId((i + 1) % 4), RouteId(i % 3), Bytes(1000),
                                       CostCategory::inter_device, "send"));
      }
    }
    blocks.emplace_back(Repeat{1 + s % 3, "cycles", {builder.add(std::move(segment))}});
  }
  return {make_platform(4, 9), std::move(builder).build(std::move(blocks))};
}

int run(const std::string& name, int times) {
  const Workload workload = name == "chains" ? chains() : name == "flows" ? flows() : segments();
  Engine engine = make_engine("native");
  RunResult result;
  for (int i = 0; i < times; ++i) engine.run_into(result, workload.platform, workload.program);
  std::cout << result.events << '\n';
  return result.total > SimTime() ? 0 : 1;
}

}  // namespace
}  // namespace podsim

int main(int count, char** words) {
  const std::string name = count > 1 ? words[1] : "";
  if (name == "compiler") {
    std::cout << "g++ " << __VERSION__ << '\n';
    return 0;
  }
  if (count != 3 || (name != "chains" && name != "flows" && name != "segments")) return 2;
  return podsim::run(name, std::atoi(words[2]));
}
