#!/bin/bash
# Takes from what runs have found (build/fuzz/found) the fewest inputs that reach more than the
# corpus does, of them up to so many for each target, of all sizes up to 600 bytes, and adds them
# to it.
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
  for known in "$corpus"*; do rm -f "$picked/$(basename "$known")"; done
  find "$picked" -type f -size -601c -printf '%s %p\n' | sort -n | cut -d' ' -f2 |
    awk -v most="$most" '{ all[NR] = $0 }
      END { step = NR > most ? NR / most : 1; for (i = step; i <= NR; i += step) print all[int(i)] }' |
    xargs -r cp -t "$corpus"
  added=$(git status --porcelain --untracked-files=all "$corpus" | wc -l)
  rm -r "$picked"
  printf '%-18s %3d added, %s\n' "$target" "$added" "$(du -sh --apparent-size "$corpus" | cut -f1)"
done
