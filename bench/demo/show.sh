#!/bin/bash
# Shows the same traffic spike three times: against a bare backend, and through Spillway in front of
# a backend of the same capacity, which refuses P2 and then defers it. Half of the reads may be
# stored, and P1 is given stored answers while the backend is overloaded. run.sh calls this after
# building.
#
#   bench/demo/show.sh PROGRAMS [--exit] [options of spillway-demo-spike]
#
# PROGRAMS is the folder with the three programs, e.g. build/release. With --exit it ends after
# the spike: status 0 only if P0 kept 99 % success while P2 was shed. Without, it keeps serving
# until Ctrl-C. Ports are free ones; every process it starts has ended when it ends.
set -euo pipefail

if (($# < 1)) || [[ ! -x $1/spillway ]]; then
  echo "usage: $0 PROGRAMS [--exit] [options of spillway-demo-spike]" >&2
  exit 2
fi
programs=$1
shift
keep_serving=yes
if [[ ${1:-} == --exit ]]; then
  keep_serving=
  shift
fi

slots=16
service_ms=20
. "$(dirname "$0")/stage.sh"

start_backend
bare=$port
start_backend
backend=$port
# A Spillway in front of the backend on port $1, whose exports also have $2.
start_shop() { # port defer
  start_spillway << END
{
  "listen": { "port": 0 },
  "admin": { "port": 0 },
  "upstreams": [{ "name": "app", "servers": ["127.0.0.1:$1"] }],
  "dispatch": { "concurrency": $slots },
  "routes": [
    { "name": "checkout", "match": { "methods": ["POST"], "path": "/checkout/**" }, "class": "P0" },
    { "name": "search", "match": { "path": "/search/**" }, "class": "P1",
      "cache": { "max_bytes": 8388608 } },
    { "name": "export", "match": { "path": "/export/**" }, "class": "P2" $2 }
  ],
  "overload": {
    "enter": { "queue_wait_p95_ms": 100 },
    "exit": { "queue_wait_p95_ms": 60 },
    "rules": { "P1": { "strategy": "degrade", "mode": "stale_ok", "miss": "deny" } }
  },
  "store": { "url": "sqlite:$files/jobs.db" }
}
END
}
start_shop "$backend" ""
refusing=$proxy,http://127.0.0.1:$admin
refusing_pid=$proxy_pid
refusing_log=$proxy_log
start_backend
start_shop "$port" ', "defer": {}'

capacity=$((slots * 1000 / service_ms))
echo "The backend on http://127.0.0.1:$backend can do $capacity requests a second" \
  "($slots at once, $service_ms ms each)."
echo "Spillway listens on http://127.0.0.1:$proxy, its admin on http://127.0.0.1:$admin;" \
  "one that defers nothing on http://127.0.0.1:${refusing%%,*}"

# In the background, so that a signal to this script is acted on at once.
"$programs/spillway-demo-spike" --capacity "$capacity" --cacheable 0.5 --pages 100 \
  --run "without Spillway=http://127.0.0.1:$bare" \
  --run "with Spillway=http://127.0.0.1:$refusing" \
  --run "Spillway, P2 deferred=http://127.0.0.1:$proxy,http://127.0.0.1:$admin" "$@" &
status=0
wait $! || status=$?
still_runs "$refusing_pid" "$refusing_log"
still_runs "$proxy_pid" "$proxy_log"

if [[ -n $keep_serving ]] && ((status != 2)); then
  echo
  echo "Still serving, until Ctrl-C. Try:"
  echo "  curl -i http://127.0.0.1:$proxy/search/page/1"
  echo "  curl -s http://127.0.0.1:$admin/metrics"
  trap 'exit 0' INT
  wait "$proxy_pid" || true
fi
exit "$status"
