#include "models/ipu/placement/ipu_devices.hpp"

#include <fmt/format.h>

#include <bit>

namespace podsim::ipu {
namespace {

constexpr std::int64_t k_instance_ipus = 64;

// Numbers that are spoken with a vowel first: eight, eleven, eighteen, eighty …
const char* article(std::int64_t n) {
  while (n >= 1000) n /= 1000;
  const bool eighties = n == 8 || n / 10 == 8 || n / 100 == 8;
  return eighties || n == 11 || n == 18 ? "an" : "a";
}

class Checker {
 public:
  Checker(const IpuConfig& config, const PlacementRequest& request, Placement& placement, Diagnostics& diagnostics)
      : config_(config),
        request_(request),
        mode_(config.of(request.mode)),
        placement_(placement),
        diagnostics_(diagnostics) {}

  void run() {
    if (!mode_.ipus_per_replica.valid) return;
    if (config_.n_ipu.given && config_.n_ipu.valid && !check_n_ipu()) return;
    const std::int64_t ipus = placement_.ipus_per_replica;
    const std::int64_t have = request_.system_ipus;
    if (ipus > have) {
      diagnostics_.error(mode_.ipus_per_replica.place, key("ipus_per_replica"),
                         fmt::format("a pipeline of {} does not fit on a {} with {}", plural(ipus, "IPU"),
                                     request_.system_name, plural(have, "IPU")),
                         fmt::format("at most {}", have));
      return;
    }
    const std::int64_t in_pod = pod_ipus();
    if (ipus > in_pod) {
      diagnostics_.error(mode_.ipus_per_replica.place, key("ipus_per_replica"),
                         fmt::format("a pipeline of {} does not fit into one pod: on a {} IPU-Links join {} at a time",
                                     plural(ipus, "IPU"), request_.system_name, plural(in_pod, "IPU")),
                         fmt::format("at most {}", in_pod));
      return;
    }
    if (!mode_.replication_factor.valid) return;
    const std::int64_t replicas = placement_.replication_factor;
    if (replicas > have / ipus) {
      diagnostics_.error(
          mode_.replication_factor.place, key("replication_factor"),
          fmt::format("{} of {} do not fit: on a {} with {} {}-IPU pipeline, {}replication_factor must be {}",
                      plural(replicas, "replica"), plural(ipus, "IPU"), request_.system_name, article(ipus), ipus,
                      mode_.prefix, have / ipus > 1 ? fmt::format("between 1 and {}", have / ipus) : "1"));
      return;
    }
    placement_.used_ipus = ipus * replicas;
    placement_.reserved_ipus =
        static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(placement_.used_ipus)));
    check_pods();
    check_reserved();
    check_instances();
  }

 private:
  std::string key(const char* name) const { return "ipu." + mode_.prefix + name; }

  // The library divides without a word when nothing is left of the division, or when it raises the replicas.
  bool check_n_ipu() {
    const Setting<std::int64_t>& given = config_.n_ipu;
    const std::int64_t ipus = placement_.ipus_per_replica;
    const std::int64_t replicas = placement_.replication_factor;
    if (given.value < ipus) {
      diagnostics_.error(given.place, "ipu.n_ipu",
                         fmt::format("{} hold no replica of {}", plural(given.value, "IPU"), ipus),
                         fmt::format("at least {}", ipus));
      return false;
    }
    if (given.value % ipus != 0) {
      diagnostics_.warning(given.place, "ipu.n_ipu",
                           fmt::format("{} hold {} of {} and leave {} out", plural(given.value, "IPU"),
                                       plural(replicas, "replica"), ipus, given.value % ipus),
                           fmt::format("a multiple of {}", ipus));
    }
    if (mode_.replaced_replication) {
      const Setting<std::int64_t>& before = *mode_.replaced_replication;
      diagnostics_.warning(
          given.place, "ipu.n_ipu",
          fmt::format("{} make {} of {}, in place of {}replication_factor {}{}", plural(given.value, "IPU"),
                      plural(replicas, "replica"), ipus, mode_.prefix, before.value, before.given ? "" : " by default"),
          fmt::format("n_ipu = {} to keep it", before.value * ipus));
    }
    return true;
  }

