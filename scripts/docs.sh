#!/usr/bin/env bash
# Builds the documentation as a site. See --help.
install=yes
usage() {
  cat <<'TEXT'
usage: scripts/docs.sh [--no-install] [--help]

Checks the pages (scripts/check_docs.py) and the picture of the rooms, documents the public headers with Doxygen
(warnings are errors), and builds both as a site in build/docs/site (scripts/docs_site.py), whose links it checks. The
site needs no network and no server: open index.html in a browser.

  --no-install  do not install missing Debian packages: list them and exit with code 1
TEXT
}
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
for argument in "$@"; do
  case $argument in
    --no-install) install=no ;;
    *) help_or_mistake "$argument" ;;
  esac
done
need_packages cmake doxygen mkdocs-material python3
scripts/check_docs.py
scripts/diagrams.py --check
mkdir -p build/docs
rm -rf build/docs/html
doxygen -q docs/Doxyfile
# The system's Python, for which the packages are.
/usr/bin/python3 -B scripts/docs_site.py
