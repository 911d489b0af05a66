#!/bin/bash
# CPU per request of a cache hit, Spillway's beside NGINX's proxy_cache, in one run:
# a body of 30 bytes and one of 16 KiB. measure.sh describes the method.
#
# Spillway answers with "serve": "fresh" while nothing is wrong, and under overload with stale_ok,
# the latter also with an answer that is stale and for whose refresh there is no slot. NGINX keeps
# its files in the page cache, sends them with sendfile and keeps them open (open_file_cache), which
# makes its hits as cheap as it can. A round in which the backend saw a single request fails.
#
#   bench/cost/cache-hit.sh [rounds=3] [seconds=4] [path to spillway]
set -euo pipefail
. "$(dirname "$0")/measure.sh"

mkdir "$work/pages"
head -c 16384 /dev/urandom > "$work/pages/large"
launch_nginx 1 backend << CONF
  default_type text/plain;
  server { listen 127.0.0.1:18000 backlog=4096;
    location = /pages/small { add_header Cache-Control max-age=3600;
      return 200 "hello, this is a small answer\n"; }
    location = /pages/stale { add_header Cache-Control max-age=1;
      return 200 "hello, this is a small answer\n"; }
    location = /pages/large { root $work; add_header Cache-Control max-age=3600; }
    location / { return 200; }
    location = /seen { stub_status; }
    $trickle_location }
CONF
launch_nginx 0 nginx << CONF
  sendfile on; tcp_nopush on; open_file_cache max=1000 inactive=1h; open_file_cache_valid 1h;
  proxy_cache_path $work/nginx-store keys_zone=store:10m inactive=1h use_temp_path=off;
  server { listen 127.0.0.1:18002 backlog=4096;
    location / { proxy_pass http://127.0.0.1:18000; proxy_cache store; } }
CONF
nginx_pid=$launched

start_spillway() { # name port serve dispatch-and-overload
  cat > "$work/$1.json" << CONF
{ "listen": { "port": $2 }, "admin": { "port": $(($2 + 90)) },
  "upstreams": [ { "name": "app", "servers": ["127.0.0.1:18000"] } ],
  "routes": [ { "name": "pages", "match": { "path": "/pages/**" }, "class": "P0",
    "cache": { "max_bytes": 16777216, "stale_ms": 3600000, "serve": "$3" } } ]$4 }
CONF
  launch 0 "$spillway" run --config "$work/$1.json"
}
start_spillway fresh 18001 fresh ""
fresh_pid=$launched
# One slot, held by a download that trickles: overloaded from then on, and no room to refresh.
start_spillway stale 18004 overload ', "dispatch": { "concurrency": 1 },
  "overload": {
    "enter": { "inflight_ratio": 0.5 }, "exit": { "inflight_ratio": 0.3 },
    "rules": { "P0": { "strategy": "degrade", "mode": "stale_ok", "miss": "deny" } } }'
stale_pid=$launched

await_ports 18000 18001 18002 18004
for url in 18001/pages/{small,large} 18002/pages/{small,large} 18004/pages/{small,large,stale}; do
  curl -sfo /dev/null "127.0.0.1:$url"
done
sleep 1.1 # /pages/stale is stale
hold_slot 18004 18094
until curl -s 127.0.0.1:18094/state | grep -q OVERLOADED; do :; done

seen() { curl -s 127.0.0.1:18000/seen | awk 'NR == 3 {print $3}'; }
measure_hits() { # name pid url
  local before after
  before=$(seen)
  measure "$@"
  after=$(seen)
  if ((after != before + 1)); then # the look itself is one
    echo "$0: $1 asked the backend $((after - before - 1)) times" >&2
    exit 1
  fi
}

for _ in $(seq "$rounds"); do
  for body in small large; do
    measure_hits "spillway fresh, $body" "$fresh_pid" "http://127.0.0.1:18001/pages/$body"
    measure_hits "nginx, $body" "$nginx_pid" "http://127.0.0.1:18002/pages/$body"
    measure_hits "spillway stale_ok, $body" "$stale_pid" "http://127.0.0.1:18004/pages/$body"
  done
  measure_hits "spillway stale_ok stale, small" "$stale_pid" http://127.0.0.1:18004/pages/stale
done
print_table "CPU us per request, 30 bytes" hit "nginx, small" "spillway fresh, small" \
  "spillway stale_ok, small" "spillway stale_ok stale, small" "nginx, small"
print_table "16 KiB" hit "nginx, large" "spillway fresh, large" "spillway stale_ok, large" \
  "nginx, large"
