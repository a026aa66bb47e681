#!/usr/bin/env bash
# The ensemble prints the same bytes on 8 ranks of which one dies inside an MPI call of its team.
#   killed_ensemble.sh SKEL_MPIEXEC ENSEMBLE
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
skel_mpiexec=$1 program=$2
in_own_folder # --no-ulfm: see docs/reference/teams.md
# A rank dies in step 50. A member takes long on a busy machine: with few steps it ends before the time limit.
steps=100
"$program" 2 $steps >alone
for size in 2 4; do
  rm -f death
  code=0
  SKEL_ULFM=no ENSEMBLE_DEATH=$PWD/death SKEL_THREADS=1 SKEL_SUSPECT_AFTER=1s \
    "$skel_mpiexec" -n 8 --oversubscribe "$program" $size $steps >killed 2>errors || code=$?
  if [ $code != 0 ] || ! cmp alone killed || ! grep "^rank [1-7] in a team of $size\$" death; then
    echo "teams of $size: exit code $code" >&2
    cat killed errors >&2
    exit 1
  fi
  # The others of the team wait in MPI until the time limit.
  if [ "$(grep -c "^skel: rank [1-7]: task [0-9]*: it has run for longer than its time limit of 10 s, so this rank ends$" errors)" != $((size - 1)) ]; then
    echo "teams of $size: expected $((size - 1)) ranks to end after the time limit" >&2
    cat errors >&2
    exit 1
  fi
done
