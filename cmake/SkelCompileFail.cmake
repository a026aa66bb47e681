# Run by a test (cmake -P): FILE compiles as it is, and with -DSKEL_COMPILE_FAIL it fails and says EXPECT. The first half
# keeps the second honest: the file fails for the reason it is meant to, not because it has rotted.
# COMMAND: the compiler and its flags, a list.
set(ENV{LC_ALL} C)
execute_process(COMMAND ${COMMAND} ${FILE} RESULT_VARIABLE plain OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT plain EQUAL 0)
  message(FATAL_ERROR "${FILE} should compile without SKEL_COMPILE_FAIL:\n${output}")
endif()
execute_process(COMMAND ${COMMAND} -DSKEL_COMPILE_FAIL ${FILE} RESULT_VARIABLE broken OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(broken EQUAL 0)
  message(FATAL_ERROR "${FILE} compiled with SKEL_COMPILE_FAIL; it should not")
endif()
string(FIND "${output}" "${EXPECT}" place)
if(place EQUAL -1)
  message(FATAL_ERROR "${FILE} fails as it should, but without saying \"${EXPECT}\":\n${output}")
endif()
