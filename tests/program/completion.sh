#!/usr/bin/env bash
# Tests what bash completes: completion.sh SOURCE PROGRAMS, two folders.
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
source=$1 PATH=$2:$1/scripts:$PATH
in_own_folder
for program in skel-checkpoint skel-raytrace skel-mpiexec; do
  cp "$source/cmake/bash_completion" $program
  # shellcheck source=cmake/bash_completion
  . ./$program
done

completes() { # completes EXPECTED WORDS...: what follows the last word, as Tab asks, is EXPECTED
  local expected=$1
  shift
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  complete -p "$1" | grep -q -- '-F _skel '
  _skel "$1" "${*: -1}" "${*: -2:1}"
  if [ "${COMPREPLY[*]-}" != "$expected" ]; then
    echo "$*: expected \"$expected\", found \"${COMPREPLY[*]-}\"" >&2
    exit 1
  fi
}

completes "encode" skel-checkpoint en
completes "repair encode decode verify list" skel-checkpoint ""
completes "--version" skel-checkpoint --ver
completes "--generation" skel-checkpoint encode --gen
completes "" skel-checkpoint --gen
completes "" skel-checkpoint encode de
completes "balanced biased" skel-raytrace --view ""
completes "brute" skel-raytrace --accelerator = br
completes "bvh slabs brute" skel-raytrace --accelerator =
completes "works serves" skel-raytrace --root ""
completes "rows tiles" skel-raytrace --unit ""
completes "auto blocks interleaved first-come guided hybrid ring" skel-raytrace --schedule ""
completes "streamed concentrated" skel-raytrace --results ""
completes "stop retry collect" skel-raytrace --on-error ""
completes "" skel-raytrace --report ""
completes "--oversubscribe" skel-mpiexec --over
completes "skel-raytrace" skel-mpiexec -n 4 skel-raytr
completes "--brightness" skel-mpiexec -n 4 skel-raytrace --bright
completes "biased" skel-mpiexec -n 4 skel-raytrace --view bia
