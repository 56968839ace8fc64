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
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <xbt/log.h>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

#include "sim/engine/segment_simulator.hpp"

// SimGrid's clock. It is never reset by the library, and a large clock costs the last digits of results; set back
// between segments, results do not depend on what ran before. Weak: where the symbol is missing, the clock runs on.
extern double podsim_simgrid_clock __asm__("_ZN7simgrid6kernel10EngineImpl4now_E") __attribute__((weak));

namespace podsim {
namespace {

namespace s4u = simgrid::s4u;

// A zone of one source and one target, on whatever links its user names just before a flow starts: platforms come and
// go without a new Engine.
class OpenZone final : public simgrid::kernel::routing::NetZoneImpl {
 public:
  OpenZone() : NetZoneImpl("open") {}
  std::vector<s4u::Link*> way;  // of the flow that starts next

 private:
  using NetPoint = simgrid::kernel::routing::NetPoint;
  using Nodes = std::map<std::string, xbt_node_t, std::less<>>;
  using Edges = std::map<std::string, xbt_edge_t, std::less<>>;
  void get_local_route(const NetPoint*, const NetPoint*, simgrid::kernel::routing::Route* into, double*) override {
    for (const s4u::Link* link : way) into->link_list_.push_back(link->get_impl());
  }
  void get_graph(const s_xbt_graph_t*, Nodes*, Edges*) override {}
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

// The one Engine that a process can have, with links enough for what runs share. Kept until the process ends: every
// Engine leaves handlers behind that slow all later ones, and taking SimGrid apart gains nothing. A program that needs
// more links gets a new Engine with at least twice as many, so that there are few.
class Session {
 public:
  static Session& with_links(std::size_t links) {
    static Session* current = nullptr;
    if (current != nullptr && links <= current->links_.size()) return *current;
    const std::size_t size = std::max(links, current == nullptr ? k_first_links : 2 * current->links_.size());
    delete current;
    current = nullptr;
    current = new Session(size);
    return *current;
  }

  const s4u::Engine& engine() const { return *engine_; }
  // Only while nothing flows.
  void set_bandwidth(std::uint32_t link, double bandwidth) {
    if (bandwidth_[link] == bandwidth) return;
    bandwidth_[link] = bandwidth;
    links_[link]->set_bandwidth(bandwidth);
  }
  // The links of the next flow, as numbers below `with_links`.
  void clear_way() { zone_->way.clear(); }
  void add_to_way(std::uint32_t link) { zone_->way.push_back(links_[link]); }

  s4u::CommPtr flow(std::int64_t bytes) const {
    s4u::CommPtr comm = s4u::Comm::sendto_init(source_, target_);
    comm->set_payload_size(static_cast<std::uint64_t>(bytes));
    return comm;
  }

 private:
  static constexpr std::size_t k_first_links = 64;

  explicit Session(std::size_t links) : bandwidth_(links, 1.0) {
    const KeepSignalHandlers keep;
    static bool configured = false;  // of the library, as long as the process lives
    if (!configured) xbt_log_control_set("root.thres:critical");
    engine_ = std::make_unique<s4u::Engine>("podsim");
    if (!configured) configure();
    configured = true;
    zone_ = new OpenZone;  // belongs to the Engine, as its root
    s4u::NetZone* root = zone_->get_iface();
    source_ = root->create_host("source", 1.0);
    target_ = root->create_host("target", 1.0);
    for (std::size_t i = 0; i < links; ++i) links_.push_back(root->create_link("l" + std::to_string(i), 1.0));
    root->seal();
  }

  // Ideal sharing: no factors, no reverse traffic, no window bound; events a picosecond apart stay apart.
  static void configure() {
    s4u::Engine::set_config("network/model:CM02");
    s4u::Engine::set_config("network/crosstraffic", false);
    s4u::Engine::set_config("network/TCP-gamma", 1e30);
    s4u::Engine::set_config("surf/precision", 1e-12);
    s4u::Engine::set_config("maxmin/precision", 1e-9);
  }

  std::unique_ptr<s4u::Engine> engine_;
  OpenZone* zone_ = nullptr;
  s4u::Host* source_ = nullptr;
  s4u::Host* target_ = nullptr;
  std::vector<s4u::Link*> links_;
  std::vector<double> bandwidth_;  // by link, as SimGrid has it
};

class SimgridSimulator final : public SegmentSimulator {
 public:
  SimgridSimulator() { connect(); }

  void prepare(const Platform& platform, const Program& program) override {
    platform_ = &platform;
    users_.assign(platform.links().size(), 0);
    number_shared_links(program);
    session_ = &Session::with_links(shared_links_.size());
    for (std::uint32_t i = 0; i < shared_links_.size(); ++i) {
      session_->set_bandwidth(i, platform[shared_links_[i]].bandwidth.in_base());
    }
  }

