#!/usr/bin/env bash
# The root is stopped for longer than the silence after which it counts as lost: the others go on without it. When it wakes
# meanwhile, it says so in one line and leaves without writing. If it never wakes, skel-mpiexec ends all the same.
#   stop_root.sh SKEL_MPIEXEC SKEL_RAYTRACE
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
skel_mpiexec=$1 program=$2
in_own_folder
picture=(--scene balls:4 --size 1400x1400 --threads 1 --progress never)
wait_until() { # wait_until COMMAND...: at most a minute, or until the job has ended
  for _ in $(seq 1200); do
    if "$@" || ! kill -0 $job 2>/dev/null; then return 0; fi
    sleep 0.05
  done
}
lost_the_root() { grep -q '^skel-raytrace: lost the root (rank 0): . of 4 ranks begin again' errors; }

# Starts a job and stops its root, whose process is $root, until the others have gone on. Again if that came too late.
run() {
  local pid
  for _ in 1 2 3 4 5 6; do
    rm -f preview.ppm report.json ranks.ppm
    timeout -s KILL 300 "$skel_mpiexec" -n 4 --oversubscribe "$program" "${picture[@]}" \
      --preview "$folder/preview.ppm" --report report.json -o ranks.ppm 2>errors &
    job=$!
    wait_until test -e preview.ppm
    root=
    for pid in $(pids_of "--preview $folder/preview.ppm"); do
      if [ "$(rank_of "$pid")" = 0 ]; then root=$pid; fi
    done
    if [ -n "$root" ]; then kill -STOP "$root" 2>/dev/null || true; fi # it may just have ended
    wait_until lost_the_root
    if lost_the_root; then return; fi
    if [ -e ranks.ppm ] && wait $job; then continue; fi
    fail "the others have not gone on"
  done
  fail "the root was always stopped too late"
}
check() { # check LINES: that the outputs are the survivors', and how often the root said that it leaves
  local code=0
  wait $job || code=$?
  [ $code = 0 ] || fail "exit code $code"
  cmp alone.ppm ranks.ppm || fail "the picture differs"
  grep -q '"attempt": [2-9]' report.json || fail "the report is that of the first attempt"
  [ "$(grep -c '^skel-raytrace: rank 0 was silent for too long: the other ranks have gone on without it$' errors)" = "$1" ] ||
    fail "expected $1 lines of the root"
  [ -z "$(pids_of "--preview $folder/preview.ppm")" ] || fail "processes are left"
  [ -z "$(find . -name '.*.ppm*')" ] || fail "temporary files are left"
}
"$program" "${picture[@]}" -o alone.ppm
run
kill -CONT "$root" || fail "the stopped root has ended"
wait_until test ! -e "/proc/$root"
check 1
run
check 0
