#pragma once
// Our own simulator of one segment. Segments whose transfers never meet on a link are one pass in the order of the
// graph, O(ops + edges); the others run on an event heap in whole picoseconds, with max-min fair shares of the links,
// recomputed only for the connected component that a flow enters or leaves: O(links on the component's routes + its
// channels x the different shares among them) each time. All arrays are kept between segments and runs, so that
// nothing is allocated once they are large enough. No shared state: one simulator per thread.

#include <compare>
#include <cstdint>
#include <vector>

#include "sim/engine/segment_simulator.hpp"

namespace podsim {

class NativeSimulator final : public SegmentSimulator {
 public:
  void prepare(const Platform& platform, const Program& program) override;
  std::int64_t simulate(const Segment& segment, std::span<SimTime> start, std::span<SimTime> finish) override;

 private:
  struct Event {
    std::int64_t time;
    std::uint32_t op;
    std::uint32_t version;  // of the flow's finish; 0: the op's latency or duration is over
    friend auto operator<=>(const Event&, const Event&) = default;
  };
  struct Flow {
    double remaining;  // bytes at `updated`
    double rate;       // bytes per picosecond
    std::int64_t updated;
    std::uint64_t visited;  // by the last search for a component that met it
    std::uint64_t fixed;    // by the last solution that gave it its share
    std::span<const LinkId> links;
    std::uint32_t version;
  };
  struct Channel {
    double bandwidth;       // bytes per picosecond
    double free;            // while solving
    std::uint64_t visited;  // by the last search for a component that met it
    std::uint32_t unfixed;  // while solving: flows without a share yet
    std::uint32_t users;    // while classifying: transfers of the segment with bytes to carry
    std::vector<std::uint32_t> flows;
  };

  bool classify(const Segment& segment);
  std::int64_t alone_duration(const Op& op) const;
  bool propagate_forward();
  void find_ready();
  std::int64_t propagate();
  std::int64_t run_events();

  void begin(std::uint32_t op);
  void start_flow(std::uint32_t op);
  void leave_links(std::uint32_t op);
  void complete(std::uint32_t op);
  void push(Event event);
  void take_events();
  void share_links();
  void find_component(std::uint32_t channel);
  void solve_component();
  void fix_flows_of(Channel& bottleneck, double share);
  void schedule_finishes();

  const Platform* platform_ = nullptr;
  std::vector<Channel> channels_;
  const Segment* segment_ = nullptr;
  std::span<SimTime> start_;
  std::span<SimTime> finish_;

  std::vector<std::uint8_t> shared_;    // by op: a transfer that may meet another on a link
  std::vector<std::uint32_t> pending_;  // by op: unfinished predecessors
  std::vector<std::uint32_t> ready_;
  std::vector<std::uint32_t> starting_;
  std::vector<std::int64_t> ready_time_;  // by op
  std::vector<Event> heap_;
  std::vector<Flow> flows_;  // by op
  std::int64_t now_ = 0;
  std::int64_t finished_ = 0;

  std::vector<std::uint32_t> dirty_;  // channels that flows entered or left at this instant
  std::vector<std::uint32_t> component_flows_;
  std::vector<std::uint32_t> component_channels_;
  std::vector<std::uint32_t> unsolved_;  // channels of the component with flows without a share
  std::uint64_t search_ = 0;
};

}  // namespace podsim
