#!/usr/bin/env bash
# Tests skel-mpiexec with command lines and with an mpiexec that does not end:
#   launcher.sh SKEL_MPIEXEC VERSION
# shellcheck disable=SC2016 # what an mpiexec of ours expands
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
program=$1 version=$2
slurm=$(realpath "$(dirname "$0")/../../packaging/slurm")
in_own_folder

fake_mpiexec() { # fake_mpiexec VERSION LINES: an mpiexec that says it is this one; LINES of bash are what it does
  printf '#!/usr/bin/env bash\nif [ "$1" = --version ]; then echo "%s"; exit; fi\n%s\n' "$1" "$2" >mpiexec
  chmod +x mpiexec
}

refused() { # refused TEXT ARGUMENTS...: one line with this text, exit code 2, and mpiexec was not called
  local code=0
  rm -f called
  timeout 20 "$program" --mpiexec ./mpiexec "${@:2}" >out 2>err || code=$?
  if [ $code != 2 ] || [ "$(wc -l <err)" != 1 ] || ! grep -qF -- "$1" err || [ -e called ]; then
    echo "expected exit code 2 and \"$1\", found $code from: ${*:2}" >&2
    cat out err >&2
    exit 1
  fi
}

explained() { # explained TEXT ARGUMENTS...: --explain says so
  "$program" --explain --mpiexec ./mpiexec "${@:2}" >out
  if ! grep -qF -- "$1" out; then
    echo "expected \"$1\" from: ${*:2}" >&2
    cat out >&2
    exit 1
  fi
}

fake_mpiexec "mpirun (Open MPI) 4.1.4" "touch called"
mkdir folder
touch data
refused 'program "no-such-program" not found in PATH' -n 2 no-such-program
refused 'program "no-such-program" not found in PATH' --mca btl self,vader -x A=1 -n 2 --oversubscribe no-such-program --size 2 ls
refused 'program "no-such-program" not found in PATH' --unknown-option -n 2 no-such-program
refused 'program "no-such-program" not found in PATH' -n 1 true : -n 1 no-such-program
for mistyped in --restrat --restat --restarts --resturt; do
  refused "$mistyped: unknown option; did you mean --restart?" -n 2 $mistyped 3 ls
done
refused 'program "./no-such-program" not found' -n 2 ./no-such-program
refused '"./data" is not executable' -n 2 ./data
refused '"./data" is not executable' -n 2 data
refused '"./folder" is a directory' -n 2 ./folder
refused "missing PROGRAM"
refused "missing PROGRAM" -n 2
refused "missing PROGRAM" -n 1 true : -n 1
refused "-n: missing value" -n
refused '-n: expected a positive number, found "0"' -n 0 true
refused '-np: expected a positive number, found "abc"' -np abc true
refused "--mpiexec: missing path" --mpiexec
[ "$("$program" --version)" = "skel-mpiexec $version" ]
[ "$("$program" -n 2 --version)" = "skel-mpiexec $version" ]

explained " --unknown value -n 2 sh -c " --unknown value -n 2 true a : -n 1 ls --explain
explained " skel-rank true a : -n 1 sh -c " --unknown value -n 2 true a : -n 1 ls --explain
explained " skel-rank ls --explain" --unknown value -n 2 true a : -n 1 ls --explain
explained " -n 2 sh -c " --host a,b -n 2 ./elsewhere
explained " --unknown -n 2 sh -c " --host a,b --unknown -n 2 ./elsewhere --size 3
explained " skel-rank ./elsewhere --size 3" --host a,b --unknown -n 2 ./elsewhere --size 3
fake_mpiexec "HYDRA build details: Version: 4.0.2" "touch called"
explained " skel-rank true --oversubscribe : -n 1 sh -c" -n 1 --oversubscribe true --oversubscribe : -n 1 ls
explained " skel-rank ls -l" -n 1 true : -n 1 ls -l

# Other hosts may have different files.
fake_mpiexec "mpirun (Open MPI) 4.1.4" "touch called; echo '0 3' >\$SKEL_EXIT_STATUS_FILE"
code=0
"$program" --mpiexec ./mpiexec --host a,b -n 2 ./elsewhere || code=$?
[ $code = 3 ]
[ -e called ]

