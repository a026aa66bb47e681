#!/usr/bin/env bash
# The hosts of a job are of two clusters, and one of them is heavily loaded: checkpoints avoid it. All ranks are killed
# at once, and the disks of the cluster with most checkpoints are lost. Resumed on all ranks, and on those of the other
# cluster alone, the result must be the same to the byte:
#   clusters.sh SKEL_MPIEXEC ENDING PROGRAM ARGUMENTS...
# ENDING: extension of the result's file. Exit code 1 if any check fails.
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
skel_mpiexec=$1 ending=$2 program=$3
shift 3
own_folder
export SKEL_HOST=node%r SKEL_HOST_LOAD=1 SKEL_SUSPECT_AFTER=30s
store=ranks:$folder/%h@paris
command=("$program" "$@" --threads 1 --progress never)
# shellcheck disable=SC2054
checkpoint=(--checkpoint ida:1,1 --store "$store" --remote-every 2 --every 50ms)


# on_ranks ARGUMENTS...: ranks 0 to 2 in paris, rank 1 on the loaded host, ranks 3 and 4 in lyon
on_ranks() {
  local run=("${command[@]}" "${checkpoint[@]}" "$@")
  "$skel_mpiexec" --oversubscribe -n 1 env SKEL_CLUSTER=paris "${run[@]}" \
    : -n 1 env SKEL_CLUSTER=paris SKEL_HOST_LOAD=9 "${run[@]}" : -n 1 env SKEL_CLUSTER=paris "${run[@]}" \
    : -n 2 env SKEL_CLUSTER=lyon "${run[@]}" >"$folder/out" 2>"$folder/errors"
}

# generations RANK...: prints the numbers of the generations whose results lie on the disks of these ranks.
generations() {
  local rank
  for rank in "$@"; do find "$folder/node$rank" -name '[!.]*.shard'; done | sed -n 's/.*\/r[a-z]*\.\([0-9]*\)\..*/\1/p' | sort -nu
}

"${command[@]}" --quiet -o "$folder/alone$ending"
generation=3
[ "$ending" = .bin ] && generation=5 # the first two of supersteps hold the log of calls

for attempt in 1 2 3 4 5 6; do # repeated if the job ended before it could be killed
  rm -rf "$folder"/node? "$folder/killed$ending"
  on_ranks --quiet -o "$folder/killed$ending" &
  if kill_at_generation $generation "$store" "$folder"/node{0,1,2,3,4} && [ ! -e "$folder/killed$ending" ]; then break; fi
  [ "$attempt" -lt 6 ] || fail "the job could not be killed before its end"
done
paris=$(generations 0 1 2) lyon=$(generations 3 4)
[ -n "$paris" ] || fail "paris has no checkpoint"
[ -n "$lyon" ] || fail "lyon has no checkpoint"
for g in $paris; do ((g % 2 == 1)) || fail "generation $g lies in paris"; done
for g in $lyon; do ((g % 2 == 0)) || fail "generation $g lies in lyon"; done
second=$(find "$folder/node1" -name '[!.m]*.001.shard') # the first shard of its own part lies there
[ -z "$second" ] || fail "shards went to the loaded host: $second"

rm -rf "$folder"/node[012]
cp -a "$folder" "$folder.kept"
trap 'rm -rf "$folder" "$folder.kept"' EXIT
for ranks in all lyon; do
  rm -rf "$folder"/node?
  cp -a "$folder.kept"/node? "$folder"
  more=(--resume -o "$folder/later$ending" --report "$folder/report.json")
  if [ $ranks = all ]; then
    on_ranks "${more[@]}" || fail "the job on all ranks fails"
  else
    run=("${command[@]}" "${checkpoint[@]}" "${more[@]}")
    "$skel_mpiexec" --oversubscribe -n 1 env SKEL_CLUSTER=lyon SKEL_HOST=node3 "${run[@]}" : -n 1 env SKEL_CLUSTER=lyon SKEL_HOST=node4 "${run[@]}" \
      >"$folder/out" 2>"$folder/errors" || fail "the job in lyon fails"
    grep -qF "$store: no rank is of this cluster" "$folder/errors" || fail "it is not said that paris is missing"
  fi
  cmp "$folder/alone$ending" "$folder/later$ending" || fail "the result differs on the ranks of $ranks"
  echo "paris lost, resumed on $ranks:"
  was_restored "$folder/report.json"
  rm "$folder/later$ending"
done
