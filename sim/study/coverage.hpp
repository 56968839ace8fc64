#pragma once
// The yardstick of intervals: how many measurements lie within P10 to P90 of what was predicted. Eight in ten would.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/study/interval.hpp"
#include "sim/study/validate.hpp"

namespace podsim {

// Gives every case that counts and was measured as a rate or a time its interval, and sums them up in `coverage`.
// `tables` and `overlays` as the validation was made of. `progress` is told of runs done and in all.
void add_intervals(Validation& validation, const std::vector<ReferenceTable>& tables,
                   const std::vector<std::string>& overlays, const Catalog& catalog, const ConfigFiles& configs,
                   const IntervalOptions& options, const std::function<void(std::int64_t, std::int64_t)>& progress);

// By family, fitted and held out, rates and times.
std::vector<IntervalCoverage> coverage_of(const std::vector<ValidatedCase>& cases);

// A table for people; empty without intervals.
std::string coverage_text(const std::vector<IntervalCoverage>& coverage);

}  // namespace podsim
