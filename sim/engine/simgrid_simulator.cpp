// The reference simulator of one segment, on SimGrid 3.32; the only file that includes it. It is a module of its own
// and uses nothing of the program but header-only types.
//
// The graph of ops is ours; SimGrid is told of an op when it starts. Ops that share nothing (locals, latencies,
// transfers alone on their links) are timers of SimGrid; transfers that may meet on a link are its communications, over
// links without latency and with the network model's corrections off, so that sharing is plain max-min.

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <xbt/log.h>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

#include "sim/engine/segment_simulator.hpp"

// SimGrid's clock. It is never reset by the library, and a large clock costs the last digits of results; set back
// between segments, results do not depend on what ran before. Weak: where the symbol is missing, the clock runs on.
extern double podsim_simgrid_clock __asm__("_ZN7simgrid6kernel10EngineImpl4now_E") __attribute__((weak));

namespace podsim {
namespace {

namespace s4u = simgrid::s4u;

// What SimGrid has to be told of a platform: the routes on which transfers may meet.
struct SharedNetwork {
  std::vector<std::uint32_t> routes;
  std::vector<std::vector<std::uint32_t>> links;  // by place in `routes`
  std::vector<double> bandwidth;                  // by link index, of those in `links`; 0 elsewhere
  friend bool operator==(const SharedNetwork&, const SharedNetwork&) = default;
};

// The Engine installs handlers of its own for these; the program's are put back.
class KeepSignalHandlers {
 public:
  KeepSignalHandlers() {
    sigaction(SIGINT, nullptr, &interrupt_);
    sigaction(SIGSEGV, nullptr, &fault_);
    sigaltstack(nullptr, &stack_);
  }
  ~KeepSignalHandlers() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGSEGV, &fault_, nullptr);
    sigaltstack(&stack_, nullptr);
  }
  KeepSignalHandlers(const KeepSignalHandlers&) = delete;
  KeepSignalHandlers& operator=(const KeepSignalHandlers&) = delete;

 private:
  struct sigaction interrupt_ {};
  struct sigaction fault_ {};
  stack_t stack_{};
};

// The one Engine that a process can have, with a sealed platform of the routes of one network.
class Session {
 public:
  // The session for that network; replaces the one before unless it is the same. Kept until the process ends: taking
  // SimGrid apart is slow and gains nothing.
  static Session& of(const SharedNetwork& network) {
    static Session* current = nullptr;
    if (current != nullptr && (network.routes.empty() || current->network_ == network)) return *current;
    delete current;
    current = nullptr;
    current = new Session(network);
    return *current;
  }

  const s4u::Engine& engine() const { return *engine_; }

  s4u::CommPtr flow(RouteId route, std::int64_t bytes) const {
    const std::size_t place = place_[route.index()];
    s4u::CommPtr comm = s4u::Comm::sendto_init(sources_[place / width_], targets_[place % width_]);
    comm->set_payload_size(static_cast<std::uint64_t>(bytes));
    return comm;
  }

 private:
  explicit Session(const SharedNetwork& network) : network_(network) {
    const KeepSignalHandlers keep;
    static bool configured = false;  // of the library, as long as the process lives
    if (!configured) xbt_log_control_set("root.thres:critical");
    engine_ = std::make_unique<s4u::Engine>("podsim");
    if (!configured) configure();
    configured = true;
    build();
  }

  // Ideal sharing: no factors, no reverse traffic, no window bound; events a picosecond apart stay apart.
  static void configure() {
    s4u::Engine::set_config("network/model:CM02");
    s4u::Engine::set_config("network/crosstraffic", false);
    s4u::Engine::set_config("network/TCP-gamma", 1e30);
    s4u::Engine::set_config("surf/precision", 1e-12);
    s4u::Engine::set_config("maxmin/precision", 1e-9);
  }

