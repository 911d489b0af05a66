#!/bin/bash
# The soak: mixed good, slow and hostile traffic through the proxy with the address and
# undefined-behaviour sanitizers, for so many minutes; then flat memory, flat files, balanced
# counters and a clean end are demanded. The report is also build/asan/soak.md.
#
#   tests/system/soak/run.sh [minutes] [options of spillway-soak, e.g. --seed 7]
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../.."

minutes=2
if [[ ${1:-} =~ ^[0-9.]+$ ]]; then
  minutes=$1
  shift
fi

# The sanitizers of g++ 12 reserve address ranges that a kernel with much address space
# randomization may have taken already.
fixed_addresses=()
if setarch -R true 2> /dev/null; then fixed_addresses=(setarch -R); fi

cmake --preset asan
"${fixed_addresses[@]}" cmake --build --preset asan --target spillway spillway-soak
exec "${fixed_addresses[@]}" build/asan/spillway-soak --minutes "$minutes" "$@"
