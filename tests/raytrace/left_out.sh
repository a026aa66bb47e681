#!/usr/bin/env bash
# A tile that takes for ever is left out after its time limit: the picture shows it in magenta and is otherwise the same.
#   left_out.sh SKEL_MPIEXEC SKEL_RAYTRACE
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
skel_mpiexec=$1 program=$2
in_own_folder

cat >plain.nff <<'NFF'
v
from 0 0 10
at 0 0 0
up 0 1 0
angle 45
hither 1
resolution 64 64
b 0.1 0.2 0.4
l -10 -10 10
f 0.9 0.6 0.2 0.8 0 0 0 1
s -1.5 -1.5 0 1.2
NFF
# Each generation of rays in nested glass doubles their number. The balls lie within tile 6, pixels 32 to 47 of lines 16 to 31.
{
  cat plain.nff
  echo "f 1 1 1 0.1 0.9 3 0.9 1.1"
  for radius in 0.5 0.45 0.4; do echo "s 1.035 1.035 0 $radius"; done
} >glass.nff
picture=(--unit tiles:16 --depth 64 --threads 1 --quiet --progress never)
"$program" plain.nff "${picture[@]}" -o plain.ppm
[ "$(head -c 9 plain.ppm | tr '\n' ' ')" = "P6 64 64 " ] # the scene's resolution is the default
code=0
SKEL_SUSPECT_AFTER=1s "$skel_mpiexec" -n 3 --oversubscribe "$program" glass.nff "${picture[@]}" --schedule first-come \
  --root serves --on-error collect --task-time-limit 2s --report report.json -o glass.ppm 2>errors || code=$?
if [ $code != 3 ] || [ "$(grep -c '^skel-raytrace: task 6 failed on rank [12] and is left out: ' errors)" != 1 ] ||
  ! grep -qx 'skel-raytrace: the result is incomplete: 1 of 16 tasks left out' errors; then
  echo "expected exit code 3 and a line about task 6, found exit code $code" >&2
  cat errors >&2
  exit 1
fi
grep -q '"failed_tasks"' report.json
# The bytes of pixels, 64 to a line.
pixels() { tail -c $((64 * 64 * 3)) "$1" | od -An -v -tu1 -w3 | tr -s ' '; }
paste -d: <(pixels plain.ppm) <(pixels glass.ppm) | awk -F: '
  { x = (NR - 1) % 64; y = int((NR - 1) / 64); inside = x >= 32 && x < 48 && y >= 16 && y < 32 }
  $2 != (inside ? " 255 0 255" : $1) { print "pixel " x ", " y ": " $2 " instead of " $1; wrong = 1 }
  END { exit wrong || NR != 4096 }'
