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
product=(--size $order --panel 16 --threads 1 --quiet --progress never)
store=$folder/d0,$folder/d1,$folder/d2
if [ "$disks" = own ]; then
  export SKEL_HOST=node%r
  store=ranks:$folder/d%r
fi

"$program" "${product[@]}" -o "$folder/alone.bin"
for attempt in 1 2 3 4 5 6; do # repeated if the job ended before the kill
  rm -rf "$folder"/d?
  mkdir "$folder"/d{0,1,2}
  SKEL_SUSPECT_AFTER=1s "$skel_mpiexec" -n 4 --oversubscribe "$program" "${product[@]}" --checkpoint ida:2,1 \
    --store "$store" --every 50ms --report "$folder/report.json" --trace "$folder/trace.json" -o "$folder/ranks.bin" >"$folder/out" 2>"$folder/errors" &
  launcher=$!
  for _ in $(seq 400); do # waits for a second generation of the states, after the log: the first is then committed
    [ "$(find "$folder"/d? -type f 2>/dev/null | grep -cE '\.([3-9]|[1-9][0-9]+)\.[0-9]+-of-')" -gt 0 ] && break
    sleep 0.02
  done
  kill_ranks "--store $store" 2
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
