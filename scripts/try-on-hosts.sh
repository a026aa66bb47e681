#!/usr/bin/env bash
# For maintainers: simulates several "hosts" on one machine. See --help.
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
usage() {
  cat <<'TEXT'
usage: scripts/try-on-hosts.sh [--survive] HOSTS SLOTS COMMAND...
       scripts/try-on-hosts.sh --losses [DIR]
e.g.   scripts/try-on-hosts.sh 2 2 build/release/bin/skel-raytrace --scene balls:3 -o out/hosts.png

As root, with Open MPI 4: runs COMMAND under mpiexec in HOSTS network namespaces of SLOTS ranks each. Each has its own address
and host name, so messages between them use TCP and daemons are started as on a cluster; a small script replaces ssh. Files
and cores are shared. The namespaces are gone with this script, also after SIGKILL; the machine's own network is not touched.
  --survive  run COMMAND under skel-mpiexec
  --losses   kill ranks of skel-raytrace (in DIR, default build/release/bin) and a whole host: the pictures must be right, and
             skel-mpiexec must end. Exit code 77 where namespaces are not permitted
TEXT
}
if [ "${SKEL_IN_NAMESPACE-}" != yes ]; then
  case ${1:-} in
    --losses | --survive | [1-9]*) ;;
    *) help_or_mistake "${1:-}" ;;
  esac
  if ! unshare --net --mount mount -t tmpfs none /run 2>/dev/null || ! command -v ip >/dev/null; then
    echo "try-on-hosts.sh: needs root, iproute2, and permission for namespaces" >&2
    exit 77
  fi
  SKEL_IN_NAMESPACE=yes exec unshare --net --mount "$PWD/scripts/try-on-hosts.sh" "$@"
fi
mount -t tmpfs none /run # where ip keeps the names of namespaces
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ip link set lo up
ip link add bridge type bridge
ip addr add 10.77.0.1/24 dev bridge
ip link set bridge up
# Not named ssh, because Open MPI would add options of ssh.
cat >"$work/agent" <<'E2'
#!/usr/bin/env bash
# ssh HOST COMMAND: runs COMMAND in the network namespace of that address. Like ssh, it ends when the daemon runs.
name=host$((${1##*.} - 10))
shift
setsid ip netns exec "$name" unshare --uts bash -c "hostname $name; cd '$PWD'; $*" &
E2
chmod +x "$work/agent"

add_hosts() { # add_hosts HOSTS SLOTS
  local i
  rm -f "$work/hosts"
  for ((i = 1; i <= $1; i++)); do
    ip netns add "host$i"
    ip link add "veth$i" type veth peer name eth0 netns "host$i"
    ip link set "veth$i" master bridge up
    ip -n "host$i" addr add "10.77.0.$((10 + i))/24" dev eth0
    ip -n "host$i" link set eth0 up
    ip -n "host$i" link set lo up
    echo "10.77.0.$((10 + i)) slots=$2" >>"$work/hosts"
  done
  on_hosts=(--hostfile "$work/hosts" -n $(($1 * $2)) --bind-to none --mca plm_rsh_agent "$work/agent"
    --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24)
}

if [ "$1" != --losses ]; then
  launcher=mpiexec
  if [ "$1" = --survive ]; then launcher=scripts/skel-mpiexec && shift; fi
  add_hosts "$1" "$2"
  "$launcher" "${on_hosts[@]}" "${@:3}"
  exit
fi

case $(mpiexec --version) in
  *"Open MPI) 4"* | *"OpenRTE) 4"*) ;;
  *) echo "try-on-hosts.sh: --losses needs Open MPI 4" && exit 77 ;;
esac
# shellcheck source=tests/programs.sh
# shellcheck disable=SC1091
. tests/programs.sh
program=$(realpath "${2:-build/release/bin}/skel-raytrace")
picture=(--scene balls:4 --size 1400x1400 --threads 1 --quiet)
job="--preview $work/preview.ppm"
export SKEL_SUSPECT_AFTER=2s TMPDIR=$work
"$program" "${picture[@]}" -o "$work/expected.ppm"

left() { ip netns pids host1 && ip netns pids host2 && ip netns pids host3; } # prints the processes of all hosts
# The power of the last host fails: it says nothing any more.
lose_host3() {
  ip link set veth3 down
  ip netns pids host3 | xargs kill -KILL
}
# survives COMMAND...: which disturbs the job once there are tasks done. Again if that came too late.
survives() {
  local try
  say "${1//_/ } ${*:3}"
  for try in 1 2 3 4 5 6; do
    ip link set veth3 up
    if run_disturbed "$@"; then return; fi
  done
  fail "no rank was lost while lines were missing, $try times"
}
run_disturbed() {
  local code=0 launcher
  rm -f "$work"/{picture,preview}.ppm
  # shellcheck disable=SC2086 # words
  timeout -s KILL 120 scripts/skel-mpiexec "${on_hosts[@]}" "$program" "${picture[@]}" $job -o "$work/picture.ppm" \
    --report "$work/report.json" &
  launcher=$!
  for _ in $(seq 600); do
    if [ -e "$work/preview.ppm" ] || ! kill -0 $launcher 2>/dev/null; then break; fi
    sleep 0.05
  done
  "$@"
  wait $launcher || code=$?
  ((code == 0)) || fail "expected exit code 0, found $code"
  cmp "$work/expected.ppm" "$work/picture.ppm" || fail "the picture differs"
  grep -q '"losses": \[' "$work/report.json" || return
  for _ in $(seq 50); do # a daemon takes a moment to end
    [ -n "$(left)" ] || return 0
    sleep 0.1
  done
  fail "processes are left: $(left | xargs ps -o pid=,args= -p)"
}
add_hosts 3 1
survives kill_ranks "$job" 2
survives kill_ranks "$job" 0
survives kill_ranks "$job" 1 2
survives kill_ranks "$job" 0 1
survives lose_host3
say "All passed"
