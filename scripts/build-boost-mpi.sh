#!/usr/bin/env bash
# Builds Boost.MPI for an MPI for which Debian has no package. See --help.
usage() {
  cat <<'TEXT'
usage: scripts/build-boost-mpi.sh --compiler WRAPPER [--flags "FLAGS"] [--jobs N] PREFIX
e.g.   scripts/build-boost-mpi.sh --compiler mpicxx.mpich build/boost-mpich
       cmake -D boost_mpi_DIR=$PWD/build/boost-mpich/cmake -D MPI_CXX_COMPILER=mpicxx.mpich …

Compiles libs/mpi of the Debian source package of the installed Boost with the compiler wrapper of another MPI, into
PREFIX/libboost_mpi.a, and writes a CMake package for it. The sources (about 100 MB) are fetched with apt into PREFIX/source,
from the mirror in the system's source list and verified with its keys; the system is not changed. Does nothing if the
library exists and is newer than this script. Boost.Serialization and the headers remain the system's.
TEXT
}
compiler=mpicxx flags='' jobs=$(nproc) prefix=
while (($# > 0)); do
  case $1 in
    --compiler) compiler=${2:?} && shift ;;
    --flags) flags=${2?} && shift ;;
    --jobs) jobs=${2:?} && shift ;;
    -h | --help)
      usage
      exit 0
      ;;
    -*)
      usage >&2
      exit 2
      ;;
    *) prefix=$1 ;;
  esac
  shift
done
if [ -z "$prefix" ]; then
  usage >&2
  exit 2
fi
set -euo pipefail
script=$(realpath "$0")
mkdir -p "$prefix/source/lists/partial" "$prefix/source/cache/archives/partial" "$prefix/objects" "$prefix/cmake"
prefix=$(realpath "$prefix")
library=$prefix/libboost_mpi.a
if [ -f "$library" ] && [ "$library" -nt "$script" ]; then exit 0; fi

# The form of BOOST_LIB_VERSION: 1_83.
version=$(sed -n 's/^#define BOOST_LIB_VERSION "\(.*\)"/\1/p' /usr/include/boost/version.hpp)
number=${version//_/.}
cd "$prefix/source"
if ! compgen -G "boost*.orig.tar.*" >/dev/null; then
  # Uses its own list of sources: most systems have none, and the system's is not changed.
  codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  mirror=$(awk '$1 == "URIs:" || $1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /^https?:.*\/debian\/?$/) { print $i; exit } }' \
    /etc/apt/sources.list /etc/apt/sources.list.d/*.sources 2>/dev/null || true)
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror:-http://deb.debian.org/debian} $codename main" >list
  private=(-o "Dir::Etc::sourcelist=$PWD/list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$PWD/lists"
    -o "Dir::Cache=$PWD/cache" -o APT::Sandbox::User=root)
  apt-get "${private[@]}" -q update
  apt-get "${private[@]}" -q source --download-only "boost$number"
fi
archive=$(compgen -G "boost*.orig.tar.*" | head -n 1)
# The archive's top folder has a different name in each version.
tar -xf "$archive" --wildcards '*/libs/mpi/src' --strip-components=1

cd libs/mpi/src
# Boost's asserts would abort where skel expects the error: BOOST_MPI_CHECK_RESULT checks twice.
export compiler flags prefix
# shellcheck disable=SC2016 # the inner shell expands these
printf '%s\n' *.cpp | xargs -P "$jobs" -I {} bash -euc \
  '"$compiler" -std=c++17 -O2 -DNDEBUG -DBOOST_MPI_SOURCE=1 -fPIC $flags -c {} -o "$prefix/objects/$(basename {} .cpp).o"'
rm -f "$library"
ar rcs "$library" "$prefix"/objects/*.o

# The package that Boost's own one searches for; boost_mpi_DIR gives its location.
cat >"$prefix/cmake/boost_mpi-config.cmake" <<TEXT
find_package(boost_serialization \${PACKAGE_FIND_VERSION} CONFIG REQUIRED)
if(NOT TARGET Boost::mpi)
  add_library(Boost::mpi STATIC IMPORTED)
  set_target_properties(Boost::mpi PROPERTIES IMPORTED_LOCATION "$library"
                                              INTERFACE_LINK_LIBRARIES "Boost::serialization;MPI::MPI_CXX")
endif()
TEXT
full=$(sed -n 's/^#define BOOST_VERSION \([0-9]*\)/\1/p' /usr/include/boost/version.hpp)
full=$((full / 100000)).$((full / 100 % 1000)).$((full % 100))
cat >"$prefix/cmake/boost_mpi-config-version.cmake" <<TEXT
set(PACKAGE_VERSION $full)
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
TEXT
echo "$library: $(find "$prefix/objects" -name '*.o' | wc -l) files of Boost $full, compiled with $compiler"
