#!/usr/bin/env bash
# Stops a job in supersteps early: by its time limit, by SIGTERM to its root, and by SIGUSR1 to another rank. It must save
# its state although the interval of checkpoints is not over, and a second job goes on from there.
#   stop_early.sh SKEL_MPIEXEC SKEL_MATMUL
# Exit code 1 if the product differs, or if nothing was restored.
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
skel_mpiexec=$1 program=$2
own_folder
product=(--size 2000 --panel 8 --threads 1 --quiet --progress never)
store=$folder/d0,$folder/d1,$folder/d2
checkpoint=(--checkpoint ida:2,1 --store "$store" --every 1h)


# stopped_by REASON SIGNAL RANK PAUSE LIMIT...: starts the job, sends SIGNAL (or none) to RANK some seconds after all ranks
# have started; succeeds if it was stopped.
stopped_by() {
  local code=0 launcher pid ranks=()
  rm -rf "$folder"/d? "$folder/stopped.bin"
  mkdir "$folder"/d{0,1,2}
  "$skel_mpiexec" -n 3 --oversubscribe "$program" "${product[@]}" "${checkpoint[@]}" "${@:5}" -o "$folder/stopped.bin" \
    >"$folder/out" 2>"$folder/errors" &
  launcher=$!
  if [ "$2" != none ]; then
    while kill -0 $launcher 2>/dev/null && [ ${#ranks[@]} -lt 3 ]; do
      sleep 0.02
      mapfile -t ranks < <(pids_of "--store $store")
    done
    sleep "$4"
    for pid in "${ranks[@]}"; do
      if [ "$(rank_of "$pid")" = "$3" ]; then kill -s "$2" "$pid"; fi
    done
  fi
  wait $launcher || code=$?
  [ $code -eq 1 ] && grep -qE "stopped by $1 after [0-9]+ tasks; the result is incomplete" "$folder/errors"
}

"$program" "${product[@]}" -o "$folder/alone.bin"
for reason in "the time limit:none:0" SIGTERM:TERM:0 SIGUSR1:USR1:1; do
  IFS=: read -r name signal rank <<<"$reason"
  limit=()
  [ "$signal" != none ] || limit=(--time-limit 500ms)
  stopped=no
  for pause in 0.3 0.2 0.5 0.9 1.5 3; do # repeated if the job ended before the signal, or had not begun
    if stopped_by "$name" "$signal" "$rank" $pause "${limit[@]}"; then
      stopped=yes
      break
    fi
  done
  [ $stopped = yes ] || fail "the job was not stopped by $name"
  "$skel_mpiexec" -n 2 --oversubscribe "$program" "${product[@]}" "${checkpoint[@]}" --resume -o "$folder/later.bin" \
    --report "$folder/report.json" 2>"$folder/errors" || fail "the resumed job fails"
  cmp "$folder/alone.bin" "$folder/later.bin" || fail "the product differs"
  restored=$(grep -o '"restored_tasks": [0-9]*' "$folder/report.json")
  echo "stopped by $name, resumed: $restored"
  case $restored in *': '[1-9]*) ;; *) fail "nothing was restored" ;; esac
done
