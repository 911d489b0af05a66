#!/bin/bash
# Attacks Spillway, HAProxy and NGINX with slow and greedy clients and prints what became of honest
# requests of P0 meanwhile (README.md). Ports are free ones, and nothing is left behind.
#
#   bench/hostile/run.sh [--quick] [--out FILE] [--programs DIR] [--behaviour NAME] [--contender NAME]
#                        [--addresses N] [--rounds N] [--seconds S] [--seed N] [--list]
#
#   --quick          six minutes; without it twenty
#   --out FILE       append the results, one JSON object a line ("Result lines" in bench/README.md)
#   --programs DIR   the folder of spillway and spillway-bench-hostile; otherwise both are built
#   --behaviour, --contender, --addresses   only these, each as often as you like; --list names them
#   --unpinned       for a busy machine: not pinned to cores
#   --late-is-fine   figures although the load was late; not for a record
#
# Status 1 if a cell failed. Progress goes to standard error.
set -euo pipefail

options=()
programs=
while (($# > 0)); do
  case $1 in
    --quick | --list | --unpinned | --late-is-fine)
      options+=("$1")
      shift
      continue
      ;;
    --programs | --out | --behaviour | --contender | --addresses | --rounds | --seconds | --seed) ;;
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
  cmake --build --preset bench --target spillway spillway-bench-hostile >&2
  programs=build/bench
fi
ulimit -n "$(ulimit -Hn)"
exec "$programs/spillway-bench-hostile" --spillway "$programs/spillway" \
  --configurations bench/peers "${options[@]}"
