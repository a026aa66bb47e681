#!/usr/bin/env bash
# For maintainers: simulates several "hosts" on one machine. See --help.
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
usage() {
  cat <<'TEXT'
usage: scripts/try-on-hosts.sh HOSTS SLOTS COMMAND...
e.g.   scripts/try-on-hosts.sh 2 2 build/release/bin/skel-raytrace --scene balls:3 -o out/hosts.png

As root, with Open MPI: runs COMMAND under mpiexec in HOSTS network namespaces of SLOTS ranks each. Each has its own address
and host name, so messages between them use TCP and daemons are started as on a cluster; a small script replaces ssh. Files
and cores are shared. Everything is removed at the end.
TEXT
}
case ${1:-} in
  [1-9]*) ;;
  *) help_or_mistake "${1:-}" ;;
esac
hosts=$1 slots=$2
shift 2
work=$(mktemp -d)
bridge=skel-bridge

clean_up() {
  local i
  for ((i = 1; i <= hosts; i++)); do
    ip link delete "skel-veth$i" 2>/dev/null || true
    ip netns delete "skel-host$i" 2>/dev/null || true
  done
  ip link delete $bridge 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT

ip link add $bridge type bridge
ip addr add 10.77.0.1/24 dev $bridge
ip link set $bridge up
for ((i = 1; i <= hosts; i++)); do
  ip netns add "skel-host$i"
  ip link add "skel-veth$i" type veth peer name eth0 netns "skel-host$i"
  ip link set "skel-veth$i" master $bridge up
  ip -n "skel-host$i" addr add "10.77.0.$((10 + i))/24" dev eth0
  ip -n "skel-host$i" link set eth0 up
  ip -n "skel-host$i" link set lo up
  echo "10.77.0.$((10 + i)) slots=$slots" >>"$work/hosts"
done

# Not named ssh, because Open MPI would add options of ssh.
cat >"$work/agent" <<'E2'
#!/usr/bin/env bash
# ssh HOST COMMAND: runs COMMAND in the network namespace of that address
name=skel-host$((${1##*.} - 10))
shift
exec ip netns exec "$name" unshare --uts bash -c "hostname $name; cd '$PWD'; $*"
E2
chmod +x "$work/agent"
mpiexec --hostfile "$work/hosts" -n $((hosts * slots)) --bind-to none --mca plm_rsh_agent "$work/agent" \
  --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 "$@"
