#!/bin/bash
# Builds the micro-benchmarks and prints their table, also to build/bench/micro.md.
#
#   bench/micro/run.sh [--quick] [options of Google Benchmark]
#
# Exit status 1 if a benchmark did not measure what it should have. A figure over its target is
# marked OVER and is no failure.
set -euo pipefail

options=(--benchmark_min_time=0.5 --benchmark_repetitions=5)
if [[ ${1:-} == --quick ]]; then
  options=(--benchmark_min_time=0.02 --benchmark_repetitions=3)
  shift
fi
for option in "$@"; do
  if [[ $option != --benchmark_* ]]; then
    echo "usage: $0 [--quick] [options of Google Benchmark]" >&2
    exit 2
  fi
done

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
docker/install-deps.sh develop >&2
cmake --preset bench >&2
cmake --build --preset bench >&2
build/bench/spillway-bench-micro "${options[@]}" "$@" | tee build/bench/micro.md
