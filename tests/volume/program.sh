#!/usr/bin/env bash
# Input and output files, every example specification, and exit codes: program.sh SKEL_VOLUME SPECS yes|no
# The last word: whether the program writes .exr.
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
program=$1 specs=$2 exr=$3
in_own_folder
differ() { # differ FILE FILE
  if cmp -s "$1" "$2"; then
    echo "the same: $1 $2" >&2
    exit 1
  fi
}

for spec in "$specs"/*.json; do  # verifies each example
  field=metaballs:24x24x24
  case $spec in */storm.json | */bird.json | */background.json) field=wind:31x25x9 ;; esac
  expect 0 '' --field $field --spec "$spec" --size 40x30 --verify -o a.png
done
expect 0 '' --field metaballs:20x20x20 --size 24x16 --frames 3 -o turn.png --report run.json
[ -s turn-000.png ]
[ -s turn-002.png ]
[ ! -e turn.png ]
grep -q '"pictures": *3' run.json
expect 0 '' --field sphere:9x9x9 --size 16x16 --background '#102030' -o b.pfm
[ "$(head -c 8 b.pfm | tr "\n" " ")" = "PF 16 16" ]
expect 2 'n.pfm: the format has no opacity, expected .png or .exr' --field sphere:9x9x9 --background none -o n.pfm
# The colours in front of nothing are those in front of black.
words() { od -An -v -tx4 -w4 | tr -d ' '; }
if [ "$exr" = yes ]; then
  expect 0 '' --field sphere:9x9x9 --size 16x13 --background '#000000' -o black.pfm
  expect 0 '' --field sphere:9x9x9 --size 16x13 --background none -o none.exr
  # Lines of number, size, and the channels A, B, G, R; of the .pfm from below, R, G, B of each pixel.
  tail -c $((13 * 4 * (2 + 4 * 16))) none.exr | words | awk '{ line[int((NR - 1) / 66), (NR - 1) % 66] = $1 } END {
    for (y = 12; y >= 0; y--) for (x = 0; x < 16; x++) for (c = 3; c > 0; c--) print line[y, 2 + 16 * c + x] }' >colours
  tail -c $((13 * 16 * 3 * 4)) black.pfm | words | cmp - colours
  [ "$(sort -u colours | wc -l)" -gt 50 ]
fi
expect 0 '' --field wind:9x9x9 --background a.png --size 20x20 -o c.png
expect 0 '' --field wind:31x25x9 --size 30x20 --ray-statistics
grep -q '^Median' out

printf '{"file": "v.bin", "size": [2, 2, 3], "type": "uint8"}' >v.json
printf '\0\1\2\3\4\5\6\7\10\11\12\13' >v.bin
expect 0 '' v.json --size 8x8 --verify -o v.png
grep -q '^verified: 64 pixels, by brute force$' out
if grep -q 'no picture' out; then exit 1; fi
expect 0 '' v.json --size 8x8
grep -q '^no picture written; -o FILE.png writes one$' out
expect 0 '' v.json --size 8x8 --quiet
[ ! -s out ]
expect 0 '' --series v.json v.json --size 8x8 -o series.png
[ -s series-001.png ]
expect 0 '' --field wind:9x9x9 --steps 3 --size 16x12 -o hour.png
[ -s hour-002.png ]
differ hour-000.png hour-002.png
expect 0 '' --field wind:9x9x9@2 --size 16x12 -o two.png
cmp two.png hour-002.png
# Nothing can be seen of a volume without values.
printf 'NRRD0004\ntype: float\ndimension: 3\nsizes: 2 2 2\nencoding: ascii\n\nnan nan nan nan nan nan nan nan' >nan.nrrd
for slabs in "" "--slabs 1"; do
  # shellcheck disable=SC2086
  expect 0 'skel-volume: nan.nrrd: all values are missing: the picture shows nothing' nan.nrrd $slabs --size 8x8 --quiet --report run.json
  grep -q '"volumes_without_values": *1' run.json
