#!/usr/bin/env bash
# SIGUSR2: ranks leave their job, rank 0 too. Every command runs once, and those that have left are gone before the end.
#   retire.sh SKEL_MPIEXEC SKEL_RUN
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
mpiexec=$1 program=$2
in_own_folder

gone() { # gone PID: waits for the end of the process
  for _ in $(seq 1000); do
    [ -d "/proc/$1" ] || return 0
    sleep 0.02
  done
  fail "process $1 was asked to retire, and lives: $(cat log)"
}

# Commands wait for the file asked, which is made when the ranks have their signals, the last 20 for the file go, which is
# made once these have left. The parent of a command is the supervisor of its rank.
for i in $(seq 0 59); do
  waiting=
  [ "$i" -lt 8 ] || waiting="until [ -e $folder/asked ]; do sleep 0.05; done; "
  [ "$i" -lt 40 ] || waiting="until [ -e $folder/go ]; do sleep 0.05; done; "
  echo "echo $i \$PPID >>$folder/begun; ${waiting}sleep 0.2; echo $i >>$folder/ended"
done >list

for what in 2 "1 3" 0 "0 1" "0 saves"; do
  victims=${what% saves} table=table${what// /}.csv store=()
  [[ $what != *saves ]] || store=(--checkpoint ida:2,2 --store memory)
  "$mpiexec" -n 4 --oversubscribe "$program" --progress never --threads 1 "${store[@]}" --report report.json -o "$table" list \
    >log 2>&1 &
  job=$!
  wait_for $job has_lines begun 12 || fail "no command runs: $(cat log)"
  leaving=() root=
  for victim in $victims; do
    pid=$(rank_process "$victim" "$table")
    [ "$victim" != 0 ] || [[ $what == *saves ]] || root=$(pgrep -P "$pid" -x skel-supervisor)
    kill -USR2 "$pid"
    leaving+=("$pid")
  done
  touch asked
  for pid in "${leaving[@]}"; do gone "$pid"; done
  touch go
  wait $job || fail "the job failed after ranks $what had retired: $(cat log)"
  python3 - "$table" report.json "$victims" "$root" <<'PYTHON'
import collections, csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
assert [int(row["number"]) for row in rows] == list(range(60)) and all(row["status"] == "ok" for row in rows), rows
losses = json.load(open(sys.argv[2]))["losses"]
assert sorted(str(loss["rank"]) for loss in losses) == sys.argv[3].split(), losses
assert all(loss["noticed"] == "retired" for loss in losses), losses
began = [line.split() for line in open("begun")]
ended = collections.Counter(line.strip() for line in open("ended"))
runs = collections.Counter(number for number, _ in began)
assert runs == ended and len(runs) == 60, (runs, ended)
# Without a checkpoint, what rank 0 has run itself may run again.
of_root = {number for number, parent in began if parent == sys.argv[4]}
assert all(times == 1 or number in of_root for number, times in runs.items()), (runs, of_root)
PYTHON
  for victim in $victims; do grep -q "rank $victim has retired" log || fail "found $(cat log)"; done
  rm begun ended asked go
done

# Under mpiexec alone a rank that ends would end the job: it stays.
"${3:-mpiexec}" -n 2 --oversubscribe "$program" --progress never --threads 1 -o plain.csv list >log 2>&1 &
job=$!
wait_for $job has_lines begun 4 || fail "no command runs: $(cat log)"
kill -USR2 "$(rank_process 1 plain.csv)"
touch asked go
wait $job || fail "the job failed: $(cat log)"
sort -n ended | diff - <(seq 0 59) || fail "commands that have ended"
grep -q 'rank 1 was asked to retire, but stays: mpiexec would end the job' log || fail "found $(cat log)"
