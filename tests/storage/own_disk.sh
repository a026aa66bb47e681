#!/usr/bin/env bash
# A rank on a machine of its own, as far as its disk goes: MOUNT is this rank's directory FOLDER/diskN, which the other
# ranks cannot see there.
#   own_disk.sh FOLDER MOUNT PROGRAM ARGUMENTS...
set -euo pipefail
folder=$1 mount=$2
shift 2
disk=$folder/disk${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}
mkdir -p "$disk"
# shellcheck disable=SC2016
exec unshare --mount bash -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' own_disk "$disk" "$mount" "$@"
