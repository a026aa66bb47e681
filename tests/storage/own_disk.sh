#!/usr/bin/env bash
# Gives a rank a disk of its own: MOUNT becomes this rank's directory FOLDER/diskN, invisible to the
# other ranks.
#   own_disk.sh FOLDER MOUNT PROGRAM ARGUMENTS...
set -euo pipefail
folder=$1 mount=$2
shift 2
disk=$folder/disk${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}
mkdir -p "$disk"
# shellcheck disable=SC2016
exec unshare --mount bash -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' own_disk "$disk" "$mount" "$@"
