# CPU per request of proxies beside one another: what the scripts of this folder share. They source
# it with their own arguments: [rounds=3] [seconds=4] [path to spillway].
#
# The proxies run on core 0, the NGINX backend (port 18000) and wrk on core 1, with 64 keep-alive
# connections. A script measures in rounds, each proxy once in each, and compares medians, so that a
# machine that gets slower does so for all. The figures are user + system microseconds per request.
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
rounds=${1:-3} seconds=${2:-4} spillway=${3:-build/release/spillway}
work=$(mktemp -d)
chmod 755 "$work" # NGINX workers run as another user
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2> /dev/null || true; done
  wait 2> /dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

# Starts a program on a core; $launched is its process id.
launch() { # core command...
  local core=$1
  shift
  taskset -c "$core" "$@" 2> /dev/null &
  launched=$!
  pids+=("$launched")
}

# Starts NGINX on a core, with what belongs into its http block on standard input.
launch_nginx() { # core name
  {
    cat << CONF
daemon off; worker_processes 1; pid $work/$2.pid; error_log $work/$2.log;
events { worker_connections 4096; }
http { access_log off; keepalive_requests 100000000;
CONF
    cat
    echo "}"
  } > "$work/$2.conf"
  launch "$1" nginx -p "$work" -c "$work/$2.conf"
}

await_ports() {
  local port
  for port in "$@"; do
    for _ in $(seq 100); do
      curl -so /dev/null "127.0.0.1:$port/" && continue 2
      sleep 0.1
    done
    echo "$0: nothing listens on port $port" >&2
    exit 1
  done
}

# Takes the one slot of the Spillway on this port, whose admin port is the second, for as long as
# the script runs: a download that trickles.
head -c 2000000 /dev/zero > "$work/trickle"
trickle_location="location /trickle { root $work; limit_rate 1k; }"
hold_slot() { # port admin-port
  curl -so /dev/null "127.0.0.1:$1/trickle" &
  pids+=($!)
  until curl -s "127.0.0.1:$2/metrics" | grep -q '^spillway_inflight{.*} 1'; do :; done
}

# user + system clock ticks of a process and its children
ticks() {
  local sum=0 pid
  for pid in "$1" $(pgrep -P "$1" || true); do
    sum=$((sum + $(awk '{print $14 + $15}' "/proc/$pid/stat")))
  done
  echo "$sum"
}

measure() { # name pid url
  local before after requests
  before=$(ticks "$2")
  requests=$(taskset -c 1 wrk -t1 -c64 -d"${seconds}s" "$3" | awk '/requests in/ {print $1}')
  after=$(ticks "$2")
  awk -v t=$((after - before)) -v n="$requests" -v hz="$(getconf CLK_TCK)" \
    'BEGIN { printf "%.2f\n", t * 1e6 / hz / n }' >> "$work/$1"
}

median() { sort -n "$work/$1" | awk '{v[NR]=$1} END {print v[int((NR+1)/2)]}'; }

# The medians of these names and their ratios to that of one of them.
print_table() { # title what of name...
  local title=$1 what=$2 of=$3 name
  shift 3
  printf '%-32s %10s %12s\n' "$title" "$what" "of $of"
  for name in "$@"; do
    awk -v n="$name" -v v="$(median "$name")" -v o="$(median "$of")" \
      'BEGIN { printf "%-32s %10.2f %12.2f\n", n, v, v / o }'
  done
}