  std::int64_t simulate(const Segment& segment, std::span<SimTime> start, std::span<SimTime> finish) override {
    segment_ = &segment;
    start_ = start;
    finish_ = finish;
    finished_ = 0;
    pending_ = segment.predecessor_count;
    ready_time_.assign(segment.ops.size(), 0);
    if (mark_shared(segment)) flows_.resize(segment.ops.size());
    const bool apart = std::count(shared_.begin(), shared_.end(), true) > k_most_flows;
    if (apart) find_parts(segment);
    roots_.clear();
    for (std::uint32_t i = 0; i < pending_.size(); ++i) {
      if (pending_[i] == 0) roots_.push_back(i);
    }
    if (apart) {
      std::stable_sort(roots_.begin(), roots_.end(),
                       [this](std::uint32_t a, std::uint32_t b) { return part_of(a) < part_of(b); });
    }
    for (std::size_t first = 0; first < roots_.size();) {
      std::size_t last = first + 1;
      while (last < roots_.size() && (!apart || part_of(roots_[last]) == part_of(roots_[first]))) ++last;
      ready_.assign(roots_.begin() + static_cast<std::ptrdiff_t>(first),
                    roots_.begin() + static_cast<std::ptrdiff_t>(last));
      run_ready();
      first = last;
    }
    return finished_;
  }

 private:
  // SimGrid 3.32 looks through a list of all activities for each that ends. Of a segment with more flows than this,
  // parts that have neither a link nor an edge in common run one after the other, each from instant 0.
  static constexpr std::ptrdiff_t k_most_flows = 200;

  void run_ready() {
    if (&podsim_simgrid_clock != nullptr) podsim_simgrid_clock = 0;
    base_ = s4u::Engine::get_clock();
    ended_at_ = base_;
    start_ready();
    session_->engine().run();
    ended_.clear();
  }

  // Unites ops with their successors and with the others on their links.
  void find_parts(const Segment& segment) {
    parts_.resize(segment.ops.size());
    std::iota(parts_.begin(), parts_.end(), 0U);
    first_on_link_.assign(platform_->links().size(), k_nobody);
    for (std::uint32_t i = 0; i < parts_.size(); ++i) {
      for (std::uint32_t s = segment.successor_begin[i]; s < segment.successor_begin[i + 1]; ++s) {
        unite(i, segment.successors[s].value());
      }
      if (!shared_[i]) continue;
      for (const LinkId link : (*platform_)[segment.ops[i].route].links) {
        std::uint32_t& first = first_on_link_[link.index()];
        if (first == k_nobody) first = i;
        unite(i, first);
      }
    }
  }
  void unite(std::uint32_t a, std::uint32_t b) {
    a = part_of(a);
    b = part_of(b);
    parts_[std::max(a, b)] = std::min(a, b);
  }
  // The first op of the part.
  std::uint32_t part_of(std::uint32_t op) {
    while (parts_[op] != op) {
      parts_[op] = parts_[parts_[op]];
      op = parts_[op];
    }
    return op;
  }

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

  // Numbers the links of all transfers that may meet another, in the order of the platform.
  void number_shared_links(const Program& program) {
    shared_links_.clear();
    link_number_.assign(platform_->links().size(), 0);
    for (const Segment& segment : program.segments) {
      if (!mark_shared(segment)) continue;
      for (std::size_t i = 0; i < segment.ops.size(); ++i) {
        if (!shared_[i]) continue;
        for (const LinkId link : (*platform_)[segment.ops[i].route].links) link_number_[link.index()] = 1;
      }
    }
    for (std::uint32_t link = 0; link < link_number_.size(); ++link) {
      if (link_number_[link] == 0) continue;
      link_number_[link] = static_cast<std::uint32_t>(shared_links_.size());
      shared_links_.push_back(LinkId(link));
    }
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
    session_->clear_way();
    for (const LinkId link : (*platform_)[segment_->ops[op].route].links) {
      session_->add_to_way(link_number_[link.index()]);
    }
    flow.comm = session_->flow(segment_->ops[op].bytes.count());
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
  std::vector<LinkId> shared_links_;        // of transfers that may meet another
  std::vector<std::uint32_t> link_number_;  // by link: its place among those
  std::vector<std::uint32_t> users_;        // by link, while marking
  std::vector<bool> shared_;                // by op
  std::vector<std::uint32_t> pending_;      // by op
  std::vector<std::int64_t> ready_time_;    // by op
  std::vector<std::uint32_t> ready_;
  std::vector<std::uint32_t> roots_;
  static constexpr std::uint32_t k_nobody = UINT32_MAX;
  std::vector<std::uint32_t> parts_;          // by op: an earlier one of its part, or itself
  std::vector<std::uint32_t> first_on_link_;  // by link
  std::vector<Flow> flows_;                   // by op; those of shared transfers are used
  std::vector<s4u::CommPtr> ended_;
  double ended_at_ = 0;
};

}  // namespace
}  // namespace podsim

extern "C" __attribute__((visibility("default"))) podsim::SegmentSimulator* podsim_make_segment_simulator() {
  return new podsim::SimgridSimulator;
}
