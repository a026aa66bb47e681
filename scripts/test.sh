#!/usr/bin/env bash
# shellcheck disable=SC2317
# Runs everything that must pass before a change is merged. See --help.
install=yes
all=no
usage() {
  cat <<'TEXT'
usage: scripts/test.sh [--all] [--no-install] [--help]

Builds skel and runs its tests and checks; prints the slowest tests, the seconds of each step and the end of what each
failed test wrote, and fails if any step fails:
  build      optimised build
  release    its tests (including headers alone, compile errors, install and consume), without the unit tests that asan
             runs as well
  kills      its tests that kill ranks, or wait for time limits
  asan-build compiles for asan beside the steps above, at the lowest priority: it takes what they leave while they wait
  asan       the tests under AddressSanitizer and UndefinedBehaviorSanitizer, programs over MPI with three ranks only,
             without the tutorial and the snippets of the documentation, random ones with fewer cases
  format     clang-format, all files
  lint       clang-tidy, the files changed since the branch left its upstream (or in the last commits)
  scripts    includes stay within their permitted rooms; recipes of packages; licences (REUSE); shellcheck, if installed
  docs       the documentation as a site, with its links; doxygen, warnings are errors

  --all         also: build and tests without MPI, the benchmarks built, ranks killed under asan, tsan
                (ThreadSanitizer, without MPI), a sample of the simulated figures in docs/ made again
                (scripts/measurements.py --check), every parser under libFuzzer for a minute (scripts/fuzz.sh), a build of every
                file by itself with shared libraries (and install tests), long test campaigns, coverage, clang-tidy's
                analyzer on all files, the shared libraries compared with the last release (scripts/check-abi.sh), the
                tests of MPI under Debian's MPICH (scripts/test-mpi.sh --mpich)
  --no-install  do not install missing Debian packages: list them and exit with code 1
Not included, because they need another Debian or several minutes (see their --help):
  scripts/try-in-chroot.sh --suite trixie scripts/test-mpi.sh            Open MPI 5, with ULFM and without (as root)
  scripts/try-in-chroot.sh --suite trixie scripts/test-mpi.sh --mpich    MPICH, with a Boost.MPI built for it (as root)
  scripts/try-in-chroot.sh scripts/test-slurm.sh                         a real Slurm on loopback (as root)
  scripts/package-debian.sh                                              Debian packages, installed and used (as root)
  scripts/smpi.sh                                                        the MPI program on 256 simulated ranks
Missing packages are installed with apt on a bare Debian 12. Build trees are build/<preset>.
TEXT
}
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
for argument in "$@"; do
  case $argument in
    --all) all=yes ;;
    --no-install) install=no ;;
    *) help_or_mistake "$argument" ;;
  esac
done

want_clang_tools
[ "$all" = yes ] && check_packages+=(gcovr)
need_packages "${build_packages[@]}" "${check_packages[@]}"
# Hundreds of programs are linked: under asan each takes 0.9 s of a core instead of 2.1 s with GNU ld.
if command -v ld.lld >/dev/null; then export LDFLAGS=${LDFLAGS--fuse-ld=lld}; fi

# Every step runs, even if an earlier one failed.
summary=()
failed=0
note() { # note NAME STATUS START
  local result=ok
  if (($2 != 0)); then result=FAILED failed=1; fi
  summary+=("$(printf '%-10s %-7s %4d s' "$1" "$result" $((SECONDS - $3)))")
}
step() {
  local name=$1 start=$SECONDS
  shift
  say "$name"
  # Not "if ! (…)": bash ignores set -e in a tested command, and a step would continue after an error.
  set +e
  (
    set -e
    "$@"
  )
  local status=$?
  set -e
  note "$name" "$status" "$start"
}
# A step that runs beside the next one. `await` prints its output.
beside() {
  beside_name=$1 beside_start=$SECONDS
  shift
  (
    set -e
    "$@"
  ) >"build/$beside_name.log" 2>&1 &
  beside_id=$!
}
await() {
  local status=0
  wait "$beside_id" || status=$?
  say "$beside_name"
  cat "build/$beside_name.log"
  note "$beside_name" "$status" "$beside_start"
}

# Open MPI 4: launches share a folder that the first creates and the last removes; two launches that start at once may
# fail over it. A folder that is not empty stays.
keep_launchers_folder() (umask 077 && mkdir -p "${TMPDIR:-/tmp}/ompi.$(uname -n).$(id -u)/keep")

