#pragma once
// What must hold of every plan of any family, checked over the experiments that a family's generator makes of seeds.

#include <cstdint>
#include <functional>
#include <string>

namespace podsim::test {

using RandomRun = std::function<std::string(std::uint64_t seed)>;  // a valid experiment as TOML

// How the simulated peak of a memory stands to its account in the plan.
enum class PeakLaw : std::uint8_t { at_most_the_account, the_account };

// Seeds `first` to `last`, both included.
// Exact, unfolded and merged simulation, and a second one, give the report of the default byte for byte.
void check_simulations_agree(const RandomRun& make, std::uint64_t first, std::uint64_t last);
// To 16 ps or 1e-9, whichever is more.
void check_engines_agree(const RandomRun& make, std::uint64_t first, std::uint64_t last);
// Breakdowns sum to the run, no device or link is busy for longer, links carry at most what their bandwidth allows,
// peaks hold what always lives and stand to the account as `law` says.
void check_sums(const RandomRun& make, std::uint64_t first, std::uint64_t last, PeakLaw law);
// A plan printed as TOML and read again is the same plan.
void check_printed_plans(const RandomRun& make, std::uint64_t first, std::uint64_t last);

}  // namespace podsim::test
