#!/bin/bash
# CPU per request of Spillway beside HAProxy and NGINX, small GET and a refusal, in one run.
# (Spillway refuses with 503 and a JSON body of about 340 bytes, the peers with a short 429.)
#
# A first, rough figure: each proxy on core 0, the NGINX backend and wrk on core 1, 64 keep-alive
# connections, rounds interleaved, medians. Prints user + system microseconds per request.
#
#   bench/cost/first-figure.sh [rounds=3] [seconds=4] [path to spillway]
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-3} seconds=${2:-4} spillway=${3:-build/release/spillway}
work=$(mktemp -d)
chmod 755 "$work"  # NGINX workers run as another user
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

cat > "$work/backend.conf" <<CONF
daemon off; worker_processes 1; pid $work/backend.pid; error_log $work/backend.log;
events { worker_connections 4096; }
http { access_log off; keepalive_requests 100000000;
  server { listen 127.0.0.1:18000 backlog=4096; location / { return 200 "hello, this is a small answer\n"; }
    location /trickle { root $work; limit_rate 1k; } } }
CONF
cat > "$work/nginx.conf" <<CONF
daemon off; worker_processes 1; pid $work/nginx.pid; error_log $work/nginx.log;
events { worker_connections 4096; }
http { access_log off; keepalive_requests 100000000;
  upstream app { server 127.0.0.1:18000; keepalive 256; keepalive_requests 100000000; }
  server { listen 127.0.0.1:18002 backlog=4096;
    location /deny { add_header Retry-After 5 always; return 429; }
    location / { proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For \$remote_addr; } } }
CONF
cat > "$work/haproxy.cfg" <<CONF
global
  nbthread 1
  maxconn 4096
defaults
  mode http
  timeout connect 1s
  timeout client 60s
  timeout server 30s
  option forwardfor
  http-reuse always
frontend in
  bind 127.0.0.1:18003
  http-request return status 429 hdr Retry-After 5 content-type application/json string '{"reason":"QUEUE_FULL"}' if { path_beg /deny }
  default_backend app
backend app
  server one 127.0.0.1:18000
CONF
cat > "$work/spillway.json" <<CONF
{ "listen": { "port": 18001 }, "admin": { "port": 18091 },
  "upstreams": [ { "name": "app", "servers": ["127.0.0.1:18000"] } ] }
CONF
# One slot, held by a download that trickles, and one queue place, taken too: all others are refused.
cat > "$work/deny.json" <<CONF
{ "listen": { "port": 18004 }, "admin": { "port": 18094 },
  "upstreams": [ { "name": "app", "servers": ["127.0.0.1:18000"] } ],
  "classes": [ { "name": "P0", "weight": 1, "max_queue": 1, "sla_ms": 600000, "max_wait_ms": 600000 } ],
  "dispatch": { "concurrency": 1 } }
CONF
head -c 2000000 /dev/zero > "$work/trickle"
taskset -c 1 nginx -p "$work" -c "$work/backend.conf" 2>/dev/null & pids+=($!)
taskset -c 0 nginx -p "$work" -c "$work/nginx.conf" 2>/dev/null & pids+=($!); nginx_pid=$!
taskset -c 0 haproxy -f "$work/haproxy.cfg" 2>/dev/null & pids+=($!); haproxy_pid=$!
taskset -c 0 "$spillway" run --config "$work/spillway.json" 2>/dev/null & pids+=($!); spillway_pid=$!
taskset -c 0 "$spillway" run --config "$work/deny.json" 2>/dev/null & pids+=($!); deny_pid=$!
for port in 18000 18001 18002 18003 18004; do
  for _ in $(seq 100); do curl -so /dev/null "127.0.0.1:$port/" && break; done
done

curl -so /dev/null 127.0.0.1:18004/trickle & pids+=($!)
until curl -s 127.0.0.1:18094/metrics | grep -q '^spillway_inflight{.*} 1'; do :; done
curl -so /dev/null 127.0.0.1:18004/trickle & pids+=($!)
until curl -m 1 -so /dev/null -w '%{http_code}' 127.0.0.1:18004/ | grep -q 503; do :; done

# user + system clock ticks of a process and its children
ticks() {
  local sum=0 pid
  for pid in "$1" $(pgrep -P "$1" || true); do
    sum=$((sum + $(awk '{print $14 + $15}' "/proc/$pid/stat")))
  done
  echo "$sum"
}
measure() {  # name pid url
  local before after requests
  before=$(ticks "$2")
  requests=$(taskset -c 1 wrk -t1 -c64 -d"${seconds}s" "$3" | awk '/requests in/ {print $1}')
  after=$(ticks "$2")
  awk -v t=$((after - before)) -v n="$requests" -v hz="$(getconf CLK_TCK)" \
    'BEGIN { printf "%.2f\n", t * 1e6 / hz / n }' >> "$work/$1"
}
median() { sort -n "$work/$1" | awk '{v[NR]=$1} END {print v[int((NR+1)/2)]}'; }

for _ in $(seq "$rounds"); do
  measure spillway "$spillway_pid" http://127.0.0.1:18001/
  measure haproxy "$haproxy_pid" http://127.0.0.1:18003/
  measure nginx "$nginx_pid" http://127.0.0.1:18002/
  measure spillway-deny "$deny_pid" http://127.0.0.1:18004/
  measure haproxy-deny "$haproxy_pid" http://127.0.0.1:18003/deny
  measure nginx-deny "$nginx_pid" http://127.0.0.1:18002/deny
done
printf '%-24s %10s %10s\n' "CPU us per request" "proxied" "of HAProxy"
for name in spillway haproxy nginx; do
  awk -v n="$name" -v v="$(median "$name")" -v h="$(median haproxy)" \
    'BEGIN { printf "%-24s %10.2f %10.2f\n", n, v, v / h }'
done
printf '%-24s %10s %10s\n' "" "refusal" "of HAProxy"
for name in spillway-deny haproxy-deny nginx-deny; do
  awk -v n="$name" -v v="$(median "$name")" -v h="$(median haproxy-deny)" \
    'BEGIN { printf "%-24s %10.2f %10.2f\n", n, v, v / h }'
done
