#!/usr/bin/env bash
# For maintainers: runs the tests of MPI and of losses with the installed MPI or with MPICH. See --help.
install=yes
mpich=no
only=
repeat=1
usage() {
  cat <<'TEXT'
usage: scripts/test-mpi.sh [--mpich] [--repeat N] [--only REGEX] [--no-install]

Builds and runs the tests that need MPI (build/mpi): mpi.*, test_contract, and those that kill ranks (test_losses and its
counterparts for each skeleton, raytrace.kill_picture, run.spares) under skel-mpiexec. Under Open MPI 5 the latter run twice: with ULFM,
where MPI reports losses, and without, where silence reveals them.
  --mpich        use MPICH (build/mpi-mpich): Debian has no Boost.MPI for it, so it is built first
                 (scripts/build-boost-mpi.sh; about 100 MB of sources)
  --repeat N     run the tests that kill ranks N times
  --only REGEX   run only these tests
  --no-install   do not install missing Debian packages: list them and exit with code 1

Best run in a root of its own, so that MPIs and compilers do not mix:
    scripts/try-in-chroot.sh --suite trixie scripts/test-mpi.sh
    scripts/try-in-chroot.sh --suite trixie scripts/test-mpi.sh --mpich
TEXT
}
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
while (($# > 0)); do
  case $1 in
    --mpich) mpich=yes ;;
    --repeat) repeat=${2:?--repeat needs a number} && shift ;;
    --only) only=${2:?--only needs a regular expression} && shift ;;
    --no-install) install=no ;;
    *) help_or_mistake "$1" ;;
  esac
  shift
done

packages=(g++ cmake ninja-build libboost-serialization-dev libcli11-dev nlohmann-json3-dev libfmt-dev libpng-dev libxxhash-dev
  nettle-dev zlib1g-dev libexpat1-dev liblz4-dev liblzma-dev libeigen3-dev catch2 procps python3)
tree=build/mpi
options=(-D SKEL_SIM=OFF)
if [ $mpich = yes ]; then
  packages+=(mpich libmpich-dev dpkg-dev ca-certificates xz-utils)
  tree=build/mpi-mpich
  options+=(-D MPI_CXX_COMPILER=mpicxx.mpich -D MPIEXEC_EXECUTABLE="/usr/bin/mpiexec.mpich"
    -D boost_mpi_DIR="$PWD/build/boost-mpich/cmake")
  export SKEL_MPIEXEC=mpiexec.mpich # read by skel-mpiexec
else
  packages+=(openmpi-bin libopenmpi-dev libboost-mpi-dev)
fi
need_packages "${packages[@]}"
# All ranks are on this host; its other networks may be unusable.
export OMPI_MCA_btl_tcp_if_include="${OMPI_MCA_btl_tcp_if_include:-lo}"

say "Building ($tree)"
if [ $mpich = yes ]; then scripts/build-boost-mpi.sh --compiler mpicxx.mpich --jobs "$(job_count)" build/boost-mpich; fi
if [ ! -f $tree/build.ninja ]; then cmake -G Ninja -B $tree -D CMAKE_BUILD_TYPE=Release -D CMAKE_UNITY_BUILD=ON "${options[@]}"; fi
cmake --build $tree --parallel "$(job_count)" --target mpi_tests skel-raytrace skel-run

failed=0
tests() { # tests REGEX [option of ctest...]
  ctest --test-dir $tree --output-on-failure --no-tests=error -E '\.long$' -R "${only:-$1}" "${@:2}" || failed=1
}
kills='^(test_(.*_)?losses|raytrace\.(kill_picture|left_out|stop_root)|tutorial\.killed_ensemble|run\.spares)$'
say "$(scripts/skel-mpiexec --explain -n 4 PROGRAM)"
if [ -z "$only" ]; then
  say "Tests of MPI"
  tests '^(mpi\..*|.*\.adopt\..*|test_contract)$'
fi
again=()
if ((repeat > 1)); then again=(--repeat "until-fail:$repeat"); fi
say "Ranks that are killed"
tests "$kills" "${again[@]}"
if [ $mpich = no ] && scripts/skel-mpiexec --explain -n 1 true | grep -q -- '--with-ft ulfm'; then
  say "Ranks that are killed, without ULFM"
  SKEL_ULFM=no tests "$kills" "${again[@]}"
fi
say "$(if ((failed)); then echo FAILED; else echo "All passed"; fi)"
exit $failed