# A new tree gets the tests that the other one leaves out (SKEL_TESTS_ONCE); with --all, both have all.
build_once() {
  if [ "$all" = no ] && [ ! -f "build/$1/build.ninja" ]; then cmake --preset "$1" -D SKEL_TESTS_ONCE=ON; fi
  build "$1"
}
# tests PRESET OPTIONS...: ctest in that tree; what it prints stays in build/failures/ until the end if a test fails.
tests() {
  local log
  log=build/failures/$(find build/failures -type f | wc -l).$1
  ctest --test-dir "build/$1" --output-on-failure --output-log "$log" "${@:2}" && rm "$log"
}
# The last lines that each failed test wrote, so that the end of a long log says what is wrong.
failures() {
  local log
  for log in build/failures/*; do
    [ -f "$log" ] || continue
    awk -v of="${log##*.}" '
      function flush(    i) {
        if (name != "") {
          print "-- " name " (" of ")"
          for (i = n > 20 ? n - 20 : 0; i < n; i++) print lines[i]
        }
        name = ""
        n = 0
      }
      /^ *[0-9]+\/[0-9]+ Test +#/ { flush(); if (/\*\*\*/ && !/Skipped/) { sub(/^[^:]*: */, ""); name = $0 }; next }
      /^ +Start +[0-9]+: / || /^[0-9]+% tests passed/ { flush(); next }
      name != "" && NF { lines[n++] = $0 }' "$log"
  done
}
tested_build() {
  build "$1"
  run_tests "$@"
}
# run_tests PRESET [LABELS]: without tests that have one of the labels. Twice as many jobs as cores: some of the slow
# tests wait. (With ctest --preset, a -LE would have to match in addition to that of the preset.)
run_tests() {
  keep_launchers_folder
  tests "$1" --no-tests=error --parallel $((2 * $(job_count))) -LE "^(${2:-long})\$"
}
build_beside() {
  renice -n 19 "$BASHPID" >/dev/null
  build_once "$1"
}
# These mostly wait, and use a tenth of a core.
kills() {
  keep_launchers_folder
  tests release --parallel $((4 * $(job_count))) -L '^kills$' -LE '^long$' --no-tests=ignore
}
slowest() {
  printf '%6s  %s\n' seconds test
  for preset in release asan; do
    awk -v of="$preset" 'NF == 3 { printf "%6.0f  %s (%s)\n", $3, $1, of }' "build/$preset/Testing/Temporary/CTestCostData.txt"
  done 2>/dev/null | sort -rn | sed -n 1,20p
}

sources() { find include src examples tests benchmarks '(' -name '*.[ch]pp' -o -name '*.inl' ')' | LC_ALL=C sort; }

format() {
  local tool
  tool=$(tool_of clang-format)
  sources | xargs "$tool" --dry-run --Werror
  echo "$tool: $(sources | wc -l) files"
}

lint() {
  if [ "$all" = yes ]; then scripts/lint.sh --all; else scripts/lint.sh; fi
}

check_scripts() {
  cmake -P cmake/check_rooms.cmake
  # From GCC 13 on, such a call with a std::string is also one of std::format (base/format.hpp).
  local found
  found=$(sources | xargs grep -nP '(?<![\w:.])format\("' || true)
  if [ -n "$found" ]; then
    printf 'expected detail::format:\n%s\n' "$found"
    return 1
  fi
  scripts/check_packaging.py
  reuse lint | tail -n 3
  if command -v shellcheck >/dev/null; then
    shellcheck scripts/*.sh scripts/skel-mpiexec cmake/bash_completion packaging/slurm/*.sbatch debian/tests/consumer .ci/run
  else
    echo "shellcheck is not installed: skipped"
    for script in scripts/*.sh scripts/skel-mpiexec .ci/run; do bash -n "$script"; done
  fi
}

docs() {
  if [ "$install" = yes ]; then scripts/docs.sh; else scripts/docs.sh --no-install; fi
}

coverage() {
  tested_build coverage
  gcovr --root . --filter 'include/' --filter 'src/' --object-directory build/coverage -j "$(job_count)" \
    --gcov-ignore-parse-errors --print-summary --html build/coverage/coverage.html
}

fuzz() {
  if [ "$install" = yes ]; then scripts/fuzz.sh 60; else scripts/fuzz.sh --no-install 60; fi
}

benchmarks() {
  cmake --preset bench
  build release
}

figures() { scripts/measurements.py --check; }

sanitized_kills() {
  build asan skel_losses
  tests asan -L '^kills$'
}

shared() {
  build dev
  keep_launchers_folder
  tests dev -R '^install\.'
}

abi() {
  if [ "$install" = yes ]; then scripts/check-abi.sh; else scripts/check-abi.sh --no-install; fi
}

mpich() {
  if [ "$install" = yes ]; then scripts/test-mpi.sh --mpich; else scripts/test-mpi.sh --mpich --no-install; fi
}

campaigns() { tests release --parallel "$(job_count)" -L '^long$' --no-tests=ignore; }

rm -rf build/failures
mkdir -p build/failures
step format format
step scripts check_scripts
step build build_once release
beside asan-build build_beside asan
step release run_tests release 'long|kills'
step docs docs
step lint lint
step kills kills
await
step asan run_tests asan 'long|kills'
if [ "$all" = yes ]; then
  step nompi tested_build nompi
  step bench benchmarks
  step figures figures
  step kills sanitized_kills
  step tsan tested_build tsan
  step fuzz fuzz
  step dev shared
  step abi abi
  step mpich mpich
  step long campaigns
  step coverage coverage
fi

say "Summary ($((SECONDS / 60)) min $((SECONDS % 60)) s)"
slowest
printf '%s\n' "${summary[@]}"
failures
if ((failed)); then echo "FAILED" >&2; fi
exit $failed
