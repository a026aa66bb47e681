#!/usr/bin/env bash
# Ray traces the SPD "balls" scene on several MPI ranks under every schedule, also without rank 0, and renders a head. See
# --help.
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
install=yes
scene=balls:4
size=1536x1536  # one or two seconds: long enough to see the bar
ranks=
usage() {
  cat <<'TEXT'
usage: scripts/demo.sh [--ranks N] [--scene balls:4] [--size 1536x1536] [--no-install] [--help]

Builds skel, ray traces a scene under every schedule with N MPI ranks (default: one per core, at least 2), writes
out/demo/<schedule>.png, shows the picture (on a terminal), and prints a table that compares the schedules. Then it
kills rank 0 of another run and compares the pictures, and renders out/demo/head.png, a magnetic resonance scan that
Debian's libvolpack1-dev has as an example.
  --no-install   do not install missing Debian packages: list them and exit with code 1
Missing packages are installed with apt on a bare Debian 12. The build tree is build/release.
TEXT
}
while (($# > 0)); do
  case $1 in
    --ranks) ranks=${2:?--ranks needs a number} && shift ;;
    --scene) scene=${2:?--scene needs a name} && shift ;;
    --size) size=${2:?--size needs WxH} && shift ;;
    --no-install) install=no ;;
    *) help_or_mistake "$1" ;;
  esac
  shift
done
# shellcheck source=scripts/show_ppm.sh
. scripts/show_ppm.sh

packages=("${build_packages[@]}")
if [ $install = yes ]; then packages+=(libvolpack1-dev); fi # for its example alone, which may be missing
need_packages "${packages[@]}"
say "Building (build/release)"
# Builds only the programs; scripts/test.sh builds the tests of this preset.
build release skel-raytrace skel-volume

# Without -n, one rank per core; the compute threads of each rank use the core that is its share.
if [ -z "$ranks" ]; then ranks=$(nproc); fi
if ((ranks < 2)); then ranks=2; fi
out=out/demo
mkdir -p $out
# Shows a bar on a terminal; the program itself sees only mpiexec's pipe.
progress=auto
if [ -t 2 ]; then progress=always; fi

raytrace() { mpiexec -n "$ranks" --bind-to none build/release/bin/skel-raytrace --scene "$scene" "$@"; }

say "$scene, $size, $ranks ranks"
schedules=(auto blocks interleaved first-come guided hybrid ring) # auto is the default
for schedule in "${schedules[@]}"; do
  echo "-- $schedule"
  raytrace --size "$size" --schedule "$schedule" --progress $progress --report "$out/$schedule.json" -o "$out/$schedule.png"
done

if [ -t 1 ]; then
  raytrace --size 96x96 --quiet --progress never -o $out/small.ppm
  show_ppm $out/small.ppm
fi
say "Picture: $PWD/$out/auto.png"

# The reports have one field per line; those of ranks are indented deeper than those of the run.
say "The schedules compared"
for schedule in "${schedules[@]}"; do
  awk -v schedule="$schedule" '
    { value = $0; sub(/^[^:]*: */, "", value); gsub(/[",]/, "", value) }
    /^  "[a-z_0-9]+":/ { key = $1; gsub(/[":]/, "", key); run[key] = value }
    /^      "tasks":/ { tasks = tasks (tasks == "" ? "" : "+") value }
    END {
      if (schedule == "auto") printf "%-12s %8s  %-24s %6s %9s  %s\n", "schedule", "seconds", "tasks per rank", "busy", "messages", "result_xxh3"
      printf "%-12s %8.3f  %-24s %5.1f%% %9d  %s\n", schedule, run["seconds"], tasks, 100 * run["busy_share"], run["messages"], run["result_xxh3"]
    }' "$out/$schedule.json"
done
results=$(for schedule in "${schedules[@]}"; do grep -h '"result_xxh3"' "$out/$schedule.json"; done | sort -u | wc -l)
if ((results != 1)); then fail "expected one result from all schedules, found $results"; fi
echo "All schedules gave the same picture, to the bit."

say "The same picture, with rank 0 killed in the middle"
rm -f $out/process-* $out/preview.ppm $out/killed.*
# Each rank leaves the number of its process.
# shellcheck disable=SC2016  # expands on the ranks
scripts/skel-mpiexec -n $((ranks < 3 ? 3 : ranks)) --oversubscribe --bind-to none \
  bash -c 'echo $$ >"$0-${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"; exec "$@"' $out/process \
  build/release/bin/skel-raytrace --scene "$scene" --size "$size" --progress never \
  --preview $out/preview.ppm --report $out/killed.json -o $out/killed.png &
job=$!
until [ -e $out/preview.ppm ] || ! kill -0 $job 2>/dev/null; do sleep 0.02; done # the first lines
if kill -KILL "$(<$out/process-0)" 2>/dev/null; then echo "kill -KILL $(<$out/process-0)"; fi
wait $job
cmp $out/auto.png $out/killed.png
grep -q '"attempt": 2' $out/killed.json || echo "(The run had ended before: a larger --size gives the kill more time.)"
echo "The others made the same picture, byte for byte."

scan=/usr/share/doc/libvolpack1-dev/examples/brainsmall.den
if [ ! -f $scan ]; then
  say "No picture of a head: no $scan"
  exit
fi
say "A head, $ranks ranks"
echo '{"file": "'$scan'", "offset": 62, "size": [128, 128, 84], "type": "uint8", "spacing": [1, 1, 1.3]}' >$out/head.json
render() { mpiexec -n "$ranks" --bind-to none build/release/bin/skel-volume $out/head.json --spec examples/volume/specs/head.json "$@"; }
render --progress $progress -o $out/head.png
if [ -t 1 ]; then
  render --size 96x96 --quiet --progress never -o $out/small.ppm
  show_ppm $out/small.ppm
fi
say "Picture: $PWD/$out/head.png"
