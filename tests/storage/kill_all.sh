#!/usr/bin/env bash
# Kills all ranks of a job at once, including the root. One directory of its store is emptied, and a
# bit is flipped in each shard of another. A second job resumes on another number of ranks; its
# result must be the same to the byte.
#   kill_all.sh SKEL_MPIEXEC RANKS RANKS_LATER ENDING PROGRAM ARGUMENTS...
# ENDING: extension of the result's file. Exit code 1 if any check fails.
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
skel_mpiexec=$1 ranks=$2 later=$3 ending=$4 program=$5
shift 5
own_folder
command=("$program" "$@" --threads 1 --progress never)
stores=("$folder"/d{0,1,2,3,4,5})
store=$(IFS=,; echo "${stores[*]}")
checkpoint=(--checkpoint ida:4,2 --store "$store" --every 50ms)


refused() { # refused TEXT ARGUMENTS...: one line with this text, and exit code 2
  local text=$1 code=0
  shift
  "${command[@]}" --quiet "$@" 2>"$folder/errors" || code=$?
  [ $code -eq 2 ] || fail "exit code $code instead of 2: $*"
  [ "$(wc -l <"$folder/errors")" -eq 1 ] || fail "not one line: $*"
  grep -qF -- "$text" "$folder/errors" || fail "no \"$text\": $*"
}

"${command[@]}" --quiet -o "$folder/alone$ending"

for attempt in 1 2 3 4 5 6; do # repeated if the job ended before it could be killed
  rm -rf "${stores[@]}" "$folder/killed$ending"
  mkdir "${stores[@]}"
  [ "$attempt" -gt 1 ] || refused "no checkpoint to resume from" "${checkpoint[@]}" --resume
  "$skel_mpiexec" -n "$ranks" --oversubscribe "${command[@]}" --quiet "${checkpoint[@]}" -o "$folder/killed$ending" \
    >"$folder/out" 2>"$folder/errors" &
  if kill_at_generation 3 "$store" "${stores[@]}" && [ ! -e "$folder/killed$ending" ]; then break; fi
  [ "$attempt" -lt 6 ] || fail "the job could not be killed before its end"
done
[ -n "$(ls "$folder/d3")" ] || fail "the killed job left no checkpoint"

rm -f "$folder"/d1/*
for shard in "$folder"/d3/*; do
  size=$(stat -c %s "$shard")
  at=$((size * 3 / 4))
  byte=$(od -An -tu1 -j $at -N 1 "$shard")
  # shellcheck disable=SC2059
  printf "\\x$(printf %x $((byte ^ 16)))" | dd of="$shard" bs=1 seek=$at conv=notrunc status=none
done

refused "already: resume it (--resume)" "${checkpoint[@]}"
"$skel_mpiexec" -n "$later" --oversubscribe "${command[@]}" "${checkpoint[@]}" --resume -o "$folder/later$ending" \
  --report "$folder/report.json" >"$folder/out" 2>"$folder/errors" || fail "the resumed job fails"
cmp "$folder/alone$ending" "$folder/later$ending" || fail "the result differs"
grep -q "$folder/d3/" "$folder/errors" || fail "damaged shards in d3 were not reported"
echo "$ranks ranks killed, resumed on $later:"
was_restored "$folder/report.json"
