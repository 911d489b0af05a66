#!/bin/bash
# Shows a waiting room: a small sale behind Spillway with waiting-room.json, and a crowd before it.
# run.sh calls this after building.
#
#   bench/demo/waiting-room.sh PROGRAMS [--exit] [options of spillway-demo-crowd]
#
# PROGRAMS is the folder with the three programs, e.g. build/release. With --exit it ends after a
# minute or so: status 0 only if all who stayed came in, first come, first served, never more at a
# time than allowed, and everybody was served. Without, the crowd goes on until Ctrl-C, so that
# somebody can stand in line with a browser. Ports are free ones; every process it starts has ended
# when it ends.
set -euo pipefail

if (($# < 1)) || [[ ! -x $1/spillway ]]; then
  echo "usage: $0 PROGRAMS [--exit] [options of spillway-demo-crowd]" >&2
  exit 2
fi
programs=$1
shift
crowd_options=(--endless --visitors 75)
if [[ ${1:-} == --exit ]]; then
  crowd_options=()
  shift
fi

here=$(dirname "$0")
slots=8
service_ms=20
. "$here/stage.sh"

start_backend --sale "$here/sale.html"
configuration=$here/waiting-room.json
start_spillway < <(sed "s/127\.0\.0\.1:3000/127.0.0.1:$port/" "$configuration")

echo "Open http://127.0.0.1:$proxy/sale in a browser to stand in line yourself."
echo "The site is on http://127.0.0.1:$port, Spillway's admin listener on http://127.0.0.1:$admin/state."
echo

# In the background, so that a signal to this script is acted on at once.
"$programs/spillway-demo-crowd" --proxy "http://127.0.0.1:$proxy" --admin "http://127.0.0.1:$admin" \
  --site "http://127.0.0.1:$port" --config "$configuration" "${crowd_options[@]}" "$@" &
status=0
wait $! || status=$?
still_runs "$proxy_pid" "$proxy_log"
exit "$status"
