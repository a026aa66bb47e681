#!/usr/bin/env bash
# Each unusable store gives one line that names a directory or a file, exit code 2, and no result.
#   bad_stores.sh SKEL_MATMUL SKEL_RAYTRACE SKEL_SEARCH
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
declare -A problem=([matmul]="--size 60 --panel 8" [raytrace]="--scene balls:2 --size 40x40" [search]="--queens 6")
declare -A ending=([matmul]=.bin [raytrace]=.ppm [search]=.txt)
declare -A path=([matmul]=$1 [raytrace]=$2 [search]=$3)
in_own_folder

use() { # use NAME: sets $program and its $call, which would write a result
  program=${path[$1]}
  read -ra call <<<"${problem[$1]}"
  call+=(--threads 1 --checkpoint "ida:1,1" -o "result${ending[$1]}")
}

refused() { # refused TEXT STORE ARGUMENTS...
  expect 2 "$1" "${call[@]}" --store "$2" "${@:3}"
  ! compgen -G 'result.*' >/dev/null || {
    echo "a result was written: ${*:2}" >&2
    exit 1
  }
}

fresh() {
  rm -rf a b
  mkdir a b
}

for name in matmul raytrace search; do
  use $name
  fresh
  refused "there is no checkpoint to resume from in a, b" a,b --resume
  refused "/nowhere: No such file or directory; create the directory, or name another (--store)" /nowhere
  touch file
  refused "file: Not a directory; create the directory" file
  refused "\"ranks:\": missing directory" ranks:
  refused "\"x%z\": expected %h" ranks:x%z
  refused "\"ranks:@a\": missing directory" ranks:@a
  refused "\"ranks:x@\": missing cluster, expected ranks:DIR@CLUSTER" ranks:x@
  refused "\"ranks:x@a\": no rank has a cluster, set SKEL_CLUSTER" ranks:x@a
  refused "\"ranks:x@a\": remote directories have no cluster" a --remote ranks:x@a
  SKEL_CLUSTER=a SKEL_HOST_LOAD=much refused "SKEL_HOST_LOAD must be a number" ranks:x@a
  refused "/file/x: Not a directory; create the directory" ranks:file/x
  # Not even root can write into a file system of the kernel.
  refused "/proc: " /proc
done

# Files under a shard's name that are not shards.
use raytrace
fresh
expect 0 "" "${call[@]}" --quiet --store a,b
rm result.ppm
cp -r a whole
for bad in directory pipe empty garbage cut; do
  rm -rf a b
  cp -r whole a
  mkdir b
  for shard in a/*.shard; do
    case $bad in
      directory) rm "$shard" && mkdir "$shard" ;;
      pipe) rm "$shard" && mkfifo "$shard" ;;
      empty) : >"$shard" ;;
      garbage) head -c 5000 /dev/urandom >"$shard" ;;
      cut) truncate -s 100 "$shard" ;; # within the header
    esac
  done
  refused "there is no checkpoint to resume from in a, b" a,b --resume
  [ $bad = directory ] || refused ": the run does not start anew" a,b --resume auto
done

# Directories that cannot be read may hold a checkpoint.
fresh
refused "c: No such file or directory: the run does not start anew" a,b,c --resume auto --quiet

# The store of another program, and that of the same program with another problem.
for name in matmul search; do
  use $name
  rm -rf a b
  cp -r whole a
  mkdir b
  for resume in "" --resume --resume=auto; do
    refused "a: contains generation 2 of skel-raytrace " a,b $resume
  done
done
use raytrace
call+=(--depth 2)
for resume in --resume --resume=auto; do
  refused "a: contains generation 2 of skel-raytrace" a,b $resume
  grep -qF " with other options or input; repeat those of that run, or use another store" err
done

# A file system as small as its own directory has no space left from the first byte on.
on_full() { # on_full CODE ARGUMENTS...
  local code=0
  # shellcheck disable=SC2016
  unshare --mount bash -c 'mount -t tmpfs -o size=4k full full && "$@"' on_full "$program" --progress never "${call[@]}" \
    "${@:2}" >out 2>err || code=$?
  if [ $code != "$1" ] || ! grep -qF "full: No space left on device; checkpoints need a directory that can be written to" err; then
    echo "exit code $code on a full disk: ${*:2}" >&2
    cat err >&2
    exit 1
  fi
}
if unshare --mount true 2>/dev/null; then
  mkdir full
  for name in matmul raytrace search; do
    use $name
    fresh
    on_full 2 --store full
    [ "$(wc -l <err)" -eq 1 ]
    on_full 0 --store a,b,full # reported; the shards go to the other directories
    [ -s "result${ending[$name]}" ]
    rm result.*
  done
fi
