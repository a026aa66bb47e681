"""Hosts with links and disks of their own on one machine, for reproduce.py --network.

    with network.Network(nodes=10, rate="100mbit", folder="/tmp/x") as net:
        subprocess.run(net.mpiexec(10) + ["skel-matmul", "--store", "ranks:" + net.disk, ...])

enter() moves this process to a network and a mount namespace of its own. They hold the bridge, the nodes' namespaces and all
mounts, so nothing is left when the process and its children have ended, even by SIGKILL, and the machine's own network is never
touched. A small script replaces ssh. Cores are shared. Each node has its own directory of one disk.
"""
import ctypes
import json
import os
import pathlib
import shutil
import stat
import subprocess

SUBNET = "10.77.0"  # exists only within the namespaces
NEW_MOUNTS, NEW_NETWORK = 0x00020000, 0x40000000  # of unshare(2)
PACKAGES = {"ip": "iproute2", "tc": "iproute2", "unshare": "util-linux", "mount": "mount", "hostname": "hostname"}

AGENT = """#!/bin/sh
# ssh ADDRESS COMMAND: runs COMMAND on the node with that address, where {disk} is the node's own directory.
name=node$((${{1##*.}} - 10))
shift
exec ip netns exec "$name" unshare --uts --mount sh -c "hostname $name && mount --bind '{stores}/$name' '{disk}' && cd '{here}' && $*"
"""


class Missing(Exception):
    """Why this machine cannot have such a network."""


def said_by(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Missing(f"{' '.join(command)}: {done.stderr.strip() or f'exit code {done.returncode}'}")
    return done.stdout


def enter():
    """Moves this process, for good, to namespaces of its own. Throws Missing."""
    for program, package in PACKAGES.items():
        if shutil.which(program) is None:
            raise Missing(f"{program} is missing: apt-get install {package}")
    if os.geteuid() != 0:
        raise Missing("network namespaces need root")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_MOUNTS | NEW_NETWORK) != 0:
        raise Missing(f"namespaces are not permitted: {os.strerror(ctypes.get_errno())}")
    said_by("mount", "--make-rprivate", "/")
    said_by("mount", "-t", "tmpfs", "none", "/run")  # where ip keeps the names of namespaces
    said_by("ip", "link", "set", "lo", "up")


class Network:
    """Needs enter(). `folder` must exist; the nodes' directories, those of their disks, are made in it."""

    def __init__(self, nodes, rate, folder, slots=1):
        self.nodes, self.rate, self.slots = nodes, rate, slots
        self.folder = pathlib.Path(folder)
        self.disk = str(self.folder / "disk")  # on each node
        self.directories = [str(self.folder / "stores" / f"node{i}") for i in range(nodes)]

    def __enter__(self):
        try:
            self._join()
        except BaseException:
            self.__exit__()
            raise
        os.makedirs(self.disk)
        for directory in self.directories:
            os.makedirs(directory)
        agent = self.folder / "agent"  # not named ssh, because Open MPI would add options of ssh
        agent.write_text(AGENT.format(disk=self.disk, stores=self.folder / "stores", here=os.getcwd()))
        agent.chmod(agent.stat().st_mode | stat.S_IXUSR)
        (self.folder / "hosts").write_text("".join(f"{SUBNET}.{10 + i} slots={self.slots}\n" for i in range(self.nodes)))
        return self

    def __exit__(self, *_):
        for i in range(self.nodes):  # with its link
            subprocess.run(["ip", "netns", "delete", f"node{i}"], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["ip", "link", "delete", "switch"], stderr=subprocess.DEVNULL, check=False)

    def _join(self):
        said_by("ip", "link", "add", "switch", "type", "bridge")
        said_by("ip", "addr", "add", f"{SUBNET}.1/24", "dev", "switch")
        said_by("ip", "link", "set", "switch", "up")
        # The queue is that of a small switch; the burst must hold the largest packet and what a timer tick lets pass.
        shape = ["root", "tbf", "rate", self.rate, "burst", "256kb", "latency", "50ms"]
        for i in range(self.nodes):
            name, port = f"node{i}", f"port{i}"
            said_by("ip", "netns", "add", name)
            said_by("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name)
            said_by("ip", "link", "set", port, "master", "switch", "up")
            said_by("ip", "-n", name, "addr", "add", f"{SUBNET}.{10 + i}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                said_by("ip", "-n", name, "link", "set", device, "up")
            said_by("tc", "-n", name, "qdisc", "add", "dev", "eth0", *shape)  # what the node sends
            said_by("tc", "qdisc", "add", "dev", port, *shape)                # what it receives

    def mpiexec(self, ranks):
        """The command that starts ranks on the first nodes, one for each slot."""
        one_network = [word for layer in ("btl_tcp", "oob_tcp") for word in ("--mca", f"{layer}_if_include", f"{SUBNET}.0/24")]
        return ["mpiexec", "--hostfile", str(self.folder / "hosts"), "-n", str(ranks), "--bind-to", "none", "--mca", "plm_rsh_agent",
                str(self.folder / "agent"), "--mca", "btl", "tcp,self", "--mca", "mpi_yield_when_idle", "1", *one_network]

    def sent(self):
        """Bytes that the nodes have sent so far, with all headers."""
        links = (json.loads(said_by("ip", "-n", f"node{i}", "-s", "-j", "link", "show", "eth0")) for i in range(self.nodes))
        return sum(link[0]["stats64"]["tx"]["bytes"] for link in links)

    def megabits_per_second(self, megabytes=6):
        """What one TCP connection from node 0 to node 1 moves."""
        receive = ("import socket, time\ns = socket.create_server(('', 7777))\nprint('ready', flush=True)\nc = s.accept()[0]\n"
                   "c.recv(1)\nbegin = time.monotonic()\ncount = 0\nwhile part := c.recv(1 << 16): count += len(part)\n"
                   "print(count * 8e-6 / (time.monotonic() - begin))")
        send = f"import socket\nc = socket.create_connection(('{SUBNET}.11', 7777))\nc.sendall(bytes({megabytes} << 20))"
        python = ["python3", "-c"]
        receiver = subprocess.Popen(["ip", "netns", "exec", "node1", *python, receive], stdout=subprocess.PIPE, text=True)
        try:
            receiver.stdout.readline()
            said_by("ip", "netns", "exec", "node0", *python, send)
            return float(receiver.communicate(timeout=60)[0])
        finally:
            receiver.kill()
