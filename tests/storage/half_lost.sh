#!/usr/bin/env bash
# A store of 32 directories with the code ida:16,16 loses 16 of them for real. From every generation that the store holds,
# the rest of the run gives the same bytes: the newest is tried, then removed, until none is left.
#   half_lost.sh SKEL_MATMUL SKEL_CHECKPOINT
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
program=$1 checkpoint=$2
own_folder
product=(--size 1100 --panel 2 --rounds 5 --threads 1 --quiet --progress never)
directories=("$folder"/d{00..31})
store=$(IFS=,; echo "${directories[*]}")


newest() { # prints the number of the newest generation of the state in a copy of the store
  find "$1" -name 'rank.*.shard' | sed -n 's/.*\.\([0-9]*\)\.[0-9]*-of-[0-9]*\.[0-9]*\.shard$/\1/p' | sort -n | tail -n 1
}

"$program" "${product[@]}" -o "$folder/alone.bin"
mkdir "${directories[@]}"

stop_at_generation() { # stop_at_generation NUMBER: runs the program until the store holds it
  local code=0 job
  "$program" "${product[@]}" --checkpoint ida:16,16 --store "$store" --every 10ms -o "$folder/x.bin" 2>"$folder/errors" &
  job=$!
  while kill -0 $job 2>/dev/null && (($(newest "$folder") + 0 < $1)); do sleep 0.02; done
  kill -TERM $job 2>/dev/null || true
  wait $job || code=$?
  [ $code = 1 ] || fail "the run ended with $code, expected to be stopped: $(<"$folder/errors")"
}

stop_at_generation 3
generations=0
while [ -n "$(newest "$folder")" ]; do
  mkdir "$folder/kept"
  cp -r "${directories[@]}" "$folder/kept"
  mapfile -t lost < <(printf '%s\n' "${directories[@]}" | shuf -n 16 --random-source=<(yes $generations))
  rm -rf "${lost[@]}"
  mkdir "${lost[@]}" # the disks were replaced
  "$program" "${product[@]}" --checkpoint ida:16,16 --store "$store" --every 1h --resume -o "$folder/later.bin" \
    --report "$folder/report.json" || fail "generation $(newest "$folder/kept") is not restored"
  cmp "$folder/alone.bin" "$folder/later.bin" || fail "generation $(newest "$folder/kept") gives other bytes"
  grep -q '"restored_tasks": [1-9]' "$folder/report.json" || fail "nothing was restored"
  generations=$((generations + 1))
  rm -rf "${directories[@]}"
  mv "$folder/kept"/* "$folder"
  rmdir "$folder/kept"
  newest=$(newest "$folder")
  find "${directories[@]}" -name "*.$newest.*-of-*" -delete
done
[ $generations -ge 2 ] || fail "expected several generations, found $generations"
# One more than the code permits.
rm -rf "${directories[@]}"
mkdir "${directories[@]}"
stop_at_generation 1
rm -rf "${directories[@]::17}"
mkdir "${directories[@]::17}"
if "$program" "${product[@]}" --checkpoint ida:16,16 --store "$store" --resume -o "$folder/later.bin" 2>"$folder/errors"; then
  fail "17 of 32 shards are lost, and the run goes on"
fi
"$checkpoint" verify --from "$store" >/dev/null 2>&1 && fail "17 of 32 shards are lost, and verify finds no fault"
echo "$generations generations restored, each from 16 of 32 directories"
