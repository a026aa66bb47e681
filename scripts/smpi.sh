#!/usr/bin/env bash
# Validates skel::sim: runs the real MPI program under SimGrid's SMPI. See --help.
install=yes
platform=cluster-1024
ranks=256
tasks=2048
costs=uniform:20ms,80ms
schedules=(guided first-come interleaved ring)
seed=1
bytes=1000
usage() {
  cat <<TEXT
usage: scripts/smpi.sh [--platform NAME] [--ranks N] [--tasks N] [--costs SPEC] [--schedules "A B ..."] [--no-install]

Runs a farm with given task costs, without losses, twice on the same simulated cluster: with skel-simulate (skel::sim, its own
transport), and as an MPI program (mpi_transport) under SMPI, SimGrid's simulation of MPI. Prints a table of
the virtual seconds of both and their ratio. docs/measurements/simulation.md explains the differences.
  --platform     $platform; a built-in platform or a file, with a bus, a switch or a fat tree of equal machines
  --ranks        $ranks; --tasks $tasks; --costs $costs; --seed $seed; --result-bytes $bytes
  --schedules    "${schedules[*]}"; not hybrid, which would measure the power of the simulating machine
  --no-install   do not install missing Debian packages: list them and exit with code 1
Needs SimGrid 3.32. Build trees: build/release, build/smpi.
TEXT
}
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
while (($# > 0)); do
  case $1 in
    --platform) platform=${2:?} && shift ;;
    --ranks) ranks=${2:?} && shift ;;
    --tasks) tasks=${2:?} && shift ;;
    --costs) costs=${2:?} && shift ;;
    --seed) seed=${2:?} && shift ;;
    --result-bytes) bytes=${2:?} && shift ;;
    --schedules) read -r -a schedules <<<"${2:?}" && shift ;;
    --no-install) install=no ;;
    *) help_or_mistake "$1" ;;
  esac
  shift
done

need_packages "${build_packages[@]}"
say "Building"
build release skel-simulate skel-smpi-export
# SMPI runs all ranks in one process, so statics of inline functions and templates would be shared.
separate=-fno-gnu-unique
if [ ! -f build/smpi/build.ninja ]; then
  # SMPI_PRETEND_CC: CMake's compiler checks have their own main.
  SMPI_PRETEND_CC=1 cmake -G Ninja -B build/smpi -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_COMPILER="$(command -v smpicxx)" \
    -D CMAKE_CXX_FLAGS="$separate" -D SKEL_BOOST_MPI=OFF -D SKEL_SIM=OFF \
    -D SKEL_BUILD_TESTS=OFF -D SKEL_BUILD_EXAMPLES=OFF -D SKEL_BUILD_BENCHMARKS=ON
fi
cmake --build build/smpi --parallel "$(job_count)" --target skel-smpi-farm

out=out/smpi
mkdir -p $out
build/release/bin/skel-smpi-export "$platform" "$ranks" "$costs" "$tasks" "$seed" $out
mapfile -t overhead <$out/overheads
settings=(
  --log=root.thresh:warning
  --cfg=smpi/host-speed:1Gf --cfg=smpi/simulate-computation:no # only task costs take time, so runs are deterministic
  --cfg=smpi/coll-selector:ompi                                # the default algorithms do not terminate with 256 ranks
  --cfg=smpi/ois:"${overhead[0]}" --cfg=smpi/or:"${overhead[1]}"
  # Costs of polling the network and reading the clock; no growing steps, which would make the root unresponsive.
  --cfg=smpi/iprobe:1e-5 --cfg=smpi/test:1e-6 --cfg=smpi/wtime:1e-6 --cfg=smpi/grow-injected-times:no
)
# The network of skel::sim as given by the platform; then SMPI's own, with its factors and protocols.
plain=(--cfg=network/model:CM02 --cfg=network/crosstraffic:0 --cfg=network/TCP-gamma:1e12)
own=(--cfg=network/model:SMPI)

under_smpi() { # under_smpi SCHEDULE SETTINGS...
  smpirun -np "$ranks" -platform $out/platform.xml -hostfile $out/hostfile build/smpi/bin/skel-smpi-farm $out/costs.csv \
    "$1" serves "$bytes" "${settings[@]}" "${@:2}"
}
value_of() { tr -d ' \n' <"$1" | grep -o "\"$2\":[0-9.e+-]*" | head -n 1 | cut -d : -f 2; }

say "$platform, $ranks ranks, root serves, $tasks tasks, $costs, seed $seed, results of $bytes bytes"
echo
echo "| schedule | skel::sim | SMPI | SMPI, own network | ratio | own | messages | SMPI |"
echo "|---|---|---|---|---|---|---|---|"
for schedule in "${schedules[@]}"; do
  build/release/bin/skel-simulate --platform "$platform" --ranks "$ranks" --tasks "$tasks" --costs $out/costs.csv \
    --schedule "$schedule" --root serves --result-bytes "$bytes" --quiet --report $out/simulate.json
  simulated=$(value_of $out/simulate.json seconds)
  messages=$(value_of $out/simulate.json messages)
  read -r word seconds smpi_messages _ < <(under_smpi "$schedule" "${plain[@]}")
  read -r own_word own_seconds _ < <(under_smpi "$schedule" "${own[@]}")
  if [ "$word $own_word" != "right right" ]; then fail "$schedule: wrong results under SMPI"; fi
  awk -v s="$schedule" -v a="$simulated" -v b="$seconds" -v c="$own_seconds" -v m="$messages" -v n="$smpi_messages" \
    'BEGIN { printf "| %s | %.4f | %.4f | %.4f | %.3f | %.3f | %d | %d |\n", s, a, b, c, b / a, c / a, m, n }'
done
