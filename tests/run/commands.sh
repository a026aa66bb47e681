#!/usr/bin/env bash
# Runs lists of commands as a shell user does, and checks tables, output and exit codes.
#   commands.sh MPIEXEC SKEL_RUN
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
mpiexec=$1 program=$2
in_own_folder
same() { # same WHAT EXPECTED FOUND
  [ "$2" = "$3" ] || fail "$1: expected \"$2\", found \"$3\""
}
column() { # column NAME FILE.csv: its values, joined by blanks
  python3 -c 'import csv, sys
print(*(row[sys.argv[1]] for row in csv.DictReader(open(sys.argv[2], newline=""))))' "$1" "$2"
}

# A list from a file and from standard input; lines come with the number of their command.
printf 'echo a\n\n# no command\nprintf "b\\nc"\nexpr 1 + 2\n' >list
same "a list" "0: a 1: b 1: c 2: 3" "$("$program" --quiet list | sort | xargs)"
same "standard input" "3 a b c" "$("$program" --quiet --plain <list | sort | xargs)"
same "standard error" "0: x" "$(echo 'echo x >&2' | "$program" --quiet 2>&1 >/dev/null)"
same "standard input of commands" "" "$(printf 'cat\n' | "$program" --quiet)"
same "an empty list" "" "$("$program" --quiet /dev/null)"

# Items with blanks and newlines.
mkdir items
touch "items/a b" $'items/c\nd' "items/it's"
find items -type f -print0 | "$program" --quiet -0 -o table.jsonl -- mv '{}' '{}.old'
same "items" $'a b.old\nc\nd.old\nit\'s.old' "$(cd items && printf '%s\n' *)"
python3 - <<'PYTHON'
import json
rows = [json.loads(line) for line in open("table.jsonl")]
assert [row["number"] for row in rows] == [0, 1, 2] and all(row["status"] == "ok" for row in rows), rows
assert "mv 'items/c\nd' 'items/c\nd.old'" in [row["command"] for row in rows], rows
PYTHON

# A sweep on ranks, with the output in files.
"$mpiexec" -n 3 "$program" --quiet --sweep "alpha=0.1,0.2 beta=1:3" --files printed -o table.csv -- printf '%s/%s' '{alpha}' '{beta}'
same "a sweep" "0.1/1 0.1/2 0.1/3 0.2/1 0.2/2 0.2/3" "$(for i in 0 1 2 3 4 5; do cat printed/$i.out; echo; done | xargs)"
same "numbers" "0 1 2 3 4 5" "$(column number table.csv)"
same "codes" "0 0 0 0 0 0" "$(column exit_code table.csv)"
same "commands" "printf %s/%s 0.1 1" "$(column command table.csv | cut -d' ' -f1-4)"

# Standard input reaches all ranks, and each command runs in a folder of its own.
seq 8 | "$mpiexec" -n 3 "$program" --quiet --folders runs -- 'echo {} >result; pwd'
same "folders" "1 2 3 4 5 6 7 8" "$(cat runs/[0-7]/result | xargs)"
same "nothing but folders" "0 1 2 3 4 5 6 7" "$(ls -A runs | xargs)"

# A command that fails ends the run, or not.
printf 'true\nexit 3\nkill -9 $$\n' >failing
code=0
"$program" --quiet --threads 1 failing -o table.csv 2>err || code=$?
same "the exit code" 1 $code
grep -q '^skel-run: command 1 failed: exit code 3 after .*: exit 3$' err || fail "expected the command that failed, found $(cat err)"
same "rows of those that have ended" "ok failed" "$(column status table.csv)"
code=0
"$program" --quiet --keep-going failing -o table.csv 2>err || code=$?
same "the exit code" 3 $code
same "all rows" "ok failed failed" "$(column status table.csv)"
same "exit codes" "0 3 " "$(column exit_code table.csv)"
same "signals" "  9" "$(column signal table.csv)"

# Retries: a command that succeeds when it runs for the third time.
printf 'echo x >>tries; [ $(wc -l <tries) -ge 3 ]\n' >flaky
"$program" --quiet --retries 2 -o table.csv flaky
same "tries" 3 "$(wc -l <tries)"
same "rows" ok "$(column status table.csv)"

# Needs: as many commands together as have cores and memory, and each hears its cores.
cat >crowd <<'CROWD'
mkdir one 2>/dev/null || touch together; sleep 0.05; rmdir one 2>/dev/null; echo $OMP_NUM_THREADS
CROWD
for i in 1 2 3 4 5; do cat crowd; done >list
same "cores" "2 2 2 2 2" "$("$program" --quiet --plain --threads 3 --cores 2 list | xargs)"
[ ! -e together ] || fail "commands of 2 cores ran together on 3"
half=$(python3 -c 'print(int(open("/proc/meminfo").read().split()[1]) * 1024 * 6 // 10)')
"$program" --quiet --threads 3 --memory "$half" list >/dev/null
[ ! -e together ] || fail "commands with 60 % of the memory ran together"
expect 1 "command 0 failed: it needs 4000 threads, but a rank has at most" --threads 1 --cores 4000 list
expect 1 "command 0 failed: it needs 1 PiB of memory, but a rank may use at most" --threads 1 --memory 1P list

# A time limit.
code=0
printf 'sleep 600 | cat\ntrue\n' | "$program" --quiet --keep-going --task-time-limit 4s -o table.csv 2>err || code=$?
same "the exit code" 3 $code
same "a late command" "late ok" "$(column status table.csv)"

