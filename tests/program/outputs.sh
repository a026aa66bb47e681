#!/usr/bin/env bash
# Unwritable outputs are refused before the run: one line, exit code 2, and nothing computed. A run without an output
# and a success of --verify print a line.
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

# Output that is lost is an error.
full() { # full NAME ARGUMENTS...
  local code=0
  "$programs/$1" --progress never "${@:2}" >/dev/full 2>err || code=$?
  if [ $code != 1 ] || [ "$(cat err)" != "$1: standard output cannot be written" ]; then
    echo "expected exit code 1 and one line, found $code from: $*" >&2
    cat err >&2
    exit 1
  fi
}
printf '{"file": "v.bin", "size": [2, 2, 2], "type": "uint8"}' >v.json
printf '\0\1\2\3\4\5\6\7' >v.bin
printf 'file v.json\nrender v.png\n' >session.txt
full skel-components --generate uniform:n=9,m=9
full skel-search --queens 6
full skel-matmul --size 16
full skel-raytrace --scene balls:1 --size 8x8 --costs
full skel-isosurface --field sphere:9x9x9 --iso 0.5
full skel-volume --list v.json
full skel-volume --session=session.txt
full skel-volume --help

# says NAME LINE ARGUMENTS...: a success prints this line, unless --quiet is given.
says() {
  program=$programs/$1
  expect 0 '' "${@:3}" --report report.json
  grep -qx -- "$2" out || { cat out && exit 1; }
  case $2 in verified:*) grep -q '"verified": *true' report.json ;; esac
  expect 0 '' "${@:3}" --quiet
  if grep -qx -- "$2" out; then exit 1; fi
}
raytrace=(--scene balls:1 --size 16x16) volume=(--field linear:5x5x5 --size 16x16) matmul=(--size 32 --panel 8)
isosurface=(--field sphere:9x9x9 --iso 0.5) components=(--generate uniform:n=9,m=9)
says skel-raytrace 'verified: 256 pixels, without accelerator' "${raytrace[@]}" --verify
says skel-raytrace 'no picture written; -o FILE.png writes one' "${raytrace[@]}"
says skel-volume 'verified: 256 pixels, by brute force' "${volume[@]}" --verify
says skel-volume 'no picture written; -o FILE.png writes one' "${volume[@]}"
says skel-isosurface 'verified: [0-9]* vertices and [0-9]* triangles, by the values at the grid points' \
  "${isosurface[@]}" --verify
says skel-isosurface 'no mesh written; -o FILE.ply writes one' "${isosurface[@]}"
says skel-matmul 'verified: 16 rows, entry by entry' "${matmul[@]}" --verify
says skel-matmul 'no product written; -o FILE.bin writes one' "${matmul[@]}"
says skel-search 'verified: 4 solutions, by another method' --queens 6 --verify
says skel-components 'verified: 9 labels, by a breadth-first search of 9 edges' "${components[@]}" --verify
