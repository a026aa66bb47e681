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

macro(skel_mpi_dependencies with_boost)
  skel_need("MPI 3.0 or later" libopenmpi-dev MPI 3.0 COMPONENTS CXX)
  if(${with_boost})
    skel_need("Boost.MPI 1.74 or later" libboost-mpi-dev Boost 1.74 COMPONENTS mpi serialization)
  endif()
endmacro()

#   skel_need_module(PREFIX module>=1.2 "Name for people" debian-package)
# Libraries without a CMake package that suits, found by pkg-config: sets PREFIX_FOUND and PkgConfig::PREFIX. The first of
# several modules (a list) that exists.
macro(skel_need_module prefix module name debian_package)
  set(${prefix}_FOUND FALSE)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_search_module(${prefix} QUIET IMPORTED_TARGET GLOBAL ${module})
  endif()
  if(NOT ${prefix}_FOUND)
    string(APPEND skel_missing "skel: ${name} not found; on Debian: apt-get install ${debian_package} pkg-config\n")
  endif()
endmacro()

#   skel_optional(OPTION WITH "what is missing without it" PREFIX module>=1.2 "Name for people" debian-package)
# Likewise, unless the option is OFF, and sets WITH. With AUTO, a missing library is no error.
macro(skel_optional option with without prefix module name debian_package)
  set(${with} OFF)
  if(${option})  # AUTO is true as well
    set(skel_missing_before "${skel_missing}")
    skel_need_module(${prefix} "${module}" "${name}" ${debian_package})
    set(${with} ${${prefix}_FOUND})
    if(NOT ${with} AND "${${option}}" STREQUAL "AUTO")
      set(skel_missing "${skel_missing_before}")
      message(STATUS "skel: ${without}: ${name} not found; on Debian: apt-get install ${debian_package} pkg-config")
    endif()
  endif()
endmacro()

set(skel_sodium sodium libsodium>=1.0.18 "libsodium 1.0.18 or later" libsodium-dev)
set(skel_otf2 otf2 otf2>=3 "OTF2 3 or later" libotf2-trace-dev)
set(skel_pmix PMIx pmix>=4 "PMIx 4 or later" libpmix-dev)
set(skel_simgrid SimGrid simgrid>=3.32 "SimGrid 3.32 or later" libsimgrid-dev)
