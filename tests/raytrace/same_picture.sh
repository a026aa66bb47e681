#!/usr/bin/env bash
# The same picture, to the bit, for every schedule, results policy, unit of work, accelerator and
# number of ranks:
#   same_picture.sh MPIEXEC SKEL_RAYTRACE SCENE [RANKS...]
# Exit code 1, with the differing run, if a result_xxh3 differs from that of one process.
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
mpiexec=$1 program=$2 scene=$3
shift 3
own_folder

expected=
check() { # check WHAT COMMAND...
  same_hash "$scene: $1" "${@:2}" --scene "$scene" --size 96x80
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
(
  cd "$folder"
  expect 2 'view needs different "from" and "at"' --scene "$scene" --from 1,2,3 --at 1,2,3
  expect 2 'view needs an "up" that is not the line of sight' --scene "$scene" --up 0,0,0
)
echo "$scene: $count runs, $expected"
