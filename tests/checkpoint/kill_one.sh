#!/usr/bin/env bash
# A rank of a program in supersteps is killed: the others read its state from the store and go on, in the same job.
#   kill_one.sh SKEL_MPIEXEC SKEL_MATMUL
# Exit code 1 if the product differs, the job fails, or no loss was seen.
set -euo pipefail
skel_mpiexec=$1 program=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
product=(--size 1200 --panel 16 --threads 1 --quiet --progress never)
store=$dir/d0,$dir/d1,$dir/d2

rank_of() { { tr '\0' '\n' <"/proc/$1/environ"; } 2>/dev/null | sed -n 's/^\(OMPI_COMM_WORLD_RANK\|PMI_RANK\)=//p' | head -n 1; }

"$program" "${product[@]}" -o "$dir/alone.bin"
for attempt in 1 2 3 4 5; do # again, if the job was done before the kill
  rm -rf "$dir"/d?
  mkdir "$dir"/d{0,1,2}
  SKEL_SUSPECT_AFTER=1s "$skel_mpiexec" -n 4 --oversubscribe "$program" "${product[@]}" --checkpoint ida:2,1 \
    --store "$store" --every 50ms --report "$dir/report.json" -o "$dir/ranks.bin" >"$dir/out" 2>"$dir/errors" &
  launcher=$!
  for _ in $(seq 400); do # until there is a second generation: the first is committed
    [ "$(find "$dir"/d? -type f | grep -cE '\.([2-9]|[1-9][0-9]+)\.[0-9]+-of-')" -gt 0 ] && break
    sleep 0.02
  done
  for pid in $(pgrep -f -- "--store $store"); do
    [ "$(readlink "/proc/$pid/exe")" = "$(readlink -f "$program")" ] || continue
    if [ "$(rank_of "$pid")" = 2 ]; then kill -KILL "$pid"; fi
  done
  if ! wait $launcher; then
    cat "$dir/errors" >&2
    exit 1
  fi
  cmp "$dir/alone.bin" "$dir/ranks.bin"
  if tr -d ' \n' <"$dir/report.json" | grep -q '"lost_ranks":\[2\]'; then
    echo "rank 2 lost (attempt $attempt), the same product"
    exit 0
  fi
done
echo "no loss was seen" >&2
exit 1
