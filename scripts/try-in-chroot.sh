#!/usr/bin/env bash
# For maintainers: proves that the scripts work on a bare Debian. As root, creates a minimal root with debootstrap, puts
# a clean clone of HEAD into it, and runs a script there. See --help.
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
suite=bookworm
dir=
mirror=$(awk '$1 == "URIs:" || $1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /^https?:.*\/debian\/?$/) { print $i; exit } }' \
  /etc/apt/sources.list /etc/apt/sources.list.d/*.sources 2>/dev/null || true)
usage() {
  cat <<TEXT
usage: scripts/try-in-chroot.sh [--suite NAME] [--fresh | --again] [--dir DIR] [--mirror URL] [--] [COMMAND...]

Runs COMMAND (default: scripts/demo.sh) in a clean clone of HEAD inside a minimal Debian root in DIR
(${TMPDIR:-/tmp}/skel-chroot, or skel-chroot-NAME for suites other than bookworm).
  --suite    bookworm (Debian 12: Open MPI 4; the default) or trixie (Debian 13: Open MPI 5 with ULFM, GCC 14)
  --fresh    remove the root of an earlier run, so that packages are installed again
  --again    update the clone of an earlier run to HEAD and keep its build trees
  --mirror   Debian mirror (${mirror:-http://deb.debian.org/debian})

    scripts/try-in-chroot.sh --suite trixie scripts/test-mpi.sh            # Open MPI 5: the tests of MPI and of losses
    scripts/try-in-chroot.sh --suite trixie scripts/test-mpi.sh --mpich    # MPICH 4.2: the same
    scripts/try-in-chroot.sh scripts/test-mpi.sh --mpich                   # MPICH 4.0 of Debian 12
    scripts/try-in-chroot.sh scripts/test-slurm.sh                         # Slurm on loopback
TEXT
}
fresh=no
again=no
while (($# > 0)); do
  case $1 in
    --suite) suite=${2:?} && shift ;;
    --fresh) fresh=yes ;;
    --again) again=yes ;;
    --dir) dir=${2:?} && shift ;;
    --mirror) mirror=${2:?} && shift ;;
    --)
      shift
      break
      ;;
    -*) help_or_mistake "$1" ;;
    *) break ;;
  esac
  shift
done
(($# == 0)) && set -- scripts/demo.sh
if [ "$suite" = bookworm ]; then suffix=; else suffix=-$suite; fi
: "${dir:=${TMPDIR:-/tmp}/skel-chroot$suffix}"
root=$dir/root

unmount() {
  for point in dev/shm sys proc; do
    if mountpoint -q "$root/$point"; then umount "$root/$point"; fi
  done
}
if [ -e "$dir" ] && [ ! -O "$dir" ]; then
  echo "$dir: belongs to another user; use another --dir" >&2
  exit 1
fi
if [ $fresh = yes ]; then
  unmount
  rm -rf "$root"
fi
if [ ! -x "$root/usr/bin/apt-get" ]; then
  mkdir -p "$dir"
  debootstrap --variant=minbase "$suite" "$root" "${mirror:-http://deb.debian.org/debian}"
fi
if ! grep -q "VERSION_CODENAME=$suite" "$root/etc/os-release"; then
  echo "$dir: expected the suite $suite; use another --dir, or remove it" >&2
  exit 1
fi
# Keeps packages from starting daemons.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"
trap unmount EXIT
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
mountpoint -q "$root/dev/shm" || { mkdir -p "$root/dev/shm" && mount -t tmpfs tmpfs "$root/dev/shm"; }
# UCX, MPICH's transport, needs to see the networks; a bare Debian 12 with Open MPI 4 does not use it.
if [ "$suite" != bookworm ] || [[ " $* " == *" --mpich "* ]]; then mountpoint -q "$root/sys" || mount -t sysfs -o ro sysfs "$root/sys"; fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/hosts "$root/etc/hosts"
if [ $again = yes ] && [ -d "$root/skel/.git" ]; then
  git -C "$root/skel" fetch -q "$PWD" HEAD
  git -C "$root/skel" reset -q --hard FETCH_HEAD
else
  rm -rf "$root/skel"
  git clone -q --no-hardlinks . "$root/skel"
fi
env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM:-dumb}" \
  ${http_proxy:+http_proxy="$http_proxy"} chroot "$root" /bin/bash -c 'cd /skel && time "$@"' try "$@"
