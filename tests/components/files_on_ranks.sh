#!/usr/bin/env bash
# Any number of ranks reads a file with the same labels, --write-graph and errors, and none holds all
# edges: files_on_ranks.sh MPIEXEC SKEL-COMPONENTS
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
mpiexec=$1 program=$2
in_own_folder

on() { # RANKS ARGUMENTS...
  if [ "$1" = 1 ]; then
    "$program" "${@:2}" --quiet --progress never
  else
    "$mpiexec" -n "$1" "$program" "${@:2}" --quiet --progress never
  fi
}

# 20,000 edges among 20,000 nodes, and their labels by a search of its own.
awk 'BEGIN { x = 7; for (i = 0; i < 40000; ++i) { x = (x * 1103515245 + 12345) % 2147483648; printf "%d%s", x / 107375, i % 2 ? "\n" : " " } }' >g.el
awk '{ next_of[$1] = next_of[$1] " " $2; next_of[$2] = next_of[$2] " " $1 }
  END {
    for (i = 0; i < 20000; ++i) {
      if (i in label) continue
      label[i] = i; stack[size = 1] = i
      while (size > 0) {
        count = split(next_of[stack[size--]], near, " ")
        for (j = 1; j <= count; ++j) if (!(near[j] in label)) { label[near[j]] = i; stack[++size] = near[j] }
      }
    }
    for (i = 0; i < 20000; ++i) print label[i]
  }' g.el >expected.txt
{
  printf '# Nodes: 1 Edges: 20000\r\n%%\r\n'
  awk '{ printf "%s\t%s\r\n", $1, $2 }' g.el
} | head -c -2 >crlf.txt
{
  printf '%%%%MatrixMarket matrix coordinate pattern general\n20000 20000 20000\n'
  awk '{ print $1 + 1, $2 + 1 }' g.el
} >g.mtx
gzip -kc g.el >g.el.gz
on 1 g.el --nodes 20000 --write-graph g.skel-edges >out
gzip -kc g.skel-edges >g.skel-edges.gz

for graph in g.el crlf.txt g.mtx g.skel-edges g.el.gz g.skel-edges.gz; do
  for ranks in 1 2 5; do
    on $ranks $graph --nodes 20000 -o labels.txt --write-graph w.skel-edges >out
    cmp labels.txt expected.txt
    cmp w.skel-edges g.skel-edges
    rm labels.txt w.skel-edges
  done
  on 3 $graph --nodes 20000 --kind tree --verify -o labels.txt >out
  cmp labels.txt expected.txt
done

# The errors of one rank, also if the fault is in the share of another.
{
  cat g.el
  echo '5 x'
} >end.el
sed '11000s/$/ 1 2 3/' g.el >middle.el
gzip -kc end.el >end.el.gz
sed '2s/20000$/20001/' g.mtx >few.mtx
sed '2s/20000$/19999/' g.mtx >many.mtx
head -c -1 g.skel-edges >short.skel-edges
cp g.skel-edges damaged.skel-edges
printf '\1' | dd of=damaged.skel-edges bs=1 seek=90040 conv=notrunc 2>/dev/null
: >empty.mtx
{
  head -c 700000 /dev/zero | tr '\0' ' '
  head -c 700000 /dev/zero | tr '\0' ' '
} >long.el
errors_of() { # TEXT GRAPH OPTIONS...
  local code ranks
  for ranks in 1 3; do
    code=0
    on $ranks "${@:2}" >out 2>err || code=$?
    if [ $code != 2 ] || [ "$(grep -c '^skel-components: ' err)" != 1 ] || ! grep -qxF "skel-components: $1" err; then
      echo "$ranks ranks, ${*:2}: exit code $code" >&2
      cat err >&2
      exit 1
    fi
  done
}
errors_of 'end.el:20001: expected a node number, found "x"' end.el
errors_of 'end.el.gz:20001: expected a node number, found "x"' end.el.gz
errors_of 'middle.el:11000: expected 2 to 4 numbers, found "3"' middle.el
errors_of 'few.mtx:20002: expected 20001 entries, found 20000 and the end of the file' few.mtx
errors_of 'many.mtx:20002: expected 19999 entries, found one more' many.mtx
errors_of 'short.skel-edges: at byte 160039: expected 20000 edges, found 19999 and the end of the file' short.skel-edges
errors_of 'damaged.skel-edges: at byte 32: the edges are damaged (XXH3 differs)' damaged.skel-edges
errors_of 'empty.mtx: at byte 0: expected "%%MatrixMarket", found the end of the file' empty.mtx
errors_of 'long.el:1: line longer than a megabyte, expected text' long.el
errors_of 'none.el: No such file or directory' none.el
errors_of "g.el:$(awk '$1 > 999 || $2 > 999 { print NR; exit }' g.el): expected a node number from 0 to 999, found \"$(awk '$1 > 999 { print $1; exit } $2 > 999 { print $2; exit }' g.el)\"" g.el --nodes 1000

# Files smaller than the number of ranks.
printf '1 0' >one.el
: >none.txt
for graph in one.el none.txt; do
  on 1 $graph -o one.txt >out
  on 8 $graph -o labels.txt >out
  cmp labels.txt one.txt
done

# 64 MB of edges: a rank of four saves 48 MB, and needs some more than one process for messages.
peak() { # RANKS: prints the largest peak memory of a rank in MB
  on "$1" large.skel-edges --threads 1 --report r.json >out
  grep -o '"peak_memory_bytes": [0-9]*' r.json | grep -o '[0-9]*$' | sort -n | tail -n 1 | sed 's/[0-9]\{6\}$//'
}
on 1 --generate uniform:n=1000,m=8000000 --write-graph large.skel-edges >out
one=$(peak 1) four=$(peak 4)
echo "peak memory: $one MB on one rank, $four MB on four"
[ $((four + 30)) -lt "$one" ]
