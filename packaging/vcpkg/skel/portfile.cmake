# An overlay port, of the clone that it lies in: vcpkg install skel --overlay-ports=packaging/vcpkg
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)
vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES mpi SKEL_MPI boost-mpi SKEL_BOOST_MPI sodium SKEL_SODIUM)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
                      OPTIONS ${features} -DSKEL_SIM=OFF -DSKEL_OTF2=OFF -DSKEL_BUILD_EXAMPLES=OFF -DSKEL_BUILD_TESTS=OFF -DSKEL_WERROR=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/skel)
vcpkg_fixup_pkgconfig()
# Of what is installed, a port keeps the library.
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/bin" "${CURRENT_PACKAGES_DIR}/debug/bin" "${CURRENT_PACKAGES_DIR}/debug/include"
     "${CURRENT_PACKAGES_DIR}/debug/share" "${CURRENT_PACKAGES_DIR}/share/doc" "${CURRENT_PACKAGES_DIR}/share/man"
     "${CURRENT_PACKAGES_DIR}/share/bash-completion" "${CURRENT_PACKAGES_DIR}/share/modulefiles"
     "${CURRENT_PACKAGES_DIR}/share/skel/slurm")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
