#!/bin/bash
# Everything from a fresh Debian 12 to a tested Spillway: packages, test build, all tests.
# A second run neither installs nor compiles anything again. Arguments go to ctest, e.g.
#
#   ./test.sh -R dispatch
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
docker/install-deps.sh develop
cmake --preset test
cmake --build --preset test
ctest --preset test "$@"
