# Run by ctest (cmake -P). Builds a user's small program in one of four WAYs: against the installed
# package, with skel's source beside it, and the latter on a machine without MPI or without Boost.MPI. Compiling the
# library again takes a minute or two, so with its source it is only configured and the program
# compiled: skel_core is compiled in the same way with and without MPI (it knows no directory with
# MPI's headers), and COMPONENTS core is linked and run without MPI.
set(consumer ${CMAKE_CURRENT_LIST_DIR}/consumer)
set(dir ${WORK}/${WAY})
file(REMOVE_RECURSE ${dir})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "${command}: ${result}\n${output}")
  endif()
endfunction()

set(configure ${CMAKE_COMMAND} -S ${consumer} -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER}
              -D CMAKE_CXX_FLAGS=${FLAGS} -D CMAKE_BUILD_TYPE=Release)

if(WAY STREQUAL "find_package")
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${dir}/prefix)
  list(APPEND configure -D CMAKE_PREFIX_PATH=${dir}/prefix)
  # Every program that is built must be installed and start.
  string(REPLACE "," ";" programs "${PROGRAMS}")
  if(NOT programs)
    message(FATAL_ERROR "no programs")
  endif()
  foreach(program IN LISTS programs)
    execute_process(COMMAND ${dir}/prefix/bin/${program} --version RESULT_VARIABLE result OUTPUT_VARIABLE output
                    ERROR_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT result EQUAL 0 OR NOT output STREQUAL "${program} ${VERSION}")
      message(FATAL_ERROR "installed: ${program} --version: ${result}\n${output}")
    endif()
  endforeach()
  # Completion and, where help2man is installed, a manual page of each.
  find_program(help2man help2man)
  foreach(program IN LISTS programs ITEMS skel-mpiexec skel-view)
    if(NOT EXISTS ${dir}/prefix/${DATADIR}/bash-completion/completions/${program})
      message(FATAL_ERROR "not installed: completion of ${program}")
    endif()
    if(help2man)
      file(READ ${dir}/prefix/${MANDIR}/man1/${program}.1 page)
      if(NOT page MATCHES "\n\\.SH NAME\n${program} \\\\- [^\n]+\n\\.SH SYNOPSIS\n\\.B ${program}\n.*\\\\-\\\\-help"
         OR page MATCHES "\\?\\?\\?"
         OR page MATCHES "\n\\.HP\n"       # help2man has not found the text of an option
         OR page MATCHES "\n\\.IP\n[^.]")  # commands run into one paragraph
        message(FATAL_ERROR "manual page of ${program}:\n${page}")
      endif()
    endif()
  endforeach()
  # The module file finds the programs.
  find_program(modulecmd modulecmd.tcl PATHS /usr/lib/${LIBRARY_ARCHITECTURE})
  if(modulecmd)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env MODULEPATH=${dir}/prefix/${DATADIR}/modulefiles
                            bash -c "eval \"$('${modulecmd}' bash load skel/${VERSION})\" && command -v skel-checkpoint"
                    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT result EQUAL 0 OR NOT output STREQUAL "${dir}/prefix/bin/skel-checkpoint\n")
      message(FATAL_ERROR "module load: ${result}\n${output}")
    endif()
  endif()
  if(NOT EXISTS ${dir}/prefix/${DATADIR}/skel/slurm/resume.sbatch)
    message(FATAL_ERROR "not installed: job scripts of Slurm")
  endif()
  # The files that --help and the README refer to.
  foreach(file README.md docs/reference/volume.md docs/reference/programs.md examples/readme/main.cpp examples/raytrace/main.cpp)
    if(NOT EXISTS ${dir}/prefix/${DOCDIR}/${file})
      message(FATAL_ERROR "not installed: ${DOCDIR}/${file}")
    endif()
  endforeach()
  # Shared libraries name the major version, and export nothing but skel's names.
  if(SHARED)
    string(REGEX MATCH "^[0-9]+" major ${VERSION})
    find_program(readelf readelf REQUIRED)
    find_program(nm nm REQUIRED)
    file(GLOB libraries ${dir}/prefix/${LIBDIR}/libskel_*.so)
    if(NOT libraries)
      message(FATAL_ERROR "no shared libraries")
    endif()
    foreach(library IN LISTS libraries)
      get_filename_component(name ${library} NAME)
      execute_process(COMMAND ${readelf} -d ${library} OUTPUT_VARIABLE output)
      if(NOT output MATCHES "soname: \\[${name}\\.${major}\\]")
        message(FATAL_ERROR "${name}: expected the SONAME ${name}.${major}\n${output}")
      endif()
      execute_process(COMMAND ${nm} -D -P --defined-only ${library} OUTPUT_VARIABLE output)
      string(REGEX MATCHALL "[^\n]+" symbols "${output}")
      list(FILTER symbols EXCLUDE REGEX "^(_Z[^ ]*N[KRO]*4skel|MPI_Init(_thread)? )")
      if(symbols OR output STREQUAL "")
        message(FATAL_ERROR "${name} exports ${symbols}")
      endif()
    endforeach()
  endif()
  # The README's program, from the installed sources.
  run(${CMAKE_COMMAND} -S ${dir}/prefix/${DOCDIR}/examples/readme -B ${dir}/readme -G ${GENERATOR}
      -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS=${FLAGS} -D CMAKE_PREFIX_PATH=${dir}/prefix)
  run(${CMAKE_COMMAND} --build ${dir}/readme)
  run(${dir}/readme/collatz)
  # The tutorial, from the installed sources: without Boost.MPI in a program, with Eigen, and with skel::applications.
  if(MPI)
    run(${CMAKE_COMMAND} -S ${dir}/prefix/${DOCDIR}/examples/tutorial -B ${dir}/tutorial -G ${GENERATOR}
        -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS=${FLAGS} -D CMAKE_PREFIX_PATH=${dir}/prefix)
    run(${CMAKE_COMMAND} --build ${dir}/tutorial --target adopt matrices surface sweep)
    find_program(mpiexec mpiexec REQUIRED)
    run(${mpiexec} -n 2 --oversubscribe ${dir}/tutorial/adopt)
    if(PMIX)  # finds the installed skel-run-ranks
      file(WRITE ${dir}/list true)
      run(${mpiexec} -n 2 --oversubscribe ${dir}/prefix/bin/skel-run --quiet --ranks-per-task 2 ${dir}/list)
    endif()
    run(${mpiexec} -n 2 --oversubscribe ${dir}/tutorial/matrices)
    run(${mpiexec} -n 2 --oversubscribe ${dir}/tutorial/surface)
    # A user's program with the options of skel's (skel/program.hpp).
    file(MAKE_DIRECTORY ${dir}/store)
    foreach(report new resumed)
      run(${mpiexec} -n 2 --oversubscribe ${dir}/tutorial/sweep --quiet --schedule guided --checkpoint central
          --store ${dir}/store --resume auto --report ${dir}/${report}.json)
      file(READ ${dir}/${report}.json text)
      if(NOT text MATCHES "\"program\": *\"sweep\"")
        message(FATAL_ERROR "${report}.json: ${text}")
      endif()
    endforeach()
  endif()
  # Installing before building must fail with one line and install nothing.
  run(${CMAKE_COMMAND} -S ${SOURCE} -B ${dir}/unbuilt -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER}
      -D SKEL_MPI=${MPI} -D SKEL_BUILD_TESTS=OFF)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${dir}/unbuilt --prefix ${dir}/nothing RESULT_VARIABLE result
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result EQUAL 0 OR EXISTS ${dir}/nothing OR NOT output MATCHES
     "\n *skel: not built yet: skel_core, [^\n]*; build everything first: cmake --build ${dir}/unbuilt\n")
    message(FATAL_ERROR "installed without having been built: ${result}\n${output}")
  endif()
  # Without CMake.
  find_program(pkg_config pkg-config)
  if(pkg_config)
    function(compile_with_pkg_config package)
      execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${dir}/prefix/${LIBDIR}/pkgconfig
                              ${pkg_config} --cflags --libs ${package}
                      RESULT_VARIABLE result OUTPUT_VARIABLE arguments ERROR_VARIABLE arguments)
      if(NOT result EQUAL 0)
        message(FATAL_ERROR "pkg-config ${package}: ${arguments}")
      endif()
      separate_arguments(arguments UNIX_COMMAND
                         "${FLAGS} ${consumer}/${ARGN} ${arguments} -Wl,-rpath,${dir}/prefix/${LIBDIR}")
      run(${COMPILER} ${arguments} -o ${dir}/with_${package})
      run(${dir}/with_${package})
    endfunction()
    compile_with_pkg_config(skel-core core.cpp)
    compile_with_pkg_config(skel skel.cpp)
    if(MPI)  # checks that this is one job of two ranks, not two jobs
      find_program(mpiexec mpiexec REQUIRED)
      run(${mpiexec} -n 2 --oversubscribe ${dir}/with_skel 2)
    endif()
  endif()
  # Without Boost, the error must name the package to install.
  execute_process(COMMAND ${configure} -B ${dir}/without-boost -D CMAKE_DISABLE_FIND_PACKAGE_Boost=ON
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result EQUAL 0)
    message(FATAL_ERROR "configured without Boost")
  endif()
  set(expected "libboost-serialization-dev")
  if(MPI AND BOOST_MPI)
    list(APPEND expected "skel: Boost.MPI 1.74 or later not found; on Debian: apt-get install libboost-mpi-dev")
  endif()
  string(REGEX REPLACE "[ \n]+" " " output "${output}")  # CMake wraps messages
  foreach(text IN LISTS expected)
    string(FIND "${output}" "${text}" place)
    if(place EQUAL -1)
      message(FATAL_ERROR "missing message: \"${text}\", but:\n${output}")
    endif()
  endforeach()
  # COMPONENTS core and sim must not need MPI, nor shared libraries what only their own code uses.
  set(without)
  if(SHARED)
    set(without -D CMAKE_DISABLE_FIND_PACKAGE_xxHash=ON -D CMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON)
  endif()
  if(SIM)
    run(${configure} -B ${dir}/sim -D COMPONENT=sim -D CMAKE_DISABLE_FIND_PACKAGE_MPI=ON ${without})
    run(${CMAKE_COMMAND} --build ${dir}/sim)
    run(${dir}/sim/consumer)
  endif()
  run(${configure} -B ${dir}/core -D COMPONENT=core -D CMAKE_DISABLE_FIND_PACKAGE_MPI=ON ${without})
  run(${CMAKE_COMMAND} --build ${dir}/core)
  run(${dir}/core/consumer)
else()
  list(APPEND configure -D SKEL_SOURCE=${SOURCE} -D CMAKE_BUILD_TYPE=)
  if(WAY STREQUAL "without_mpi")
    list(APPEND configure -D SKEL_MPI=OFF -D CMAKE_DISABLE_FIND_PACKAGE_MPI=ON)
  elseif(WAY STREQUAL "without_boost_mpi")
    list(APPEND configure -D SKEL_BOOST_MPI=OFF -D CMAKE_DISABLE_FIND_PACKAGE_boost_mpi=ON)
  else()
    list(APPEND configure -D SKEL_MPI=${MPI})
  endif()
  run(${configure} -B ${dir}/build)
  run(${CMAKE_COMMAND} --build ${dir}/build --target consumer_compiled)
  return()
endif()

run(${configure} -B ${dir}/build)
run(${CMAKE_COMMAND} --build ${dir}/build --target consumer -j 2)
run(${dir}/build/consumer)
if(MPI)
  find_program(mpiexec mpiexec REQUIRED)
  run(${mpiexec} -n 2 --oversubscribe ${dir}/build/consumer)
endif()