# Commands that could not end in time are left for --resume.
mkdir store
printf 'echo %s >>log\n' 1 2 3 >list
expect 4 "3 tasks not started, since they could not end before the time limit; the result is incomplete" \
  --quiet --task-time 1h --time-limit 10m --checkpoint central --store store -o table.csv list
[ ! -e log ] || fail "a command ran"
same "commands without time" "" "$(column status table.csv)"
begin=$(date +%s)
SLURM_JOB_START_TIME=$begin SLURM_JOB_END_TIME=$((begin + 600)) expect 4 "3 tasks not started" \
  --quiet --task-time 9m --checkpoint central --store store --resume auto list
SLURM_JOB_START_TIME=$begin SLURM_JOB_END_TIME=$((begin + 6000)) \
  "$program" --quiet --task-time 9m --checkpoint central --store store --resume auto list
same "commands with time" "1 2 3" "$(sort log | xargs)"
rm -r store log

# Resume: commands that are done do not run again, whatever has become of the list.
mkdir store
printf 'echo a >>log\necho b >>log\n[ -e ready ] && echo c >>log\necho d >>log\n' >list
"$program" --quiet --keep-going --checkpoint central --store store list 2>/dev/null && fail "expected a failure"
touch ready
printf 'echo new >>log\necho d >>log\n[ -e ready ] && echo c >>log\necho B >>log\necho a >>log\n' >list
"$program" --quiet --checkpoint central --store store --resume auto -o table.csv list
same "the commands that ran" "B a b c d new" "$(LC_ALL=C sort log | xargs)"
same "rows of the resumed run" "0 1 2 3 4" "$(column number table.csv)"
same "its commands" "echo new >>log" "$(column command table.csv | cut -d' ' -f1-3)"
printf 'echo d >>log\n' >list
"$program" --quiet --checkpoint central --store store --resume -o table.csv list
same "the commands of a shorter list" 6 "$(wc -l <log)"
same "its row" "0" "$(column number table.csv)"

# With files, whose names are numbers, commands that have moved run again: no output is replaced by another's.
rm -f ready log
mkdir numbered
printf 'echo a | tee -a log\necho b | tee -a log\n[ -e ready ]\n' >list
"$program" --quiet --keep-going --files kept --checkpoint central --store numbered list 2>/dev/null && fail "expected a failure"
touch ready
printf 'echo x | tee -a log\necho b | tee -a log\necho a | tee -a log\n[ -e ready ]\n' >list
"$program" --quiet --files kept --checkpoint central --store numbered --resume -o table.CSV list
same "the files" "x b a" "$(cat kept/0.out kept/1.out kept/2.out | xargs)"
same "the commands that ran" "a a b x" "$(LC_ALL=C sort log | xargs)"
printf 'echo a | tee -a log\necho b | tee -a log\n' >list
"$program" --quiet --files kept --checkpoint central --store numbered --resume list
same "the files of the first list again" "a b" "$(cat kept/0.out kept/1.out | xargs)"
same "the commands that ran then" "a a a b x" "$(LC_ALL=C sort log | xargs)"
# What has replaced a file since, without a result: a command that failed, a run with another folder.
printf 'echo f; exit 1\necho b | tee -a log\n' >other
"$program" --quiet --keep-going --files kept --checkpoint central --store numbered --resume other 2>/dev/null &&
  fail "expected a failure"
same "the file of the command that failed" "f" "$(cat kept/0.out)"
"$program" --quiet --files kept --checkpoint central --store numbered --resume -o table.CSV list
same "the files of the list" "a b" "$(cat kept/0.out kept/1.out | xargs)"
"$program" --quiet --files kept2 --checkpoint central --store numbered --resume list
same "the files in another folder" "a b" "$(cat kept2/0.out kept2/1.out | xargs)"
same "a table with another case" "number" "$(head -n 1 table.CSV | cut -d, -f1)"

# Output that cannot be passed on is not lost in silence.
if [ -w /dev/full ]; then
  printf 'echo lost\n' >list
  "$program" --quiet list >/dev/full 2>err && fail "a full disk"
  grep -q 'what it printed is incomplete: No space left on device' err || fail "found $(cat err)"
fi

# Commands that are MPI programs, or start one.
printf '%s -n 2 %s --version\n' "$mpiexec" "$program" >mpi
same "an MPI program" 1 "$("$mpiexec" -n 2 "$program" --quiet mpi | grep -c 'skel-run' || true)"

printf '%s -n 2 --oversubscribe echo x\n' "$mpiexec" >mpi
same "mpiexec in a job of Slurm" "x x" "$(SLURM_JOBID=7 SLURM_JOB_ID=7 SLURM_NODELIST='elsewhere[1-2]' \
  SLURM_TASKS_PER_NODE='4(x2)' "$program" --quiet --plain mpi | xargs)"

expect 2 'table.txt: unknown extension ".txt"; known: .csv, .jsonl' -o table.txt list
expect 2 "--sweep: the command behind -- has no place {b}" --sweep "a=1 b=2" -- echo '{a}'
expect 2 "missing: No such file or directory" missing
expect 2 "--verify" --verify list
expect 2 "$folder: Is a directory" "$folder"
# A folder that cannot be written is no failure of a command.
for option in --files --folders; do
  expect 2 "$option: /dev/null/x: Not a directory" $option /dev/null/x list
  code=0
  "$mpiexec" -n 2 "$program" --quiet $option list/x list 2>err || code=$?
  same "the exit code of two ranks" 2 $code
done
