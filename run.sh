#!/bin/bash
# Everything from a fresh Debian 12 to a running Spillway: packages, release build, then the
# main job. A second run neither installs nor compiles anything again.
#
#   ./run.sh                 the demo: the same traffic spike without and with Spillway, shown
#                            live; then it keeps serving until Ctrl-C
#   ./run.sh --exit          the demo, ended after the spike; exit status 0 only if P0 kept
#                            99 % success while P2 was shed
#   ./run.sh --waiting-room  a sale behind a waiting room, and a crowd before it, until Ctrl-C; it
#                            prints the address at which you can stand in line with a browser
#   ./run.sh --waiting-room --exit
#                            the same for about a minute; exit status 0 only if all who stayed
#                            came in, first come, first served, never more at a time than allowed
#   ./run.sh --config FILE   serve your own configuration instead, until Ctrl-C
#
# Installing packages needs root; with the packages there, any user will do.
set -euo pipefail

usage() {
  echo "usage: $0 [[--waiting-room] [--exit] | --config FILE]" >&2
  exit 2
}

config=
demo=show.sh
demo_options=()
case "$#:${1:-}:${2:-}" in
  0::) ;;
  1:--exit:) demo_options=(--exit) ;;
  1:--waiting-room:) demo=waiting-room.sh ;;
  2:--waiting-room:--exit)
    demo=waiting-room.sh
    demo_options=(--exit)
    ;;
  2:--config:*)
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
exec "bench/demo/$demo" build/release "${demo_options[@]}"
