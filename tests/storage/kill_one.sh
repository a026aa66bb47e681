#!/usr/bin/env bash
# Kills a rank of a program in supersteps: the others read its state from the store and continue in
# the same job.
#   kill_one.sh SKEL_MPIEXEC SKEL_MATMUL given|own
# The store: three directories, or each rank's own disk, which is lost together with its rank.
# Exit code 1 if the product differs, the job fails, it restarts instead of reading the store, or no
# loss occurred.
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
skel_mpiexec=$1 program=$2 disks=$3
own_folder
order=1800
[ "$disks" = given ] || order=2400 # checkpoints through messages take longer
store=$folder/d0,$folder/d1,$folder/d2
if [ "$disks" = own ]; then
  export SKEL_HOST=node%r
  store=ranks:$folder/d%r
fi

multiply() { # multiply ORDER
  product=(--size "$1" --panel 16 --threads 1 --quiet --progress never)
  "$program" "${product[@]}" -o "$folder/alone.bin"
}

multiply $order
for attempt in 1 2 3 4 5 6; do # repeated if the job ended before the kill
  case $attempt in 3) multiply $((order * 3 / 2)) ;; 5) multiply $((order * 2)) ;; esac # a busy machine
  rm -rf "$folder"/d?
  mkdir "$folder"/d{0,1,2}
  SKEL_SUSPECT_AFTER=1s "$skel_mpiexec" -n 4 --oversubscribe "$program" "${product[@]}" --checkpoint ida:2,1 \
    --store "$store" --every 50ms --report "$folder/report.json" --trace "$folder/trace.json" -o "$folder/ranks.bin" \
    >"$folder/out" 2>"$folder/errors" &
  launcher=$!
  # With a second generation of the states, after the log, the first is committed.
  if wait_for $launcher has_generation 3 "$folder"/d{0,1,2,3}; then kill_ranks "--store $store" 2; fi
  if ! wait $launcher; then
    cat "$folder/errors" >&2
    exit 1
  fi
  cmp "$folder/alone.bin" "$folder/ranks.bin"
  if tr -d ' \n' <"$folder/report.json" | grep -q '"lost_ranks":\[2\]'; then
    begun=$(grep -c '"pid":0,.*"first_task":0,"tasks":1}' "$folder/trace.json" || true)
    if [ "$begun" -ne 1 ]; then
      echo "superstep 0 was computed $begun times: nothing was restored" >&2
      exit 1
    fi
    echo "rank 2 lost (attempt $attempt), the same product"
    exit 0
  fi
done
echo "no loss was reported" >&2
exit 1
