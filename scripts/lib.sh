# Shell functions shared by the scripts; sourced, never run. Needs only Bash, coreutils and awk, as in a bare Debian.
# shellcheck shell=bash disable=SC2034
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Permits MPI programs as root (containers) and with more ranks than cores. Harmless elsewhere; the user's settings win.
# Open MPI 4 and 5 read OMPI_, the launcher of Open MPI 5 also PRTE_.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe="${OMPI_MCA_rmaps_base_oversubscribe:-1}"
export OMPI_MCA_hwloc_base_binding_policy="${OMPI_MCA_hwloc_base_binding_policy:-none}"
export PRTE_MCA_rmaps_default_mapping_policy="${PRTE_MCA_rmaps_default_mapping_policy:-:oversubscribe}"
export PRTE_MCA_hwloc_default_binding_policy="${PRTE_MCA_hwloc_default_binding_policy:-none}"

# Without /sys, hwloc would complain once per process.
if [ ! -d /sys/devices/system/cpu ]; then export HWLOC_HIDE_ERRORS=2; fi

# Where ccache is installed, it serves all build trees, also those of other clones.
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache} CCACHE_BASEDIR=${CCACHE_BASEDIR-$PWD} CCACHE_NOHASHDIR=1
  export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS-pch_defines,time_macros}  # or it would skip files with precompiled headers
fi

build_packages=(g++ cmake ninja-build openmpi-bin libopenmpi-dev libboost-mpi-dev libboost-serialization-dev libcli11-dev
  libeigen3-dev nlohmann-json3-dev libfmt-dev libpng-dev libexpat1-dev liblz4-dev liblzma-dev libnetcdf-dev libhdf5-dev
  libopenexr-dev libxxhash-dev nettle-dev zlib1g-dev catch2 libsimgrid-dev libsodium-dev libotf2-trace-dev pkg-config)
# Without python3-vtk9, which is large, the tests of files that VTK reads and writes are skipped; without python3-paraview
# and xvfb, which remove python3-vtk9, the pictures by ParaView.
check_packages=(git doxygen environment-modules help2man libisal-dev lld mkdocs-material otf2-tools python3 python3-h5py
  python3-matplotlib python3-netcdf4 reuse)  # and clang-format, clang-tidy: see tool_of

say() { printf '\n== %s\n' "$*"; }
fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Called for arguments that match no option: prints usage() and exits, with 0 for --help, otherwise as an error.
help_or_mistake() {
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
  esac
  usage >&2
  exit 2
}

# The number of cores, limited to one job per 1.5 GB of memory, which some files need to compile.
job_count() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ { print int($2 / 1500000) }' /proc/meminfo 2>/dev/null || echo "$cores")
  ((memory < 1)) && memory=1
  echo $((memory < cores ? memory : cores))
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "not root and no sudo; as root, run: $*"
  fi
}

# The newest of clang-format-16 … clang-format-21, or an unversioned one that is new enough (14 cannot parse skel's
# code).
tool_of() {
  local name version
  for version in 16 17 18 19 20 21; do
    if command -v "$1-$version" >/dev/null; then
      echo "$1-$version"
      return
    fi
  done
  name=$(command -v "$1") || return 1
  version=$("$name" --version | awk 'match($0, /version [0-9]+/) { print substr($0, RSTART + 8, RLENGTH - 8); exit }')
  [ "${version:-0}" -ge 16 ] && echo "$1"
}

# Adds clang-format and clang-tidy to check_packages if they are missing: versioned on Debian 12, unversioned on later
# ones.
want_clang_tools() {
  local tool
  for tool in clang-format clang-tidy; do
    if ! tool_of $tool >/dev/null; then
      if grep -q 'VERSION_ID="12"' /etc/os-release; then tool=$tool-16; fi
      check_packages+=("$tool")
    fi
  done
}

missing_packages() {
  local package
  for package in "$@"; do
    case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
      installed) ;;
      *) echo "$package" ;;
    esac
  done
}

# Installs the missing ones of the named packages and reports it; with install=no, lists them and exits.
need_packages() {
  local missing
  if ! command -v dpkg-query >/dev/null; then
    echo "Not a Debian system; assuming that the equivalents of these are installed: $*"
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} == 0)) && return
  if [ "${install:-yes}" = no ] || { [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; }; then
    echo "Missing packages. Install them with:" >&2
    echo "    apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  say "Installing ${#missing[@]} missing packages with apt: ${missing[*]}"
  as_root apt-get update -q
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# build PRESET [target...]. Configures once; afterwards ninja reruns CMake if necessary.
build() {
  if [ ! -f "build/$1/build.ninja" ]; then cmake --preset "$1"; fi
  cmake --build "build/$1" --parallel "$(job_count)" ${2:+--target "${@:2}"}
}
