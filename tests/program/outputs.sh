#!/usr/bin/env bash
# Unwritable outputs are refused before the run: one line, exit code 2, and nothing computed.
#   outputs.sh FOLDER_OF_PROGRAMS
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
programs=$1
in_own_folder
missing=$folder/missing

# refused NAME TEXT ARGUMENTS...
refused() {
  program=$programs/$1
  expect 2 "$1: $2" "${@:3}"
  if [ -s out ]; then
    echo "computed before it was refused: $1 ${*:3}" >&2
    exit 1
  fi
}

check() { # check NAME EXTENSION_OF_OUTPUT "OWN OPTIONS" ARGUMENTS...
  local option
  for option in -o "--report" "--trace" "--samples" $3; do
    refused "$1" "$missing/x$2: No such file or directory" "${@:4}" "$option" "$missing/x$2"
  done
  SKEL_TRACE=$missing/t.json refused "$1" "SKEL_TRACE: $missing/t.json: No such file or directory" "${@:4}"
}

check skel-raytrace .png "--preview --write-scene --unit-costs" --scene balls:2 --size 32x32
check skel-volume .png "--unit-costs" --field linear --size 16x16
check skel-isosurface .ply "--model --trace-costs" --field sphere --iso 0
refused skel-isosurface "$missing/x.png: No such file or directory" --field sphere --iso 0 --preview "$missing/x.png"
check skel-search .txt "" --queens 6
check skel-components .txt "" --generate uniform:n=9,m=9
refused skel-components "$missing/x.skel-edges: No such file or directory" --generate uniform:n=9,m=9 --write-graph "$missing/x.skel-edges"
check skel-matmul .bin "" --size 16
for name in raytrace search matmul; do
  case $name in
    raytrace) call=(--scene balls:2 --size 32x32) ;;
    search) call=(--queens 6) ;;
    matmul) call=(--size 16) ;;
  esac
  refused skel-$name "$missing: No such file or directory; create the directory" "${call[@]}" --checkpoint central --store "$missing"
done
