#!/usr/bin/env bash
# usage: check.sh COMMANDS BIN MPIEXEC
# Runs each command line of COMMANDS as one process and on 3 ranks, and compares `result_xxh3` of
# its report with the line's first word. Skipped (77) on processors without fused multiply-add, on
# which the C library rounds exp and pow differently: results are guaranteed per type of processor.
set -euo pipefail
commands=$1 bin=$2 mpiexec=$3
if [ -r /proc/cpuinfo ] && ! grep -qw fma /proc/cpuinfo; then exit 77; fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
wrong=0 lines=0
while read -r expected program arguments; do
  lines=$((lines + 1))
  for launcher in "" "$mpiexec -n 3"; do
    rm -f "$folder/report.json"
    # shellcheck disable=SC2086  # split into words
    SKEL_THREADS=1 $launcher "$bin/$program" $arguments --quiet --report "$folder/report.json" </dev/null >/dev/null || true
    found=$(sed -n 's/.*"result_xxh3": "\([0-9a-f]*\)".*/\1/p' "$folder/report.json" 2>/dev/null || true)
    if [ "$found" != "$expected" ]; then
      echo "expected $expected, found \"$found\": $launcher $program $arguments"
      wrong=$((wrong + 1))
    fi
  done
done <"$commands"
echo "$lines command lines, $wrong wrong results"
[ "$wrong" = 0 ]
