#include "sim/plan/case_reader.hpp"

namespace podsim {

std::string_view name(CaseQuantity quantity) {
  switch (quantity) {
    case CaseQuantity::sequences_per_s:
      return "sequences_per_s";
    case CaseQuantity::packs_per_s:
      return "packs_per_s";
    case CaseQuantity::images_per_s:
      return "images_per_s";
    case CaseQuantity::fits:
      return "fits";
  }
  return "";
}

}  // namespace podsim
