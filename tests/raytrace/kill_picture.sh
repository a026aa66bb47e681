#!/usr/bin/env bash
# The picture is the same when ranks are killed from outside, as from another terminal:
#   kill_picture.sh SKEL_MPIEXEC SKEL_RAYTRACE SCHEDULE...
# Exit code 1 if the bytes differ, the run fails, or no loss occurred while lines were missing.
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
skel_mpiexec=$1 program=$2
shift 2
own_folder
picture=(--scene balls:4 --size 1400x1400 --threads 1 --quiet --progress never)

wait_for_preview() { # waits until the first lines exist
  for _ in $(seq 600); do
    [ -e "$folder/preview.ppm" ] && break
    sleep 0.02
  done
}

"$program" "${picture[@]}" -o "$folder/alone.ppm"
seen=0
for schedule in "$@"; do
  for victims in 1 "2 3"; do
    for _ in 1 2 3 4 5 6; do # repeated if the kill came too late
      rm -f "$folder/preview.ppm" "$folder/report.json" "$folder/ranks.ppm"
      SKEL_SUSPECT_AFTER=1s "$skel_mpiexec" -n 4 --oversubscribe "$program" "${picture[@]}" --schedule "$schedule" \
        --preview "$folder/preview.ppm" --report "$folder/report.json" -o "$folder/ranks.ppm" 2>"$folder/errors" &
      launcher=$!
      wait_for_preview
      # shellcheck disable=SC2086  # words
      kill_ranks "--preview $folder/preview.ppm" $victims
      if ! wait $launcher; then
        echo "$schedule, ranks $victims killed: exit code not 0" >&2
        cat "$folder/errors" >&2
        exit 1
      fi
      if ! cmp "$folder/alone.ppm" "$folder/ranks.ppm"; then
        echo "$schedule, ranks $victims killed: another picture" >&2
        exit 1
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
echo "$seen losses of $(($# * 2)) seen with lines missing"
[ $seen -eq $(($# * 2)) ]
