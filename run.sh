#!/bin/bash
# Everything from a fresh Debian 12 to a running Spillway: packages, release build, then the
# main job. A second run neither installs nor compiles anything again.
#
#   ./run.sh                 the demo: the same traffic spike without and with Spillway, shown
#                            live; then it keeps serving until Ctrl-C
#   ./run.sh --exit          the demo, ended after the spike; exit status 0 only if P0 kept
#                            99 % success while P2 was shed
#   ./run.sh --config FILE   serve your own configuration instead, until Ctrl-C
#
# Installing packages needs root; with the packages there, any user will do.
set -euo pipefail

usage() {
  echo "usage: $0 [--exit | --config FILE]" >&2
  exit 2
}

config=
demo_options=()
case "$#:${1:-}" in
  0:) ;;
  1:--exit) demo_options=(--exit) ;;
  2:--config)
    if [[ ! -r $2 ]]; then
      echo "$0: cannot read $2" >&2
      exit 2
    fi
    config=$(readlink -f "$2")
    ;;
  *) usage ;;
esac

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
docker/install-deps.sh build
cmake --preset release
cmake --build --preset release

if [[ -n $config ]]; then
  exec build/release/spillway run --config "$config"
fi
exec bench/demo/show.sh build/release "${demo_options[@]}"
