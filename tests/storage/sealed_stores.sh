#!/usr/bin/env bash
# Programs with --key-file: every part in their stores is encrypted, and a job resumes only with the same key.
#   sealed_stores.sh MPIEXEC SKEL_CHECKPOINT SKEL_MATMUL SKEL_RAYTRACE SKEL_SEARCH
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
mpiexec=$1 checkpoint=$2
declare -A problem=([matmul]="--size 500 --panel 4" [raytrace]="--scene balls:2 --size 40x40" [search]="--queens 8")
declare -A ending=([matmul]=.bin [raytrace]=.ppm [search]=.txt)
declare -A path=([matmul]=$3 [raytrace]=$4 [search]=$5)
in_own_folder

fail() {
  echo "$1" >&2
  exit 1
}

use() { # use NAME: sets $program and its $call
  program=${path[$1]}
  read -ra call <<<"${problem[$1]}"
  call+=(--threads 1 --checkpoint "ida:2,1" --store "a,b,c" --every 1ms -o "result${ending[$1]}")
}

refused() { # refused TEXT ARGUMENTS...: one line, exit code 2, and no result
  rm -f result.*
  expect 2 "$1" "${call[@]}" "${@:2}"
  ! compgen -G 'result.*' >/dev/null || fail "a result was written: ${*:2}"
}

fresh() {
  rm -rf a b c
  mkdir a b c
}

head -c 32 /dev/urandom >key
printf '%064d\n' 7 >other
printf '\0%.0s' {1..32} >raw
mkdir directory
: >empty
head -c 100000 /dev/zero | tr '\0' 7 >large
{ printf '%064d' 7 && printf '\n\n\n\nmore'; } >lines
if ! "$checkpoint" encode --code replicate:1 --key-file key --to directory other >/dev/null 2>err; then
  grep -q 'built without libsodium' err
  use search
  refused "--key-file: key: this skel was built without libsodium" --key-file key
  exit 0
fi

for name in matmul raytrace search; do
  use "$name"
  fresh
  refused "--key-file: nowhere: No such file or directory" --key-file nowhere
  refused "--key-file: directory: Is a directory" --key-file directory
  for bad in empty large lines; do
    refused "--key-file: $bad: not a key, expected 32 bytes or 64 hexadecimal digits" --key-file $bad
  done
  [ -z "$(find a b c -type f)" ] || fail "a refused key has written to the store"

  expect 0 "" "${call[@]}" --quiet
  mv "result${ending[$name]}" plain
  refused "not encrypted, but a key was given (--key-file)" --resume --key-file key
  fresh
  expect 0 "" "${call[@]}" --quiet --key-file key
  cmp plain "result${ending[$name]}"
  refused "is encrypted: give its key (--key-file)" --resume
  refused "wrong key (--key-file)" --resume --key-file other
  refused "wrong key (--key-file)" --resume --key-file raw
  refused "there is a checkpoint in a, b, c already" --key-file other
  expect 0 "" "${call[@]}" --quiet --resume --key-file key
  cmp plain "result${ending[$name]}"

  # Encryption is the only property of a shard that list tells; manifests hold names, lengths and hashes.
  "$checkpoint" list --from a,b,c >out
  grep -q generation out || fail "no generation listed"
  ! grep generation out | grep -v ', encrypted' || fail "not encrypted"
  "$checkpoint" verify --quiet --from a,b,c
done

# Bytes of a picture that are in the shards of one run are in those of another, unless they are encrypted.
use raytrace
run_and_count() { # run_and_count ARGUMENTS...: sets count, the files of the store with these bytes
  fresh
  expect 0 "" "${call[@]}" --quiet "$@"
  count=$({ LC_ALL=C grep -rlaP "$pattern" a b c || true; } | wc -l)
}
fresh
expect 0 "" "${call[@]}" --quiet
pattern=$(find a b c -name 'results.*.000.shard' -exec od -An -tx1 -v -j 3000 -N 16 {} \; | head -n 1 | sed 's/ /\\x/g')
run_and_count
[ "$count" -gt 0 ] || fail "this test does not find plain data: $pattern"
run_and_count --key-file key
[ "$count" -eq 0 ] || fail "plain data in $count files of a sealed store"

# Ranks of a job with different keys.
code=0
fresh
use matmul
"$mpiexec" -n 1 "$program" "${call[@]}" --key-file key : -n 1 "$program" "${call[@]}" --key-file other >out 2>err || code=$?
if [ $code != 2 ] || ! grep -qF 'the content of --key-file of rank 1 differs' err; then
  fail "different keys: $code, $(cat err)"
fi
