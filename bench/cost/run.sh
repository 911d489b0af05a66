#!/bin/bash
# What a request costs: CPU, memory and latency of Spillway beside HAProxy, NGINX, a relay of bytes
# and the backend alone. README.md says how it is measured and what each figure means.
#
#   bench/cost/run.sh [--quick] [--rounds N] [--seconds N] [--workload NAME]... [--contender NAME]...
#                     [--out FILE] [--programs DIR]
#
# Appends a JSON line a cell to FILE (standard output without it), in the form that bench/README.md
# describes. Workloads with an aim of their own are measured in all six rounds, the others in every
# other one; with --workload, those named in all. --quick: 1 s a cell without warm-up, one round
# except of small-get and denied, and no variants of a workload. The contenders of a workload are
# started for each round and ended after it. Status 1 if a cell failed: it has no figures then.
set -euo pipefail

usage() {
  sed -n '/^#   /s/^# *//p' "$0" >&2
  exit 2
}

quick= rounds=6 seconds=4 out=/dev/stdout programs= only_workloads= only_contenders=
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

# What is measured together, in order: the contenders of one workload in one round. Round by round
# all workloads, so that a machine that gets slower gets slower for all.
groups=() total=0
for ((round = 1; round <= rounds; ++round)); do
  for workload in $(workload_names); do
    [[ -z $only_workloads || " $only_workloads " == *" $workload "* ]] || continue
    [[ -n $only_workloads || $workload =~ ^($often)$ ]] || ((round % seldom == 1)) || continue
    [[ -n $only_workloads || -z $quick || ! $workload =~ ^($variants)$ ]] || continue
    look_up "$workload"
    group=
    for contender in $contenders; do
      [[ -z $only_contenders || " $only_contenders " == *" $contender "* ]] || continue
      [[ -z $quick || $contender != @(relay|direct) || $workload == small-get ]] || continue
      group+=" $contender" total=$((total + 1))
    done
    [[ -z $group ]] || groups+=("$round $workload$group")
  done
done

# Whether the contender answers as the workload demands; prints what it did otherwise.
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

# A contender's turn of one second: adds what it did and took to $work/CONTENDER.turns.
take_turn() { # contender
  local before after busy_before busy_after
  busy_before=$(busy_ticks "$proxy_cores")
  before=$(cpu_of_contender)
  printf '%s ' "$(load 1 "$connections")" >> "$work/$1.turns"
  after=$(cpu_of_contender)
  busy_after=$(busy_ticks "$proxy_cores")
  echo "$before $after $((busy_after - busy_before))" >> "$work/$1.turns"
}

cpu_of_contender() { if [[ -n $pid ]]; then cpu_of "$pid"; else echo 0 0 0; fi; }

