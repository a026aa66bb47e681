#!/usr/bin/env bash
# Every kind, exchange, number of ranks and number of threads gives the same labels, to the byte:
#   same_labels.sh MPIEXEC SKEL-COMPONENTS GRAPH [RANKS...]
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
mpiexec=$1 program=$2 graph=$3
shift 3
own_folder
export SKEL_CHECK_INPUTS=yes  # all edges of graphs that the ranks generate or read

"$program" --generate "$graph" --local dfs --quiet -o "$folder/expected.bin" --write-graph "$folder/graph.skel-edges" --verify
runs=0
check() { # COMMAND...
  "$@" --quiet --progress never -o "$folder/labels.bin" >"$folder/out"
  if ! cmp -s "$folder/expected.bin" "$folder/labels.bin"; then
    echo "$graph: other labels from: $*" >&2
    exit 1
  fi
  runs=$((runs + 1))
}
for ranks in "$@"; do
  for kind in hypercube tree embarrassing; do
    for exchange in cheapest dense; do
      check "$mpiexec" -n "$ranks" "$program" --generate "$graph" --kind $kind --exchange $exchange
    done
    check "$mpiexec" -n "$ranks" "$program" "$folder/graph.skel-edges" --kind $kind --threads 2
  done
done
echo "$graph: $runs runs"
