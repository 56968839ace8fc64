#include "sim/observe/run_result.hpp"

#include <variant>

namespace podsim {

SimTime block_duration(const ProgramBlock& block, const RunResult& result) {
  if (const auto* segment = std::get_if<SegmentId>(&block)) return result.segment_duration[segment->index()];
  const Repeat& repeat = std::get<Repeat>(block);
  SimTime once;
  for (const ProgramBlock& inner : repeat.blocks) once += block_duration(inner, result);
  return repeat.count * once;
}

}  // namespace podsim
