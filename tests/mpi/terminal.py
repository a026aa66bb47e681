#!/usr/bin/env python3
"""A job of skel-mpiexec at a terminal: Ctrl-C, Ctrl-Z and fg, a terminal that is closed, and SIGTERM to all its processes.

    terminal.py SKEL_MPIEXEC SKEL_SEARCH

The ranks end in order and write the report, in one of three tries, since Open MPI ends them by force after a second.
Nothing is ever left."""
import glob
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time

LAUNCHER, PROGRAM = sys.argv[1:]
SECONDS = 60  # until a test has failed
FG = b"fg; exit\n"


def run(what, command, events, line):
    """Starts the command at a terminal, and types the line. Events are bytes to type, a signal for its group, or None: the
    terminal is closed. Returns whether there is a report."""
    print(what, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SKEL_STATUS_DIR"] = folder
        report = f"{folder}/report.json"
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvp(command[0], [word.replace("REPORT", report) for word in command])
        os.write(terminal, line.replace("REPORT", report).encode())
        text, end, ended, closed, events = b"", time.time() + SECONDS, False, False, list(events)
        while time.time() < end and not ended:
            if not closed and select.select([terminal], [], [], 0.1)[0]:
                try:
                    text += os.read(terminal, 1 << 16)
                except OSError:  # no process has it open
                    closed = True
            if closed:
                time.sleep(0.1)
            if events and len(searching(folder)) == 2 and stopped(folder) == (2 if events[0] == FG else 0):
                time.sleep(1)
                event = events.pop(0)
                if isinstance(event, bytes):
                    os.write(terminal, event)
                elif event is None:
                    os.close(terminal)
                    closed = True
                else:
                    os.killpg(pid, event)
            ended = os.waitpid(pid, os.WNOHANG)[0] == pid
        if not ended:
            os.kill(pid, signal.SIGKILL)
        while time.time() < end and (searching(folder) or glob.glob(f"{folder}/skel-exit*")):
            time.sleep(0.1)  # the job outlives its shell
        left = searching(folder) + [f for f in os.listdir(folder) if f != "report.json"]
        if not ended or events or left:
            sys.exit(f"{what}: ended {ended}, left {left}:\n{text.decode()}")
        return os.path.exists(report)


def searching(folder):
    """The ranks of the job whose status file is in this folder."""
    ranks = []
    for path in glob.glob("/proc/[0-9]*"):
        try:
            with open(f"{path}/environ", "rb") as f:
                of_job = f"SKEL_EXIT_STATUS_FILE={folder}/".encode() in f.read()
            if of_job and os.readlink(f"{path}/exe") == os.path.realpath(PROGRAM):
                ranks.append(int(path.rpartition("/")[2]))
        except OSError:  # it has ended, or is somebody else's
            pass
    return ranks


def stopped(folder):
    """How many of these ranks are stopped. A key typed before the shell has run fg would be lost."""
    count = 0
    for pid in searching(folder):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as f:
                count += f.read().rpartition(") ")[2].startswith("T")
        except OSError:  # it has ended
            pass
    return count


def main():
    version = subprocess.run(["mpiexec", "--version"], capture_output=True, text=True, check=True).stdout
    if "(Open MPI) 4" not in version and "OpenRTE) 4" not in version:
        sys.exit(77)  # others treat a terminal in their own ways
    job = [LAUNCHER, "-n", "2", "--oversubscribe", PROGRAM, "--queens", "22", "--threads", "1", "--progress", "never",
           "--report", "REPORT"]
    shell, line = ["bash", "--norc", "-i"], " ".join(f"'{word}'" for word in job) + "\n"
    for what, command, events, typed in (
            ("Ctrl-C", job, [b"\x03"], ""),
            ("a closed terminal", job, [None], ""),
            ("a closed terminal of a shell", shell, [None], line),
            ("SIGTERM to the group", job, [signal.SIGTERM], ""),
            ("Ctrl-Z and fg", shell, [b"\x1a", FG, b"\x03"], line)):
        if not any(run(what, command, events, typed) for _ in range(3)):
            sys.exit(f"{what}: no report")


main()
