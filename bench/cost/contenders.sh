# Starting and ending what bench/cost measures. Sourced by run.sh, with $programs set to the folder
# of the programs and $work to a folder of its own. All listen on free ports of 127.0.0.1.
#
# start_contender NAME WORKLOAD sets $pid and $port. The workload matters for what is asked of a
# proxy: "denied", "routes-N", "two-workers", anything else.
peers=bench/peers
patience=100 # tenths of a second to wait for a program to start or to end
held=        # the request that holds a slot, in "denied"

# Ends this run with the reason and the end of a log.
give_up() { # reason [log]
  printf '%s: %s\n' "$0" "$1" >&2
  if [[ -n ${2:-} ]]; then tail -n 20 "$2" >&2; fi
  exit 1
}

is_taken() { (: < "/dev/tcp/127.0.0.1/$1") 2> /dev/null; }

# Sets $port to one where nothing listens, below those that the kernel gives to clients.
next_port=$((20000 + RANDOM % 10000))
free_port() {
  next_port=$((next_port < 30000 ? next_port + 1 : 20000))
  while is_taken "$next_port"; do next_port=$((next_port + 1)); done
  port=$next_port
}

await_port() { # pid name log
  local i
  for ((i = 0; i < patience * 10; ++i)); do
    is_taken "$port" && return
    kill -0 "$1" 2> /dev/null || break
    sleep 0.01
  done
  give_up "$2 did not start; it said:" "$3"
}

# Sets $port to what the sed script finds in the log.
await_line() { # pid name log script
  local i
  for ((i = 0; i < patience * 10; ++i)); do
    port=$(sed -nE "$4" "$3" | head -n 1)
    [[ -z $port ]] || return 0
    kill -0 "$1" 2> /dev/null || break
    sleep 0.01
  done
  give_up "$2 did not start; it said:" "$3"
}

# A copy of a template with @NAME@ put in; every NAME must be there, and none be left.
fill_in() { # template NAME=value...
  local text pair
  text=$(< "$1")
  for pair in "${@:2}"; do
    [[ $text == *"@${pair%%=*}@"* ]] || give_up "$1 does not say @${pair%%=*}@"
    text=${text//"@${pair%%=*}@"/"${pair#*=}"}
  done
  [[ ! $text =~ @[A-Z]+@ ]] || give_up "$1: ${BASH_REMATCH[0]} was not filled in"
  printf '%s\n' "$text"
}

# The text on standard input with one piece replaced; a piece that is not there is an error, lest a
# changed file be measured with unintended settings.
replaced() { # piece replacement
  local text
  text=$(cat)
  [[ $text == *"$1"* ]] || give_up "config/spillway.json does not say $1 any more"
  printf '%s\n' "${text/"$1"/"$2"}"
}

start_backend() {
  mkdir -p "$work/pages"
  head -c 16384 /dev/urandom > "$work/pages/16k"
  cp "$work/pages/16k" "$work/pages/chunked"
  cp "$work/pages/16k" "$work/pages/upload"
  head -c 1048576 /dev/urandom > "$work/pages/1m"
  head -c 4000000 /dev/zero > "$work/pages/trickle"
  free_port
  backend=$port
  fill_in "$peers/backend.nginx.conf" WORK="$work" PORT="$backend" > "$work/backend.conf"
  taskset -c "$load_cores" nginx -p "$work" -e "$work/backend.log" -c "$work/backend.conf" \
    2>> "$work/backend.log" &
  backend_pid=$!
  await_port "$backend_pid" "the backend" "$work/backend.log"
}

# config/spillway.json as installed, but for ports, the backend, the number of workers or the routes
# that a workload is about, and "concurrency": the peers send on whatever comes, so to compare costs
# no request may be queued here either.
spillway_configuration() { # workload workers
  local concurrency=4096
  [[ $1 == denied ]] && concurrency=64
  replaced '"port": 8080' '"port": 0' < config/spillway.json |
    replaced '"port": 9090' '"port": 0' |
    replaced '127.0.0.1:3000' "127.0.0.1:$backend" |
    replaced '"workers": 1' "\"workers\": $2" |
    replaced '"idle_connections": 256' '"idle_connections": 4096' |
    replaced '"concurrency": "auto"' "\"concurrency\": $concurrency" > "$work/spillway.json"
  case $1 in
    routes-*)
      seq "${1#routes-}" |
        sed 's|.*|{ "name": "r&", "match": { "path": "/r&/**" }, "class": "P1" },|; $s|,$||' \
          > "$work/routes.spillway"
      sed -i -e '/^  "routes": \[/,/^  \],/ { /^  "routes"/!{ /^  \],/!d } }' \
        -e "/^  \"routes\": \[/r $work/routes.spillway" "$work/spillway.json"
      ;;
    # One slot taken is overload, and then nothing of the default class is let through: 429 for
    # each.
    denied)
      replaced '"inflight_ratio": 0.95' '"inflight_ratio": 0.01' < "$work/spillway.json" |
        replaced '"inflight_ratio": 0.9' '"inflight_ratio": 0.005' |
        replaced '{ "strategy": "deny", "probability": 0.5, "retry_after_ms": 1000 }' \
          '{ "strategy": "allow", "retry_after_ms": 5000, "budget": { "rate": 0 } }' \
          > "$work/denied.json"
      mv "$work/denied.json" "$work/spillway.json"
      ;;
  esac
}

