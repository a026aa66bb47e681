#!/bin/bash
set -euo pipefail
read -r -a arguments <<<"${CMAKE_ARGS:-}"
cmake -G Ninja -B build "${arguments[@]}" -D CMAKE_BUILD_TYPE=Release -D BUILD_SHARED_LIBS=ON -D CMAKE_UNITY_BUILD=ON \
  -D SKEL_SIM=OFF -D SKEL_SODIUM=ON -D SKEL_OTF2=OFF -D SKEL_NETCDF=ON -D SKEL_HDF5=ON -D SKEL_OPENEXR=ON \
  -D SKEL_BUILD_TESTS=OFF -D SKEL_WERROR=OFF
cmake --build build
cmake --install build --prefix "$PREFIX"
