# Test helpers. MPI tests run as root and with more ranks than cores; the environment permits both, with a different
# option for each launcher.
#   skel_unit_test(NAME SOURCES... LINK targets... [ARGS...] [LONG] [SANITIZED|OPTIMISED] [COST n])  Catch2; LONG: also as a
#                                                   campaign; SANITIZED, OPTIMISED: the one build that suffices (see
#                                                   SKEL_TESTS_ONCE); COST: of 20 s or more, to start early
#   skel_mpi_test(NAME TARGET exe RANKS 1 2 3 [ARGS...] [THREADS 2])      one ctest test per rank count
#   skel_losses_test(NAME [SOURCE x] [SKEL target] COST n [LINK targets...] [LONG])     ranks of mpi_NAME (x.cpp) are killed by
#                                                   test_NAME; SKEL: instead of skel::skel

# One time limit for all tests, in seconds, to detect hangs: more than ten times the longest test on an idle machine (91
# s, test_checkpoint under ASan). Campaigns, labelled "long", get ten times as much.
set(SKEL_TEST_TIMEOUT 1800)
set(SKEL_LONG_TEST_TIMEOUT 18000)

# Tests of logic, parsers and errors in one process find more under the sanitizers, and nothing more at -O3, where the
# tests over MPI and of programs run the same code; harnesses whose sisters run under the sanitizers, with fewer cases, only
# take longer there. With SKEL_TESTS_ONCE such a test is built in the other tree by name only.
option(SKEL_TESTS_ONCE "Leave out the tests that scripts/test.sh runs in its other tree" OFF)

find_package(Catch2 REQUIRED)
add_library(skel_test_main STATIC ${PROJECT_SOURCE_DIR}/tests/catch_main.cpp ${PROJECT_SOURCE_DIR}/tests/catch_runner.cpp)
set_target_properties(skel_test_main PROPERTIES UNITY_BUILD OFF)  # programs with a main function of their own link it, too
target_link_libraries(skel_test_main PUBLIC Catch2::Catch2)
if(Catch2_VERSION VERSION_GREATER_EQUAL 3)
  target_compile_definitions(skel_test_main PUBLIC SKEL_CATCH2_V3=1)
endif()
target_include_directories(skel_test_main PUBLIC ${PROJECT_SOURCE_DIR}/tests)
# Catch2 itself is not under test: optimised and sanitized it would compile for most of a minute.
target_compile_options(skel_test_main PRIVATE -O0 -g0)
if(SKEL_SANITIZE)
  target_compile_options(skel_test_main PRIVATE -fno-sanitize=all)
endif()

# Nearly every test includes these: compiled once per level of optimisation, not 150 times. Tests use the set of their
# folder, ${skel_precompiled}.
foreach(level slow quick)
  add_library(skel_precompiled_${level} OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/precompiled.cpp)
  target_link_libraries(skel_precompiled_${level} PRIVATE skel_test_main skel_warnings)
  target_precompile_headers(skel_precompiled_${level} PRIVATE ${PROJECT_SOURCE_DIR}/tests/precompiled.hpp)
endforeach()
target_compile_options(skel_precompiled_slow PRIVATE $<$<CONFIG:Release>:-O1>)
if(SKEL_SANITIZE)
  target_compile_options(skel_precompiled_quick PRIVATE -O0)
else()
  target_compile_options(skel_precompiled_quick PRIVATE $<$<CONFIG:Release>:-O0>)
endif()

