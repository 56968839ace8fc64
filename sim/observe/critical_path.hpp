#pragma once
// Which ops a run waited for, from its end back to its begin: in every segment the op that finished last, the
// predecessor whose end started it, and so on (of several at one instant the one with the lowest id). Their times sum
// to the time of the run. What it would save to have an op or a resource for nothing is told by the lower bound, since
// another path takes over.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/observe/lower_bound.hpp"
#include "sim/observe/observer.hpp"
#include "sim/observe/table.hpp"

namespace podsim {

// The view of a report that its tables belong to.
inline constexpr const char* k_critical_path_view = "critical-path";

// Ops of one label on one device or link. A transfer counts to the slowest link of its route, the first of equals.
struct CriticalOps {
  LabelId label;
  Resource resource;
  std::int64_t count = 0;  // on the path, in the whole run
  SimTime time;            // on the path
  SimTime sharing;         // of that, what transfers lost to others on their links
  SimTime saves;           // lower bound less that without this work
};

struct CriticalResource {
  Resource resource;
  std::string name;
  std::int64_t stands_for = 1;  // itself and those that a fold lets do the same
  SimTime time;                 // on the path
  SimTime saves;                // lower bound less that without this resource's work
};

struct CriticalPath {
  SimTime total;
  SimTime bound;
  std::vector<CriticalOps> ops;             // the longest first; at most the number asked for
  std::int64_t further_ops = 0;             // labels and resources beyond it
  std::vector<CriticalResource> resources;  // by what they save, then by time
};

class CriticalPathObserver final : public Observer {
 public:
  explicit CriticalPathObserver(std::size_t most_ops = 20) : most_ops_(most_ops) {}
  void begin(const Platform& platform, const Program& program) override;
  void segment(const SegmentRun& run) override;
  void end(SimTime total) override;
  // Complete after `end`.
  const CriticalPath& path() const { return path_; }
  // The path as the tables "critical_path", "critical_path_resources" and "critical_path_ops".
  const std::vector<Table>& tables() const { return tables_; }

 private:
  using Key = std::pair<LabelId, Resource>;
  Resource resource_of(const Op& op) const;
  std::string name_of(Resource resource) const;
  std::int64_t stands_for(Resource resource) const;
  void add(const SegmentRun& run, std::uint32_t op);
  void list_ops(const LowerBound& bound);
  void list_resources(const LowerBound& bound);
  void make_tables();

  std::size_t most_ops_;
  const Platform* platform_ = nullptr;
  const Program* program_ = nullptr;
  std::vector<std::uint32_t> released_by_;  // by op
  std::map<Key, CriticalOps> by_key_;
  CriticalPath path_;
  std::vector<Table> tables_;
};

}  // namespace podsim
