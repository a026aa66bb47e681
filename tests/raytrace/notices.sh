#!/usr/bin/env bash
# The end of a rank is certain at once, and the report says how it was noticed: from the kernel, or, in PID namespaces of
# their own, where ranks cannot see each other's processes, from connections. Silence takes a minute here:
#   notices.sh SKEL_MPIEXEC SKEL_RAYTRACE
# Exit code 1 if a loss was noticed in another way, or a picture is wrong.
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
skel_mpiexec=$1 program=$2
own_folder
draw() { # draw SIZE
  picture=(--scene balls:4 --size "$1" --threads 1 --quiet --progress never)
  "$program" "${picture[@]}" -o "$folder/alone.ppm"
}

fail() {
  echo "$way, rank $victim: $1" >&2
  cat "$folder/errors" "$folder/report.json" >&2
  exit 1
}

draw 1000x1000
for way in ended connection; do
  apart=()
  if [ $way = connection ]; then
    if ! unshare --pid --fork true 2>/dev/null || ! mpiexec --version | grep -q "Open MPI\|OpenRTE"; then
      echo "skipped without PID namespaces and Open MPI: $way"
      exit
    fi
    apart=(unshare --pid --fork)
    export OMPI_MCA_btl=tcp,self # its shared memory goes by numbers of processes
  fi
  for victim in 1 0; do
    for attempt in 1 2 3 4 5 6; do # repeated if the kill came too late
      rm -f "$folder/preview.ppm" "$folder/report.json" "$folder/ranks.ppm"
      SKEL_SUSPECT_AFTER=60s SKEL_ULFM=no "$skel_mpiexec" -n 3 --oversubscribe "${apart[@]}" "$program" "${picture[@]}" \
        --preview "$folder/preview.ppm" --report "$folder/report.json" -o "$folder/ranks.ppm" 2>"$folder/errors" &
      launcher=$!
      wait_for $launcher test -e "$folder/preview.ppm" || true
      kill_ranks "--preview $folder/preview.ppm" $victim
      wait $launcher || fail "exit code not 0"
      cmp "$folder/alone.ppm" "$folder/ranks.ppm" || fail "another picture"
      if grep -q '"losses"' "$folder/report.json"; then break; fi
      [ "$attempt" -lt 6 ] || fail "not killed in time"
      [ "$attempt" != 2 ] || draw 2000x2000 # a busy machine
    done
    [ "$(grep -c '"noticed"' "$folder/report.json")" = 1 ] || fail "expected one loss"
    grep -q "\"noticed\": \"$way\"" "$folder/report.json" || fail "expected to notice it by \"$way\""
  done
done
