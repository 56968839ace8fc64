# Run at each build: writes version.cpp anew only when the version or the commit has changed.
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE PODSIM_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(PODSIM_COMMIT unknown)
endif()
configure_file(${SOURCE_DIR}/tools/podsim/version.cpp.in ${OUTPUT} @ONLY)
