#!/bin/bash
# How many jobs a second Spillway takes over HTTP and its stores by themselves, beside a plain queue
# in PostgreSQL, RabbitMQ and NATS (README.md). Ports are free ones, all data is in a directory of
# its own, and nothing is left behind.
#
#   bench/jobs/run.sh [--quick] [--out FILE] [--programs DIR] [--directory DIR] [--suite NAME]
#                     [--contender NAME] [--outstanding N] [--rounds N] [--seconds S] [--window S]
#                     [--most-pending N] [--lanes N]
#
#   --quick          two minutes; without it half an hour
#   --out FILE       append the results, one JSON object a line ("Result lines" in bench/README.md)
#   --programs DIR   the folder of spillway and spillway-bench-jobs; otherwise both are built
#   --directory DIR  where all data goes; default: /var/tmp. It has to be on a disk
#   --suite, --contender, --outstanding   only these, each as often as you like
#   --lanes N        depth is also measured with as many jobs spread over so many lanes (100,000); 0: not
#   --window S       each of the four figures of a loop; --seconds S: any other
#
# RabbitMQ and NATS are measured if they are installed: docker/install-deps.sh peers, and build
# again. Status 1 if a figure failed.
set -euo pipefail

options=()
programs=
while (($# > 0)); do
  case $1 in
    --quick)
      options+=("$1")
      shift
      continue
      ;;
    --programs | --out | --directory | --suite | --contender | --outstanding | --rounds | --seconds | \
      --window | --most-pending | --lanes) ;;
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
    --out | --directory) options+=("$1" "$(readlink -f "$2")") ;;
    *) options+=("$1" "$2") ;;
  esac
  shift 2
done

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
if [[ -z $programs ]]; then
  docker/install-deps.sh develop >&2
  cmake --preset bench >&2
  cmake --build --preset bench --target spillway spillway-bench-jobs >&2
  programs=build/bench
fi
exec "$programs/spillway-bench-jobs" --spillway "$programs/spillway" --load bench/cost/load.lua \
  "${options[@]}"
