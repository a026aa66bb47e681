#!/usr/bin/env bash
# For maintainers: proves that the scripts work on a bare Debian 12. As root: makes a minimal root with debootstrap, puts a
# clean clone of HEAD into it, and runs a script there. See --help.
dir=${TMPDIR:-/tmp}/skel-chroot
mirror=$(awk '$1 == "URIs:" || $1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /^https?:.*\/debian\/?$/) { print $i; exit } }' \
  /etc/apt/sources.list /etc/apt/sources.list.d/*.sources 2>/dev/null)
usage() {
  cat <<TEXT
usage: scripts/try-in-chroot.sh [--fresh] [--dir DIR] [--mirror URL] [--] [COMMAND...]

Runs COMMAND (default: scripts/demo.sh) in a clean clone of HEAD inside a minimal Debian 12 root in DIR ($dir).
  --fresh    removes a root that is there from an earlier try, so that packages are installed again
  --mirror   Debian mirror (${mirror:-http://deb.debian.org/debian})
TEXT
}
fresh=no
while (($# > 0)); do
  case $1 in
    --fresh) fresh=yes ;;
    --dir) dir=${2:?} && shift ;;
    --mirror) mirror=${2:?} && shift ;;
    -h | --help)
      usage
      exit 0
      ;;
    --)
      shift
      break
      ;;
    -*)
      usage >&2
      exit 2
      ;;
    *) break ;;
  esac
  shift
done
(($# == 0)) && set -- scripts/demo.sh
set -euo pipefail
cd "$(dirname "$0")/.."
root=$dir/root

unmount() {
  for point in dev/shm proc; do
    if mountpoint -q "$root/$point"; then umount "$root/$point"; fi
  done
}
if [ $fresh = yes ]; then
  unmount
  rm -rf "$root"
fi
if [ ! -x "$root/usr/bin/apt-get" ]; then
  mkdir -p "$dir"
  debootstrap --variant=minbase bookworm "$root" "${mirror:-http://deb.debian.org/debian}"
fi
trap unmount EXIT
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
mountpoint -q "$root/dev/shm" || { mkdir -p "$root/dev/shm" && mount -t tmpfs tmpfs "$root/dev/shm"; }
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/hosts "$root/etc/hosts"
rm -rf "$root/skel"
git clone -q --no-hardlinks . "$root/skel"
env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM:-dumb}" \
  ${http_proxy:+http_proxy="$http_proxy"} chroot "$root" /bin/bash -c 'cd /skel && time "$@"' try "$@"
