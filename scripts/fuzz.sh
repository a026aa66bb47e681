#!/usr/bin/env bash
# Runs every parser under libFuzzer. See --help.
usage() {
  cat <<'TEXT'
usage: scripts/fuzz.sh [--no-install] [SECONDS [TARGET...]]
Builds all fuzz targets of tests/fuzz, or the named ones, with clang (build/fuzz, with AddressSanitizer and
UndefinedBehaviorSanitizer) and runs them (nff, message, model, commands, option, graph, labels, manifest, platform, shard,
result_log, session, volume, specification, isosurface), for SECONDS each (default 30), starting with the corpus of earlier runs in
build/fuzz/corpus.
Stops with exit code 1 at the first input that crashes, hangs or takes 2 GB, and names its file.
TEXT
}
install=yes
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
if [ "${1:-}" = --no-install ]; then install=no && shift; fi
case ${1:-} in
  -*) help_or_mistake "$1" ;;
esac
seconds=${1:-30}
shift || true
# Version 14, the default of Debian 12, cannot parse its own standard library.
need_packages "${build_packages[@]}" clang-16 libclang-rt-16-dev
cmake -S . -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++-16 -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" -DCMAKE_UNITY_BUILD=ON -DSKEL_MPI=OFF \
  -DSKEL_BUILD_FUZZERS=ON -DSKEL_SANITIZE=address,undefined >/dev/null
targets=("$@")
if ((${#targets[@]} == 0)); then
  mapfile -t targets < <(ninja -C build/fuzz -t targets all | sed -n 's,^bin/fuzz_\([a-z_]*\):.*,\1,p' | sort -u)
fi
ninja -C build/fuzz "${targets[@]/#/bin/fuzz_}"
# Initial files, in addition to the findings of earlier runs.
seeds_of() {
  case $1 in
    session) echo "$PWD/tests/fuzz/sessions" ;;
    specification) echo "$PWD/examples/volume/specs" ;;
    volume) printf '%s\n' "$PWD/tests/volume_data/vtk_files" "$PWD/tests/volume_data/netcdf_files" ;;
  esac
}
for target in "${targets[@]}"; do
  mkdir -p "build/fuzz/corpus/$target"
  say "fuzz $target"
  log=build/fuzz/$target.log
  mapfile -t seeds < <(seeds_of "$target")
  if ! (cd build/fuzz && ASAN_OPTIONS=detect_leaks=0 "bin/fuzz_$target" -max_total_time="$seconds" -timeout=20 \
    -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$target-" "corpus/$target" "${seeds[@]}") >"$log" 2>&1; then
    tail -n 40 "$log"
    fail "fuzz $target: found a failing input: build/fuzz/$target-*"
  fi
  grep -E "number_of_executed_units|new_units_added" "$log"
done
