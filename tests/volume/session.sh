#!/usr/bin/env bash
# Sessions: the pictures of single runs, wrong commands, losses, and the example of the documentation:
#   session.sh MPIEXEC SKEL_MPIEXEC SKEL_VOLUME PAGE
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
mpiexec=$1 skel_mpiexec=$2 program=$3 page=$4
in_own_folder

# --- The bytes of single runs, whose specifications are written in full here.
base='"mapping": {"color": [[0, "#204080"], [60, "#ffd040"]], "opacity": [[20, 0], [60, 0.3]]}, "stretch": [1, 1, 75]'
echo "{$base, \"view\": {\"azimuth\": 10, \"angle\": 30}, \"size\": [48, 40]}" >base.json
echo "{$base, \"view\": {\"azimuth\": 10, \"angle\": 30, \"elevation\": 70}, \"size\": [48, 40], \"background\": \"none\"}" >up.json
echo "{$base, \"view\": {\"projection\": \"parallel\", \"height\": 3000}, \"frame\": \"#ff0000\", \"rule\": \"trapezoid\"}" >parallel.json
echo '{"light": {"ambient": 0.5}, "visibility_limit": 1, "mapping": {"color": [[0, [1, 0.5, 0]]], "opacity": [[0, 0], [1, 0.2]],
       "relative": true}}' >lit.json
printf '\xef\xbb\xbf' >session.txt # some editors begin a text like this
cat >>session.txt <<'TEXT'
# Comments and empty lines count as lines.

render base.png
view {"elevation": 70}
background none
render up.png
  view {"azimuth": null, "angle": null, "elevation": null, "projection": "parallel", "height": 3000}
background #000000
frame #ff0000
rule trapezoid
size 30x20
render parallel.pfm
spec lit.json
light {"ambient": 0.9}
visibility_limit 0.5
light {"ambient": 0.5}
visibility_limit 1
size 33x21
frames 2
field wind:31x25x9@2
render lit.png
frames 1
field wind:31x25x9
spec base.json
render again.png
quit
unread
TEXT
single() { "$program" --quiet --progress never "$@"; }
mkdir expected
single --field wind:31x25x9 --spec base.json -o expected/base.png
single --field wind:31x25x9 --spec up.json -o expected/up.png
single --field wind:31x25x9 --spec parallel.json --size 30x20 -o expected/parallel.pfm
single --field wind:31x25x9@2 --spec lit.json --size 33x21 --frames 2 -o expected/lit.png
cp expected/base.png expected/again.png
same_as_single() {
  for picture in again.png base.png lit-000.png lit-001.png parallel.pfm up.png; do
    cmp $picture expected/$picture
    rm $picture
  done
}
expect 0 '' --field wind:31x25x9 --spec base.json --session=session.txt --verify --report run.json
grep -qx 'verified: 2495 pixels, by brute force' out
[ "$(sed 's/: [0-9.]* s$//; /^farm/d; /^verified/d' out | tr '\n' ' ')" = "base.png up.png parallel.pfm lit.png again.png " ]
grep -q '"pictures": 6,' run.json
grep -q '"grids": 3,' run.json # of eight changes only those of the field distribute one
same_as_single
for ranks in 2 3; do
  for grid in root all; do
    "$mpiexec" -n $ranks "$program" --field wind:31x25x9 --spec base.json --session --grid $grid --quiet --progress never <session.txt
    same_as_single
  done
done

# --- Another variable and another time of a file.
a="<DataArray format='ascii' type='Int8'"
printf '%s' "<VTKFile><ImageData WholeExtent='0 1 0 1 0 1' TimeValues='0 1'><Piece Extent='0 1 0 1 0 1'><PointData>
  $a Name='speed' TimeStep='0'>0 1 2 3 4 5 6 7</DataArray>$a Name='speed' TimeStep='1'>7 6 9 4 3 2 1 0</DataArray>
  $a Name='other'>3 1 4 1 5 9 2 6</DataArray></PointData></Piece></ImageData></VTKFile>" >two.vti
single two.vti --array speed --size 12x9 <<<$'render speed.png\ntime 1\nrender late.png\nvariable other\ntime 0\nrender other.png' --session
single two.vti --array speed --size 12x9 -o expected/speed.png
single two.vti --array speed --time 1 --size 12x9 -o expected/late.png
single two.vti --array other --size 12x9 -o expected/other.png
for picture in speed late other; do cmp $picture.png expected/$picture.png; done
[ "$(md5sum expected/{speed,late,other}.png | cut -c1-32 | sort -u | wc -l)" = 3 ]

