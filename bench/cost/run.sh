#!/bin/bash
# What a request costs: CPU, memory and latency of Spillway beside HAProxy, NGINX, a relay of bytes
# and the backend alone. README.md says how it is measured and what each figure means.
#
#   bench/cost/run.sh [--quick] [--rounds N] [--seconds N] [--workload NAME]... [--contender NAME]...
#                     [--out FILE] [--programs DIR]
#
# Appends a JSON line a cell to FILE (standard output without it), in the form that bench/README.md
# lays down. Of ten rounds the workloads that have an aim of their own have all, the others every
# other one; those that are named have all. --quick: 1 s a cell without warm-up, one round but of
# small-get and denied, and no variants of a workload. A contender is started for each cell and
# ended after it. Status 1 if a cell failed: it has no figures then.
set -euo pipefail

usage() {
  sed -n '/^#   /s/^# *//p' "$0" >&2
  exit 2
}

quick= rounds=10 seconds=4 out=/dev/stdout programs= only_workloads= only_contenders=
often='small-get|denied|two-.*' # are measured in every round,
seldom=2                        # the others in one of so many
variants='two-on-one-core|paced.*' # are left out of --quick unless named
while (($#)); do
  case $1 in
    --quick) quick=yes rounds=3 seconds=1 often='small-get|denied' seldom=3 && shift && continue ;;
    --rounds | --seconds) [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage ;;&
    --rounds) rounds=$2 ;;
    --seconds) seconds=$2 ;;
    --workload) only_workloads+=" ${2:-}" ;;
    --contender) only_contenders+=" ${2:-}" ;;
    --out) out=$(realpath "${2:-}") ;;
    --programs) programs=$(realpath "${2:-}") ;;
    *) usage ;;
  esac
  (($# > 1)) || usage
  shift 2
done
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

. bench/cost/workloads.sh
for each in $only_workloads; do look_up "$each" || usage; done
for each in $only_contenders; do
  [[ " $proxies relay direct " == *" $each "* ]] || usage
done

if [[ -z $programs ]]; then
  docker/install-deps.sh develop >&2
  cmake --preset bench >&2
  cmake --build --preset bench --target spillway spillway-bench-relay spillway-bench-idle >&2
  programs=build/bench
fi

. bench/cost/figures.sh
. bench/cost/contenders.sh
ulimit -n "$(ulimit -Hn)"
(($(ulimit -n) >= 18200)) || give_up "8000 idle connections need 18200 open files; $(ulimit -n) allowed"
(($(nproc) >= 2)) || give_up "it takes two cores: one for the proxy, one for load and backend"
proxy_cores=0 load_cores=$(($(nproc) > 2 ? 2 : 1)) # with three cores, two workers have their own
work=$(mktemp -d)
chmod 755 "$work" # NGINX's workers may be another user
trap end_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Which cells, in their order: round by round all of them, so that a machine that gets slower gets
# slower for all.
cells=()
for ((round = 1; round <= rounds; ++round)); do
  for workload in $(workload_names); do
    [[ -z $only_workloads || " $only_workloads " == *" $workload "* ]] || continue
    [[ -n $only_workloads || $workload =~ ^($often)$ ]] || ((round % seldom == 1)) || continue
    [[ -n $only_workloads || -z $quick || ! $workload =~ ^($variants)$ ]] || continue
    look_up "$workload"
    for contender in $contenders; do
      [[ -z $only_contenders || " $only_contenders " == *" $contender "* ]] || continue
      [[ -z $quick || $contender != @(relay|direct) || $workload == small-get ]] || continue
      cells+=("$round $workload $contender")
    done
  done
done

# Whether the contender answers as the workload says; otherwise says what it did.
answers() {
  local got body=()
  if [[ $tell == BODY=* ]]; then
    head -c "${tell#BODY=}" /dev/zero > "$work/body"
    body=(--data-binary "@$work/body" -H Expect:)
  fi
  got=$(curl -m 10 -so /dev/null -w '%{http_code} %{size_download}' "${body[@]}" \
    "127.0.0.1:$port$path" || true)
  [[ $bytes == - ]] && got="${got% *} -"
  [[ $got == "$status $bytes" ]] || { echo "answered $got, not $status $bytes" && return 1; }
}

load() { # seconds connections
  env ${tell:+"$tell"} taskset -c "$load_cores" \
    wrk -t1 -c"$2" -d"$1s" -s bench/cost/load.lua "http://127.0.0.1:$port$path" |
    awk '/^FIGURES / { $1 = ""; print }'
}

# Prints the figures of a cell as members of a JSON object; status 1 with a reason if there are
# none.
measure_load() {
  local before after requests duration p50 p99 connect read write timeout refused
  local busy_before busy_after cpu=0 user=0 system=0 wrong
  [[ -n $quick ]] || load 1 "$connections" > /dev/null
  busy_before=$(busy_ticks "$proxy_cores")
  [[ -z $pid ]] || before=$(cpu_of "$pid")
  read -r requests duration p50 p99 connect read write timeout refused \
    <<< "$(load "$seconds" "$connections")"
  [[ -z $pid ]] || after=$(cpu_of "$pid")
  busy_after=$(busy_ticks "$proxy_cores")
  if [[ -n $pid ]] && ((${after%% *} <= ${before%% *})); then
    echo "no CPU was counted"
    return 1
  fi
  wrong=$((status == 200 ? refused : requests - refused))
  if ((requests == 0 || connect + read + write + timeout + wrong > 0)); then
    echo "of $requests requests $wrong answered otherwise than $status; errors: $connect connect," \
      "$read read, $write write, $timeout timeout"
    return 1
  fi
  awk -v before="${before:-}" -v after="${after:-}" -v n="$requests" -v us="$duration" \
    -v p50="$p50" -v p99="$p99" -v busy=$((busy_after - busy_before)) -v hz="$(getconf CLK_TCK)" \
    -v rss="${pid:+$(rss_of "$pid")}" -v cores="$proxy_cores" -v load="$load_cores" 'BEGIN {
      printf "\"seconds\":%.3f,\"requests\":%d,\"rps\":%.1f,\"p50_ms\":%.3f,\"p99_ms\":%.3f",
        us / 1e6, n, n * 1e6 / us, p50 / 1e3, p99 / 1e3
      if (before == "") exit
      split(before, b, " "); split(after, a, " ")
      shared = index("," cores ",", "," load ",")
      foreign = (busy / hz - (a[1] - b[1]) / 1e9) / (us / 1e6) / split(cores, list, ",")
      printf ",\"cpu_us\":%.3f,\"user_us\":%.2f,\"system_us\":%.2f,\"rss_kib\":%d",
        (a[1] - b[1]) / 1e3 / n, (a[2] - b[2]) * 1e6 / hz / n, (a[3] - b[3]) * 1e6 / hz / n, rss
      if (!shared) printf(",\"foreign\":%.3f", foreign > 0 ? foreign : 0)
    }'
}

# The same for idle connections. What was loaded before has its pools already.
measure_idle() {
  local before after open client
  load 1 64 > /dev/null
  before=$(rss_of "$pid")
  coproc IDLE { exec taskset -c "$load_cores" \
    "$programs/spillway-bench-idle" "$port" "$connections" 2>&1; }
  client=$IDLE_PID
  read -r -t 60 open <&"${IDLE[0]}" || true
  after=$(rss_of "$pid")
  eval "exec ${IDLE[1]}>&-"
  wait "$client" || true
  [[ $open == "$connections" ]] || { echo "${open:-nothing happened}" && return 1; }
  awk -v before="$before" -v after="$after" -v n="$connections" \
    'BEGIN { printf "\"rss_kib\":%d,\"idle_kib\":%.3f", after, (after - before) / n }'
}

# Everything about one cell, as one line.
measure_cell() { # round workload contender
  local members kind=load
  look_up "$2"
  proxy_cores=0
  ((cores == 1)) || proxy_cores=0,1
  start_contender "$3" "$2" "$workers"
  [[ $2 == idle ]] && kind=idle
  if members=$(answers) && members=$("measure_$kind") && wrong=$(answers); then
    :
  else
    members="\"failure\":\"$(tr -d '"\\\n' <<< "${wrong:-$members}")\""
    failures=$((failures + 1))
    printf '\n%s: %s, %s, round %d failed: %s\n' "$0" "$2" "$3" "$1" "${members#*:}" >&2
    [[ ! -s $work/$3.log ]] || tail -n 3 "$work/$3.log" >&2
  fi
  end_contender
  printf '{"suite":"cost","workload":"%s","contender":"%s","round":%d,' "$2" "$3" "$1" >> "$out"
  printf '"connections":%d,"workers":%d,%s}\n' "$connections" "$workers" "$members" >> "$out"
}

start_backend
failures=0
started=$SECONDS
for ((k = 0; k < ${#cells[@]}; ++k)); do
  read -r round workload contender <<< "${cells[k]}"
  left=$((k ? (SECONDS - started) * (${#cells[@]} - k) / k : ${#cells[@]} * (seconds + 2)))
  # One line that changes on a terminal, otherwise a line each.
  [[ ! -t 2 ]] || printf '\r\033[K' >&2
  printf 'cost: cell %d of %d, about %d s left: %s, %s, round %d' \
    $((k + 1)) "${#cells[@]}" "$left" "$workload" "$contender" "$round" >&2
  [[ -t 2 ]] || echo >&2
  wrong=
  measure_cell "$round" "$workload" "$contender"
done
[[ ! -t 2 ]] || echo >&2
if ((failures > 0)); then give_up "$failures of ${#cells[@]} cells failed"; fi
