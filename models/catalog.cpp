#include "models/catalog.hpp"

#include "models/ipu/case_reader.hpp"
#include "models/ipu/family.hpp"
#include "models/workloads/bert.hpp"
#include "models/workloads/gpt2.hpp"

namespace podsim {

Catalog make_catalog() {
  Catalog catalog;
  catalog.families.push_back(std::make_unique<ipu::IpuFamily>());
  catalog.model_kinds.push_back(std::make_unique<Bert>());
  catalog.model_kinds.push_back(std::make_unique<Gpt2>());
  catalog.case_readers.push_back(std::make_unique<ipu::IpuCaseReader>());
  return catalog;
}

}  // namespace podsim
