# skel's dependencies, and the messages if they are missing. Used by skel's own build and, installed, by
# skelConfig.cmake, so that both search for the same packages and report the same errors. Missing ones are collected in
# `skel_missing`, so that a user can install them all at once. These are macros because find_package must set its
# variables in the caller's scope.
set(skel_missing "")

#   skel_need("Name for people" debian-package Package [further arguments of find_package])
macro(skel_need name debian_package package)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    string(APPEND skel_missing "skel: ${name} not found; on Debian: apt-get install ${debian_package}\n")
  endif()
endmacro()

macro(skel_core_dependencies)
  skel_need("a threads library" libc6-dev Threads)
  skel_need("Boost.Serialization 1.74 or later" libboost-serialization-dev Boost 1.74 COMPONENTS serialization)
endmacro()

# Those of the compiled code alone: users of the shared library do not need them.
macro(skel_inner_dependencies)
  skel_need("xxHash" libxxhash-dev xxHash MODULE)
endmacro()

macro(skel_mpi_dependencies)
  skel_need("MPI 3.0 or later" libopenmpi-dev MPI 3.0 COMPONENTS CXX)
  skel_need("Boost.MPI 1.74 or later" libboost-mpi-dev Boost 1.74 COMPONENTS mpi serialization)
endmacro()

# Debian ships libsodium with a pkg-config file but no CMake package.
macro(skel_sodium_dependencies)
  set(sodium_FOUND FALSE)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(sodium QUIET IMPORTED_TARGET GLOBAL libsodium>=1.0.18)
  endif()
  if(NOT sodium_FOUND)
    string(APPEND skel_missing "skel: libsodium 1.0.18 or later not found; on Debian: apt-get install libsodium-dev pkg-config\n")
  endif()
endmacro()

# Debian ships SimGrid with a pkg-config file but no CMake package.
macro(skel_sim_dependencies)
  set(SimGrid_FOUND FALSE)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(SimGrid QUIET IMPORTED_TARGET GLOBAL simgrid>=3.32)
  endif()
  if(NOT SimGrid_FOUND)
    string(APPEND skel_missing "skel: SimGrid 3.32 or later not found; on Debian: apt-get install libsimgrid-dev pkg-config\n")
  endif()
endmacro()
