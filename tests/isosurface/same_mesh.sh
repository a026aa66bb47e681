#!/usr/bin/env bash
# The same file, to the byte, for every number of ranks, group size and thread count: same_mesh.sh
# MPIEXEC SKEL_ISOSURFACE
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
mpiexec=$1 program=$2
in_own_folder

check() { # check WHAT COMMAND...
  local what=$1
  shift
  "$@" "${field[@]}" --quiet --progress never -o mesh.ply
  [ -e expected.ply ] || mv mesh.ply expected.ply
  if ! cmp expected.ply mesh.ply 2>/dev/null && [ -e mesh.ply ]; then
    echo "$what gives another mesh" >&2
    exit 1
  fi
  rm -f mesh.ply
}

check_parts() { # check_parts WHAT COMMAND...: names and bytes of all parts
  local what=$1
  shift
  rm -rf mesh
  "$@" "${field[@]}" --quiet --progress never -o mesh.pvtp
  find mesh mesh.pvtp -type f | LC_ALL=C sort | tee names | xargs -d '\n' cat names >parts
  [ -e expected.parts ] || mv parts expected.parts
  if ! cmp expected.parts parts 2>/dev/null && [ -e parts ]; then
    echo "$what gives other parts" >&2
    exit 1
  fi
  rm -f parts
}

for order in '1 --grid 3' 1 3 '3 --tolerance 0.05'; do
  # shellcheck disable=SC2054,SC2206  # order has several words
  field=(--field turbulence:70x41x19 --iso 0.3,0.5 --order $order --differences 4)
  rm -f expected.ply
  check "one process" "$program" --threads 1
  check "two threads" "$program" --threads 2 --verify
  check "three ranks, groups found" "$mpiexec" -n 3 "$program"
  check "three ranks, not re-assigned, preloaded" "$mpiexec" -n 3 "$program" --group-size 1 --no-reassign --preload
  check "three ranks in groups of one" "$mpiexec" -n 3 "$program" --group-size 1
  check "three ranks in groups of one, no share split" "$mpiexec" -n 3 "$program" --group-size 1 --no-split
  check "five ranks in groups of two" "$mpiexec" -n 5 "$program" --group-size 2
  rm -f expected.parts
  check_parts "one process" "$program" --threads 1
  check_parts "three ranks, groups found" "$mpiexec" -n 3 "$program"
  check_parts "five ranks in groups of two" "$mpiexec" -n 5 "$program" --group-size 2
  [ "$(find mesh -type f | wc -l)" = 18 ]
done
field=(--field turbulence:20x20x4 --iso 0.5)
rm -f expected.ply
check "one process" "$program"
check "more ranks than layers" "$mpiexec" -n 5 "$program" --group-size 1

# A time limit ends the search for the level of a tolerance, on every number of ranks.
for ranks in 1 2 3; do
  code=0
  "$mpiexec" -n $ranks "$program" --field turbulence:150x150x150 --iso 0.5 --order 3 --tolerance 0.01 --time-limit 100ms \
    --quiet --progress never -o no.ply >out 2>err || code=$?
  if [ $code != 1 ] || ! grep -q 'stopped by the time limit' err || [ -e no.ply ]; then
    echo "expected to be stopped on $ranks ranks, found exit code $code" >&2
    cat out err >&2
    exit 1
  fi
done
