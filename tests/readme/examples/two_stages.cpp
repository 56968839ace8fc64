#include "tests/readme/examples/two_stages.hpp"

#include "sim/program/builder.hpp"

namespace podsim::examples {

Lowered two_stages(std::int64_t updates, int micro_batches, const StageTimes& times, Bandwidth bandwidth) {
  Lowered lowered;
  const DeviceId first = lowered.platform.add(Device{"first"});
  const DeviceId second = lowered.platform.add(Device{"second"});
  const LinkId link = lowered.platform.add(Link{"first-second", bandwidth});
  const RouteId route = lowered.platform.add(Route{"first to second", {link}, SimTime(0)});

  ProgramBuilder program;
  SegmentBuilder update = program.segment("update");
  CostVector work;
  work[CostCategory::compute] = times.compute;
  for (int i = 0; i < micro_batches; ++i) {
    // Ops of one device run in the order in which they are added; what else must wait is said by `depend`.
    const OpId made = update.local(first, work, "forward");
    const OpId sent = update.transfer(first, second, route, times.activation, CostCategory::inter_device, "activation");
    const OpId used = update.local(second, work, "forward");
    update.depend(made, sent);
    update.depend(sent, used);
  }
  const SegmentId segment = program.add(std::move(update));
  lowered.program = std::move(program).build({Repeat{updates, "updates", {segment}}});
  return lowered;
}

}  // namespace podsim::examples
