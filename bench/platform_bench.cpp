#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "sim/hardware/platform.hpp"

namespace podsim {
namespace {

// A ring of `devices`, each with a memory, a link to the next and the route over it.
Platform make_ring(std::int64_t devices) {
  Platform platform;
  for (std::int64_t i = 0; i < devices; ++i) {
    const std::string number = std::to_string(i);
    const DeviceId device = platform.add(Device{"device " + number});
    platform.add(Memory{"memory " + number, device, Bytes(1 << 20), Bytes(1 << 20)});
    const LinkId link = platform.add(Link{"link " + number, bytes_per_second(64e9)});
    platform.add(Route{"route " + number, {link}, SimTime(1'000'000)});
  }
  return platform;
}

void build_ring(benchmark::State& state) {
  for (auto _ : state) {
    Platform platform = make_ring(state.range(0));
    benchmark::DoNotOptimize(platform);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(build_ring)->Arg(16)->Arg(128)->Arg(1024);

}  // namespace
}  // namespace podsim
