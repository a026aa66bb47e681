#!/usr/bin/env bash
# Rank 1 of 4 dies 0, 10, 20, ... ms after its execve, up to slightly more than the duration of a
# run:
#   kill_every_10ms.sh SKEL_MPIEXEC DIE_AFTER SKEL_RAYTRACE SCHEDULE...
# Each run must end with the right picture, or with exit code 1 and the cause; otherwise exit code
# 1. If gdb is available, prints the stacks of a run that has not ended within 90 s.
# SKEL_KILL_STEP=100: every 100 ms.
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
skel_mpiexec=$1 die_after=$2 program=$3
shift 3
schedules=("$@")
own_folder
picture=(--scene gears:4 --size 600x600 --threads 1 --quiet --progress never)
causes='rank 1 died before all ranks had started|has been inside one call of MPI'
export SKEL_SUSPECT_AFTER=1s

run() { # run MILLISECONDS SCHEDULE: in the background
  local command=("$program" "${picture[@]}" --schedule "$2" -o "$folder/ranks.ppm")
  rm -f "$folder/ranks.ppm"
  "$skel_mpiexec" -n 1 --oversubscribe "${command[@]}" : -n 1 "$die_after" "$1" "${command[@]}" : -n 2 "${command[@]}" \
    >"$folder/out" 2>&1 &
}

fail() {
  echo "killed after $after ms, $schedule: $1" >&2
  cat "$folder/out" >&2
  exit 1
}

say_what_hangs() {
  local pid
  for pid in $(pids_of "-o $folder/ranks.ppm"); do
    echo "--- rank $(rank_of "$pid")" >&2
    if command -v gdb >/dev/null; then timeout 60 gdb -p "$pid" -batch -ex "thread apply all bt" >&2 2>/dev/null || true; fi
    kill -KILL "$pid"
  done
}

"$program" "${picture[@]}" -o "$folder/alone.ppm"
begin=$(date +%s%3N)
run 1000000 "${schedules[0]}"
wait $!
last=$((($(date +%s%3N) - begin) * 5 / 4))

runs=0 unstarted=0
for ((after = 0; after <= last; after += ${SKEL_KILL_STEP:-10})); do
  schedule=${schedules[runs % ${#schedules[@]}]}
  runs=$((runs + 1))
  run $after "$schedule"
  launcher=$!
  for ((tenths = 0; tenths < 900; ++tenths)); do
    kill -0 $launcher 2>/dev/null || break
    sleep 0.1
  done
  if kill -0 $launcher 2>/dev/null; then
    say_what_hangs
    fail "no end within 90 s"
  fi
  code=0
  wait $launcher || code=$?
  case $code in
    0) cmp "$folder/alone.ppm" "$folder/ranks.ppm" || fail "another picture" ;;
    1)
      unstarted=$((unstarted + 1))
      grep -qE "$causes" "$folder/out" || fail "exit code 1 without a cause"
      ;;
    *) fail "exit code $code" ;;
  esac
done
echo "$runs runs, rank 1 killed after 0 to $last ms: $unstarted died before the start, the others gave the picture"
[ $unstarted -gt 0 ]
[ $unstarted -lt $runs ]
