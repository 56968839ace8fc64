#pragma once
// The parts of flag_table(), a file each.

#include <vector>

#include "models/rdu/command/flags.hpp"

namespace podsim::rdu {

void add_compile_flags(std::vector<FlagSpec>& table);      // name, folder, level, resources, target
void add_parallel_flags(std::vector<FlagSpec>& table);     // batch, tiles, chips, replicas
void add_run_flags(std::vector<FlagSpec>& table);          // of run, test and measure-performance
void add_zoo_keys(std::vector<FlagSpec>& table);           // keys of Model Zoo that no command line has
void add_application_flags(std::vector<FlagSpec>& table);  // of published applications
void add_environment(std::vector<FlagSpec>& table);

}  // namespace podsim::rdu
