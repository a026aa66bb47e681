#!/usr/bin/env bash
# Slabs that stay on one rank each: memory, losses, and options that do not apply:
#   resident_slabs.sh MPIEXEC SKEL_MPIEXEC SKEL_VOLUME
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
mpiexec=$1 skel_mpiexec=$2 program=$3
in_own_folder

# --- Two ranks hold two thirds of what one holds, four less than a third: a slab, and planes on both sides of it.
field=(--field turbulence:64x64x64 --size 64x48 --frames 2 --progress never)
"$program" "${field[@]}" --quiet -o whole.png
memory=()
for ranks in 1 2 4; do
  "$mpiexec" -n $ranks "$program" "${field[@]}" --slabs ranks --threads 1 -o slabs.png --report run.json >out
  cmp slabs-000.png whole-000.png
  cmp slabs-001.png whole-001.png
  grep -q "^$ranks slabs\?, at most [0-9.]* MiB of the grid on a rank$" out
  memory+=("$(sed -n 's/.*"grid_bytes_per_rank": \([0-9]*\),.*/\1/p' run.json)")
done
((memory[0] > 64 ** 3 * 5)) # a float and a byte for each point
((3 * memory[1] < 2 * memory[0]))
((3 * memory[2] < memory[0]))

# --- A rank that dies: the others share its slab.
draw() { # draw FRAMES
  slow=(--field turbulence:64x64x64 --size 900x700 --instructions portable --threads 1 --frames "$1")
  last_but_one=slabs-$(printf %03d $(($1 - 2))).ppm
  rm -f whole-*
  "$program" "${slow[@]}" --quiet --progress never -o whole.ppm
}
draw 4
for victim in 1 2; do
  for attempt in 1 2 3 4 5 6; do # repeated if the kill came too late: the victim must miss a whole frame
    rm -f slabs-*
    SKEL_SUSPECT_AFTER=1s "$skel_mpiexec" -n 3 --oversubscribe "$program" "${slow[@]}" --slabs ranks --quiet \
      --progress never -o slabs.ppm --report run.json &
    wait_for $! test -s slabs-000.ppm || true
    kill_ranks "${slow[*]} --slabs ranks" $victim
    in_time=yes
    [ ! -e "$last_but_one" ] || in_time=no
    wait $! || fail "rank $victim killed: exit code $?"
    for frame in whole-*; do cmp "${frame/whole/slabs}" "$frame"; done
    if [ $in_time = yes ]; then break; fi
    [ "$attempt" -lt 6 ] || fail "rank $victim could not be killed before the last frame"
    draw $((4 + 4 * attempt))
  done
  tr -d ' \n' <run.json | grep -q "\"lost_ranks\":\[$victim\]"
done

refused='--slabs ranks: not a farm, expected no --schedule, --results, --root, --on-error, --audit, --task-time-limit or --pixels'
for option in '--schedule ring' '--results concentrated' '--root serves' '--on-error retry' '--audit 0.5' \
  '--task-time-limit 9s' '--pixels 9'; do
  # shellcheck disable=SC2086  # words
  expect 2 "$refused" --field wind:9x9x9 --slabs ranks $option
done
expect 2 '--session and --slabs: expected only one of them' --field wind:9x9x9 --slabs ranks --session
expect 2 '--slabs: expected 1 to 1000000 or "ranks", found "x"' --field wind:9x9x9 --slabs x
echo ok
