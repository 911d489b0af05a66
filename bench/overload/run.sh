#!/bin/bash
# Overloads Spillway, HAProxy, NGINX and the bare backend in the same way and prints a table for each
# scenario and load (README.md). Load and backend run on core 1, the proxy on core 0. Ports are free
# ones, and nothing is left behind.
#
#   bench/overload/run.sh [--quick] [--out FILE] [--programs DIR] [--scenario NAME] [--load X]
#                         [--contender NAME] [--repetitions N] [--seconds S] [--seed N] [--list]
#
#   --quick          a minute and a half; without it two hours and three quarters (the estimate is printed)
#   --out FILE       append the results, one JSON object a line ("Result lines" in bench/README.md)
#   --programs DIR   the folder of spillway and spillway-bench-overload; otherwise both are built
#   --scenario, --load, --contender   only these, each as often as you like; --list names them
#   --late-is-fine   for a busy machine: not pinned to cores, and figures although the load was late;
#                    not for a record
#
# Status 1 if a cell failed. Progress goes to standard error.
set -euo pipefail

options=()
programs=
while (($# > 0)); do
  case $1 in
    --quick | --list | --late-is-fine)
      options+=("$1")
      shift
      continue
      ;;
    --programs | --out | --scenario | --load | --contender | --repetitions | --seconds | --seed) ;;
    *)
      echo "$0: unknown option $1" >&2
      exit 2
      ;;
  esac
  if (($# < 2)); then
    echo "$0: $1 needs a value" >&2
    exit 2
  fi
  case $1 in
    --programs) programs=$(readlink -f "$2") ;;
    --out) options+=(--out "$(readlink -f "$2")") ;;
    *) options+=("$1" "$2") ;;
  esac
  shift 2
done

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
if [[ -z $programs ]]; then
  docker/install-deps.sh develop >&2
  cmake --preset bench >&2
  cmake --build --preset bench --target spillway spillway-bench-overload >&2
  programs=build/bench
fi
ulimit -n "$(ulimit -Hn)"
exec "$programs/spillway-bench-overload" --spillway "$programs/spillway" \
  --configurations bench/peers "${options[@]}"