# An mpiexec that does not end after its only rank did.
fake_mpiexec "mpirun (Open MPI) 4.1.4" 'export OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_LOCAL_SIZE=1 PMIX_NAMESPACE=1
bash -c "sleep 3; echo 0 5 a reason >\$SKEL_EXIT_STATUS_FILE"
mkfifo fifo
read -r <>fifo'
code=0
timeout 60 "$program" --mpiexec ./mpiexec -n 1 true 2>err || code=$?
if [ $code != 5 ] || [ "$(cat err)" != "skel-mpiexec: all ranks have ended, killed mpiexec: a reason" ]; then
  echo "an mpiexec that does not end: exit code $code" >&2
  cat err >&2
  exit 1
fi

# An mpiexec that has lost a host ends when the other ranks have, but not when only a rank that was left behind has.
fake_mpiexec "mpirun (Open MPI) 4.1.4" 'echo 0 0 >$SKEL_EXIT_STATUS_FILE
echo 0 >$SKEL_EXIT_STATUS_FILE.gone
mkfifo fifo
read -r <>fifo'
rm fifo
mv mpiexec mpiexec.over
timeout 60 "$program" --mpiexec ./mpiexec.over -n 2 true 2>err.over &
over=$!
fake_mpiexec "mpirun (Open MPI) 4.1.4" 'echo 1 1 >$SKEL_EXIT_STATUS_FILE
echo 1 >$SKEL_EXIT_STATUS_FILE.gone
sleep 14
echo -1000000 0 >>$SKEL_EXIT_STATUS_FILE'
timeout 60 "$program" --mpiexec ./mpiexec -n 2 true 2>err
[ ! -s err ]
wait $over
[ "$(cat err.over)" = "skel-mpiexec: all ranks have ended, killed mpiexec" ]

