# Run at every build: writes version.cpp anew only when version or commit has changed, so that nothing else rebuilds.
# Needs SOURCE_DIR, TEMPLATE, OUTPUT, PODSIM_VERSION.
set(PODSIM_COMMIT "unknown")
find_program(GIT git)
if(GIT AND EXISTS ${SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(PODSIM_COMMIT "${described}")
  endif()
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