done
printf 'NRRD0004\ntype: short\ndimension: 3\nsizes: 5 4 x\n\n' >bad.nrrd
expect 2 'skel-volume: bad.nrrd: sizes: expected 3 numbers, found "5 4 x"' bad.nrrd -o no.png
[ ! -e no.png ]
expect 2 'none.vti: No such file' none.vti
expect 2 'expected one volume' --size 8x8
expect 2 'expected only one of them' --series v.json --frames 2
expect 2 'unknown field "x"' --field x
echo '{"lihgt": 1}' >wrong.json
expect 2 'wrong.json: unknown key "lihgt"' --field wind --spec wrong.json
{ printf '{"tolerance": ' && printf '[%.0s' {1..200000} && printf ']%.0s' {1..200000} && echo '}'; } >deep.json
expect 2 'deep.json: not JSON: nested more than 100 deep' --field wind --spec deep.json
expect 2 '--size: expected WIDTHxHEIGHT' --field wind --size 8
expect 2 "unknown extension; known: .png, .ppm, .pfm, .exr" --field wind -o a.jpg
expect 2 'found 1073741824 pixels, expected at most 1073741823 in a .png' --field wind --background none --size 32768x32768 -o a.png
expect 2 'only wind changes with time' --field sphere --steps 2
expect 2 '0 to 240 hours behind @, found "x"' --field wind@x
expect 2 'v.json: --time: expected 0 (the file has one time), found 1' v.json --steps 2 --size 8x8
expect 2 '--steps: expected at most 240 hours of a field' --field wind --steps 241
expect 2 '--steps and --series: expected only one of them' --series v.json --steps 2
expect 2 '--variable, --time: expected a file FIELD, found --field' --field wind --variable speed
expect 2 '--list: expected a file FIELD' --field wind --list

# A file of two arrays and times.
a="<DataArray format='ascii' type='Int8'"
printf '%s' "<VTKFile><ImageData WholeExtent='0 1 0 1 0 1' TimeValues='0 1'><Piece Extent='0 1 0 1 0 1'><PointData>
  $a Name='speed' TimeStep='0'>0 1 2 3 4 5 6 7</DataArray>$a Name='speed' TimeStep='1'>7 6 5 4 3 2 1 0</DataArray>
  $a Name='other'>7 6 5 4 3 2 1 0</DataArray></PointData></Piece></ImageData></VTKFile>" >two.vti
expect 0 '' two.vti --list
printf 'speed  Int8  2 x 2 x 2, 2 times\nother  Int8  2 x 2 x 2, 2 times\n' | cmp - out
expect 0 '' two.vti --array speed --size 8x8 --steps 2 -o step.png
expect 0 '' two.vti --variable other --size 8x8 -o other.png
expect 0 '' two.vti --time 1 --size 8x8 -o time.png
cmp step-001.png other.png
cmp step-001.png time.png
differ step-000.png step-001.png
expect 2 'skel-volume: --steps 2: two.vti: --time: expected 0 to 1, found 2' two.vti --time 1 --steps 2 --size 8x8 -o late.png
[ -z "$(compgen -G 'late*')" ] # refused before the first picture
expect 2 'skel-volume: two.vti: --time: expected 0 to 1, found 2' two.vti --time 2 --steps 2
expect 2 '--time: Value -1 not in range 0 to' two.vti --time -1
expect 2 '--background: expected a FILE.png, "map", "none" or #rrggbb, found "a"b"' --field wind --background 'a"b'
expect 2 'none.png: ' --field wind:5x5x5 --background none.png
expect 0 '' --field turbulence:80x80x80 --size 20x15 --memory 2 --frames 2 -o slabs.png --report run.json
# 15 planes of 6400 points take 972,000 bytes: two such slabs fit into 2 MiB, two of 17 planes do not.
grep -q '"slabs": *7,' run.json
[ -s slabs-001.png ]
expect 0 '' --field turbulence:80x80x80 --size 20x15 --frames 2 -o whole.png --unit-costs costs.csv --pixels 100
cmp slabs-001.png whole-001.png
[ "$(grep -c '^0\.[0-9]*$' costs.csv)" = 6 ]
expect 0 '' v.json --size 8x8 --slabs 1 -o slab.png
grep -q '^1 slab, at most [0-9]* bytes of the grid on a rank$' out
for slabs in foo 0 1000001 2x; do
  expect 2 "--slabs: expected 1 to 1000000 or \"ranks\", found \"$slabs\"" v.json --slabs $slabs
done
expect 0 '' --help-all
grep -q -- '--slabs N|ranks  *number of slabs' out
expect 2 'requires the whole grid' v.json --slabs 2 --verify
expect 2 'require the whole grid' v.json --slabs 2 --unit-costs costs.csv
expect 2 'expected the rule "exact"' v.json --slabs 2 --spec "$specs/trapezoid.json"
expect 2 'two layers of cells need' --field sphere:512x512x3 --memory 1
expect 2 'bad.nrrd: sizes' bad.nrrd --slabs 2
# A failure within a series ends the job.
expect 2 'none.vti: No such file' --series v.json none.vti --size 8x8
echo ok
