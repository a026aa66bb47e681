#!/usr/bin/env bash
# Tests input and output files and exit codes: program.sh SKEL-COMPONENTS
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
program=$1
in_own_folder

printf '# four nodes\n1 2\n3 2\n' >g.txt
expect 0 '' g.txt --verify -o labels.txt --write-graph g.skel-edges
printf '0\n1\n1\n1\n' | cmp - labels.txt
grep -q '^2 components of 4 nodes and 2 edges$' out
grep -q '^verified: 4 labels, by a breadth-first search of 2 edges$' out
gzip -c g.skel-edges >g.gz
expect 0 '' g.gz --verify --nodes 5 --threads 3 --report run.json -o labels.bin
[ "$(wc -c <labels.bin)" = 20 ]
expect 0 '' g.gz --nodes 5 -o LABELS.BIN
cmp labels.bin LABELS.BIN
grep -q '"components": *3' run.json
grep -q '"verified": *true' run.json
if grep -q 'one core needs' out || grep -q one_core run.json; then exit 1; fi
expect 0 '' g.gz --compare-one-core --report run.json
grep -q 'one core needs [0-9.]* s$' out
grep -q '"one_core_seconds": *[0-9]' run.json

expect 0 '' g.gz --compare-one-core --quiet
[ ! -s out ]

printf '1 2\n1 two\n' >bad.txt
expect 2 'skel-components: bad.txt:2: expected a node number, found "two"' bad.txt -o no.txt
[ ! -e no.txt ]
expect 2 'skel-components: none.txt: No such file or directory' none.txt
expect 2 'expected one graph' --threads 1
expect 2 'expected one graph' g.txt --sweep
expect 2 'skel-components: --sweep: expected no -o, --verify' --sweep --verify
expect 2 'unknown extension' g.txt -o labels.png
# Parts of the labels are not a solution: --help does not offer that kind, and the error gives the
# reason.
expect 2 '--kind distributed: parts of the labels are not a solution' g.txt --kind distributed
expect 2 '--kind: fast not in {hypercube,tree,embarrassing}' g.txt --kind fast
expect 0 '' --help
if grep -q distributed out; then exit 1; fi
expect 2 '--generate: missing m' --generate uniform:n=4
printf '0 4294967295\n' >large.txt
expect 2 'from 0 to 4294967294, found "4294967295"' large.txt

# One rank measures all phases, so that a model can predict several ranks.
expect 0 'one rank cannot measure the cost of messages' --sweep --samples s.csv --threads 1
for phase in run sequential,0 sequential,1 divide,0 exchange,0 combine,0; do
  grep -q ",1,1,$phase," s.csv
done
# Two files and a formula whose labels exceed the memory limit of the process.
printf '0 999999999\n' >one.txt
printf '0 999999999\n1 2\n' >two.txt
(
  ulimit -v 3000000
  for graph in one.txt two.txt '--generate uniform:n=1000000000,m=2'; do
    # shellcheck disable=SC2086
    expect 1 'out of memory: labels of 1000000000 nodes take 4.0 GB' $graph --threads 1
  done
)
echo ok
