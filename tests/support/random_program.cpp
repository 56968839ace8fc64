#include "tests/support/random_program.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <string>
#include <tuple>

#include "sim/core/random.hpp"
#include "sim/program/builder.hpp"

namespace podsim::test {
namespace {

class Generator {
 public:
  Generator(std::uint64_t seed, RandomLimits limits) : random_(seed), limits_(limits) {}

  RandomCase make() {
    make_platform();
    category_ = builder_.memory_category("activations");
    builder_.memory_category("weights");
    for (std::uint32_t i = 0; i < devices_; ++i) {
      builder_.always_live(MemoryId(i), 1, Bytes(below(1000)));
    }
    if (chance(50)) make_fold();
    const std::uint32_t segments = 1 + below(limits_.segments);
    for (std::uint32_t i = 0; i < segments; ++i) make_segment(i);
    std::vector<ProgramBlock> blocks = make_blocks(0);
    return {std::move(platform_), std::move(builder_).build(std::move(blocks))};
  }

 private:
  std::uint32_t below(std::uint32_t count) { return static_cast<std::uint32_t>(random_.below(count)); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }

  void make_platform() {
    devices_ = 1 + below(limits_.devices);
    for (std::uint32_t i = 0; i < devices_; ++i) {
      const DeviceId device = platform_.add(Device{"device" + std::to_string(i)});
      platform_.add(Memory{"memory" + std::to_string(i), device, Bytes(1 << 30), Bytes(1 << 30)});
    }
    const std::uint32_t links = 1 + below(limits_.links);
    for (std::uint32_t i = 0; i < links; ++i) {
      static constexpr std::array<double, 4> k_rates = {1e9, 2e9, 32e9, 64e9};
      const double rate = chance(60) ? k_rates[below(4)] : 1e9 + below(1'000'000'000);
      platform_.add(Link{"link" + std::to_string(i), bytes_per_second(rate)});
    }
    routes_ = 1 + below(2 * links);
    for (std::uint32_t i = 0; i < routes_; ++i) {
      Route route{"route" + std::to_string(i), {}, SimTime(0)};
      const std::uint32_t length = 1 + below(std::min(3U, links));
      while (route.links.size() < length) {
        const LinkId link(below(links));
        if (std::find(route.links.begin(), route.links.end(), link) == route.links.end()) route.links.push_back(link);
      }
      if (chance(60)) route.latency = even_time(chance(50));
      platform_.add(std::move(route));
    }
  }

  // Round times make events coincide.
  SimTime even_time(bool round) { return round ? SimTime(100'000 * (1 + below(10))) : SimTime(2 * below(1'000'000)); }

  // The first devices and links stand for the others.
  void make_fold() {
    kept_devices_ = 1 + below(devices_);
    const auto links = static_cast<std::uint32_t>(platform_.links().size());
    const std::uint32_t kept_links = 1 + below(links);
    FoldMap map;
    for (std::uint32_t i = 0; i < devices_; ++i) {
      map.device_representative.emplace_back(i % kept_devices_);
      map.memory_representative.emplace_back(i % kept_devices_);
    }
    for (std::uint32_t i = 0; i < links; ++i) map.link_representative.emplace_back(i % kept_links);
    for (std::uint32_t i = 0; i < routes_; ++i) {
      const std::vector<LinkId>& way = platform_.routes()[i].links;
      if (std::all_of(way.begin(), way.end(), [&](LinkId link) { return link.value() < kept_links; })) {
        kept_routes_.emplace_back(i);
      }
    }
    fold_ = builder_.fold(std::move(map));
  }

  Bytes bytes() {
    if (chance(10)) return Bytes(0);
    if (chance(40)) return Bytes(1024 * (1 + below(8)));
    return Bytes(1 + below(100'000));
  }

  CostVector cost() {
    CostVector cost;
    if (chance(10)) return cost;
    const std::uint32_t parts = 1 + below(3);
    for (std::uint32_t i = 0; i < parts; ++i) {
      cost.part[below(k_cost_categories)] += even_time(chance(50));
    }
    return cost;
  }

  CostCategory category() { return static_cast<CostCategory>(below(k_cost_categories)); }
  DeviceId device() { return DeviceId(below(folded_ ? kept_devices_ : devices_)); }
  MemoryId memory() { return MemoryId(device().value()); }  // there is one for each device

  // How the ops of a segment hang together.
  enum class Shape : std::uint32_t { sparse, deep, wide, layered };

  void make_segment(std::uint32_t index) {
    SegmentBuilder segment = builder_.segment("segment" + std::to_string(index));
    folded_ = fold_.valid() && !kept_routes_.empty() && chance(50);
    if (folded_) segment.fold(fold_);
    const std::uint32_t ops = below(limits_.ops + 1);
    const auto shape = static_cast<Shape>(below(4));
    // Without locals, whose order on a device is that of their ids, edges may as well go from later ids to earlier.
    const bool backward = chance(25);
    for (std::uint32_t i = 0; i < ops; ++i) {
      const OpId op = backward ? make_transfer_or_join(segment) : make_op(segment);
      for (std::uint32_t k = edges(shape, i); k > 0; --k) {
        const OpId other = predecessor(shape, i);
        backward ? segment.depend(op, other) : segment.depend(other, op);
      }
    }
    for (std::uint32_t k = below(6); k > 0 && ops > 0; --k) {
      const MemoryId where = memory();
      const Bytes size(below(10'000));
      segment.memory_at_start(OpId(below(ops)), where, category_, size);
      segment.memory_at_finish(OpId(below(ops)), where, category_, Bytes(0) - size);
    }
    ids_.push_back(builder_.add(std::move(segment)));
    folded_ = false;
  }

  static constexpr std::uint32_t k_layer = 8;

  std::uint32_t edges(Shape shape, std::uint32_t op) {
    if (op == 0 || (shape == Shape::layered && op < k_layer)) return 0;
    if (shape == Shape::wide) return chance(10) ? 1 : 0;
    return shape == Shape::sparse ? below(3) : 1 + below(3);
  }

  OpId predecessor(Shape shape, std::uint32_t op) {
    switch (shape) {
      case Shape::deep:
        return OpId(op - 1 - below(std::min(op, 2U)));
      case Shape::layered:
        return OpId(op / k_layer * k_layer - 1 - below(k_layer));
      case Shape::sparse:
      case Shape::wide:
        break;
    }
    return OpId(below(op));
  }

  OpId make_op(SegmentBuilder& segment) {
    if (chance(50)) return segment.local(device(), cost(), "local" + std::to_string(below(5)));
    return make_transfer_or_join(segment);
  }

  OpId make_transfer_or_join(SegmentBuilder& segment) {
    if (chance(15)) return segment.join("join");
    const DeviceId peer = chance(70) ? device() : DeviceId::none();
    return segment.transfer(device(), peer, route(), bytes(), category(), "transfer");
  }

  RouteId route() {
    if (!folded_) return RouteId(below(routes_));
    return kept_routes_[below(static_cast<std::uint32_t>(kept_routes_.size()))];
  }

  std::vector<ProgramBlock> make_blocks(int depth) {
    std::vector<ProgramBlock> blocks;
    const std::uint32_t count = 1 + below(3);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (depth < 3 && chance(40)) {
        blocks.emplace_back(Repeat{1 + static_cast<std::int64_t>(below(4)), "repeat", make_blocks(depth + 1)});
      } else {
        blocks.emplace_back(ids_[below(static_cast<std::uint32_t>(ids_.size()))]);
      }
    }
    return blocks;
  }

  Random random_;
  RandomLimits limits_;
  Platform platform_;
  ProgramBuilder builder_;
  MemoryCategory category_ = 0;
  std::uint32_t devices_ = 0;
  std::uint32_t routes_ = 0;
  FoldId fold_;
  std::uint32_t kept_devices_ = 0;    // that the fold leaves to themselves; so many memories, too
  std::vector<RouteId> kept_routes_;  // over links that it leaves to themselves
  bool folded_ = false;               // the segment being made
  std::vector<SegmentId> ids_;
};

SimTime half(SimTime time) {
  return SimTime(time.picoseconds() / 2);
}

}  // namespace

RandomCase random_case(std::uint64_t seed, RandomLimits limits) {
  return Generator(seed, limits).make();
}

std::vector<std::uint64_t> seeds(std::uint64_t first, std::uint64_t count) {
  if (const char* only = std::getenv("PODSIM_SEED")) return {std::stoull(only)};
  std::vector<std::uint64_t> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

Renumbered renumbered(const Segment& from, std::uint64_t seed) {
  const auto ops = static_cast<std::uint32_t>(from.ops.size());
  Renumbered result;
  for (std::uint32_t i = 0; i < ops; ++i) result.id.emplace_back(i);
  Random random(seed);
  for (std::uint32_t i = ops; i > 1; --i) {
    std::swap(result.id[i - 1], result.id[static_cast<std::size_t>(random.below(i))]);
  }
  result.segment = from;
  std::vector<std::pair<OpId, OpId>> edges;
  for (std::uint32_t i = 0; i < ops; ++i) {
    result.segment.ops[result.id[i].index()] = from.ops[i];
    for (std::uint32_t s = from.successor_begin[i]; s < from.successor_begin[i + 1]; ++s) {
      edges.emplace_back(result.id[i], result.id[from.successors[s].index()]);
    }
  }
  set_edges(result.segment, edges);
  for (MemoryStep& step : result.segment.memory_steps) step.op = result.id[step.op.index()];
  std::stable_sort(result.segment.memory_steps.begin(), result.segment.memory_steps.end(),
                   [](const MemoryStep& a, const MemoryStep& b) {
                     return std::tie(a.op, a.from_finish, a.offset) < std::tie(b.op, b.from_finish, b.offset);
                   });
  return result;
}

RandomCase twice_as_fast(const RandomCase& slow) {
  RandomCase fast;
  for (const Device& device : slow.platform.devices()) fast.platform.add(device);
  for (const Memory& memory : slow.platform.memories()) fast.platform.add(memory);
  for (Link link : slow.platform.links()) {
    link.bandwidth = link.bandwidth * 2.0;
    fast.platform.add(link);
  }
  for (Route route : slow.platform.routes()) {
    route.latency = half(route.latency);
    fast.platform.add(route);
  }
  fast.program = slow.program;
  for (CostVector& cost : fast.program.costs) {
    for (SimTime& time : cost.part) time = half(time);
  }
  for (Segment& segment : fast.program.segments) {
    for (Op& op : segment.ops) op.duration = half(op.duration);
  }
  return fast;
}

}  // namespace podsim::test
