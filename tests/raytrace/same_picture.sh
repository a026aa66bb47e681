#!/usr/bin/env bash
# The same picture, to the bit, for every schedule, way of results, unit of work, accelerator and number of ranks:
#   same_picture.sh MPIEXEC SKEL_RAYTRACE SCENE [RANKS...]
# Exit code 1, and the run that differs, if a result_xxh3 is not that of one process.
set -euo pipefail
mpiexec=$1 program=$2 scene=$3
shift 3
report=$(mktemp)
trap 'rm -f "$report"' EXIT

expected=
check() { # check WHAT COMMAND...
  local what=$1 hash
  shift
  "$@" --scene "$scene" --size 96x80 --quiet --progress never --report "$report"
  hash=$(grep -o '"result_xxh3": "[0-9a-f]\{16\}"' "$report")
  expected=${expected:-$hash}
  if [ "$hash" != "$expected" ]; then
    echo "$scene: $what gives $hash, not $expected" >&2
    exit 1
  fi
}

check "one process" "$program"
check "slabs" "$program" --accelerator slabs
check "two threads" "$program" --threads 2
count=3
for ranks in "$@"; do
  for schedule in blocks interleaved first-come guided hybrid ring; do
    check "$ranks ranks, $schedule" "$mpiexec" -n "$ranks" "$program" --schedule $schedule
    count=$((count + 1))
  done
  check "$ranks ranks, tiles, concentrated, serving root" "$mpiexec" -n "$ranks" "$program" --unit tiles:16 \
    --results concentrated --root serves
  count=$((count + 1))
done
echo "$scene: $count runs, $expected"
