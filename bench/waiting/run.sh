#!/bin/bash
# Puts a long line before a waiting room, has it poll, and prints what that cost; then what a flood
# and event streams take, and how soon the next one is called (README.md).
#
#   bench/waiting/run.sh [--visitors N] [--polls N] [--connections N] [--seconds S]
#                        [--flood N] [--streams N] [--turns N] [--sessions N]
#
# Exit status 1 if a request was not answered as it should be. Ports are free ones, and nothing is
# left behind.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

for ((n = 1; n <= $#; n += 2)); do
  case ${!n} in
    --visitors | --polls | --connections | --seconds | --flood | --streams | --turns | --sessions) ((n < $#)) && continue ;;
  esac
  sed -n '/^#   /s/^# *//p' "$0" >&2
  exit 2
done

programs=
needed=(spillway spillway-bench-waiting)
. bench/build.sh
exec "$programs/spillway-bench-waiting" --spillway "$programs/spillway" "$@"
