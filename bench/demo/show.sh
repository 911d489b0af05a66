#!/bin/bash
# Shows the same traffic spike twice: against a bare backend, and through Spillway in front of
# a backend of the same capacity. run.sh calls this after building.
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
patience=100 # tenths of a second to wait for a program to start

files=$(mktemp -d)
end_all() {
  local running
  running=$(jobs -rp) # of this shell, so never anybody else's process
  [[ -z $running ]] || kill -TERM $running 2> /dev/null || true
  wait
  rm -rf "$files"
}
trap end_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Prints the first line of FILE that the sed SCRIPT extracts, as soon as there is one; fails
# when process PID ends before that.
await() {
  local pid=$1 file=$2 script=$3 found
  for ((i = 0; i < patience; ++i)); do
    found=$(sed -nE "$script" "$file" | head -n 1)
    if [[ -n $found ]]; then
      echo "$found"
      return
    fi
    kill -0 "$pid" 2> /dev/null || break
    sleep 0.1
  done
  echo "$0: a program did not start; it said:" >&2
  cat "$file" >&2
  return 1
}

start_backend() {
  : > "$files/$1" # there before await looks
  "$programs/spillway-demo-backend" --slots $slots --service-ms $service_ms > "$files/$1" 2>&1 &
}

start_backend bare-backend
bare=$(await $! "$files/bare-backend" 's/^([0-9]+)$/\1/p')
start_backend backend
backend=$(await $! "$files/backend" 's/^([0-9]+)$/\1/p')

cat > "$files/spillway.json" << END
{
  "listen": { "port": 0 },
  "admin": { "port": 0 },
  "upstreams": [{ "name": "app", "servers": ["127.0.0.1:$backend"] }],
  "dispatch": { "concurrency": $slots },
  "routes": [
    { "name": "checkout", "match": { "methods": ["POST"], "path": "/checkout/**" }, "class": "P0" },
    { "name": "search", "match": { "path": "/search/**" }, "class": "P1" },
    { "name": "export", "match": { "path": "/export/**" }, "class": "P2" }
  ]
}
END
: > "$files/proxy"
"$programs/spillway" run --config "$files/spillway.json" > "$files/proxy" 2>&1 &
proxy_pid=$!
# {"time":…,"event":"listening","listener":"proxy","address":"127.0.0.1","port":40123}
proxy=$(await $proxy_pid "$files/proxy" 's/.*"listener":"proxy".*"port":([0-9]+).*/\1/p')
admin=$(await $proxy_pid "$files/proxy" 's/.*"listener":"admin".*"port":([0-9]+).*/\1/p')

capacity=$((slots * 1000 / service_ms))
echo "The backend on http://127.0.0.1:$backend can do $capacity requests a second" \
  "($slots at once, $service_ms ms each)."
echo "Spillway listens on http://127.0.0.1:$proxy, its admin on http://127.0.0.1:$admin"

# In the background, so that a signal to this script is acted on at once.
"$programs/spillway-demo-spike" --capacity "$capacity" \
  --run "without Spillway=http://127.0.0.1:$bare" \
  --run "with Spillway=http://127.0.0.1:$proxy,http://127.0.0.1:$admin" "$@" &
status=0
wait $! || status=$?
if ! kill -0 $proxy_pid 2> /dev/null; then
  echo "$0: Spillway ended during the spike; its last words:" >&2
  tail -n 20 "$files/proxy" >&2
  exit 1
fi

if [[ -n $keep_serving ]] && ((status != 2)); then
  echo
  echo "Still serving, until Ctrl-C. Try:"
  echo "  curl -i http://127.0.0.1:$proxy/search"
  echo "  curl -s http://127.0.0.1:$admin/metrics"
  trap 'exit 0' INT
  wait "$proxy_pid" || true
fi
exit "$status"
