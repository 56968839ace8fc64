#pragma once
// What every search over IPUs offers, and a run's setup as settings of an experiment.

#include <cstdint>
#include <string>
#include <vector>

#include "models/ipu/ipu_plan.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/search_space.hpp"

namespace podsim::ipu {

// Ascending, `own` ones among them.
std::vector<double> offered_proportions(const SearchRequest& request, const std::vector<double>& own);
// Serial steps of the vocabulary-sized operators, ascending: divisors of the vocabulary up to 8, and its own.
std::vector<std::int64_t> offered_factors(const Plan& plan, const IpuPlan& ipu_plan, const SearchRequest& request);

// Of the workload, beside the setup.
struct SearchedWorkload {
  std::int64_t micro_batch = 1;
  bool recompute = true;
};

// Every key that a search over training may change, but for those that are fixed.
std::vector<SearchSetting> settings_of(const RunSetup& setup, const SearchedWorkload& workload, const IpuPlan& ipu_plan,
                                       const Plan& plan, const SearchRequest& request);

// As written by hand, with "search" for its place.
Value search_value(std::int64_t value);
Value search_value(bool value);
Value search_value(const std::vector<std::int64_t>& values);
// One number where all are equal.
Value search_value(const std::vector<double>& values);
Value no_value();

// "1 to 16, 32, 64": whole numbers, ascending.
std::string ranges_text(const std::vector<std::int64_t>& values);

}  // namespace podsim::ipu
