#!/usr/bin/env bash
# Spare ranks stand in for ranks that are killed or retire, rank 0 too: every command has one result, and as many ranks work
# at the end as at the beginning.
#   spares.sh SKEL_MPIEXEC SKEL_RUN
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
mpiexec=$1 program=$2
in_own_folder

# The last 40 commands wait until the signals were sent.
for i in $(seq 0 99); do
  waiting=
  [ "$i" -lt 60 ] || waiting="until [ -e $folder/go ]; do sleep 0.05; done; "
  echo "${waiting}sleep 0.1; echo $i >>$folder/ended"
done >list

# victims, spare ranks, signal, ranks that work at the end
while read -r victims spares signal working; do
  rm -f ended go
  table=table$victims$signal.csv
  "$mpiexec" --spares "$spares" -n $((3 + spares)) --oversubscribe "$program" --progress never --threads 1 \
    --report report.json -o "$table" list >log 2>&1 </dev/null &
  job=$!
  wait_for $job has_lines ended 20 || fail "no command runs: $(cat log)"
  for victim in ${victims//,/ }; do kill "-$signal" "$(rank_process "$victim" "$table")"; done
  touch go
  wait $job || fail "$victims $signal: the job failed: $(cat log)"
  [ -z "$(pids_of "$table")" ] || fail "$victims $signal: processes are left"
  python3 - "$table" report.json "$victims" "$working" <<'PYTHON' || fail "$victims $signal: $(cat log)"
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
assert [int(row["number"]) for row in rows] == list(range(100)) and all(row["status"] == "ok" for row in rows), rows
report = json.load(open(sys.argv[2]))
losses = sorted(loss["rank"] for loss in report.get("losses", []))
spare_alone = sys.argv[3] == "3"
assert losses == ([] if spare_alone else sorted(map(int, sys.argv[3].split(",")))), losses
assert report["spares"] == (2 if sys.argv[3:5] == ["1,2", "3"] else 1), report
gone = len(report["lost_ranks"]) + len(report.get("lost_before", []))
assert report["ranks"] - gone == int(sys.argv[4]), report
PYTHON
  [ "$victims" = 3 ] || grep -q 'in for lost ones\|in place of lost ones' log || fail "$victims: found $(cat log)"
done <<'END'
2 1 KILL 3
0 1 KILL 3
1,2 2 KILL 3
1,2 1 KILL 2
2 1 USR2 3
3 1 KILL 3
END
