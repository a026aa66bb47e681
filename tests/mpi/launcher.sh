#!/usr/bin/env bash
# Tests skel-mpiexec with command lines and with an mpiexec that does not end:
#   launcher.sh SKEL_MPIEXEC VERSION
# shellcheck disable=SC2016 # what an mpiexec of ours expands
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
program=$1 version=$2
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

explained " --unknown value -n 2 true a : -n 1 ls --explain" --unknown value -n 2 true a : -n 1 ls --explain
explained " -n 2 ./elsewhere" --host a,b -n 2 ./elsewhere
explained " --unknown -n 2 ./elsewhere --size 3" --host a,b --unknown -n 2 ./elsewhere --size 3
fake_mpiexec "HYDRA build details: Version: 4.0.2" "touch called"
explained " skel-rank true --oversubscribe : -n 1 sh -c" -n 1 --oversubscribe true --oversubscribe : -n 1 ls
explained " skel-rank ls -l" -n 1 true : -n 1 ls -l

# Other hosts may have different files.
fake_mpiexec "mpirun (Open MPI) 4.1.4" "touch called; echo '0 3' >\$SKEL_EXIT_STATUS_FILE"
code=0
"$program" --mpiexec ./mpiexec --host a,b -n 2 ./elsewhere || code=$?
[ $code = 3 ] && [ -e called ]

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
