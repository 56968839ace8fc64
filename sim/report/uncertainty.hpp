#pragma once
// How far a result may be off, and what would change it: values of a report.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace podsim {

// Of values that differ from draw to draw: a tenth lies below `p10`, half below `p50`, nine tenths below `p90`.
struct Quantiles {
  double p10 = 0, p50 = 0, p90 = 0;
};

// A constant and how much of the interval comes from it.
struct IntervalPart {
  std::string constant;
  std::string confidence;
  std::string low, high;  // P10 and P90 of its value, with units
  double share_pct = 0;   // of the variance of the rate's logarithm: the square of their correlation
};

// What a run may come to, within what is known of its constants.
struct IntervalReport {
  std::uint64_t seed = 0;
  std::int64_t draws = 0;                  // runs, each under constants of its own
  std::int64_t varied = 0;                 // constants that differ between them
  double fits_pct = 0;                     // of the draws
  std::optional<Quantiles> samples_per_s;  // of draws that fit; empty: too few do
  std::optional<Quantiles> step_s;
  double model_factor = 1;          // what the model itself may be off by: P90 over P50, in the figures above
  std::vector<IntervalPart> parts;  // the largest first; those above one per cent
};

// A change of one resource or setting, and what it does.
struct Lever {
  enum class Kind { hardware, constant, setting };
  Kind kind = Kind::hardware;
  std::string name;                      // of the resource, constant or key
  std::string change;                    // "+10 %", "4 to 8"
  std::optional<double> throughput_pct;  // change of the rate; empty: it does not run
  std::string verdict;                   // where it changes: "then fits", "then does not fit: …", "not legal: …"
};

}  // namespace podsim
