#!/usr/bin/env bash
# A floor includes only what stands below it (docs/design.md). Prints every #include that points upwards or sideways;
# exit code 1 if there is one.
set -euo pipefail
cd "$(dirname "$0")/.."

grep -rnE '^#include "' include src --include='*.[ch]pp' | awk -F: '
  # The floor of a file, from its path without include/ or src/: a number, and a name for what stands beside.
  function floor_of(path) {
    if (path ~ /^(skel\/error|skel\/report|skel\/schedule\/task_range)\.hpp$|^values\//) return "0 values"
    if (path ~ /^skel\/protocol\/bytes\.hpp$/) return "0 values"
    if (path ~ /^(skel\/)?schedule\//) return "1 decisions"
    if (path ~ /^(skel\/)?transport\//) return "1 wires"
    if (path ~ /^(skel\/)?observe\//) return "1 observe"
    if (path ~ /^(skel\/)?protocol\//) return "2 roles"
    if (path ~ /^engine\/|^skel\/(context|run_main|worker)\.hpp$|^skel\/detail\//) return "3 engine"
    if (path ~ /^mpi\//) return "4 mpi"
    if (path ~ /^(skel\/)?sim\//) return "4 sim"
    if (path ~ /^(skel\/)?checkpoint\//) return "2 checkpoint"
    if (path ~ /^(skel\/)?model\//) return "5 model"
    if (path ~ /^skel\/[a-z_]+\.hpp$/) return "4 skeletons"
    return "6 programs"
  }
  {
    file = $1; from = file; sub(/^(include|src)\//, "", from)
    match($0, /"[^"]+"/); to = substr($0, RSTART + 1, RLENGTH - 2)
    if (to !~ /\//) { folder = from; sub(/[^\/]+$/, "", folder); to = folder to }
    a = floor_of(from); b = floor_of(to)
    if (b > a || (substr(a, 1, 1) == substr(b, 1, 1) && a != b)) {
      printf "%s:%s: floor %s includes %s of floor %s\n", file, $2, a, to, b
      bad = 1
    }
  }
  END { exit bad }'
