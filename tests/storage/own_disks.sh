#!/usr/bin/env bash
# The store is the ranks' own disks, one per host, which other ranks reach only by messages. All
# ranks are killed at once and a disk is emptied. On fewer and on more ranks the resumed result must
# be the same to the byte:
#   own_disks.sh SKEL_MPIEXEC GENERATION ENDING PROGRAM ARGUMENTS...
# GENERATION: the job is killed while this one is written, so the previous one is committed. ENDING:
# extension of the result's file.
# Exit code 1 if any check fails; 77 if mounts are not permitted.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/programs.sh
. "$here/../programs.sh"
skel_mpiexec=$1 generation=$2 ending=$3 program=$4
shift 4
problem=("$@")
unshare --mount true 2>/dev/null || exit 77
own_folder
export SKEL_HOST=node%r
mkdir "$folder/own" "$folder/shared"
store=ranks:$folder/own,$folder/shared
# shellcheck disable=SC2054
checkpoint=(--threads 1 --progress never --checkpoint ida:2,2 --store "$store" --every 50ms)


on_ranks() { # on_ranks N ARGUMENTS...: each rank with a disk of its own
  local ranks=$1
  shift
  "$skel_mpiexec" -n "$ranks" --oversubscribe "$here/own_disk.sh" "$folder" "$folder/own" \
    "$program" "${problem[@]}" "${checkpoint[@]}" "$@" >"$folder/out" 2>"$folder/errors"
}

alone() { "$program" "${problem[@]}" --quiet --progress never -o "$folder/alone$ending"; }
alone
for attempt in 1 2 3 4 5 6; do # repeated if the job ended before it could be killed
  if ((attempt > 3)); then # on a busy machine checkpoints take longer than half of the job
    make_larger
    alone
  fi
  rm -rf "$folder"/disk? "$folder"/shared/* "$folder/killed$ending"
  on_ranks 4 --quiet -o "$folder/killed$ending" &
  if kill_at_generation "$generation" "$store" "$folder"/disk{0,1,2,3} && [ ! -e "$folder/killed$ending" ]; then break; fi
  [ "$attempt" -lt 6 ] || fail "the job could not be killed before its end"
done
[ -z "$(ls "$folder/own")" ] || fail "the directory itself was written instead of a rank's disk"
for disk in "$folder"/disk{0,1,2,3} "$folder/shared"; do
  [ -n "$(ls "$disk")" ] || fail "no shard reached $disk"
done
# No two shards of a part lie on one host if there are enough hosts: each index of a part exists
# once, on another disk.
twice=$(for disk in "$folder"/disk?; do (cd "$disk" && ls) | grep -v '^manifest' | sed 's/\.[0-9]*\.shard$//' | sort | uniq -d; done)
[ -z "$twice" ] || fail "two shards on one disk: $twice"

rm -f "$folder"/disk1/*
mkdir "$folder/kept"
cp -a "$folder"/disk? "$folder/shared" "$folder/kept"
for later in 3 6; do
  rm -rf "$folder"/disk?
  rm -f "$folder"/shared/*
  cp -a "$folder"/kept/* "$folder"
  on_ranks $later --resume -o "$folder/later$ending" --report "$folder/report.json" || fail "the job on $later ranks fails"
  cmp "$folder/alone$ending" "$folder/later$ending" || fail "the result differs on $later ranks"
  echo "4 ranks killed, resumed on $later:"
  was_restored "$folder/report.json"
  rm "$folder/later$ending"
done
