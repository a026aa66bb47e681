#!/usr/bin/env bash
# Runs commands that are MPI programs on teams of ranks, and kills ranks meanwhile.
#   ranks.sh SKEL_MPIEXEC SKEL_RUN MPI_PROGRAM
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
mpiexec=$1 program=$2 task=$3
in_own_folder
mark=SKEL_RUN_TEST_$$
export OF_TEST=$mark

same() { # same WHAT EXPECTED FOUND
  [ "$2" = "$3" ] || fail "$1: expected \"$2\", found \"$3\": $(cat log 2>/dev/null)"
}
column() { # column NAME FILE.csv: its values, joined by blanks
  python3 -c 'import csv, sys
print(*(row[sys.argv[1]] for row in csv.DictReader(open(sys.argv[2], newline=""))))' "$1" "$2"
}
# Processes of the MPI programs and of what starts them, and folders for them.
left() {
  local pid
  # shellcheck disable=SC2013 # numbers of processes
  for pid in $(grep -lsF "OF_TEST=$mark" /proc/[0-9]*/environ | cut -d/ -f3); do
    case $(readlink "/proc/$pid/exe") in "$task" | */skel-run-ranks) echo "$pid" ;; esac
  done
}
folders() { find /dev/shm "${TMPDIR:-/tmp}" -maxdepth 1 -name 'skel-run.*' -newer start 2>/dev/null || true; }
none_left() { # none_left WHAT
  for _ in $(seq 500); do
    [ -n "$(left)$(folders)" ] || return 0
    sleep 0.02
  done
  fail "$1: left: $(left) $(folders)"
}
touch start

if "$mpiexec" -n 2 --oversubscribe "$program" --quiet --ranks-per-task 2 /dev/null 2>&1 | grep -q 'need PMIx'; then exit 77; fi # skip

# A short program of Open MPI 4.1 may crash in MPI_Finalize on a busy machine: a thread handles the event by which MPI_Init
# declares the programming model when the code for that has been unloaded.
again=(--retries 3)

# Two and four processes for each command, on five ranks.
for n in 2 4; do
  for _ in 1 2 3; do echo "$task sum"; done >list
  "$mpiexec" -n 5 --oversubscribe "$program" --progress never "${again[@]}" --ranks-per-task $n --files "out$n" -o table.csv list >log 2>&1
  for i in 0 1 2; do same "command $i" "$n ranks, $n here, sum $((n * (n + 1) / 2))" "$(cat out$n/$i.out)"; done
  same "rows" "ok ok ok" "$(column status table.csv)"
done
none_left "after two runs"

# Commands that are no MPI programs, and what processes know about themselves.
cat >list <<'LIST'
echo $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE, $SKEL_TASK
LIST
same "numbers" "0 of 2, 0 1 of 2, 0" \
  "$("$mpiexec" -n 2 --oversubscribe "$program" --quiet --plain --ranks-per-task 2 list | sort | xargs)"
if taskset -c 1 true 2>/dev/null; then # each process on the core of a rank
  echo 'taskset -pc $$ | sed "s/.*: //"' >list
  # shellcheck disable=SC2016 # expanded on each rank
  same "cores" "0 1" "$("$mpiexec" -n 2 --oversubscribe sh -c 'exec taskset -c ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} "$@"' sh \
    "$program" --quiet --plain --ranks-per-task 2 list | sort | xargs)"
fi
echo "$program --ranks-per-task 2 --quiet inner" >list
echo "$task sum" >inner
same "a program of skel" "0: 0: 2 ranks, 2 here, sum 3" \
  "$("$mpiexec" -n 2 --oversubscribe "$program" --quiet --ranks-per-task 2 list)"

# Failures: one process fails, none is left, the others of the list run.
cat >list <<LIST
$task exit 7
$task abort 5
$task leave
$task kill
$task sum
LIST
code=0
"$mpiexec" -n 5 --oversubscribe "$program" --progress never "${again[@]}" --ranks-per-task 2 --keep-going --files failed -o table.csv list \
  >log 2>&1 || code=$?
same "the exit code" 3 $code
same "status" "failed failed failed failed ok" "$(column status table.csv)"
same "exit codes" "7 5 1  0" "$(column exit_code table.csv)"
same "signals" "   6 " "$(column signal table.csv)"
same "the last one" "2 ranks, 2 here, sum 3" "$(cat failed/4.out)"
grep -q 'process 1 of the MPI program ended without MPI_Finalize' failed/2.err || fail "found $(cat failed/2.err)"
none_left "after failures"
echo "$task wait $folder/never" >list
"$mpiexec" -n 2 --oversubscribe "$program" --progress never --ranks-per-task 2 --task-time-limit 2s -o table.csv list >log 2>&1 &&
  fail "expected a failure"
same "status" late "$(column status table.csv)"
none_left "after a time limit"

# Ranks that are killed while programs run, rank 0 too: these run again on the others. Rank 1 only lends its core.
for _ in 1 2 3 4 5 6; do echo "$task wait $folder/go"; done >list
for victim in 1 2 0 "0 stored"; do
  table=table${victim// /}.csv store=()
  if [ "$victim" = "0 stored" ]; then mkdir store && store=(--checkpoint central --store store --every 100ms); fi
  "$mpiexec" -n 5 --oversubscribe "$program" --progress never "${again[@]}" --ranks-per-task 2 "${store[@]}" -o "$table" list >log 2>&1 &
  for _ in $(seq 1000); do
    [ "$(left | wc -l)" -lt 6 ] || break
    sleep 0.02
  done
  kill -KILL "$(rank_process "${victim% stored}" "$table")"
  touch go
  wait $! || fail "the job failed after the loss of rank $victim: $(cat log)"
  same "numbers" "0 1 2 3 4 5" "$(column number "$table")"
  same "rows" "ok ok ok ok ok ok" "$(column status "$table")"
  same "output" 6 "$(grep '^[0-5]: 2 ranks, 2 here, sum 3$' log | sort -u | wc -l)"
  none_left "after the loss of rank $victim"
  rm go
done

# Refused before anything runs.
refused() { # refused TEXT RANKS ARGUMENTS...
  local code=0
  "$mpiexec" -n "$2" --oversubscribe "$program" --quiet "${@:3}" >log 2>&1 || code=$?
  same "the exit code" 2 $code
  grep -qF -- "$1" log || fail "expected $1, found $(cat log)"
}
refused "--ranks-per-task 4: expected a host with that many ranks, found at most 3: on $(hostname)" 3 --ranks-per-task 4 list
refused "--ranks-per-task: expected no --cores, --memory and --task-time" 2 --ranks-per-task 2 --cores 2 list
SKEL_HOST=h%r refused "--ranks-per-task 2: expected a host with that many ranks, found at most 1: on h0" 3 --ranks-per-task 2 list
