#!/usr/bin/env bash
# Ranks with different options or inputs give one line that names the option and the rank, exit code
# 2, and no result.
#   mixed_jobs.sh MPIEXEC FOLDER_OF_PROGRAMS
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
mpiexec=$1
programs=$2
in_own_folder

# job NAME FIRST... : SECOND...: runs one rank with each; sets code, and writes out and err (the
# program's lines).
job() {
  local name=$1 first=()
  shift
  while [ "$1" != : ]; do
    first+=("$1")
    shift
  done
  shift
  code=0
  rm -f result.*
  "$mpiexec" -n 1 "$programs/$name" "${first[@]}" : -n 1 "$programs/$name" "$@" >out 2>all || code=$?
  grep "^$name: " all | grep -v ' cores of one host' >err || true
}

# differ TEXT NAME FIRST... : SECOND...
differ() {
  job "${@:2}"
  if [ $code != 2 ] || [ "$(wc -l <err)" != 1 ] || ! grep -qF -- "$2: $1 of rank 1 differs from rank 0's" err ||
    compgen -G 'result.*' >/dev/null; then
    echo "expected one line with \"$1 of rank 1 differs\" and exit code 2, found $code from: ${*:2}" >&2
    cat out all >&2
    exit 1
  fi
}

same() { # same NAME FIRST... : SECOND...
  job "$@"
  if [ $code != 0 ]; then
    echo "expected exit code 0, found $code from: $*" >&2
    cat out all >&2
    exit 1
  fi
}

one=(--threads 1)
export SKEL_PROGRESS=never

scene=("${one[@]}" --scene balls:2 --size 40x40 -o result.ppm)
differ --angle skel-raytrace "${scene[@]}" : "${scene[@]}" --angle 10
differ --scene skel-raytrace "${scene[@]}" : "${one[@]}" --scene balls:3 --size 40x40 -o result.ppm
differ --schedule skel-raytrace "${scene[@]}" : "${scene[@]}" --schedule ring
# A default and its explicit value are equal; options of a single rank may differ.
same skel-raytrace "${scene[@]}" : --scene balls:2 --size 40x40 --threads 2 --depth 5 --quiet
same skel-raytrace "${scene[@]}" --trace t.json --report r.json : "${scene[@]}" --progress always
# Files are compared by content, not by name.
same skel-raytrace "${scene[@]}" --write-scene a.nff : "${scene[@]}"
cp a.nff b.nff
sed 's/^angle .*/angle 20/' a.nff >c.nff
file=("${one[@]}" --size 40x40 -o result.ppm)
same skel-raytrace "${file[@]}" a.nff : "${file[@]}" b.nff
differ "the content of SCENE" skel-raytrace "${file[@]}" a.nff : "${file[@]}" c.nff
job skel-raytrace "${file[@]}" a.nff : "${file[@]}" none.nff
if [ $code != 2 ] || [ "$(cat err)" != "skel-raytrace: none.nff: No such file or directory" ]; then
  cat all >&2
  exit 1
fi

echo '{ "type": "uint8", "size": [4, 4, 4] }' >a.raw.json
cp a.raw.json b.raw.json
cp a.raw.json c.raw.json
head -c 64 /dev/zero | tr '\0' '\1' >a.raw
cp a.raw b.raw
{
  head -c 63 a.raw
  printf '\2'
} >c.raw

volume=("${one[@]}" --size 16x16 -o result.ppm)
differ --field skel-volume "${volume[@]}" --field linear : "${volume[@]}" --field sphere
differ --frames skel-volume "${volume[@]}" --field linear : "${volume[@]}" --field linear --frames 2
differ "FIELD or --series" skel-volume "${volume[@]}" a.raw : "${volume[@]}" b.raw
same skel-volume "${volume[@]}" --grid all a.raw : "${volume[@]}" --grid all b.raw
for way in "" "--slabs 2 --schedule first-come"; do
  # shellcheck disable=SC2086 # several words
  differ "the volume (FIELD or --series)" skel-volume "${volume[@]}" --grid all $way a.raw : "${volume[@]}" --grid all $way c.raw
done
echo '{}' >a.json
echo '{ "stretch": [1, 1, 2] }' >b.json
differ "the content of --spec" skel-volume "${volume[@]}" --field linear --spec a.json : "${volume[@]}" --field linear --spec b.json

surface=("${one[@]}" --iso 1.5 -o result.ply)
differ --iso skel-isosurface "${surface[@]}" a.raw : "${one[@]}" --iso 1.6 -o result.ply a.raw
differ "the content of VOLUME" skel-isosurface "${surface[@]}" a.raw : "${surface[@]}" c.raw
same skel-isosurface "${surface[@]}" a.raw : "${surface[@]}" b.raw
differ --preview skel-isosurface "${surface[@]}" a.raw --preview p.png : "${surface[@]}" a.raw

differ --queens skel-search "${one[@]}" --queens 6 -o result.txt : "${one[@]}" --queens 7
differ --take skel-search "${one[@]}" --queens 6 -o result.txt : "${one[@]}" --queens 6 --take one

printf '0 1\n1 2\n' >a.el
cp a.el b.el
printf '0 1\n0 2\n' >c.el
graph=("${one[@]}" -o result.txt)
differ --generate skel-components "${graph[@]}" --generate uniform:n=9,m=9,seed=1 : "${graph[@]}" --generate uniform:n=9,m=9,seed=2
same skel-components "${graph[@]}" a.el : "${graph[@]}" b.el
differ "the content of GRAPH" skel-components "${graph[@]}" a.el : "${graph[@]}" c.el

differ --size skel-matmul "${one[@]}" --size 32 -o result.bin : "${one[@]}" --size 33
mkdir d e
differ --store skel-matmul "${one[@]}" --size 32 --checkpoint central --store d : "${one[@]}" --size 32 --checkpoint central --store e

differ --largest skel-model calibrate --largest 1024 -o result.json : calibrate --largest 2048

# Errors that all ranks detect are reported once; --quiet suppresses mpiexec's own lines.
if [[ "$("$mpiexec" --version)" == *"Open MPI"* ]]; then
  code=0
  "$mpiexec" --quiet -n 2 "$programs/skel-raytrace" "${scene[@]}" --schedule hybrid:power=1/2/3 >out 2>all || code=$?
  grep -v ' cores of one host' all >err
  if [ $code != 2 ] || [ "$(cat err)" != "skel-raytrace: schedule hybrid: 3 relative powers were given for 2 ranks" ]; then
    cat all >&2
    exit 1
  fi
fi