  // A host pair per route, as a grid of few sources and targets: a zone's table grows with the square of its hosts.
  void build() {
    s4u::NetZone* root = s4u::create_full_zone("root");
    width_ = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(network_.routes.size()))));
    for (std::size_t i = 0; i < width_; ++i) {
      sources_.push_back(root->create_host("s" + std::to_string(i), 1.0));
      targets_.push_back(root->create_host("t" + std::to_string(i), 1.0));
    }
    std::vector<s4u::Link*> links(network_.bandwidth.size(), nullptr);
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (network_.bandwidth[i] > 0) links[i] = root->create_link("l" + std::to_string(i), network_.bandwidth[i]);
    }
    for (std::size_t i = 0; i < network_.routes.size(); ++i) {
      std::vector<s4u::LinkInRoute> way;
      for (const std::uint32_t link : network_.links[i]) way.emplace_back(links[link]);
      root->add_route(sources_[i / width_]->get_netpoint(), targets_[i % width_]->get_netpoint(), nullptr, nullptr, way,
                      false);
      if (network_.routes[i] >= place_.size()) place_.resize(network_.routes[i] + 1);
      place_[network_.routes[i]] = i;
    }
    root->seal();
  }

  SharedNetwork network_;
  std::unique_ptr<s4u::Engine> engine_;
  std::size_t width_ = 0;
  std::vector<s4u::Host*> sources_;
  std::vector<s4u::Host*> targets_;
  std::vector<std::size_t> place_;  // by route
};

class SimgridSimulator final : public SegmentSimulator {
 public:
  SimgridSimulator() { connect(); }

  void prepare(const Platform& platform, const Program& program) override {
    platform_ = &platform;
    users_.assign(platform.links().size(), 0);
    session_ = &Session::of(shared_network(program));
  }

  std::int64_t simulate(const Segment& segment, std::span<SimTime> start, std::span<SimTime> finish) override {
    segment_ = &segment;
    start_ = start;
    finish_ = finish;
    finished_ = 0;
    if (&podsim_simgrid_clock != nullptr) podsim_simgrid_clock = 0;
    base_ = s4u::Engine::get_clock();
    ended_at_ = base_;
    pending_ = segment.predecessor_count;
    ready_time_.assign(segment.ops.size(), 0);
    if (mark_shared(segment)) flows_.resize(segment.ops.size());
    for (std::uint32_t i = 0; i < pending_.size(); ++i) {
      if (pending_[i] == 0) ready_.push_back(i);
    }
    start_ready();
    session_->engine().run();
    ended_.clear();
    return finished_;
  }

 private:
  struct Flow {
    SimgridSimulator* simulator = nullptr;
    std::uint32_t op = 0;
    std::int64_t start = 0;  // after the latency
    s4u::CommPtr comm;
  };

  // Once per process, since the signal cannot be disconnected.
  static void connect() {
    static const bool k_connected = [] {
      s4u::Activity::on_completion_cb([](const s4u::Activity& activity) {
        Flow* flow = activity.get_data<Flow>();
        if (flow != nullptr) flow->simulator->end_flow(*flow);
      });
      return true;
    }();
    static_cast<void>(k_connected);
  }

  // Marks the transfers that may meet another on a link in this segment; whether there are any.
  bool mark_shared(const Segment& segment) {
    shared_.assign(segment.ops.size(), false);
    const auto carries = [](const Op& op) { return op.kind == OpKind::transfer && op.bytes > Bytes(0); };
    for (const Op& op : segment.ops) {
      if (!carries(op)) continue;
      for (const LinkId link : (*platform_)[op.route].links) ++users_[link.index()];
    }
    bool any = false;
    for (std::size_t i = 0; i < segment.ops.size(); ++i) {
      if (!carries(segment.ops[i])) continue;
      for (const LinkId link : (*platform_)[segment.ops[i].route].links) {
        if (users_[link.index()] > 1) any = shared_[i] = true;
      }
    }
    for (const Op& op : segment.ops) {
      if (!carries(op)) continue;
      for (const LinkId link : (*platform_)[op.route].links) users_[link.index()] = 0;
    }
    return any;
  }

  SharedNetwork shared_network(const Program& program) {
    std::vector<bool> needed(platform_->routes().size(), false);
    for (const Segment& segment : program.segments) {
      if (!mark_shared(segment)) continue;
      for (std::size_t i = 0; i < segment.ops.size(); ++i) {
        if (shared_[i]) needed[segment.ops[i].route.index()] = true;
      }
    }
    SharedNetwork network;
    network.bandwidth.assign(platform_->links().size(), 0.0);
    for (std::uint32_t route = 0; route < needed.size(); ++route) {
      if (!needed[route]) continue;
      network.routes.push_back(route);
      network.links.emplace_back();
      for (const LinkId link : platform_->routes()[route].links) {
        network.links.back().push_back(link.value());
        network.bandwidth[link.index()] = (*platform_)[link].bandwidth.in_base();
      }
    }
    return network;
  }

