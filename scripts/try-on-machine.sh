#!/usr/bin/env bash
# Tries checkpoints between this machine and an emulated big-endian one, or another compiler. See --help.
usage() {
  cat <<'TEXT'
usage: scripts/try-on-machine.sh [--compiler CXX] [--run COMMAND] [--resumes]

Compiles the store for this machine and, with CXX, for another one; saves a checkpoint on each, and checks that each resumes
its own, refuses the other's in one line, and repairs the other's. On Debian: apt-get install g++-s390x-linux-gnu qemu-user

  --compiler CXX  cross compiler [s390x-linux-gnu-g++]
  --run COMMAND   runs its programs [qemu-s390x]
  --resumes       each must resume the other's checkpoint instead: other compiler, same kind of machine

Others that are worth a try:
  scripts/try-on-machine.sh --compiler clang++ --run env --resumes
  scripts/try-on-machine.sh --compiler i686-linux-gnu-g++ --run env     # 32 bit; apt-get install g++-i686-linux-gnu
TEXT
}
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
compiler=s390x-linux-gnu-g++ run=qemu-s390x resumes=no
while (($# > 0)); do
  case $1 in
    --compiler) compiler=${2:?} && shift 2 ;;
    --run) run=${2:?} && shift 2 ;;
    --resumes) resumes=yes && shift ;;
    *) help_or_mistake "$1" ;;
  esac
done
for tool in "$compiler" "$run"; do command -v "$tool" >/dev/null || fail "$tool not found; see --help"; done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
compile() { # compile NAME COMPILER OPTIONS...: headers without a library, so that nothing else has to be there
  "${@:2}" -std=c++20 -O1 -DSKEL_WITH_SODIUM=0 -DSKEL_VECTOR_GF=0 -DFMT_HEADER_ONLY -Iinclude -Isrc \
    tests/storage/other_machine.cpp src/base/*.cpp src/storage/*.cpp -o "$folder/$1"
}
say "Compiling"
compile here "${CXX:-g++}" &
compile there "$compiler" -static -idirafter /usr/include
wait $! || fail "cannot compile"
here=("$folder/here") there=("$run" "$folder/there")
mkdir -p "$folder"/{h,t}/{a,b,c}
own=("$folder"/h/{a,b,c}) others=("$folder"/t/{a,b,c})

expect() { # expect CODE WHAT COMMAND...
  local code=0
  "${@:3}" >"$folder/out" || code=$?
  [ $code = "$1" ] || fail "$2: exit code $code, expected $1: $(cat "$folder/out")"
}
refuses() { # refuses WHAT COMMAND...: one line
  expect 2 "$@"
  grep -q 'was written on another kind of machine' "$folder/out" || fail "$1: $(cat "$folder/out")"
  [ "$(wc -l <"$folder/out")" = 1 ] || fail "$1: expected one line"
  sed "s|^$folder/||" "$folder/out"
}
say "Saving, resuming, repairing"
expect 0 "this machine saves" "${here[@]}" save "${own[@]}"
expect 0 "the other one saves" "${there[@]}" save "${others[@]}"
meets() { if [ $resumes = yes ]; then expect 0 "$@"; else refuses "$@"; fi; }
meets "this machine resumes the other's" "${here[@]}" resume "${others[@]}"
meets "the other one resumes this machine's" "${there[@]}" resume "${own[@]}"
rm "${own[1]}"/* "${others[0]}"/*
expect 0 "this machine repairs the other's" "${here[@]}" repair "${others[@]}"
expect 0 "the other one repairs this machine's" "${there[@]}" repair "${own[@]}"
rm "${own[0]}"/* "${others[1]}"/*
expect 0 "this machine resumes its own" "${here[@]}" resume "${own[@]}"
expect 0 "the other one resumes its own" "${there[@]}" resume "${others[@]}"
say "Done"
