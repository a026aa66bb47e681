#!/usr/bin/env bash
# Ctrl-C on a single process writes the report and a checkpoint, and the message says how to resume.
# The resumed run has the result of an uninterrupted one.
#   interrupted.sh SKEL_RAYTRACE
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
program=$1
in_own_folder
mkdir store
call=(--scene balls:4 --size 1200x1200 --threads 1)
# A shell without job control makes background processes ignore SIGINT; env undoes that.
env --default-signal=INT "$program" "${call[@]}" --progress never --quiet --checkpoint central --store store --every 100ms \
  --report report.json -o picture.ppm 2>err &
process=$!
for _ in $(seq 1000); do
  [ "$(find store -name '*.shard' | wc -l)" = 0 ] || break
  sleep 0.02
done
kill -INT $process
code=0
wait $process || code=$?
if [ $code != 1 ] || [ "$(wc -l <err)" != 1 ] || [ -e picture.ppm ] ||
  ! grep -qx 'skel-raytrace: stopped by SIGINT after [0-9]* tasks; the result is incomplete; continue with --resume' err ||
  ! grep -q '"stopped_early": true' report.json; then
  echo "expected an interrupted run, found exit code $code" >&2
  cat err report.json >&2
  exit 1
fi
same_hash "the resumed run" "$program" "${call[@]}" --checkpoint central --store store --resume
same_hash "an uninterrupted run" "$program" "${call[@]}"
