#!/usr/bin/env bash
# For maintainers: builds Debian packages of HEAD in a chroot, and tries them in a fresh one. See --help.
suite=bookworm
dir=
out=out/debian
step=all
usage() {
  cat <<TEXT
usage: scripts/package-debian.sh [--suite NAME] [--dir DIR] [--out DIR]

As root: builds libskel1, libskel-dev, skel-tools and skel-doc from debian/ in a minimal Debian root, checks them with
lintian (warnings are errors), installs them in a fresh root, and builds and runs users' programs there (debian/tests).
  --suite NAME   bookworm (the default) or another release
  --dir DIR      where the two roots lie (${TMPDIR:-/tmp}/skel-debian)
  --out DIR      where the packages go ($out)
Needs a network, 3 GB and about 20 minutes on two cores. The steps inside of the roots: --build, --try.
TEXT
}
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
while (($# > 0)); do
  case $1 in
    --suite) suite=${2:?} && shift ;;
    --dir) dir=${2:?} && shift ;;
    --out) out=${2:?} && shift ;;
    --build | --try) step=${1#--} ;;
    *) help_or_mistake "$1" ;;
  esac
  shift
done
: "${dir:=${TMPDIR:-/tmp}/skel-debian}"
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

case $step in
  build) # in the first root, whose /packages receives the packages
    apt-get update -q
    apt-get install -q -y --no-install-recommends build-essential lintian
    apt-get build-dep -q -y --no-install-recommends ./
    DEB_BUILD_OPTIONS="parallel=$(job_count)" dpkg-buildpackage -us -uc -I
    lintian --allow-root --fail-on error,warning ../skel_*.changes
    rm -rf /packages
    mkdir /packages
    mv ../*skel*_*.* /packages
    ;;
  try) # in the second root, with the packages in /packages
    apt-get update -q
    apt-get install -q -y --no-install-recommends cmake g++ make pkg-config /packages/*.deb
    debian/tests/consumer
    apt-get purge -q -y libskel1 skel-doc
    ;;
  all)
    in_root() { scripts/try-in-chroot.sh --suite "$suite" --dir "$dir/$1" "${@:2}"; }
    in_root build scripts/package-debian.sh --build
    in_root fresh --fresh true
    rm -rf "$dir/fresh/root/packages" "$out"
    cp -r "$dir/build/root/packages" "$dir/fresh/root/packages"
    mkdir -p "$out"
    cp "$dir"/build/root/packages/* "$out"
    in_root fresh scripts/package-debian.sh --try
    say "Packages, installed and tried: $out"
    ;;
esac
