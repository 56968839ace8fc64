# Run at build time: cmake -D SOURCE=<configs folder> -D LIST=<file with relative paths, a line each> -D OUTPUT=<.cpp>
# -P embed_configs.cmake. Writes every file as a raw string literal, sorted by path.

set(delimiter "podsim_file")
file(STRINGS "${LIST}" paths ENCODING UTF-8)
list(SORT paths COMPARE STRING)
list(LENGTH paths count)

set(part "${OUTPUT}.part")
file(WRITE "${part}" "// Generated from configs/ by tools/cmake/embed_configs.cmake.
#include <array>

#include \"sim/config/embedded_files.hpp\"

namespace podsim {

std::span<const EmbeddedFile> embedded_config_files() {
  static constexpr std::array<EmbeddedFile, ${count}> files{{
")
foreach(path IN LISTS paths)
  file(READ "${SOURCE}/${path}" text)
  string(FIND "${text}" ")${delimiter}\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${SOURCE}/${path} holds the text )${delimiter}\", the end mark of its literal")
  endif()
  file(APPEND "${part}" "{R\"${delimiter}(${path})${delimiter}\", R\"${delimiter}(")
  file(APPEND "${part}" "${text}")
  file(APPEND "${part}" ")${delimiter}\"},\n")
endforeach()
file(APPEND "${part}" "  }};
  return files;
}

}  // namespace podsim
")
file(RENAME "${part}" "${OUTPUT}")
