#!/usr/bin/env bash
# skel-mpiexec --restart: during one run all ranks and mpiexec are killed, then mpiexec alone, then all ranks. Then the root
# alone, without which the other rank goes on. The result has the same bytes as that of an uninterrupted run. On a busy
# machine a job may end before the last kill: it is then repeated with a larger problem.
#   restart.sh SKEL_MPIEXEC ENDING PROGRAM ARGUMENTS...
# ENDING: extension of the result's file.
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
skel_mpiexec=$1 ending=$2 program=$3
shift 3
problem=("$@")
own_folder
stores=("$folder"/d{0,1,2})
store=$(IFS=,; echo "${stores[*]}")
export SKEL_RESTART_PAUSE=0


newest() { # prints the number of the newest generation in the store
  find "${stores[@]}" -name '*.shard' | sed -n 's/.*\.\([0-9]*\)\.[0-9]*-of-[0-9]*\.[0-9]*\.shard$/\1/p' | sort -n | tail -n 1
}

launchers() { # prints the processes of mpiexec that skel-mpiexec $job has started
  local pid
  for pid in $(pgrep -P "$job"); do
    case $(readlink "/proc/$pid/exe") in */bash | */sh | */sleep | '') ;; *) echo "$pid" ;; esac
  done
}

wait_for_progress() { # until the store has two more generations and ranks are running; false if the job has ended
  local from
  from=$(newest)
  for _ in $(seq 3000); do
    kill -0 "$job" 2>/dev/null || return 1
    if (($(newest || true) + 0 >= ${from:-0} + 2)) && [ -n "$(pids_of "--store $store")" ]; then return; fi
    sleep 0.02
  done
  fail "no progress"
}

kill_four_times() { # false if the job ends before the last kill
  local kills launcher ranks
  for kills in 0 1 2 3; do
    wait_for_progress || return 1
    mapfile -t launcher < <(launchers)
    [ ${#launcher[@]} -le 1 ] || fail "expected one mpiexec, found ${#launcher[@]}"
    [ ${#launcher[@]} = 1 ] || return 1 # it has just ended
    mapfile -t ranks < <(pids_of "--store $store")
    case $kills in
      0) kill -KILL "${ranks[@]}" "${launcher[@]}" ;;
      1) kill -KILL "${launcher[@]}" ;;
      2) kill -KILL "${ranks[@]}" ;;
      3) kill_ranks "--store $store" 0 && return ;;
    esac 2>/dev/null || true
    for _ in $(seq 1500); do # until it has noticed
      [ "$(grep -c '^skel-mpiexec: .*; restart' "$folder/errors")" -gt $kills ] && continue 2
      kill -0 "$job" 2>/dev/null || return 1
      sleep 0.02
    done
    fail "no restart after kill $kills"
  done
}

for attempt in 1 2 3; do
  command=("$program" "${problem[@]}" --threads 1 --progress never)
  "${command[@]}" --quiet -o "$folder/alone$ending"
  rm -rf "${stores[@]}" "$folder/result$ending" "$folder/report.json"
  mkdir "${stores[@]}"
  "$skel_mpiexec" --restart 5 -n 2 --oversubscribe "${command[@]}" --quiet --checkpoint ida:2,1 --store "$store" \
    --every 50ms -o "$folder/result$ending" --report "$folder/report.json" >"$folder/out" 2>"$folder/errors" &
  job=$!
  in_time=yes
  kill_four_times || in_time=no
  wait $job || fail "exit code $?"
  cmp "$folder/alone$ending" "$folder/result$ending" || fail "the result differs"
  # The last kill may find a root that has just ended.
  if [ $in_time = yes ] && grep -q '"attempt": 2' "$folder/report.json"; then break; fi
  [ "$attempt" -lt 3 ] || fail "the job always ended before it could be killed four times"
  make_larger
done
[ "$(grep -c '; restart' "$folder/errors")" = 3 ] || fail "expected 3 restarts"
grep -q '"attempt": 2' "$folder/report.json" || fail "expected a second attempt after the loss of the root"
grep -q '"restored_generation": [1-9]' "$folder/report.json" || fail "the last attempt has resumed nothing"
[ -z "$(pids_of "--store $store")" ] || fail "ranks are left"
[ -z "$(find "${stores[@]}" -name .skel-claim)" ] || fail "a claim is left"
echo "killed 4 times (attempt $attempt): $(grep -o '"restored_[a-z]*": [0-9]*' "$folder/report.json" | tr '\n' ' ')"
