#include "sim/observe/critical_path.hpp"

#include <algorithm>

namespace podsim {
namespace {

constexpr std::uint32_t k_nobody = UINT32_MAX;

double in_seconds(SimTime time) {
  return time.duration().in_base();
}

double percent(SimTime part, SimTime whole) {
  return whole == SimTime() ? 0.0 : 100.0 * in_seconds(part) / in_seconds(whole);
}

}  // namespace

void CriticalPathObserver::begin(const Platform& platform, const Program& program) {
  platform_ = &platform;
  program_ = &program;
  by_key_.clear();
  path_ = {};
  tables_.clear();
}

void CriticalPathObserver::segment(const SegmentRun& run) {
  const Segment& segment = run.segment;
  const auto ops = static_cast<std::uint32_t>(segment.ops.size());
  released_by_.assign(ops, k_nobody);
  std::uint32_t last = k_nobody;
  for (std::uint32_t i = 0; i < ops; ++i) {
    if (last == k_nobody || run.finish[i] > run.finish[last]) last = i;
    for (std::uint32_t s = segment.successor_begin[i]; s < segment.successor_begin[i + 1]; ++s) {
      const std::size_t next = segment.successors[s].index();
      if (released_by_[next] == k_nobody && run.start[next] == run.finish[i]) released_by_[next] = i;
    }
  }
  for (; last != k_nobody; last = released_by_[last]) add(run, last);
}

void CriticalPathObserver::add(const SegmentRun& run, std::uint32_t index) {
  const Op& op = run.segment.ops[index];
  if (op.kind == OpKind::join) return;
  const Resource resource = resource_of(op);
  CriticalOps& ops = by_key_[{op.label, resource}];
  ops.label = op.label;
  ops.resource = resource;
  const SimTime time = run.finish[index] - run.start[index];
  ops.count += run.iterations;
  ops.time += time * run.iterations;
  if (op.kind != OpKind::transfer) return;
  const SimTime lost = time - alone_on_route(*platform_, (*platform_)[op.route], op.bytes);
  ops.sharing += std::max(lost, SimTime()) * run.iterations;
}

Resource CriticalPathObserver::resource_of(const Op& op) const {
  if (op.kind == OpKind::local) return op.device;
  LinkId slowest;
  for (const LinkId link : (*platform_)[op.route].links) {
    if (!slowest.valid() || (*platform_)[link].bandwidth < (*platform_)[slowest].bandwidth) slowest = link;
  }
  return slowest;
}

std::string CriticalPathObserver::name_of(Resource resource) const {
  return std::visit([this](auto id) { return (*platform_)[id].name; }, resource);
}

// The most that any fold lets it stand for.
std::int64_t CriticalPathObserver::stands_for(Resource resource) const {
  std::int64_t most = 1;
  for (const FoldMap& fold : program_->folds) {
    const auto followers = [&](const auto& representatives, auto id) {
      return static_cast<std::int64_t>(std::count(representatives.begin(), representatives.end(), id));
    };
    const DeviceId* device = std::get_if<DeviceId>(&resource);
    most = std::max(most, device != nullptr ? followers(fold.device_representative, *device)
                                            : followers(fold.link_representative, std::get<LinkId>(resource)));
  }
  return most;
}

void CriticalPathObserver::end(SimTime total) {
  const LowerBound bound(*platform_, *program_);
  path_.total = total;
  path_.bound = bound.total();
  list_resources(bound);
  list_ops(bound);
  make_tables();
}

void CriticalPathObserver::list_ops(const LowerBound& bound) {
  for (const auto& [key, ops] : by_key_) path_.ops.push_back(ops);
  std::stable_sort(path_.ops.begin(), path_.ops.end(),
                   [](const CriticalOps& a, const CriticalOps& b) { return a.time > b.time; });
  if (path_.ops.size() > most_ops_) {
    path_.further_ops = static_cast<std::int64_t>(path_.ops.size() - most_ops_);
    path_.ops.resize(most_ops_);
  }
  for (CriticalOps& ops : path_.ops) ops.saves = path_.bound - bound.without(ops.resource, ops.label);
}

void CriticalPathObserver::list_resources(const LowerBound& bound) {
  std::map<Resource, SimTime> times;
  for (const auto& [key, ops] : by_key_) times[ops.resource] += ops.time;
  for (const auto& [resource, time] : times) {
    path_.resources.push_back(
        {resource, name_of(resource), stands_for(resource), time, path_.bound - bound.without(resource)});
  }
  std::stable_sort(path_.resources.begin(), path_.resources.end(),
                   [](const CriticalResource& a, const CriticalResource& b) {
                     return a.saves != b.saves ? a.saves > b.saves : a.time > b.time;
                   });
}

void CriticalPathObserver::make_tables() {
  Table summary{"critical_path",
                {{"run_s", "s"}, {"lower_bound_s", "s"}, {"above_bound_pct", "%"}},
                {{in_seconds(path_.total), in_seconds(path_.bound), percent(path_.total - path_.bound, path_.bound)}}};
  Table resources{"critical_path_resources",
                  {{"resource", ""}, {"stands_for", ""}, {"time_s", "s"}, {"share_pct", "%"}, {"saves_s", "s"}},
                  {}};
  for (const CriticalResource& resource : path_.resources) {
    resources.rows.push_back({resource.name, resource.stands_for, in_seconds(resource.time),
                              percent(resource.time, path_.total), in_seconds(resource.saves)});
  }
  Table ops{"critical_path_ops",
            {{"operation", ""}, {"resource", ""}, {"count", ""}, {"time_s", "s"}, {"sharing_s", "s"}, {"saves_s", "s"}},
            {}};
  for (const CriticalOps& group : path_.ops) {
    const bool labelled = group.label.index() < program_->labels.size();
    ops.rows.push_back({labelled ? program_->labels[group.label.index()] : std::string(), name_of(group.resource),
                        group.count, in_seconds(group.time), in_seconds(group.sharing), in_seconds(group.saves)});
  }
  tables_ = {std::move(summary), std::move(resources), std::move(ops)};
  for (Table& table : tables_) table.view = k_critical_path_view;
}

}  // namespace podsim