# intercept_tls_get_addr: GCC 12's LeakSanitizer takes a block of a library's thread-local variables for one of an old
# glibc if its address happens to end in 0x010, and crashes. It reaches such blocks through the heap all the same.
# ob1: the search for networks faster than shared memory takes 0.2 s of each of hundreds of starts.
set(SKEL_TEST_ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;\
OMPI_MCA_btl_vader_single_copy_mechanism=none;OMPI_MCA_mpi_yield_when_idle=1;OMPI_MCA_pml=ob1;\
OMPI_MCA_rmaps_base_oversubscribe=1;OMPI_MCA_hwloc_base_binding_policy=none;\
PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe;SKEL_WATCHDOG=60s;\
ASAN_OPTIONS=intercept_tls_get_addr=0;\
LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/lsan.supp:print_suppressions=0")

function(skel_unit_test name)
  cmake_parse_arguments(arg "LONG;SANITIZED;OPTIMISED" "COST" "SOURCES;LINK;ARGS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE skel_test_main skel_warnings ${arg_LINK})
  if(skel_precompiled)
    target_precompile_headers(${name} REUSE_FROM ${skel_precompiled})
  endif()
  if(SKEL_TESTS_ONCE AND (SKEL_SANITIZE AND arg_OPTIMISED OR NOT SKEL_SANITIZE AND arg_SANITIZED))
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${SKEL_TEST_TIMEOUT} ENVIRONMENT "${SKEL_TEST_ENVIRONMENT}")
  if(arg_COST)
    set_tests_properties(${name} PROPERTIES COST ${arg_COST})
  endif()
  if(arg_LONG)  # the same program with SKEL_LONG set; run by scripts/test.sh --all
    add_test(NAME ${name}.long COMMAND ${name})
    set_tests_properties(${name}.long PROPERTIES TIMEOUT ${SKEL_LONG_TEST_TIMEOUT} LABELS long ENVIRONMENT "${SKEL_TEST_ENVIRONMENT};SKEL_LONG=1")
  endif()
endfunction()

function(skel_mpi_test name)
  cmake_parse_arguments(arg "" "TARGET;THREADS" "RANKS;ARGS" ${ARGN})
  set_property(GLOBAL APPEND PROPERTY skel_mpi_tests ${arg_TARGET})
  if(SKEL_SANITIZE)  # starts are slow there; other builds run all
    if(3 IN_LIST arg_RANKS)
      set(arg_RANKS 3)
    else()
      list(POP_BACK arg_RANKS arg_RANKS)
    endif()
  endif()
  foreach(n IN LISTS arg_RANKS)
    set(processors 2)
    if(n EQUAL 1)
      set(processors 1)
    endif()
    add_test(NAME ${name}.n${n} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${n}
                                        $<TARGET_FILE:${arg_TARGET}> ${arg_ARGS})
    set_tests_properties(${name}.n${n} PROPERTIES TIMEOUT ${SKEL_TEST_TIMEOUT} PROCESSORS ${processors}
                                                  ENVIRONMENT "${SKEL_TEST_ENVIRONMENT};SKEL_THREADS=${arg_THREADS}")
  endforeach()
endfunction()

# SOURCE.cpp is the program, SOURCE_test.cpp the test, which finds it as SKEL_LOSSES. These tests mostly wait; the most
# expensive start first. Sanitized builds build them only with the target skel_losses, because scripts/test.sh runs them
# there only with --all.
function(skel_losses_test name)
  cmake_parse_arguments(arg "LONG" "COST;SOURCE;SKEL" "LINK" ${ARGN})
  if(NOT SKEL_MPI)
    return()
  endif()
  if(NOT arg_SKEL)
    set(arg_SKEL skel::skel)
  endif()
  if(NOT arg_SOURCE)
    set(arg_SOURCE ${name})
  endif()
  add_executable(mpi_${name} ${arg_SOURCE}.cpp)
  target_link_libraries(mpi_${name} PRIVATE ${arg_LINK} ${arg_SKEL} skel_warnings)
  target_compile_options(mpi_${name} PRIVATE $<$<CONFIG:Release>:-O1>)  # it dies at fractions of its time
  set(long)
  if(arg_LONG)
    set(long LONG)
  endif()
  skel_unit_test(test_${name} SOURCES ${arg_SOURCE}_test.cpp LINK skel_warnings ${long})
  target_compile_definitions(test_${name} PRIVATE SKEL_MPIEXEC_SCRIPT="${PROJECT_SOURCE_DIR}/scripts/skel-mpiexec"
                                                  SKEL_LOSSES="$<TARGET_FILE:mpi_${name}>")
  add_dependencies(test_${name} mpi_${name})
  set_property(GLOBAL APPEND PROPERTY skel_mpi_tests test_${name})
  set_tests_properties(test_${name} PROPERTIES COST ${arg_COST} LABELS kills)
  if(SKEL_SANITIZE)
    set_target_properties(mpi_${name} test_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  if(NOT TARGET skel_losses)
    add_custom_target(skel_losses)
  endif()
  add_dependencies(skel_losses test_${name})
endfunction()