  std::int64_t alone_duration(const Op& op) const {
    if (op.kind == OpKind::local) return op.duration.picoseconds();
    if (op.kind == OpKind::join) return 0;
    const Route& route = (*platform_)[op.route];
    double rate = std::numeric_limits<double>::infinity();
    for (const LinkId link : route.links) rate = std::min(rate, (*platform_)[link].bandwidth.in_base());
    return route.latency.picoseconds() + std::llround(static_cast<double>(op.bytes.count()) / rate * 1e12);
  }

  double date(std::int64_t time) const { return base_ + static_cast<double>(time) * 1e-12; }

  template <class Action>
  void at(std::int64_t time, Action action) {
    simgrid::kernel::timer::Timer::set(std::max(date(time), s4u::Engine::get_clock()), action);
  }

  void start_ready() {
    while (!ready_.empty()) {
      const std::uint32_t op = ready_.back();
      ready_.pop_back();
      start(op);
    }
  }

  void start(std::uint32_t op) {
    const std::int64_t begin = ready_time_[op];
    start_[op] = SimTime(begin);
    if (shared_[op]) {
      const std::int64_t flows_from = begin + (*platform_)[segment_->ops[op].route].latency.picoseconds();
      if (date(flows_from) < s4u::Engine::get_clock() + 1e-12) {
        start_flow(op, flows_from);
      } else {
        at(flows_from, [this, op] {
          start_flow(op, ready_time_[op] + (*platform_)[segment_->ops[op].route].latency.picoseconds());
        });
      }
      return;
    }
    const std::int64_t duration = alone_duration(segment_->ops[op]);
    if (duration == 0) {
      end(op, begin);
      return;
    }
    finish_[op] = SimTime(begin + duration);
    at(begin + duration, [this, op] {
      end(op, finish_[op].picoseconds());
      start_ready();
    });
  }

  void start_flow(std::uint32_t op, std::int64_t from) {
    Flow& flow = flows_[op];
    flow.simulator = this;
    flow.op = op;
    flow.start = from;
    flow.comm = session_->flow(segment_->ops[op].route, segment_->ops[op].bytes.count());
    flow.comm->set_data(&flow);
    flow.comm->start();
  }

  void end_flow(Flow& flow) {
    // An activity must outlive its own completion: it is let go when time has moved on.
    const double clock = s4u::Engine::get_clock();
    if (clock > ended_at_) ended_.clear();
    ended_at_ = clock;
    ended_.push_back(std::move(flow.comm));
    end(flow.op, std::max(flow.start, static_cast<std::int64_t>(std::llround((clock - base_) * 1e12))));
    start_ready();
  }

  void end(std::uint32_t op, std::int64_t time) {
    finish_[op] = SimTime(time);
    ++finished_;
    for (std::uint32_t s = segment_->successor_begin[op]; s < segment_->successor_begin[op + 1]; ++s) {
      const std::uint32_t next = segment_->successors[s].value();
      ready_time_[next] = std::max(ready_time_[next], time);
      if (--pending_[next] == 0) ready_.push_back(next);
    }
  }

  const Platform* platform_ = nullptr;
  Session* session_ = nullptr;
  const Segment* segment_ = nullptr;
  std::span<SimTime> start_;
  std::span<SimTime> finish_;
  std::int64_t finished_ = 0;
  double base_ = 0;
  std::vector<std::uint32_t> users_;      // by link, while marking
  std::vector<bool> shared_;              // by op
  std::vector<std::uint32_t> pending_;    // by op
  std::vector<std::int64_t> ready_time_;  // by op
  std::vector<std::uint32_t> ready_;
  std::vector<Flow> flows_;  // by op; those of shared transfers are used
  std::vector<s4u::CommPtr> ended_;
  double ended_at_ = 0;
};

}  // namespace
}  // namespace podsim

extern "C" __attribute__((visibility("default"))) podsim::SegmentSimulator* podsim_make_segment_simulator() {
  return new podsim::SimgridSimulator;
}
