#!/usr/bin/env bash
# Tasks that take too long are left out: the pictures show them in magenta and are otherwise whole.
#   left_out.sh SKEL_MPIEXEC SKEL_VOLUME
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
skel_mpiexec=$1 program=$2
in_own_folder

expect 2 "skel-volume: --on-error collect: requires the whole grid, expected no --slabs or --memory" --field linear \
  --size 16x16 --slabs 2 --schedule first-come --on-error collect

# Of 3 x 3 blocks only the one in the middle, task 4 of each frame, contains the grid; it takes about ten seconds.
cat >view.json <<'JSON'
{"view": {"distance": 10, "angle": 20, "azimuth": 20, "elevation": 20},
 "mapping": {"color": [[0, "#e0a050"]], "opacity": [[0, 0.01], [1, 0.01]], "relative": true},
 "light": {"samples": 16}, "visibility_limit": 1, "background": "#204060"}
JSON
code=0
SKEL_SUSPECT_AFTER=1s "$skel_mpiexec" -n 4 --oversubscribe "$program" --field turbulence:150x150x150 --spec view.json \
  --size 1200x1200 --frames 2 --pixels 160000 --decomposition blocks --instructions portable --threads 1 --root serves \
  --schedule first-come --on-error collect --task-time-limit 2s --quiet --progress never -o turn.ppm 2>errors || code=$?
if [ $code != 3 ] || [ "$(grep -cE '^skel-volume: task (4|13) failed on rank [123] and is left out: ' errors)" != 2 ] ||
  ! grep -qx 'skel-volume: the result is incomplete: 2 of 18 tasks left out' errors; then
  echo "expected exit code 3 and lines about tasks 4 and 13, found exit code $code" >&2
  cat errors >&2
  exit 1
fi
for picture in turn-000.ppm turn-001.ppm; do
  tail -c $((1200 * 1200 * 3)) $picture | od -An -v -tu1 -w3 | tr -s ' ' | awk -v name=$picture '
    { x = (NR - 1) % 1200; y = int((NR - 1) / 1200); inside = x >= 400 && x < 800 && y >= 400 && y < 800 }
    $0 != (inside ? " 255 0 255" : " 32 64 96") { print name ": pixel " x ", " y ": " $0; exit wrong = 1 }
    END { exit wrong || NR != 1200 * 1200 }'
done