# Prints the figures of a cell's turns as members of a JSON object; status 1 with a reason if there
# are none.
measure_load() { # contender
  awk -v has_process="${pid:+1}" -v status="$status" -v hz="$(getconf CLK_TCK)" \
    -v rss="${pid:+$(rss_of "$pid")}" -v cores="$proxy_cores" -v load="$load_cores" '
    function median(of,    i, k, smaller) { # between the middle ones of an even number
      for (i = 2; i <= NR; i++)
        for (k = i; k > 1 && of[k] < of[k - 1]; k--) {
          smaller = of[k]; of[k] = of[k - 1]; of[k - 1] = smaller
        }
      return (of[int((NR + 1) / 2)] + of[int(NR / 2) + 1]) / 2
    }
    NF != 16 { broken = 1; exit }
    {
      n += $1; us += $2; p50[NR] = $3; p99[NR] = $4
      connect += $5; read += $6; write += $7; timeout += $8; refused += $9
      ns += $13 - $10; user += $14 - $11; system_ += $15 - $12; busy += $16
    }
    END {
      wrong = status == 200 ? refused : n - refused
      if (broken) {
        print "wrk printed no figures"
      } else if (n == 0 || connect + read + write + timeout + wrong > 0) {
        printf "of %d requests %d answered otherwise than %d; errors: %d connect, %d read, %d write, %d timeout\n",
          n, wrong, status, connect, read, write, timeout
      } else if (has_process && ns <= 0) {
        print "no CPU was counted"
      } else {
        printf "\"seconds\":%.3f,\"requests\":%d,\"rps\":%.1f,\"p50_ms\":%.3f,\"p99_ms\":%.3f",
          us / 1e6, n, n * 1e6 / us, median(p50) / 1e3, median(p99) / 1e3
        if (!has_process) exit
        printf ",\"cpu_us\":%.3f,\"user_us\":%.2f,\"system_us\":%.2f,\"rss_kib\":%d",
          ns / 1e3 / n, user * 1e6 / hz / n, system_ * 1e6 / hz / n, rss
        shared = index("," cores ",", "," load ",")
        foreign = (busy / hz - ns / 1e9) / (us / 1e6) / split(cores, list, ",")
        if (!shared) printf(",\"foreign\":%.3f", foreign > 0 ? foreign : 0)
        exit
      }
      exit 1
    }' "$work/$1.turns"
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

# Takes up the contender that was started under this name.
turn_to() { pid=${pids[$1]} port=${ports[$1]} held=${helds[$1]}; }

# The result line of a cell: its figures, or why there are none.
write_cell() { # round workload contender kind
  local members=${faults[$3]}
  if [[ -z $members ]] && members=$("measure_$4" "$3") && faults[$3]=$(answers); then
    :
  else
    members=${faults[$3]:-$members}
    members="\"failure\":\"$(tr -d '"\\\n' <<< "$members")\""
    failures=$((failures + 1))
    printf '\n%s: %s, %s, round %d failed: %s\n' "$0" "$2" "$3" "$1" "${members#*:}" >&2
    [[ ! -s $work/$3.log ]] || tail -n 3 "$work/$3.log" >&2
  fi
  printf '{"suite":"cost","workload":"%s","contender":"%s","round":%d,' "$2" "$3" "$1" >> "$out"
  printf '"connections":%d,"workers":%d,%s}\n' "$connections" "$workers" "$members" >> "$out"
}

# Measures contenders of a workload side by side: all are started, then each is loaded for a second
# in turn, there and back, so that a machine that changes from second to second does so for all.
# Those that wait for their turn do nothing.
measure_group() { # round workload contender...
  local round=$1 workload=$2 kind=load contender turn order
  declare -A pids=() ports=() helds=() faults=()
  shift 2
  look_up "$workload"
  proxy_cores=0
  ((cores == 1)) || proxy_cores=0,1
  [[ $workload == idle ]] && kind=idle
  for contender in "$@"; do
    start_contender "$contender" "$workload" "$workers"
    pids[$contender]=$pid ports[$contender]=$port helds[$contender]=$held held=
    : > "$work/$contender.turns"
    faults[$contender]=$(answers) || continue
    # A proxy that ends under load fails in its cell, and not the whole run.
    [[ $kind == idle || -n $quick ]] || load 1 "$connections" > /dev/null || true
  done
  for ((turn = 1; turn <= seconds; ++turn)); do
    [[ $kind == load ]] || break
    order=$*
    ((turn % 2)) || order=$(printf '%s\n' "$@" | tac)
    for contender in $order; do
      turn_to "$contender"
      [[ -n ${faults[$contender]} ]] || take_turn "$contender" || true
    done
  done
  for contender in "$@"; do
    turn_to "$contender"
    write_cell "$round" "$workload" "$contender" "$kind"
    end_contender
  done
}

start_backend
failures=0 measured=0
started=$SECONDS
for group in "${groups[@]}"; do
  read -r round workload contenders <<< "$group"
  left=$((measured ? (SECONDS - started) * (total - measured) / measured : total * (seconds + 2)))
  # One line that changes on a terminal, otherwise a line each.
  [[ ! -t 2 ]] || printf '\r\033[K' >&2
  printf 'cost: cell %d of %d, about %d s left: %s, round %d' \
    $((measured + 1)) "$total" "$left" "$workload" "$round" >&2
  [[ -t 2 ]] || echo >&2
  measured=$((measured + $(wc -w <<< "$contenders")))
  measure_group "$round" "$workload" $contenders
done
[[ ! -t 2 ]] || echo >&2
if ((failures > 0)); then give_up "$failures of $total cells failed"; fi
