#!/usr/bin/env bash
# Input and output files, and exit codes: program.sh SKEL_ISOSURFACE
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
program=$1
in_own_folder

for order in 1 3; do  # every field, with --verify
  for field in wind:31x25x9 marschner-lobb metaballs:16x16x16 turbulence:14x15x12; do
    value=0.5
    case $field in wind*) value=20,40 ;; esac
    expect 0 '' --field $field --order $order --iso $value --verify -o a.ply --report run.json
    grep -q '"triangles": *[1-9]' run.json
    grep -q '^verified: [0-9]* vertices and [0-9]* triangles, by the values at the grid points$' out
  done
  expect 0 '' --field linear --order $order --iso 0.3,0.6 --grid 3 --differences 4 --verify
  expect 0 '' --field wind --order $order --iso 30 --grid 3 --differences paper --verify
  expect 0 'skel-isosurface: --iso 1,2: the mesh is empty, expected a value that the volume passes' \
    --field homogeneous --order $order --iso 1,2 --verify --report run.json
  grep -q '^no mesh written; -o FILE.ply writes one$' out
  grep -q '"triangles": *0' run.json
done
[ "$(head -c 3 a.ply)" = ply ]
expect 0 '' --field metaballs:16x16x16 --iso 0.5 --order 3 --tolerance 0.001 --report run.json
grep -q '"level": *4' run.json
expect 2 'order 3' --field metaballs --iso 0.5 --tolerance 1
expect 2 'order 3' --field metaballs --iso 0.5 --level 2
for tolerance in 0 -1 inf nan; do
  expect 2 '--tolerance: expected a positive number' --field metaballs --iso 0.5 --order 3 --tolerance $tolerance
done
expect 2 'excludes' --field metaballs --iso 0.5 --order 3 --tolerance 1 --level 1

# A volume of 64 MB, of which a host holds at most 9 slices of 0.8 MB: more than the program itself
# needs.
expect 0 '' --field sphere:400x400x100 --iso 5 --order 3 --differences 4 --threads 1 --report run.json
memory=$(grep -o '"peak_memory_bytes": [0-9]*' run.json | grep -o '[0-9]*$')
[ "$memory" -lt 48000000 ] || { echo "peak memory: $memory bytes"; exit 1; }

# A mesh in parts, four times as large as the memory of the process that makes it.
expect 0 '' --field turbulence:160x160x160 --iso 0.4,0.5,0.6 --threads 1 -o t.pvtp --report run.json
memory=$(grep -o '"peak_memory_bytes": [0-9]*' run.json | grep -o '[0-9]*$')
bytes=$(cat t/layer-*.vtp | wc -c)
[ "$bytes" -gt $((4 * memory)) ] || { echo "$bytes bytes of parts, peak memory: $memory bytes"; exit 1; }
grep -q '"triangles": *[1-9]' run.json
rm -r t
expect 0 '' --field sphere:20x20x20 --iso 5 -o t.pvtp
expect 0 '' --field sphere:10x10x10 --iso 2 -o t.pvtp  # over an older mesh with more layers
[ "$(find t -type f | wc -l)" = 9 ]
: >blocked
expect 2 'blocked.pvtp: its parts need a folder blocked, which is a file' --field metaballs --iso 0.5 -o blocked.pvtp
expect 2 '--preview: expected a mesh in one file, found t.pvtp' --field metaballs --iso 0.5 -o t.pvtp --preview a.png
expect 2 '--verify: expected a mesh in one file, found t.pvtp' --field metaballs --iso 0.5 -o t.pvtp --verify