# --- A file that was written again after the first picture.
cp two.vti now.vti
{
  printf '%s\n' 'file now.vti' 'time 1' 'render before.png'
  until [ -e before.png ]; do sleep 0.05; done
  sed 's/>7 6 9/>9 7 6/' two.vti >new.vti && mv new.vti now.vti
  printf '%s\n' 'render kept.png' 'file now.vti' 'time 1' 'render after.png'
} | single --session --size 12x9
single now.vti --time 1 --size 12x9 -o expected/after.png
cmp after.png expected/after.png
cmp kept.png before.png
cmp -s before.png after.png && exit 1

# --- A netCDF file of two variables, a and b, needs a name. A session may begin without a volume.
numbers() { # as 4 bytes each
  local n
  for n; do printf "\\0\\0\\0\\x$(printf %x "$n")"; done
}
variable() { numbers 1 && printf '%s\0\0\0' "$1" && numbers 3 0 0 0 0 0 1 8 "$2"; } # of 8 bytes from here on
{ printf 'CDF\1' && numbers 0 10 1 1 && printf 'x\0\0\0' && numbers 2 0 0 11 2 && variable a 132 && variable b 140; } >ab.nc
printf '\0\1\2\3\4\5\6\7\3\1\4\1\5\7\2\6' >>ab.nc
printf '%s\n' 'variable a' 'render none.png' 'file ab.nc' 'render none.png' 'variable c' 'variable b' 'render b.png' 'file two.vti' \
  'render speed.png' 'file ab.nc' 'variable a' 'time 1' 'render a.png' quit >names.txt
if "$program" ab.nc --list >out 2>err; then
  for v in a b; do single ab.nc --variable $v --size 12x9 -o expected/$v.png; done
  cat >errors.txt <<'TEXT'
1: found no volume, expected file FILE or field NAME before
2: found no volume, expected file FILE or field NAME before
4: ab.nc: expected --variable NAME, found a, b
5: ab.nc: expected a variable c, found a, b
12: ab.nc: --time: expected 0 (the file has one time), found 1
TEXT
  { sed 's/^/skel-volume: line /' errors.txt && echo 'skel-volume: 5 commands failed'; } >expected.txt
  for run in "" "$mpiexec -n 2"; do
    rm -f {a,b,speed}.png
    # shellcheck disable=SC2086  # words
    $run "$program" --size 12x9 --session --quiet --progress never <names.txt 2>err && exit 1
    grep '^skel-volume' err | diff expected.txt -
    for picture in a b speed; do cmp $picture.png expected/$picture.png; done
    [ ! -e none.png ]
  done
else
  grep -q 'built without netCDF' err
fi

# --- A wrong command changes nothing. Commands fail with their line, the session goes on, and its exit code is 1.
printf '{"file": "v.bin", "size": [2, 2, 3], "type": "uint8"}' >v.json
printf '\0\1\2\3\4\5\6\7\10\11\12\13' >v.bin
sed s/v.bin/cut.bin.gz/ v.json >cut.json
gzip <v.bin | head -c 25 >cut.bin.gz # opens, but cannot be read to its end
printf '{"view": {"azimuth": 1}, "size": 3}' >bad.json
deep=$(printf '[%.0s' {1..200})
cat >wrong.txt <<TEXT
render picture.png
veiw {"azimuth": 3}
view {"elevation": 91}
view {"elevation": }
view
size 30
background x.jpg
time 1
field sphere:2
file none.vti
variable speed
spec bad.json
rule fast
frames 0
tolerance $deep
render picture.jpg
render none/picture.png
background none.png
render picture.png
background #000000
file cut.json
render picture.png
file v.json
render picture.png
TEXT
cat >errors.txt <<'TEXT'
2: unknown command "veiw"; known: view, stretch, mapping, light, attenuation, visibility_limit, rule, tolerance, background, frame, size, frames, field, variable, time, spec, file, render, quit
3: specification: view.elevation: expected a number from -90 to 90, found 91
4: view:1: not JSON: syntax error while parsing value - unexpected '}'; expected '[', '{', or a literal
5: view: missing value
6: size: expected WIDTHxHEIGHT, each 1 to 65536, found "30"
7: background: expected a FILE.png, "map", "none" or #rrggbb, found "x.jpg"
8: v.json: --time: expected 0 (the file has one time), found 1
9: field sphere:2: expected NAME:AxBxC, each 2 to 65536
10: none.vti: No such file or directory
11: v.json: found one variable without a name, expected no --variable speed
12: bad.json: size: expected [width, height], found 3
13: specification: rule: expected "exact" or "trapezoid", found "fast"
14: --frames: Value 0 not in range 1 to 100000
15: tolerance: not JSON: nested more than 100 deep
16: picture.jpg: unknown extension; known: .png, .ppm, .pfm, .exr
17: none/picture.png: No such file or directory
19: none.png: No such file or directory
TEXT
single v.json --size 12x9 -o expected/picture.png
for run in "" "$mpiexec -n 2"; do
  code=0
  # shellcheck disable=SC2086  # words
  $run "$program" v.json --size 12x9 --session --quiet --progress never --report run.json <wrong.txt 2>err || code=$?
  grep '^skel-volume' err >own
  { sed 's/^/skel-volume: line /' errors.txt && cat; } <<<"skel-volume: 18 commands failed" | diff - <(grep -v 'line 22: cut.bin.gz: ' own)
  [ "$code $(grep -c 'line 22: cut.bin.gz: ' own)" = "1 1" ]
  cmp picture.png expected/picture.png
  grep -q '"pictures": 2,' run.json
  grep -q '"grids": 1,' run.json # the first one was kept
