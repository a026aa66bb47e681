#!/usr/bin/env bash
# Reads files that a Python library writes: written.sh VOLUME_DATA_TEST SCRIPT MODULE PACKAGE
# Exit code 77 if the library is missing.
set -euo pipefail
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/../programs.sh"
test=$1 script=$2 module=$3 package=$4
python=/usr/bin/python3 # Debian's, which finds Debian's modules
if ! "$python" -c "import $module" 2>/dev/null; then
  echo "skipped: $python has no module $module (Debian: $package)"
  exit 77
fi
own_folder
timeout 300 "$python" "$script" "$folder" >"$folder/list"
SKEL_WRITTEN=$folder "$test" '[.written]'
