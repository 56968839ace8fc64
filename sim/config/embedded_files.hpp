#pragma once
// The table that tools/cmake/embed_configs.cmake generates at build time from configs/.

#include <span>

#include "sim/config/config_files.hpp"

namespace podsim {

// Sorted by path, byte by byte.
std::span<const EmbeddedFile> embedded_config_files();

}  // namespace podsim
