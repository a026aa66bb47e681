#!/usr/bin/env bash
# The store is the ranks' own disks, one for each host, which no other rank can reach but by messages. All ranks are killed at
# once and a disk is emptied; on fewer ranks, and on more, the result is the same to the byte:
#   own_disks.sh SKEL_MPIEXEC GENERATION ENDING PROGRAM ARGUMENTS...
# GENERATION: the job is killed when this one is being written, so the one before is committed. ENDING: of the result's file.
# Exit code 1 if anything is not as it should be; 77 where mounts are not allowed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/programs.sh
. "$here/../programs.sh"
skel_mpiexec=$1 generation=$2 ending=$3 program=$4
shift 4
unshare --mount true 2>/dev/null || exit 77
own_folder
export SKEL_HOST=node%r
mkdir "$folder/own" "$folder/shared"
store=ranks:$folder/own,$folder/shared
# shellcheck disable=SC2054
command=("$program" "$@" --threads 1 --progress never --checkpoint ida:2,2 --store "$store" --every 50ms)

fail() {
  echo "$1" >&2
  cat "$folder"/errors >&2 || true
  exit 1
}

on_ranks() { # on_ranks N ARGUMENTS...: each rank with a disk of its own
  local ranks=$1
  shift
  "$skel_mpiexec" -n "$ranks" --oversubscribe "$here/own_disk.sh" "$folder" "$folder/own" "${command[@]}" "$@" \
    >"$folder/out" 2>"$folder/errors"
}

"$program" "$@" --quiet --progress never -o "$folder/alone$ending"

for attempt in 1 2 3 4 5 6; do # again, if the job was done before it could be killed
  rm -rf "$folder"/disk? "$folder"/shared/* "$folder/killed$ending"
  on_ranks 4 --quiet -o "$folder/killed$ending" &
  # On a busy machine checkpoints take longer than half of the job: an earlier one will do then.
  if ((attempt > 3 && generation > 2)); then generation=2; fi
  if kill_at_generation "$generation" "$store" "$folder"/disk{0,1,2,3} && [ ! -e "$folder/killed$ending" ]; then break; fi
  [ "$attempt" -lt 6 ] || fail "the job could not be killed before its end"
done
[ -z "$(ls "$folder/own")" ] || fail "somebody wrote to the directory itself instead of a rank's disk"
for disk in "$folder"/disk{0,1,2,3} "$folder/shared"; do
  [ -n "$(ls "$disk")" ] || fail "no shard has come to $disk"
done
# No two shards of a part lie on one host while there are enough: each index of a part once in all, on another disk.
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
  cmp "$folder/alone$ending" "$folder/later$ending" || fail "another result on $later ranks"
  restored=$(grep -o '"restored_[a-z]*": [0-9]*' "$folder/report.json" | tr '\n' ' ')
  echo "4 ranks killed, $later went on: $restored"
  case $restored in *'"restored_generation": '[1-9]*) ;; *) fail "nothing was restored" ;; esac
  case $restored in *'"restored_tasks": '[1-9]*) ;; *) fail "all tasks were done again" ;; esac
  rm "$folder/later$ending"
done
