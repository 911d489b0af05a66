#!/bin/bash
# Ten times what the backend can do, half of the reads cacheable: the same load first onto a bare
# backend, then through Spillway with rules that deny, then with rules that degrade the same classes.
# Each run has a fresh backend of the same capacity, of which P0 alone is all at ten times; asked to,
# it leaves out half of its work (skip_downstream). Prints one line a second, then one table of the
# spike: success, of that degraded answers, p50 and p99 by class. The calm before it fills the stores.
#
#   bench/overload/cacheable-reads.sh [--short] [PROGRAMS=build/release] [options of the spike]
#
# About 70 seconds, 35 with --short. Status 0 only if P0 kept 99 % success where Spillway degraded and
# some of P2 was denied there.
set -euo pipefail

phases=(--calm-s 6 --spike-s 15 --recovery-s 1)
if [[ ${1:-} == --short ]]; then
  phases=(--calm-s 3 --spike-s 6 --recovery-s 1)
  shift
fi
programs=${1:-build/release}
shift $(($# > 0))
if [[ ! -x $programs/spillway ]]; then
  echo "usage: $0 [--short] [PROGRAMS] [options of spillway-demo-spike]" >&2
  exit 2
fi

slots=8
service_ms=20
capacity=$((slots * 1000 / service_ms))
. "$(dirname "$0")/../demo/stage.sh"

# Starts a backend and Spillway before it.
start() { # rules of the classes
  start_backend
  start_spillway << END
{
  "listen": { "port": 0 },
  "admin": { "port": 0 },
  "upstreams": [{ "name": "app", "servers": ["127.0.0.1:$port"] }],
  "dispatch": { "concurrency": $slots },
  "routes": [
    { "name": "checkout", "match": { "methods": ["POST"], "path": "/checkout/**" }, "class": "P0" },
    { "name": "search", "match": { "path": "/search/**" }, "class": "P1",
      "cache": { "max_bytes": 8388608 } },
    { "name": "export", "match": { "path": "/export/**" }, "class": "P2",
      "cache": { "max_bytes": 8388608 } }
  ],
  "overload": {
    "enter": { "queue_ratio": 0.5, "queue_wait_p95_ms": 50, "inflight_ratio": 0.95 },
    "exit": { "queue_ratio": 0.1, "queue_wait_p95_ms": 20, "inflight_ratio": 0.7 },
    "rules": { $1 }
  }
}
END
}

start_backend
bare=$port
start '"P0": { "strategy": "allow" },
  "P1": { "strategy": "deny", "probability": 1.0 },
  "P2": { "strategy": "deny", "probability": 1.0, "retry_after_ms": 5000 }'
denying=http://127.0.0.1:$proxy,http://127.0.0.1:$admin
start '"P0": { "strategy": "degrade", "mode": "skip_downstream", "annotate": true },
  "P1": { "strategy": "degrade", "mode": "stale_ok", "miss": "deny" },
  "P2": { "strategy": "degrade", "mode": "cache_only", "retry_after_ms": 5000 }'
degrading=http://127.0.0.1:$proxy,http://127.0.0.1:$admin

echo "$((10 * capacity)) requests a second onto backends that can do $capacity" \
  "($slots at once, $service_ms ms each); half of the reads ask for one of 100 pages that may be stored."
# In the background, so that a signal to this script is acted on at once.
"$programs/spillway-demo-spike" --capacity "$capacity" --calm 0.7 --spike 10 --cacheable 0.5 \
  --pages 100 "${phases[@]}" --table spike --run "bare backend=http://127.0.0.1:$bare" \
  --run "Spillway, denying=$denying" --run "Spillway, degrading=$degrading" "$@" &
status=0
wait $! || status=$?
still_runs "$proxy_pid" "$proxy_log"
exit "$status"
