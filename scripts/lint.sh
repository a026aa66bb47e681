#!/usr/bin/env bash
# shellcheck disable=SC2317
# Runs clang-tidy over the changed files. See --help.
all=no
case ${1:-} in
  '') ;;
  --all) all=yes ;;
  -h | --help)
    cat <<'TEXT'
usage: scripts/lint.sh [--all]
Runs clang-tidy (16 or later) without its slow static analyzer over the files changed since the branch left its upstream,
or else in the last five commits. With --all: over all files, with the analyzer. Warnings are errors.
TEXT
    exit 0
    ;;
  *)
    echo "lint.sh: unknown option $1; try --help" >&2
    exit 2
    ;;
esac
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
# A tree that is configured but never built: the compile commands of the other trees may be those of unity builds.
tree=build/lint/tree
database=$tree/compile_commands.json
batches=build/lint/batches
cmake --preset dev -B $tree -D SKEL_BUILD_BENCHMARKS=ON >/dev/null || fail "cannot configure $tree"
tool=$(tool_of clang-tidy) || fail "no clang-tidy 16 or later"
mode=quick
# The compile commands are gcc's; clang has other options, and its -Wconversion includes sign conversions.
options=(-p "$batches" --quiet --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-sign-conversion)
options+=('--header-filter=/(include/skel|src|examples|tests|benchmarks)/.*\.[ch]pp$')
together=1
if [ "$all" = yes ]; then
  mode=full
else
  options+=('--checks=-clang-analyzer-*')  # three quarters of its time
  together=8
fi

all_files() { find include src examples tests benchmarks -name '*.[ch]pp'; }

changed_files() {
  local base upstream
  upstream=$(git rev-parse --verify -q '@{upstream}' || git rev-parse --verify -q origin/HEAD || true)
  base=$(git merge-base HEAD "${upstream:-HEAD}")
  if [ "$base" = "$(git rev-parse HEAD)" ]; then base=$(git rev-list --max-count=6 --first-parent HEAD | tail -n 1); fi
  git diff --name-only --diff-filter=d "$base"
  git ls-files --others --exclude-standard
}

# Headers are checked through a source: public ones through those that tests/headers generates, others through their
# own.
units_of() {
  local file
  while read -r file; do
    case $file in
      include/skel/*.hpp) echo "$tree/tests/headers/$(tr -c 'a-zA-Z0-9\n' _ <<<"${file#include/}").cpp" ;;
      *.hpp) echo "${file%.hpp}.cpp" ;;
      *.cpp) echo "$file" ;;
    esac
  done | LC_ALL=C sort -u | while read -r file; do
    if [ -f "$file" ] && grep -qF "/$file\"" $database; then echo "$file"; fi
  done
}

stamp_of() { echo "build/lint/$(tr / _ <<<"$1").$mode"; }

# A clean file stays clean until it, the configuration or any header changes.
known_clean() {
  local stamp
  stamp=$(stamp_of "$1")
  [ "$stamp" -nt "$1" ] && [ "$stamp" -nt .clang-tidy ] && [ "$stamp" -nt "${newest_header:-.clang-tidy}" ]
}

# One line per run of clang-tidy: the file passed to it, then those it checks. Quick runs check several files of a
# target together, since most time goes into shared headers; a file that defines macros is checked alone.
batches_of() {
  rm -rf "$batches"
  mkdir -p "$batches"
  # grep fails if nothing matches, which is not an error here.
  { xargs grep -c '^#define' /dev/null || true; } | awk -v root="$PWD" -v folder="$PWD/$batches" -v most=$together '
    NR == FNR { split($0, counted, ":"); alone[root "/" counted[1]] = counted[2] > 0; name[root "/" counted[1]] = counted[1]; next }
    /"directory":/ { directory = $0 }
    /"command":/ { command = $0 }
    /"file":/ {
      split($0, quoted, "\""); file = quoted[4]
      if (!(file in name)) next
      kind = command; sub(/\.dir\/[^ ]* -c .*/, "", kind)
      if (alone[file] || most == 1) kind = file
      if (!(kind in batch) || size[batch[kind]] == most) batch[kind] = ++count
      n = batch[kind]; members[n] = members[n] " " name[file]; first[n] = file
      print "#include \"" file "\"  // NOLINT(bugprone-suspicious-include)" >(folder "/" n ".cpp")
      if (++size[n] == 1) how[n] = directory "\n" command
    }
    END {
      print "[" >(folder "/compile_commands.json")
      for (n = 1; n <= count; ++n) {
        unit = size[n] == 1 ? first[n] : folder "/" n ".cpp"
        sub(/ -c [^ ]*",$/, " -c " unit "\",", how[n])
        print (n > 1 ? ",{" : "{") "\n" how[n] "\n\"file\": \"" unit "\"\n}" >(folder "/compile_commands.json")
        print unit members[n]
      }
      print "]" >(folder "/compile_commands.json")
    }' - $database
}

mkdir -p build/lint
newest_header=$(find include src examples tests benchmarks -name '*.hpp' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2)
if [ "$all" = yes ] || ! git rev-parse -q --git-dir >/dev/null 2>&1; then files=all_files; else files=changed_files; fi

total=0
todo=()
while read -r unit; do
  total=$((total + 1))
  if ! known_clean "$unit"; then todo+=("$unit"); fi
done < <($files | units_of)

failed=0
if ((${#todo[@]} > 0)); then
  # Standard error contains only counts of suppressed warnings, unless the tool itself fails.
  # shellcheck disable=SC2016
  printf '%s\n' "${todo[@]}" | batches_of | MODE=$mode xargs -P "$(job_count)" -L1 bash -c '
    options=()
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    unit=$2
    shift 2
    stamps=()
    for file in "$@"; do stamps+=("build/lint/$(tr / _ <<<"$file").$MODE"); done
    if "${options[@]}" "$unit" 2>"${stamps[0]}.log"; then
      touch "${stamps[@]}"
    else
      grep -E "error:|Error" "${stamps[0]}.log"
      exit 1
    fi
  ' lint "$tool" "${options[@]}" -- || failed=1
fi
echo "$tool ($mode): $total files, ${#todo[@]} of them not known to be clean from an earlier run"
exit $failed