# Restarts. Each mpiexec appends its arguments to calls, without the shell of each rank.
export SKEL_RESTART_PAUSE=0
restarts() { # restarts CODE CALLS LAST_LINE ARGUMENTS...: checks the exit code, the number of starts, and the last line
  local code=0
  rm -f calls
  timeout 60 "$program" --mpiexec ./mpiexec "${@:4}" >out 2>err || code=$?
  if [ $code != "$1" ] || [ "$(wc -l <calls)" != "$2" ] || [ "$(tail -n 1 err)" != "$3" ]; then
    echo "expected exit code $1, $2 starts and \"$3\", found $code from: ${*:4}" >&2
    cat calls err >&2
    exit 1
  fi
}
fake() { fake_mpiexec "mpirun (Open MPI) 4.1.4" "words=()
while ((\$# > 0)); do
  [ \"\$1 \$2 \$4\" != 'sh -c skel-rank' ] || shift 4
  words+=(\"\$1\") && shift
done
echo \"\${words[*]}\" >>calls
case \$(wc -l <calls) in 1) $1 ;; 2) $2 ;; *) $3 ;; esac"; }
lost='echo 0 1 a rank was lost >$SKEL_EXIT_STATUS_FILE' killed='kill -KILL $$' good='echo 0 0 >$SKEL_EXIT_STATUS_FILE'
none='no rank reported its exit code: all were lost, or the program does not use skel::run_main'
fake "$lost" "$killed" "$good"
restarts 0 3 "skel-mpiexec: $none; restart 2 of 5 in 0 s" --restart 5 -n 2 true --size 3
grep -qx 'skel-mpiexec: a rank was lost; restart 1 of 5 in 0 s' err
[ "$(sed -n 's/.* -n 2/-n 2/p' calls)" = "-n 2 true --size 3
-n 2 true --size 3 --resume auto
-n 2 true --size 3 --resume auto" ]
restarts 0 3 "skel-mpiexec: $none; restart 2 of 2 in 0 s" --restart 2 -n 1 true a : -n 1 ls b
grep -q ' -n 1 true a --resume auto : -n 1 ls b --resume auto$' calls
ln -s "$(type -P true)" skel-run
again="--resume auto"
restarts 0 3 "skel-mpiexec: $none; restart 2 of 2 in 0 s" --restart 2 \
  -n 1 ./skel-run a -- ./m.sh -- 1 : -n 1 env -- ./skel-run b : -n 1 true
grep -q " -n 1 ./skel-run a $again -- ./m.sh -- 1 : -n 1 env -- ./skel-run b $again : -n 1 true $again$" calls
restarts 137 2 "skel-mpiexec: $none; gave up after 1 restarts" --restart 1 -n 2 true
restarts 1 1 "" -n 2 true # without --restart
# A rank that dies in MPI_Init: nothing was computed.
early="rank 1 died before all ranks had started"
died="echo 0 1 $early >\$SKEL_EXIT_STATUS_FILE"
fake "$died" "$died" "$good"
restarts 0 3 "skel-mpiexec: $early; starting again (2 of 3)" -n 2 true --size 3
[ "$(sed -n 's/.* -n 2/-n 2/p' calls | uniq)" = "-n 2 true --size 3" ]
fake "$died" "$died" "$died"
restarts 1 4 "skel-mpiexec: $early; starting again (3 of 3)" -n 2 true
fake "$died" "$lost" "$good"
restarts 0 3 "skel-mpiexec: a rank was lost; restart 1 of 1 in 0 s" --restart 1 -n 2 true
grep -qx "skel-mpiexec: $early; starting again (1 of 3)" err
# What the program or the user has ended stays ended.
for own in 'echo 0 1' 'echo 0 2' 'echo 0 3'; do
  fake "$own >\$SKEL_EXIT_STATUS_FILE" "$good" "$good"
  restarts "${own: -1}" 1 "" --restart 5 -n 2 true
done
fake "echo not enough slots >&2; exit 1" "$good" "$good"
restarts 1 1 "not enough slots" --restart 5 -n 2 true
fake "$lost" "exit 1" "$good" # a host that is not back yet
restarts 0 3 "skel-mpiexec: mpiexec could not start the job, exit code 1; restart 2 of 5 in 0 s" --restart 5 -n 2 true
fake 'kill -TERM $PPID; sleep 5' "$good" "$good"
restarts 143 1 "" --restart 5 -n 2 true
refused '--restart: expected a number, found "many"' --restart many -n 2 true
refused '--hosts: expected HOST[:SLOTS],..., found "a:0"' --hosts a:0 -n 2 true
refused "--hosts: expected one program" --hosts a -n 1 true : -n 1 true
refused "--hosts: no host answers" --hosts a --probe false -n 2 true

# Hosts: b does not answer at the second start, and no host at the third.
cat >answers <<'TEXT'
#!/bin/bash
case $(wc -l <calls 2>/dev/null).$1 in 1.b | 2.*) exit 1 ;; esac
TEXT
chmod +x answers
fake "$lost" "$lost" "$good"
restarts 1 2 "skel-mpiexec: no host answers; gave up after 2 restarts" --restart 2 --hosts a:2,b:3,c --probe ./answers -n 5 true
[ "$(sed 's/.* --host/--host/' calls)" = "--host a:2,b:3,c -n 5 true
--host a:2,c -n 3 true --resume auto" ]
explained " --host a:2 -n 2 sh -c " --hosts a:2 --probe true true

# Ranks that outlive mpiexec are killed before the next start.
fake 'sleep 300 & echo $! >orphan; kill -KILL $$' "$good" "$good"
restarts 0 2 "skel-mpiexec: $none; restart 1 of 5 in 0 s" --restart 5 -n 2 true
state=$(ps -o stat= -p "$(cat orphan)" || true)
if [ -n "${state/#Z*/}" ]; then
  echo "a rank is left" >&2
  exit 1
fi

# The job script for Slurm.
mkdir slurm
printf '#!/bin/bash\necho "${*/*skel-store*/STORE}" >>words\n' >slurm/srun
chmod +x slurm/srun
added="--checkpoint ida:2,1 --store STORE --resume auto"
for words in "" " -- ./m.sh -- 1"; do
  # shellcheck disable=SC2086 # words
  PATH=$PWD/slurm:$PATH SLURM_SUBMIT_DIR=. SLURM_JOB_ID=1 SLURM_CPUS_PER_TASK=1 bash "$slurm/resume.sbatch" skel-run --size 3$words
done
[ "$(cat words)" = "--mpi=pmix --cpus-per-task=1 skel-run --size 3 $added
--mpi=pmix --cpus-per-task=1 skel-run --size 3 $added -- ./m.sh -- 1" ]
