#!/bin/bash
# Builds the fuzz targets and runs each for some seconds, three at a time. Prints a table of what was
# done and fails when a claim was broken; the input that did it is then in build/fuzz/crashes.
#
#   tests/fuzz/run.sh [seconds [target ...]]     60 seconds and all targets by default
#   AT_ONCE=1 nice tests/fuzz/run.sh 3600        an hour of each, in turn, beside other work
#
# The figures are also kept, with those of earlier runs, as rows of Markdown in
# build/fuzz/figures.md, once a target has ended.
#
# CPU s: what of the time was a target's own, where several and others share the cores.
#
# What is found on the way stays in build/fuzz/found; tests/fuzz/keep.sh picks from it for the
# corpus.
set -euo pipefail
TIMEFORMAT='cpu: %U'
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

all=(request_head chunked_body path configuration upstream_response splits field_values
  head_reference connection page_template visitor_token cookies)
seconds=${1:-60}
at_once=${AT_ONCE:-3}
targets=("${@:2}")
if ((${#targets[@]} == 0)); then targets=("${all[@]}"); fi
for target in "${targets[@]}"; do
  if [[ ! "$seconds" =~ ^[1-9][0-9]*$ || " ${all[*]} " != *" $target "* ]]; then
    echo "usage: $0 [seconds [target ...]], targets: ${all[*]}" >&2
    exit 2
  fi
done
# The longest input that is worth its time: longer ones are tried less often.
declare -A longest=([path]=256 [splits]=512 [field_values]=512 [head_reference]=512 [cookies]=512
  [connection]=1024)
# With the features of a whole proxy, weighing inputs by how rare they are costs more than running
# them.
declare -A extra=([connection]=-entropic=0)
# Corpora of other targets that serve too.
declare -A shared=([head_reference]="tests/fuzz/corpus/request_head tests/fuzz/corpus/upstream_response"
  [cookies]=tests/fuzz/corpus/request_head)

cmake --preset fuzz > /dev/null
cmake --build --preset fuzz

build=build/fuzz
mkdir -p "$build/crashes"
failed=$build/crashes/failed
rm -f "$failed"

fuzz() {
  local target=$1 status=0
  mkdir -p "$build/found/$target"
  local dictionary=tests/fuzz/dictionaries/$target.dict
  if [[ -e $dictionary ]]; then dictionary=-dict=$dictionary; else dictionary=; fi
  # shellcheck disable=SC2086 # several folders, or nothing
  {
    time "$build/fuzz-$target" "$build/found/$target" "tests/fuzz/corpus/$target" \
      ${shared[$target]:-} $dictionary ${extra[$target]:-} -max_len="${longest[$target]:-4096}" \
      -max_total_time="$seconds" -timeout=600 -rss_limit_mb=2048 -print_final_stats=1 \
      -artifact_prefix="$build/crashes/$target-" || status=$?
  } > "$build/$target.log" 2>&1
  if ((status != 0)); then echo "$target" >> "$failed"; fi
  figures "$target"
  printf '| `%s` (%s) | %s s | %s s | %s | %s | %s | %s | %s |\n' "$target" "$(date +%F)" "$seconds" \
    "$cpu" "$executions" "$per_second" "$edges" "$inputs" "$result" >> "$build/figures.md"
}

# Of a target that has ended.
figures() {
  local log=$build/$1.log
  stat() { grep -a "^stat::$1:" "$log" | grep -o '[0-9]*$' || echo 0; }
  last() { grep -ao "$1: [0-9]*" "$log" | tail -n 1 | grep -o '[0-9]*$' || echo 0; }
  executions=$(stat number_of_executed_units) per_second=$(stat average_exec_per_sec)
  cpu=$(last cpu) edges=$(last cov) inputs=$(last corp) result=ok
  if [[ -e $failed ]] && grep -qx "$1" "$failed"; then result=FAILED; fi
}

running=0
for target in "${targets[@]}"; do
  if ((running == at_once)); then
    wait -n
    running=$((running - 1))
  fi
  fuzz "$target" &
  running=$((running + 1))
done
wait

printf '%-18s %12s %7s %9s %7s %7s %8s\n' target executions 'CPU s' exec/s edges corpus result
for target in "${targets[@]}"; do
  figures "$target"
  printf '%-18s %12s %7s %9s %7s %7s %8s\n' "$target" "$executions" "$cpu" "$per_second" "$edges" \
    "$inputs" "$result"
done

if [[ -e $failed ]]; then
  while read -r target; do
    printf '\n--- %s\n' "$target"
    grep -a -A 30 -E 'broken claim|ERROR|runtime error' "$build/$target.log" | head -n 60
    grep -a 'Test unit written' "$build/$target.log" || true
  done < "$failed"
  exit 1
fi
