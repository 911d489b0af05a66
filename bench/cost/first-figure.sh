#!/bin/bash
# CPU per request of Spillway beside HAProxy and NGINX, small GET and a refusal, in one run.
# (Spillway refuses with 503 and a JSON body of about 340 bytes, the peers with a short 429.)
# A first, rough figure; measure.sh says how it is measured.
#
#   bench/cost/first-figure.sh [rounds=3] [seconds=4] [path to spillway]
set -euo pipefail
. "$(dirname "$0")/measure.sh"

launch_nginx 1 backend << CONF
  server { listen 127.0.0.1:18000 backlog=4096;
    location / { return 200 "hello, this is a small answer\n"; }
    $trickle_location }
CONF
launch_nginx 0 nginx << CONF
  upstream app { server 127.0.0.1:18000; keepalive 256; keepalive_requests 100000000; }
  server { listen 127.0.0.1:18002 backlog=4096;
    location /deny { add_header Retry-After 5 always; return 429; }
    location / { proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For \$remote_addr; } }
CONF
nginx_pid=$launched

cat > "$work/haproxy.cfg" << CONF
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
launch 0 haproxy -f "$work/haproxy.cfg"
haproxy_pid=$launched

cat > "$work/spillway.json" << CONF
{ "listen": { "port": 18001 }, "admin": { "port": 18091 },
  "upstreams": [ { "name": "app", "servers": ["127.0.0.1:18000"] } ] }
CONF
launch 0 "$spillway" run --config "$work/spillway.json"
spillway_pid=$launched

# One slot, held by a download that trickles, and one queue place, taken too: all others are refused.
cat > "$work/deny.json" << CONF
{ "listen": { "port": 18004 }, "admin": { "port": 18094 },
  "upstreams": [ { "name": "app", "servers": ["127.0.0.1:18000"] } ],
  "classes": [ { "name": "P0", "weight": 1, "max_queue": 1, "sla_ms": 600000, "max_wait_ms": 600000 } ],
  "dispatch": { "concurrency": 1 } }
CONF
launch 0 "$spillway" run --config "$work/deny.json"
deny_pid=$launched

await_ports 18000 18001 18002 18003 18004
hold_slot 18004 18094
curl -so /dev/null 127.0.0.1:18004/trickle &
pids+=($!)
until curl -m 1 -so /dev/null -w '%{http_code}' 127.0.0.1:18004/ | grep -q 503; do :; done

for _ in $(seq "$rounds"); do
  measure spillway "$spillway_pid" http://127.0.0.1:18001/
  measure haproxy "$haproxy_pid" http://127.0.0.1:18003/
  measure nginx "$nginx_pid" http://127.0.0.1:18002/
  measure spillway-deny "$deny_pid" http://127.0.0.1:18004/
  measure haproxy-deny "$haproxy_pid" http://127.0.0.1:18003/deny
  measure nginx-deny "$nginx_pid" http://127.0.0.1:18002/deny
done
print_table "CPU us per request" proxied haproxy spillway haproxy nginx
print_table "" refusal haproxy-deny spillway-deny haproxy-deny nginx-deny
