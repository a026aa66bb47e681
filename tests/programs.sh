# shellcheck shell=bash disable=SC2154
# Tests of whole programs source this file after `set -euo pipefail`. They set $program.

# Creates $folder for one test and removes it at the end.
own_folder() {
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
}

in_own_folder() { # needs an absolute path in $program
  own_folder
  cd "$folder" || exit
}

# fail TEXT: ends the test, and shows what a program has written to the file errors.
fail() {
  echo "$1" >&2
  cat "${folder:-.}/errors" >&2 2>/dev/null || true
  exit 1
}

# expect CODE TEXT ARGUMENTS...: checks that $program ends with this exit code and writes at most one line to standard
# error, which contains TEXT. The streams go to the files out and err.
expect() {
  local code=0
  "$program" --progress never "${@:3}" >out 2>err || code=$?
  if [ "$code" != "$1" ] || ! { [ -z "$2" ] || grep -qF -- "$2" err; } || [ "$(wc -l <err)" -gt 1 ]; then
    echo "expected exit code $1 and \"$2\", found $code from: ${*:3}"
    cat out err
    exit 1
  fi
}

# same_hash WHAT COMMAND...: checks that all runs have the same result_xxh3. Setting expected= starts a new comparison.
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

# rank_of PID: prints the rank of a process.
rank_of() { { tr '\0' '\n' <"/proc/$1/environ"; } 2>/dev/null | sed -n 's/^\(OMPI_COMM_WORLD_RANK\|PMI_RANK\)=//p' | head -n 1; }

# pids_of ARGUMENTS: prints the processes of $program that were started with these arguments.
pids_of() {
  local pid
  for pid in $(pgrep -f -- "$1"); do
    if [ "$(readlink "/proc/$pid/exe")" = "$(readlink -f "$program")" ]; then echo "$pid"; fi
  done
}

# rank_process RANK ARGUMENTS: prints the process of this rank, without those that it has started.
rank_process() {
  local pid
  for pid in $(pids_of "$2"); do
    if [ "$(cat "/proc/$pid/comm")" = "${program##*/}" ] && [ "$(rank_of "$pid")" = "$1" ]; then echo "$pid"; fi
  done
}

# kill_ranks ARGUMENTS RANK...: kills these ranks of the job that was started with ARGUMENTS.
kill_ranks() {
  local pid rank
  for pid in $(pids_of "$1"); do
    for rank in "${@:2}"; do
      if [ "$(rank_of "$pid")" = "$rank" ]; then kill -KILL "$pid" 2>/dev/null || true; fi # it may just have ended
    done
  done
}

# was_restored REPORT: prints what the run of this report restored. Calls fail if it started anew, or ran all tasks again.
was_restored() {
  local restored
  restored=$(grep -o '"restored_[a-z]*": [0-9]*' "$1" | tr '\n' ' ')
  echo "$restored"
  case $restored in *'"restored_generation": '[1-9]*) ;; *) fail "nothing was restored" ;; esac
  case $restored in *'"restored_tasks": '[1-9]*) ;; *) fail "all tasks were run again" ;; esac
}

# wait_for PID COMMAND...: waits until the command succeeds. Returns false if this child of the script has ended before.
wait_for() {
  until "${@:2}"; do
    kill -0 "$1" 2>/dev/null || return 1
    sleep 0.02
  done
}

# has_lines FILE N
has_lines() { [ -f "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]; }

# has_generation GENERATION DIRECTORY...: whether one holds a shard of this generation (1 to 9) or a later one.
has_generation() {
  [ "$(find "${@:2}" -type f 2>/dev/null | grep -cE "\.([$1-9]|[1-9][0-9]+)\.[0-9]+-of-")" -gt 0 ]
}

# make_larger: the program whose arguments are in the array problem then takes about twice as long, or longer.
make_larger() {
  local i option='' width height b
  for i in "${!problem[@]}"; do
    case $option in
      --size) # of a picture or a matrix
        IFS=x read -r width height <<<"${problem[i]}"
        problem[i]=$((width * 3 / 2))${height:+x$((height * 3 / 2))}
        ;;
      --tree) # with b children of the root
        b=${problem[i]#*:b=}
        b=${b%%,*}
        problem[i]=${problem[i]/:b=$b,/:b=$((2 * b)),}
        ;;
    esac
    option=${problem[i]}
  done
}

# kill_at_generation GENERATION STORE DIRECTORY...: kills all ranks of the latest background job, which has --store STORE,
# when has_generation GENERATION DIRECTORY... Returns false if the job has ended before.
kill_at_generation() {
  local launcher=$! victims
  if ! wait_for "$launcher" has_generation "$1" "${@:3}"; then
    wait "$launcher" || fail "the job failed before it was killed"
    return 1
  fi
  mapfile -t victims < <(pids_of "--store $2")
  [ ${#victims[@]} -eq 0 ] || kill -KILL "${victims[@]}" 2>/dev/null || true
  ! wait "$launcher"
}
