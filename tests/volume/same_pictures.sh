#!/usr/bin/env bash
# The same picture, to the bit, for every schedule, results policy, task size, instruction set and
# number of ranks, and close to the brute-force integral: same_pictures.sh MPIEXEC SKEL_VOLUME SPECS
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
mpiexec=$1 program=$2 specs=$3
own_folder

expected=
check() { # check WHAT COMMAND...
  same_hash "$@" --field wind:41x33x12 --spec "$specs/storm.json" --background none --size 61x47
}

check "one process" "$program" --verify
check "portable code, two threads, blocks" "$program" --instructions portable --threads 2 --decomposition blocks
# Each instruction set that the processor has: alone, and together with ranks that use another, for
# whole rays and slabs.
mixed() { # mixed CODE ARGUMENTS...: CODE on rank 0, portable code on the others
  # shellcheck disable=SC2016  # ranks expand it
  "$mpiexec" -n 3 bash -c 'code=$0 && [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || code=portable
    exec "$1" --instructions $code "${@:2}"' "$1" "$program" "${@:2}"
}
for code in avx2 avx512 avx512-gather; do
  grep -qw "${code%-gather}\(dq\)\?" /proc/cpuinfo || continue
  check "code for $code" "$program" --instructions $code
  check "code for $code beside portable code" mixed $code --schedule first-come
  check "code for $code beside portable code, 4 slabs" mixed $code --slabs 4 --schedule first-come
  check "code for $code beside portable code, a slab on each rank" mixed $code --slabs ranks
done
for ranks in 1 2 3; do  # the paper's four policies, and others
  check "$ranks ranks, D_S" "$mpiexec" -n $ranks "$program" --schedule first-come
  check "$ranks ranks, D_C" "$mpiexec" -n $ranks "$program" --schedule first-come --results concentrated
  check "$ranks ranks, S_S" "$mpiexec" -n $ranks "$program" --schedule interleaved
  check "$ranks ranks, S_C" "$mpiexec" -n $ranks "$program" --schedule interleaved --results concentrated
  check "$ranks ranks, ring, 16 pixels a task" "$mpiexec" -n $ranks "$program" --schedule ring --pixels 16 --root serves
done
# Slabs give the bytes of the whole grid.
check "a process, 1 slab" "$program" --slabs 1
check "a process, a slab for each layer" "$program" --slabs 100 --threads 2
for ranks in 2 3; do
  check "$ranks ranks, 3 slabs" "$mpiexec" -n $ranks "$program" --slabs 3
  check "$ranks ranks, 4 slabs that each reads, 40 pixels a task, ring" "$mpiexec" -n $ranks "$program" --slabs 4 --grid all \
    --pixels 40 --schedule ring --root serves
done
for ranks in 1 2 3 4; do
  check "$ranks ranks that keep a slab" "$mpiexec" -n $ranks "$program" --slabs ranks --threads 2
  check "$ranks ranks that read and keep a slab" "$mpiexec" -n $ranks "$program" --slabs ranks --grid all
done
echo "$expected"

# A time series: the next grid is transferred in the meantime, or read by every rank.
expected=
for run in "" "$mpiexec -n 2" "$mpiexec -n 3"; do
  for grid in root all; do
    # shellcheck disable=SC2086  # words
    same_hash "a time series with \"$run\" and --grid $grid" $run "$program" --field wind:31x25x9 --steps 4 --grid $grid \
      --size 40x31 --background none --threads 1
  done
done
