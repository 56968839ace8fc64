#pragma once
// Files that tools/cmake/embed_files.cmake makes part of the program at build time.

#include <span>

#include "sim/config/config_files.hpp"

namespace podsim {

// Those of configs/, sorted by path, byte by byte.
std::span<const EmbeddedFile> embedded_config_files();

// What an HTML page carries with it: style sheet and scripts, by file name.
std::span<const EmbeddedFile> embedded_page_files();

}  // namespace podsim
