# include/skel, lib/libskel_*.a, lib/cmake/skel, and the programs in bin.
include(CMakePackageConfigHelpers)
set(skel_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/skel)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/skel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp")

# Two export sets: who asks for COMPONENTS core only must not need MPI.
install(TARGETS skel_core EXPORT skelCoreTargets)
install(EXPORT skelCoreTargets NAMESPACE skel:: DESTINATION ${skel_package_dir})
install(TARGETS skel_all EXPORT skelTargets)
if(SKEL_MPI)
  install(TARGETS skel_mpi EXPORT skelTargets)
endif()
install(EXPORT skelTargets NAMESPACE skel:: DESTINATION ${skel_package_dir})
if(skel_with_sim)  # only for who asks for it: COMPONENTS sim
  install(TARGETS skel_sim EXPORT skelSimTargets)
  install(EXPORT skelSimTargets NAMESPACE skel:: DESTINATION ${skel_package_dir})
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/skelConfig.cmake.in ${PROJECT_BINARY_DIR}/skelConfig.cmake
                              INSTALL_DESTINATION ${skel_package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/skelConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/skelConfig.cmake ${PROJECT_BINARY_DIR}/skelConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/SkelDependencies.cmake ${CMAKE_CURRENT_LIST_DIR}/FindxxHash.cmake
        DESTINATION ${skel_package_dir})
install(PROGRAMS ${PROJECT_SOURCE_DIR}/scripts/skel-mpiexec DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The programs that are built (SkelProgram.cmake).
get_property(skel_programs GLOBAL PROPERTY skel_programs)
if(skel_programs)
  install(TARGETS ${skel_programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
