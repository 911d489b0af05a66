#!/bin/bash
# Everything from a fresh Debian 12 to a tested Spillway: packages, test build, all tests.
# A second run neither installs nor compiles anything again. Arguments go to ctest, e.g.
#
#   ./test.sh -R dispatch
#
# SPILLWAY_UNITY=ON in the environment compiles several files of src/ at once: half the time from
# nothing, more after a change.
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
docker/install-deps.sh develop
cmake --preset test ${SPILLWAY_UNITY:+-DSPILLWAY_UNITY="$SPILLWAY_UNITY"}
cmake --build --preset test
ctest --preset test "$@"