done

# --- At a terminal the user has seen what failed.
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then # not in a chroot without /dev/pts
  script -qec "'$program' v.json --size 12x9 --session --progress never" /dev/null <<<$'size 3\nrender picture.png\nquit' >out
  grep -q '^skel-volume: line 1: size: expected' out
fi
expect 2 '--session: expected no --checkpoint and no -o' v.json --session -o a.png
expect 2 '--session and --slabs: expected only one of them' v.json --session --slabs ranks
expect 2 '--session and --steps: expected only one of them' --session --steps 2
expect 2 'none.txt: No such file or directory' v.json --session=none.txt
expect 2 "$folder: Is a directory" --field wind --session="$folder"

# --- SIGTERM while a session waits for commands.
rm picture.png
mkfifo commands
"$program" v.json --size 12x9 --session --quiet --progress never <commands 2>err &
exec 9<>commands # <>: this neither waits for the program nor fails without it
echo render picture.png >&9
wait_for $! test -s picture.png || fail "the session ended before its first picture"
kill -TERM $!
code=0
wait $! || code=$?
exec 9>&-
[ $code = 1 ]
grep -q '^skel-volume: stopped by SIGTERM ' err

# --- A rank dies between two pictures, and one during a picture.
few=(--field wind:31x25x9 --size 700x500 --instructions portable --threads 1 --session)
for attempt in 1 2 3 4 5; do # repeated with a larger third picture if that was complete before the kill
  slow=$'light {"samples": 16}\nsize '$((600 + 300 * attempt))x$((400 + 300 * attempt))
  printf '%s\n' 'render expected/first.png' 'view {"azimuth": 10}' 'render expected/second.png' "$slow" \
    'render expected/third.png' | single "${few[@]}"
  rm -f {first,second,third}.png
  SKEL_SUSPECT_AFTER=1s "$skel_mpiexec" -n 4 --oversubscribe "$program" "${few[@]}" --quiet --progress never \
    --report run.json <commands &
  exec 9<>commands
  echo render first.png >&9
  wait_for $! test -s first.png || fail "the session ended before its first picture"
  kill_ranks "${few[*]}" 2
  printf '%s\n' 'view {"azimuth": 10}' 'render second.png' "$slow" >&9
  wait_for $! test -s second.png || fail "the session ended before its second picture"
  echo render third.png >&9
  sleep 0.3
  kill_ranks "${few[*]}" 3
  in_time=yes
  [ ! -e third.png ] || in_time=no
  exec 9>&-
  wait $! || fail "ranks 2 and 3 killed: exit code $?"
  for picture in first second third; do cmp $picture.png expected/$picture.png; done
  if [ $in_time = yes ]; then break; fi
  [ "$attempt" -lt 5 ] || fail "rank 3 could not be killed during a picture"
done
tr -d ' \n' <run.json | grep -q '"lost_ranks":\[2,3\]'

# --- The example of the documentation.
awk '/^    \$ cat tour.txt$/, /^$/ { sub(/^    /, ""); print }' "$page" >example
awk '/^\$/ { block++; next } block == 1' example >tour.txt
awk '/^\$/ { block++; next } block == 2 && NF' example >expected.txt
[ -s tour.txt ]
[ -s expected.txt ]
code=0
SKEL_PROGRESS=never eval "\"$program\" $(sed -n 's/^\$ skel-volume //p' example)" >out 2>&1 || code=$?
[ $code = 1 ]
diff <(sed 's/: [0-9.]* s$//' expected.txt) <(sed 's/: [0-9.]* s$//; /^farm/d' out)
echo ok
