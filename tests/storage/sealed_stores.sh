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


use() { # use NAME: sets $program and its $call
  program=${path[$1]}
  read -ra call <<<"${problem[$1]}"
  call+=(--threads 1 --checkpoint "ida:2,1" --store "a,b,c" --every "${every:-1ms}" -o "result${ending[$1]}")
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

# Bytes in the middle of a picture's results are in the shards of each run, unless they are encrypted. One generation has
# them all, so each run cuts them in the same way.
every=1h
use raytrace
fresh
expect 0 "" "${call[@]}" --quiet
cp -r a plain.a
shards_with_plain() { # prints how many shards of a, b and c hold 16 bytes of a shard in plain.a
  python3 - <<'PYTHON'
import glob

longest = max((open(name, "rb").read() for name in glob.glob("plain.a/results.*.shard")), key=len)
middle = longest[len(longest) // 2 :][:16]
print(sum(middle in open(name, "rb").read() for name in glob.glob("[abc]/results.*.shard")))
PYTHON
}
for key in "" "--key-file key"; do
  fresh
  # shellcheck disable=SC2086
  expect 0 "" "${call[@]}" --quiet $key
  count=$(shards_with_plain)
  case $key,$count in
    ,0) fail "this test does not find plain data" ;;
    --*,[1-9]*) fail "plain data in $count shards of a sealed store" ;;
  esac
done

# Ranks of a job with different keys.
code=0
fresh
use matmul
"$mpiexec" -n 1 "$program" "${call[@]}" --key-file key : -n 1 "$program" "${call[@]}" --key-file other >out 2>err || code=$?
if [ $code != 2 ] || ! grep -qF 'the content of --key-file of rank 1 differs' err; then
  fail "different keys: $code, $(cat err)"
fi
