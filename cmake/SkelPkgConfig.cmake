# skel.pc and skel-core.pc, for programs built without CMake:
#   g++ main.cpp $(pkg-config --cflags --libs skel)
# They compute their prefix from their own location, because `cmake --install --prefix` may change it. Libraries that
# skel uses are named as CMake found them.
include(SkelLinkFlags)
set(skel_pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH skel_pc_prefix /${skel_pkgconfig_dir} /)
string(REGEX REPLACE "/$" "" skel_pc_prefix "${skel_pc_prefix}")

function(skel_pc_file name description requires cflags libraries)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.pc @ONLY CONTENT
       "prefix=\${pcfiledir}/@skel_pc_prefix@
libdir=\${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=\${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: @name@
Description: @description@
Version: @PROJECT_VERSION@
Requires: @requires@
Cflags: @cflags@
Libs: @libraries@
")
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${skel_pkgconfig_dir})
endfunction()

set(used Boost::serialization)
set(requires)
if(NOT BUILD_SHARED_LIBS)  # a shared library brings them
  list(APPEND used xxHash::xxhash)
  if(skel_with_sodium)
    list(APPEND requires "libsodium >= 1.0.18")
  endif()
  if(skel_with_otf2)
    list(APPEND requires "otf2 >= 3")
  endif()
endif()
list(JOIN requires ", " requires)
skel_pc_libraries(libraries ${used})
skel_pc_file(skel-core "Schedules, checkpoints and reports of skel, and skeletons on one process; no MPI" "${requires}"
             "-std=c++20 -pthread -I\${includedir}" "-L\${libdir} -lskel_core ${libraries} -pthread")

set(cflags)
set(libraries)
if(SKEL_MPI)
  set(includes ${MPI_CXX_INCLUDE_DIRS})
  list(TRANSFORM includes PREPEND -I)
  set(boost)
  if(SKEL_BOOST_MPI)
    set(boost Boost::mpi)
    list(PREPEND includes -DSKEL_WITH_BOOST_MPI=1)
  endif()
  string(JOIN " " cflags -DSKEL_WITH_MPI=1 -DOMPI_SKIP_MPICXX= -DMPICH_SKIP_MPICXX= ${includes} ${MPI_CXX_COMPILE_OPTIONS})
  skel_pc_libraries(libraries ${boost} ${MPI_CXX_LIBRARIES})
  set(libraries "-L\${libdir} -lskel_mpi ${libraries} ${MPI_CXX_LINK_FLAGS}")
endif()
skel_pc_file(skel "Parallel skeletons over MPI" "skel-core = ${PROJECT_VERSION}" "${cflags}" "${libraries}")

if(TARGET skel_applications)
  get_property(libraries GLOBAL PROPERTY skel_application_flags)
  string(JOIN " " libraries ${libraries})
  skel_pc_file(skel-applications "Ray tracing, volume rendering, isosurfaces and components on all ranks"
               "skel-core = ${PROJECT_VERSION}" "" "-L\${libdir} -lskel_applications ${libraries}")
endif()