printf '{"file": "v.bin", "size": [3, 3, 3], "type": "uint8"}' >v.json
printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\144\0\0\0\0\0\0\0\0\0\0\0\0\0' >v.bin
expect 0 '' v.json --iso 50 --order 3 --verify -o v.ply
grep -q 'triangles' out
head -c 20 v.bin >short.bin
sed s/v.bin/short.bin/ v.json >short.json
expect 2 'short.bin' short.json --iso 50 -o no.ply
[ ! -e no.ply ]
# A value that cannot be read is a wrong input, although a task finds it.
printf 'NRRD0004\ntype: float\ndimension: 3\nsizes: 2 2 2\nencoding: ascii\n\n1 2 3 4 5 6 7 x' >bad.nrrd
expect 2 'bad.nrrd: at byte 79: expected a number of type float32, found "x"' bad.nrrd --iso 3 -o no.ply
sed '$s/.*/nan nan nan nan nan nan nan nan/' bad.nrrd >nan.nrrd
expect 0 'skel-isosurface: every cell has a missing value: the mesh is empty' nan.nrrd --iso 3 --quiet
expect 2 'none.vti: No such file' none.vti --iso 1
expect 0 '' v.json --list
printf '  uint8  3 x 3 x 3\n' | cmp - out
expect 2 'found one variable without a name, expected no --variable x' v.json --iso 1 --variable x
expect 2 '--variable, --time: expected a file VOLUME, found --field' --field wind --iso 1 --time 1
expect 2 '--iso: expected the values of the surfaces' v.json
expect 2 '--time: Value -1 not in range' v.json --iso 1 --time -1
expect 2 'The following argument was not expected: --colour; --help-all lists the options' v.json --colour
expect 2 'expected one volume' --iso 3
expect 2 '--iso: expected finite numbers' v.json --iso nan
expect 2 '--iso: expected a number, found nothing' v.json --iso ''
expect 2 '--group-size: expected auto or a number' v.json --iso 3 --group-size x
expect 2 'expected enough for a cell of --grid 3' v.json --iso 3 --grid 3
for file in a.obj a.vtp; do  # other formats; isosurface_files_test checks their contents
  expect 0 '' v.json --iso 50 --order 3 -o $file --preview a.png --preview-size 32x20 --model a.model --trace-costs a.csv
done
grep -q '^f 1//1 ' a.obj
expect 0 '' v.json --iso 50 --order 3 -o A.OBJ
cmp a.obj A.OBJ
grep -q 'NumberOfPolys="[1-9]' a.vtp
[ "$(head -c 8 a.model)" = SKELMODL ]
[ "$(grep -c '^row,' a.csv)" = 4 ]
for kind in first next packet; do [ "$(grep -c "^$kind," a.csv)" = 4 ]; done
[ "$(head -c 4 a.png | tail -c 3)" = PNG ]
for order in 1 3; do  # (x + 2 y + 4 z) / 7 is represented exactly
  expect 0 '' --field linear --order $order --grid 4 --iso 0.3 --model linear.model
  echo "0.3 0.6 0.1" | "$(dirname "$program")/skel-isosurface-eval" linear.model >out
  awk '{ for (i = 1; i <= 4; ++i) if (($i - e[i]) ^ 2 > 1e-11) exit 1 } BEGIN { split("0.271428571 0.142857143 0.285714286 0.571428571", e) }' out
done
"$(dirname "$program")/skel-isosurface-eval" linear.model . >out 2>err && exit 1
grep -q 'cannot be read' err
# The plane x + 2 y + 4 z = 3.5 is a line, seen along itself: from 153.43 degrees of azimuth without elevation,
# and from -29.21 degrees of elevation at right angles to that.
covered() {  # AZIMUTH ELEVATION: the pixels that are not white
  expect 0 '' --field linear --grid 4 --iso 0.5 --preview v.ppm --preview-size 100x80 --preview-whole \
    --preview-azimuth="$1" --preview-elevation="$2"
  tail -c 24000 v.ppm | od -An -v -tu1 -w3 | grep -cv '255 255 255'
}
flat=$(covered 63.4349 30)
[ "$flat" -gt 1000 ]
[ "$(covered 153.4349 0)" -lt $((flat / 10)) ]
[ "$(covered 153.4349 30)" -gt $((flat / 5)) ]
[ "$(covered 63.4349 -29.2058)" -lt $((flat / 10)) ]
expect 2 'unknown extension' v.json --iso 50 --preview a.gif
expect 2 '--preview-size: expected WIDTHxHEIGHT' v.json --iso 50 --preview a.png --preview-size 32
expect 2 'no/a.model: No such file' v.json --iso 50 --model no/a.model
expect 2 'unknown extension ".stl"' v.json --iso 3 -o a.stl
expect 2 'unknown field "x"' --field x --iso 3
expect 2 'no/a.ply: No such file or directory' v.json --iso 3 -o no/a.ply
echo ok
