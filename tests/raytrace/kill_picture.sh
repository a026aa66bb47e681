#!/usr/bin/env bash
# The picture is the same when ranks are killed from outside, as from another terminal:
#   kill_picture.sh SKEL_MPIEXEC SKEL_RAYTRACE SCHEDULE...
# Victims before a slash are killed together, those after it in the attempt that follows the loss of the root. Exit code 1
# if the bytes differ, the run fails, a hidden file is left, or no loss occurred while lines were missing.
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
skel_mpiexec=$1 program=$2
shift 2
own_folder
draw() { # draw SIZE
  picture=(--scene balls:4 --size "$1" --threads 1 --quiet --progress never)
  "$program" "${picture[@]}" -o "$folder/alone.ppm"
}

draw 1400x1400
seen=0
for schedule in "$@"; do
  for victims in 1 "2 3" 0 "0 2" 0/1; do
    for attempt in 1 2 3 4 5 6; do # repeated if the kill came too late
      case $attempt in 3) draw 2000x2000 ;; 5) draw 2800x2800 ;; esac # a busy machine
      rm -f "$folder/preview.ppm" "$folder/report.json" "$folder/ranks.ppm"
      SKEL_SUSPECT_AFTER=1s "$skel_mpiexec" -n 4 --oversubscribe "$program" "${picture[@]}" --schedule "$schedule" \
        --preview "$folder/preview.ppm" --report "$folder/report.json" -o "$folder/ranks.ppm" 2>"$folder/errors" &
      launcher=$!
      wait_for $launcher test -e "$folder/preview.ppm" || true
      # shellcheck disable=SC2086  # words
      kill_ranks "--preview $folder/preview.ppm" ${victims%/*}
      if [[ $victims == */* ]]; then
        rm -f "$folder/preview.ppm"
        wait_for $launcher test -e "$folder/preview.ppm" || true
        kill_ranks "--preview $folder/preview.ppm" "${victims#*/}"
      fi
      if ! wait $launcher; then
        echo "$schedule, ranks $victims killed: exit code not 0" >&2
        cat "$folder/errors" >&2
        exit 1
      fi
      if ! cmp "$folder/alone.ppm" "$folder/ranks.ppm"; then
        echo "$schedule, ranks $victims killed: another picture" >&2
        exit 1
      fi
      if compgen -G "$folder/.skel-*"; then
        echo "$schedule, ranks $victims killed: a temporary file is left" >&2
        exit 1
      fi
      if [[ $victims == 0* ]]; then # its successor counts the attempts
        begun=$(grep -o '"attempt": [0-9]*' "$folder/report.json" | head -n 1 || true)
        echo "$schedule, ranks $victims killed: ${begun:-attempt 1}"
        expected=2
        [[ $victims == */* ]] && expected=3
        if [ "${begun##* }" = $expected ]; then
          seen=$((seen + 1))
          break
        fi
        continue
      fi
      lost=$(tr -d ' \n' <"$folder/report.json" | grep -o '"lost_ranks":\[[0-9,]*\]')
      again=$(grep -o '"tasks_handed_out_again": [0-9]*' "$folder/report.json")
      echo "$schedule: $lost, $again"
      if [ "$lost" = "\"lost_ranks\":[${victims// /,}]" ] && [ "${again##* }" -gt 0 ]; then
        seen=$((seen + 1))
        break
      fi
    done
  done
done
echo "$seen losses of $(($# * 5)) seen with lines missing"
[ $seen -eq $(($# * 5)) ]
