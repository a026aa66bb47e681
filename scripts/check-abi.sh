#!/usr/bin/env bash
# Compares the shared libraries with those of the last release. See --help.
install=yes
base=
usage() {
  cat <<'TEXT'
usage: scripts/check-abi.sh [--base COMMIT] [--no-install]

Builds the shared libraries of the last release (the newest tag v*) in build/abi, and those of this tree, with debugging
information, and compares them with libabigail:
  abicompat  programs of the release, which use all skeletons, work with the libraries of this tree
  abidiff    functions of the namespace skel are still there, and types in public headers have their layout
Fails on a change, unless the major version has changed. Without a release with shared libraries there is nothing to check.
  --base COMMIT  compare with this commit instead
  --no-install   do not install missing Debian packages: list them and exit with code 1
TEXT
}
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
while (($# > 0)); do
  case $1 in
    --base) base=${2:?--base needs a commit} && shift ;;
    --no-install) install=no ;;
    *) help_or_mistake "$1" ;;
  esac
  shift
done
: "${base:=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)}"
if [ -z "$base" ]; then
  echo "No release yet: nothing to compare with"
  exit 0
fi
need_packages "${build_packages[@]}" git abigail-tools

tree=build/abi
mkdir -p $tree
rm -rf $tree/source
git worktree prune
git worktree add --force --detach $tree/source "$base"
trap 'git worktree remove --force $tree/source' EXIT
if ! grep -q BUILD_SHARED_LIBS $tree/source/CMakeLists.txt; then
  echo "$base has no shared libraries: nothing to compare with"
  exit 0
fi
# Unoptimised code is compiled soonest, and has the same interface.
libraries() { # libraries SOURCE BUILD
  cmake -G Ninja -S "$1" -B "$2" -D CMAKE_BUILD_TYPE=Debug -D CMAKE_CXX_FLAGS_DEBUG="-O0 -g" -D BUILD_SHARED_LIBS=ON \
    -D CMAKE_UNITY_BUILD=ON -D SKEL_WERROR=OFF -D SKEL_BUILD_EXAMPLES=OFF -D SKEL_BUILD_TESTS=OFF
  cmake --build "$2" --parallel "$(job_count)"
}
libraries $tree/source $tree/old
libraries . $tree/new
major() { readelf -d "$1" | sed -n 's/.*soname: .*\.so\.\([0-9]*\)\]/\1/p'; }
if [ "$(major $tree/old/src/libskel_core.so)" != "$(major $tree/new/src/libskel_core.so)" ]; then
  echo "The major version has changed since $base: everything may change"
  exit 0
fi

say "Programs of $base"
rm -rf $tree/prefix $tree/programs
cmake --install $tree/old --prefix $tree/prefix >/dev/null
cmake -G Ninja -S $tree/source/examples/tutorial -B $tree/programs -D CMAKE_PREFIX_PATH="$PWD/$tree/prefix" \
  -D CMAKE_BUILD_TYPE=Debug
cmake --build $tree/programs --parallel "$(job_count)"
failed=0
for library in core mpi; do
  old=$tree/old/src/libskel_$library.so new=$tree/new/src/libskel_$library.so
  for program in "$tree"/programs/*; do
    if [ ! -f "$program" ] || [ ! -x "$program" ]; then continue; fi
    abicompat "$program" $old $new || { echo "$program: libskel_$library has changed" && failed=1; }
  done
done

say "Functions and types"
# Names in skel::detail are for skel's own templates: the programs above have tried those.
printf '[suppress_function]\n  name_regexp = ^skel::detail::\n[suppress_variable]\n  name_regexp = ^skel::detail::\n' >$tree/suppressed
for library in core mpi sim; do
  abidiff --suppressions $tree/suppressed --no-added-syms --drop-private-types --headers-dir1 $tree/source/include \
    --headers-dir2 include $tree/old/src/libskel_$library.so $tree/new/src/libskel_$library.so || failed=1
done
say "$(if ((failed)); then echo FAILED; else echo "libskel_core, libskel_mpi and libskel_sim have the interface of $base"; fi)"
exit $failed
