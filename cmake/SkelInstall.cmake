# include/skel, lib/libskel_*.a or .so, lib/cmake/skel, lib/pkgconfig, the programs in bin, docs and examples in share/doc/skel.
include(CMakePackageConfigHelpers)
set(skel_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/skel)

# After a build of one target (scripts/demo.sh), CMake would stop at the first missing file and keep those installed
# before it. This lists all missing files first. The leading space keeps CMake from wrapping the line.
get_property(skel_programs GLOBAL PROPERTY skel_programs)
set(skel_installed_targets skel_core ${skel_programs})
foreach(target skel_mpi skel_sim skel_applications skel-run-ranks)
  if(TARGET ${target})
    list(APPEND skel_installed_targets ${target})
  endif()
endforeach()
install(CODE "set(missing)")
foreach(target IN LISTS skel_installed_targets)
  install(CODE "if(NOT EXISTS \"$<TARGET_FILE:${target}>\")
  list(APPEND missing ${target})
endif()")
endforeach()
install(CODE "if(missing)
  string(JOIN \", \" missing \${missing})
  message(FATAL_ERROR \"\\n skel: not built yet: \${missing}; build everything first: cmake --build ${PROJECT_BINARY_DIR}\")
endif()")

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/skel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp")

# Two export sets, because COMPONENTS core must not need MPI.
install(TARGETS skel_core EXPORT skelCoreTargets)
install(EXPORT skelCoreTargets NAMESPACE skel:: DESTINATION ${skel_package_dir})
install(TARGETS skel_all EXPORT skelTargets)
if(SKEL_MPI)
  install(TARGETS skel_mpi EXPORT skelTargets)
endif()
install(EXPORT skelTargets NAMESPACE skel:: DESTINATION ${skel_package_dir})
if(TARGET skel-run-ranks)
  install(TARGETS skel-run-ranks RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/skel)
endif()
if(skel_with_sim)  # only for COMPONENTS sim
  install(TARGETS skel_sim EXPORT skelSimTargets)
  install(EXPORT skelSimTargets NAMESPACE skel:: DESTINATION ${skel_package_dir})
endif()

if(TARGET skel_applications)  # only for COMPONENTS applications
  install(TARGETS skel_applications EXPORT skelApplicationsTargets)
  install(EXPORT skelApplicationsTargets NAMESPACE skel:: DESTINATION ${skel_package_dir})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/applications/skel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()

set(skel_with_applications OFF)
if(TARGET skel_applications)
  set(skel_with_applications ON)
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/skelConfig.cmake.in ${PROJECT_BINARY_DIR}/skelConfig.cmake
                              INSTALL_DESTINATION ${skel_package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/skelConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/skelConfig.cmake ${PROJECT_BINARY_DIR}/skelConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/SkelDependencies.cmake ${CMAKE_CURRENT_LIST_DIR}/FindxxHash.cmake
        DESTINATION ${skel_package_dir})
install(PROGRAMS ${PROJECT_SOURCE_DIR}/scripts/skel-mpiexec ${PROJECT_SOURCE_DIR}/scripts/skel-view DESTINATION ${CMAKE_INSTALL_BINDIR})
include(SkelPkgConfig)

# Keeps the folders' names, so that links between the pages work and files named in --help are found.
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
        PATTERN Doxyfile EXCLUDE)

include(SkelManPages)

# For clusters: job scripts of Slurm, and a module file.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/packaging/slurm DESTINATION ${CMAKE_INSTALL_DATADIR}/skel
        USE_SOURCE_PERMISSIONS)
set(skel_module_dir ${CMAKE_INSTALL_DATADIR}/modulefiles/skel)
file(RELATIVE_PATH skel_module_prefix /${skel_module_dir} /)
configure_file(${PROJECT_SOURCE_DIR}/packaging/modulefile.in ${PROJECT_BINARY_DIR}/modulefile @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/modulefile DESTINATION ${skel_module_dir} RENAME ${PROJECT_VERSION})

# The programs that were built (SkelProgram.cmake).
if(skel_programs)
  install(TARGETS ${skel_programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
