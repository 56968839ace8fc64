#pragma once
// Reference figures of single operators as cases. A row has target (gc2, gc200, bow), name, kind and the sizes of that
// kind; reference_cycles, and in reference_total_bytes what all tiles hold at their peak. Empty cells take a default,
// which the case names; a row of a kind that is not modelled says why.

#include "sim/plan/case_reader.hpp"

namespace podsim::ipu {

PublishedCase read_operator_case(const CaseRow& row);

}  // namespace podsim::ipu