start_spillway() { # workload workers
  local log=$work/spillway.log admin i
  spillway_configuration "$@"
  taskset -c "$proxy_cores" "$programs/spillway" run --config "$work/spillway.json" > "$log" 2>&1 &
  pid=$!
  await_line "$pid" Spillway "$log" 's/.*"listener":"admin".*"port":([0-9]+).*/\1/p'
  admin=$port
  await_line "$pid" Spillway "$log" 's/.*"listener":"proxy".*"port":([0-9]+).*/\1/p'
  if [[ $1 == denied ]]; then
    curl -so /dev/null "127.0.0.1:$port/trickle" &
    held=$!
    for ((i = 0; i < patience; ++i)); do
      [[ $(curl -s "127.0.0.1:$admin/state") == *OVERLOADED* ]] && return
      sleep 0.1
    done
    give_up "Spillway was not overloaded; it said:" "$log"
  fi
}

start_haproxy() { # workload workers
  local log=$work/haproxy.log kind=$1
  if [[ $1 == routes-* ]]; then
    kind=routes
    seq "${1#routes-}" | sed 's|.*|/r&/ app|' > "$work/routes.map"
  fi
  free_port
  THREADS=$2 PORT=$port BACKEND=$backend WORKLOAD=$kind ROUTES=$work/routes.map \
    taskset -c "$proxy_cores" haproxy -db -f "$peers/haproxy.cfg" > "$log" 2>&1 &
  pid=$!
  await_port "$pid" HAProxy "$log"
}

start_nginx() { # workload workers
  local log=$work/nginx.log reuseport=
  rm -f "$work/routes.nginx"
  if [[ $1 == routes-* ]]; then
    seq "${1#routes-}" | sed 's|.*|location /r&/ { proxy_pass http://app; }|' > "$work/routes.nginx"
  fi
  (($2 == 1)) || reuseport=reuseport
  free_port
  fill_in "$peers/nginx.conf" WORK="$work" PORT="$port" BACKEND="$backend" THREADS="$2" \
    REUSEPORT=$reuseport > "$work/nginx.conf"
  taskset -c "$proxy_cores" nginx -p "$work" -e "$log" -c "$work/nginx.conf" 2>> "$log" &
  pid=$!
  await_port "$pid" NGINX "$log"
}

start_relay() {
  local log=$work/relay.log
  taskset -c "$proxy_cores" "$programs/spillway-bench-relay" "$backend" > "$log" 2>&1 &
  pid=$!
  await_line "$pid" "the relay" "$log" 's/^([0-9]+)$/\1/p'
}

start_direct() {
  pid=
  port=$backend
}

start_contender() { # contender workload workers
  : > "$work/$1.log" # without the output of an earlier round
  "start_$1" "$2" "$3"
}

# Ends the contender that was started last.
end_contender() {
  local i
  if [[ -n $held ]]; then
    kill "$held" 2> /dev/null || true
    wait "$held" 2> /dev/null || true
    held=
  fi
  [[ -n $pid ]] || return 0
  kill -TERM "$pid" 2> /dev/null || true
  for ((i = 0; i < patience * 10; ++i)); do
    kill -0 "$pid" 2> /dev/null || break
    sleep 0.01
  done
  kill -KILL "$pid" 2> /dev/null || true
  wait "$pid" 2> /dev/null || true
  pid=
}

# For a trap: everything that was started, and the folder.
end_all() {
  local running
  end_contender
  running=$(jobs -rp) # of this shell, so no foreign process
  [[ -z $running ]] || kill -TERM $running 2> /dev/null || true
  wait 2> /dev/null || true
  rm -rf "$work"
}
