#!/usr/bin/env bash
# Kills ranks, rank 0, supervisors and whole jobs: every command has one row, and no process of a command is left.
#   kills.sh SKEL_MPIEXEC SKEL_RUN
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
mpiexec=$1 program=$2
in_own_folder
mark=SKEL_RUN_TEST_$$

# Processes of commands, also those in sessions of their own.
left() { grep -lsF "OF_TEST=$mark" /proc/[0-9]*/environ || true; }
none_left() { # none_left WHAT
  for _ in $(seq 500); do
    [ -n "$(left)" ] || return 0
    sleep 0.02
  done
  fail "$1: processes are left: $(left)"
}
some_run() { # some_run N: waits until N processes of commands run
  for _ in $(seq 1000); do
    [ "$(left | wc -l)" -lt "$1" ] || return 0
    sleep 0.02
  done
  fail "no command runs: $(cat log)"
}
# processes COMM RANK TEXT: those of the job with this text in its command line. An empty RANK: all.
processes() {
  local pid
  for pid in $(pids_of "$3"); do
    if [ "$(cat "/proc/$pid/comm")" = "$1" ] && { [ -z "$2" ] || [ "$(rank_of "$pid")" = "$2" ]; }; then echo "$pid"; fi
  done
}
check_table() { # check_table FILE COMMANDS
  python3 - "$@" <<'PYTHON'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
assert [int(row["number"]) for row in rows] == list(range(int(sys.argv[2]))), [row["number"] for row in rows]
assert all(row["status"] == "ok" for row in rows), rows
PYTHON
}

# Each command has a child in a session of its own, which would live for long, and writes its number once it has run. From
# the 17th on they wait for the file go: no job ends before this script, however slow it is, has killed something.
for i in $(seq 0 39); do
  waiting=
  [ "$i" -lt 16 ] || waiting="until [ -e $folder/go ]; do sleep 0.05; done; "
  echo "export OF_TEST=$mark; setsid sh -c 'sleep 600; true' >/dev/null 2>&1 & ${waiting}sleep 0.2; echo $i"
done >list

for victim in 2 0; do
  "$mpiexec" -n 4 --oversubscribe "$program" --progress never --threads 1 --plain --files "out$victim" -o "table$victim.csv" list \
    >log 2>&1 &
  some_run 6
  kill -KILL "$(processes skel-run "$victim" "table$victim.csv")"
  touch go
  wait $! || fail "the job failed: $(cat log)"
  check_table "table$victim.csv" 40
  for i in $(seq 0 39); do
    [ "$(cat "out$victim/$i.out")" = "$i" ] || fail "output of command $i: $(cat "out$victim/$i.out")"
  done
  [ "$(find "out$victim" -type f | wc -l)" = 80 ] || fail "files are left: $(ls -A "out$victim")"
  none_left "after the loss of rank $victim"
  rm go
done

# All ranks at once, and the job resumes. The first generation in the store may be without results; when the third is
# written, the second is committed.
mkdir store
"$mpiexec" -n 3 --oversubscribe "$program" --progress never --threads 1 --files out --checkpoint central --store store --every 100ms \
  -o table.csv list >log 2>&1 &
for _ in $(seq 1000); do
  if [ "$(find out -name '*.out' -not -name '.*' 2>/dev/null | wc -l)" -ge 8 ] && has_generation 3 store; then break; fi
  sleep 0.02
done
# shellcheck disable=SC2046
kill -KILL $(processes skel-run '' table.csv)
wait $! && fail "expected a failure"
none_left "after the loss of all ranks"
touch go
"$mpiexec" -n 2 --oversubscribe "$program" --progress never --threads 1 --files out --checkpoint central --store store --resume auto \
  --report report.json -o table.csv list >log 2>&1 || fail "the resumed job failed: $(cat log)"
check_table table.csv 40
was_restored report.json
none_left "after the resumed job"
rm go

supervisor_of() { pgrep -P "$1" -x skel-supervisor; } # its children have this name, too, until they become commands

# One process without mpiexec: the rank, its process group, and its supervisor.
for what in rank group supervisor; do
  setsid "$program" --quiet --progress never --threads 2 -o "$what.csv" list >log 2>&1 &
  some_run 4
  rank=$(processes skel-run '' "$what.csv")
  case $what in
    rank) kill -KILL "$rank" ;;
    group) kill -KILL -- "-$rank" ;;
    supervisor) kill -KILL "$(supervisor_of "$rank")" ;;
  esac
  wait $! && fail "expected a failure"
  none_left "after the end of the $what"
  [ ! -e "$what.csv" ] || fail "a table of a killed job"
done

# Signals that a scheduler sends to all processes: the supervisor leaves them to the rank.
setsid "$program" --quiet --progress never --threads 2 -o told.csv list >log 2>&1 &
some_run 4
pid=$(supervisor_of "$(processes skel-run '' told.csv)")
for signal in INT TERM USR1; do kill -$signal "$pid"; done
touch go
wait $! || fail "the supervisor did not live on: $(cat log)"
check_table told.csv 40
none_left "after signals to the supervisor"
rm go

# Ctrl-C: running commands end, no others begin. A second one ends all.
for signals in 1 2; do
  setsid env --default-signal=INT "$program" --quiet --progress never --threads 2 -o stopped.csv list >log 2>&1 &
  some_run 4
  rank=$(processes skel-run '' stopped.csv)
  kill -INT "$rank"
  if [ $signals = 2 ]; then
    sleep 0.05
    kill -INT "$rank" 2>/dev/null || true
  fi
  touch go # for commands that have begun
  wait $! && fail "expected a failure"
  rm go
  none_left "after Ctrl-C"
  [ $signals = 1 ] || continue
  tasks=$(sed -n 's/^skel-run: stopped by SIGINT after \([0-9]*\) tasks.*/\1/p' log)
  [ -n "$tasks" ] || fail "found $(cat log)"
  [ "$(wc -l <stopped.csv)" = $((tasks + 1)) ] || fail "expected $tasks rows, found $(cat stopped.csv)"
done
