#!/usr/bin/env bash
# Audits of a whole program: the same picture, no rank at fault, and the report counts the tasks. One rank cannot audit.
#   audit.sh SKEL_MPIEXEC SKEL_RAYTRACE
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
skel_mpiexec=$1 program=$2
own_folder
scene=(--scene balls:3 --size 300x300 --threads 1 --progress never)
"$program" "${scene[@]}" --quiet -o "$folder/alone.ppm"
for schedule in auto blocks ring; do
  "$skel_mpiexec" -n 3 --oversubscribe "$program" "${scene[@]}" --schedule $schedule --audit 0.2 --report "$folder/report.json" \
    -o "$folder/audited.ppm" >"$folder/out"
  cmp "$folder/alone.ppm" "$folder/audited.ppm"
  grep -qE '; [0-9]+ tasks audited$' "$folder/out"
  tr -d ' \n' <"$folder/report.json" | grep -qE '"audit":\{"checked":[1-9][0-9]*,"unchecked":0\}'
done
code=0
"$program" "${scene[@]}" --audit 0.2 -o "$folder/none.ppm" 2>"$folder/errors" || code=$?
[ $code -eq 2 ]
grep -qF "farm: audit repeats tasks on another rank: expected at least 2 ranks that compute, found 1" "$folder/errors"
