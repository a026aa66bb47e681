# shellcheck shell=bash disable=SC2154
# For tests of whole programs: what they source, after `set -euo pipefail`. They set $program.

# A $folder for one test, gone at its end.
own_folder() {
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
}

in_own_folder() { # then $program needs a path that does not depend on where one is
  own_folder
  cd "$folder" || exit
}

# expect CODE TEXT ARGUMENTS...: $program ends with this exit code and at most one line of standard error, which has this
# text. The streams are left in out and err.
expect() {
  local code=0
  "$program" --progress never "${@:3}" >out 2>err || code=$?
  if [ "$code" != "$1" ] || ! { [ -z "$2" ] || grep -qF -- "$2" err; } || [ "$(wc -l <err)" -gt 1 ]; then
    echo "expected exit code $1 and \"$2\", found $code from: ${*:3}"
    cat out err
    exit 1
  fi
}

# same_hash WHAT COMMAND...: the result_xxh3 of the run is that of all before; begin with expected= for others.
same_hash() {
  local what=$1 hash
  shift
  "$@" --quiet --progress never --report "$folder/report.json"
  hash=$(grep -o '"result_xxh3": "[0-9a-f]\{16\}"' "$folder/report.json")
  expected=${expected:-$hash}
  if [ "$hash" != "$expected" ]; then
    echo "$what gives $hash, not $expected" >&2
    exit 1
  fi
}

# The number of a process among the ranks of its job.
rank_of() { { tr '\0' '\n' <"/proc/$1/environ"; } 2>/dev/null | sed -n 's/^\(OMPI_COMM_WORLD_RANK\|PMI_RANK\)=//p' | head -n 1; }

# pids_of ARGUMENTS: the processes of $program that were started with these arguments.
pids_of() {
  local pid
  for pid in $(pgrep -f -- "$1"); do
    if [ "$(readlink "/proc/$pid/exe")" = "$(readlink -f "$program")" ]; then echo "$pid"; fi
  done
}

# kill_ranks ARGUMENTS RANK...: those ranks of that job.
kill_ranks() {
  local pid rank
  for pid in $(pids_of "$1"); do
    for rank in "${@:2}"; do
      if [ "$(rank_of "$pid")" = "$rank" ]; then kill -KILL "$pid"; fi
    done
  done
}

# kill_at_generation GENERATION STORE DIRECTORY...: the job that was started last in the background, with --store STORE, is
# killed, all ranks at once, when a shard of this generation (1 to 9) or a later one lies in a directory. False: it was done before.
kill_at_generation() {
  local launcher=$! victims
  for _ in $(seq 1000); do
    [ "$(find "${@:3}" -type f 2>/dev/null | grep -cE "\.([$1-9]|[1-9][0-9]+)\.[0-9]+-of-")" -gt 0 ] && break
    kill -0 "$launcher" 2>/dev/null || break
    sleep 0.02
  done
  mapfile -t victims < <(pids_of "--store $2")
  [ ${#victims[@]} -eq 0 ] || kill -KILL "${victims[@]}" 2>/dev/null || true
  ! wait "$launcher"
}