  // A system of one pod has no boundary that a replica could straddle.
  std::int64_t pod_ipus() const { return request_.pod_ipus > 0 ? request_.pod_ipus : request_.system_ipus; }

  // Replicas that take more than one pod fill each alike, so that the rings of all pods have as many members.
  void check_pods() {
    const std::int64_t ipus = placement_.ipus_per_replica;
    const std::int64_t in_pod = pod_ipus();
    if (placement_.used_ipus <= in_pod) return;
    if (in_pod % ipus != 0) {
      diagnostics_.error(mode_.ipus_per_replica.place, key("ipus_per_replica"),
                         fmt::format("replicas of {} do not divide a pod of {}, and none may straddle two pods",
                                     plural(ipus, "IPU"), in_pod),
                         fmt::format("a divisor of {}", in_pod));
      return;
    }
    const std::int64_t rest = placement_.replication_factor % (in_pod / ipus);
    if (rest == 0) return;
    diagnostics_.error(mode_.replication_factor.place, key("replication_factor"),
                       fmt::format("{} do not fill pods of {} alike: {} in the last",
                                   plural(placement_.replication_factor, "replica"), in_pod / ipus, rest),
                       fmt::format("a multiple of {}", in_pod / ipus));
  }

  void check_reserved() {
    const std::int64_t used = placement_.used_ipus;
    const std::int64_t reserved = placement_.reserved_ipus;
    if (reserved > request_.system_ipus) {
      diagnostics_.error(
          mode_.replication_factor.place, key("replication_factor"),
          fmt::format("{} would be reserved for the {} in use, since device counts are powers of two, but a {} "
                      "has {}",
                      plural(reserved, "IPU"), used, request_.system_name, request_.system_ipus));
      return;
    }
    if (reserved != used) {
      diagnostics_.warning(
          mode_.ipus_per_replica.place, key("ipus_per_replica"),
          fmt::format("{} are reserved for the {} in use, since device counts are powers of two: {} idle",
                      plural(reserved, "IPU"), used, plural(reserved - used, "IPU")));
    }
  }

  void check_instances() {
    const std::int64_t reserved = placement_.reserved_ipus;
    const std::int64_t needed = (reserved + k_instance_ipus - 1) / k_instance_ipus;
    const Setting<std::int64_t>& instances = config_.instances;
    placement_.instances = instances.given ? instances.value : needed;
    if (!instances.given || !instances.valid) return;
    if (instances.value < needed) {
      diagnostics_.error(instances.place, "ipu.instances",
                         fmt::format("{} in {}; one drives at most {}", plural(reserved, "IPU"),
                                     plural(instances.value, "instance"), k_instance_ipus),
                         fmt::format("a distributed run of at least {}", plural(needed, "instance")));
    } else if (placement_.replication_factor % instances.value != 0) {
      diagnostics_.error(
          instances.place, "ipu.instances",
          fmt::format("{} {} not share out among {}", plural(placement_.replication_factor, "replica"),
                      placement_.replication_factor == 1 ? "does" : "do", plural(instances.value, "instance")),
          fmt::format("a divisor of {}", placement_.replication_factor));
    }
  }

  const IpuConfig& config_;
  const PlacementRequest& request_;
  const ModeSettings& mode_;
  Placement& placement_;
  Diagnostics& diagnostics_;
};

}  // namespace

void check_devices(const IpuConfig& config, const PlacementRequest& request, Placement& placement,
                   Diagnostics& diagnostics) {
  Checker(config, request, placement, diagnostics).run();
}

bool can_reserve(const SystemConstants& system, std::int64_t systems, std::int64_t ipus_per_replica,
                 std::int64_t replicas, std::int64_t instances) {
  const std::int64_t used = replicas * ipus_per_replica;
  const auto reserved = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(used)));
  if (reserved > system.ipus * systems) return false;
  const bool alike = system.ipus_per_pod % ipus_per_replica == 0 && used % system.ipus_per_pod == 0;
  if (used > system.ipus_per_pod && !alike) return false;
  if (instances == 0) return true;
  return replicas % instances == 0 && instances * k_instance_ipus >= reserved;
}

}  // namespace podsim::ipu
