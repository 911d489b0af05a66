#!/bin/bash
# Takes from what runs have found (build/fuzz/found) the fewest and shortest inputs that reach
# more than the corpus does, up to so many for each target, and adds them to it.
#
#   tests/fuzz/keep.sh [inputs for each target, 40 by default]
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

most=${1:-40}
build=build/fuzz
for corpus in tests/fuzz/corpus/*/; do
  target=$(basename "$corpus")
  [[ -d $build/found/$target ]] || continue
  picked=$(mktemp -d)
  cp "$corpus"* "$picked"
  "$build/fuzz-$target" -merge=1 "$picked" "$build/found/$target" > /dev/null 2>&1
  added=0
  while read -r _ name; do
    if ((added == most)); then break; fi
    if [[ -e $corpus/$name ]]; then continue; fi
    cp "$picked/$name" "$corpus/"
    added=$((added + 1))
  done < <(find "$picked" -type f -printf '%s %f\n' | sort -n)
  rm -r "$picked"
  printf '%-18s %3d added, %s\n' "$target" "$added" "$(du -sh --apparent-size "$corpus" | cut -f1)"
done
