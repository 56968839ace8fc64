# Options of every target of ours: warnings, sanitizers and arithmetic that is the same on every machine.
add_library(podsim_options INTERFACE)
target_include_directories(podsim_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(podsim_options INTERFACE
  -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports overlapping copies in std::string concatenation that do not exist.
  target_compile_options(podsim_options INTERFACE -Wno-restrict)
endif()
if(PODSIM_WERROR)
  target_compile_options(podsim_options INTERFACE -Werror)
endif()
if(PODSIM_SANITIZE)
  target_compile_options(podsim_options INTERFACE -fsanitize=${PODSIM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(podsim_options INTERFACE -fsanitize=${PODSIM_SANITIZE})
endif()
