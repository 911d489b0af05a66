#!/bin/bash
# Builds Spillway optimised by a profile of what it executes at work: build/profiled/spillway.
#
#   bench/profile.sh
#
# A first build counts what it executes under the workloads of bench/cost and before cache hits,
# for three minutes; the second one is compiled with these counts: what is executed often is put
# together and inlined. The counts stay in build/profile. They fit this compiler and this commit.
#
# It takes twice as long as a release build, and two cores. bench/cost/README.md says what it saves.
set -euo pipefail
if (($# > 0)); then
  sed -n '/^#   /s/^# *//p' "$0" >&2
  exit 2
fi
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

docker/install-deps.sh develop
rm -rf build/profile
cmake --preset record
cmake --build --preset record
bench/cost/run.sh --programs build/record --contender spillway --rounds 1 --seconds 2 --out /dev/null
bench/cost/cache-hit.sh 1 1 build/record/spillway
cmake --preset profiled
cmake --build --preset profiled --clean-first # objects do not depend on the counts
