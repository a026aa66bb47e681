#!/usr/bin/env bash
# The same picture when somebody kills ranks from outside, as in another terminal:
#   kill_picture.sh SKEL_MPIEXEC SKEL_RAYTRACE SCHEDULE...
# Exit code 1 if the bytes differ, the run fails, or no loss was seen while lines were missing.
set -euo pipefail
skel_mpiexec=$1 program=$2
shift 2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
picture=(--scene balls:4 --size 1400x1400 --threads 1 --quiet --progress never)

rank_of() { { tr '\0' '\n' <"/proc/$1/environ"; } 2>/dev/null | sed -n 's/^\(OMPI_COMM_WORLD_RANK\|PMI_RANK\)=//p' | head -n 1; }

# Kills the ranks named, once the first lines of the picture have come.
kill_ranks() { # kill_ranks RANK...
  local pid rank
  for _ in $(seq 600); do
    [ -e "$dir/preview.ppm" ] && break
    sleep 0.02
  done
  for pid in $(pgrep -f -- "--preview $dir/preview.ppm"); do
    [ "$(readlink "/proc/$pid/exe")" = "$(readlink -f "$program")" ] || continue
    for rank in "$@"; do
      if [ "$(rank_of "$pid")" = "$rank" ]; then kill -KILL "$pid"; fi
    done
  done
}

"$program" "${picture[@]}" -o "$dir/alone.ppm"
seen=0
for schedule in "$@"; do
  for victims in 1 "2 3"; do
    for _ in 1 2 3; do # again, if the kill came too late to count
      rm -f "$dir/preview.ppm" "$dir/report.json" "$dir/ranks.ppm"
      SKEL_SUSPECT_AFTER=1s "$skel_mpiexec" -n 4 --oversubscribe "$program" "${picture[@]}" --schedule "$schedule" \
        --preview "$dir/preview.ppm" --report "$dir/report.json" -o "$dir/ranks.ppm" 2>"$dir/errors" &
      launcher=$!
      # shellcheck disable=SC2086
      kill_ranks $victims
      if ! wait $launcher; then
        echo "$schedule, ranks $victims killed: exit code not 0" >&2
        cat "$dir/errors" >&2
        exit 1
      fi
      if ! cmp "$dir/alone.ppm" "$dir/ranks.ppm"; then
        echo "$schedule, ranks $victims killed: another picture" >&2
        exit 1
      fi
      lost=$(tr -d ' \n' <"$dir/report.json" | grep -o '"lost_ranks":\[[0-9,]*\]')
      again=$(grep -o '"tasks_handed_out_again": [0-9]*' "$dir/report.json")
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
