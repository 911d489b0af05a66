#!/bin/bash
# Writes what holds on the wire and under faults, beside NGINX and HAProxy, to bench/results:
# wire.md, caching.md, differential.md and faults.md, of the tables that the tests of those names
# left in a build directory.
#
#   bench/conformance.sh BUILD
#
# The tables of one commit: SPILLWAY_ALL_ROUNDS=1 ctest --test-dir BUILD -L '^(wire|differential|faults)$'
# It is the one that the program was built from, so none is built between the tests and this.
set -euo pipefail

build=$(realpath "${1:?the build directory}")
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
folder=bench/results

version() { dpkg-query --show --showformat '${source:Upstream-Version}' "$1"; }
versions="NGINX $(version nginx), HAProxy $(version haproxy)"

commit=$(< "$build/built-from")
for table in "$build"/{wire-http-table,wire-caching-table,differential-table}.md \
  "$build"/faults-{backend,connections,greedy,errors,tunnels,process}.md; do
  [[ $table -nt $build/built-from ]] && continue
  echo "$table is missing, or older than the program in $build: run its test" >&2
  exit 1
done

# The day of the oldest of the files, and what they were made with.
begin() { # title file...
  local title=$1
  shift
  local oldest
  oldest=$(stat --format %Y "$@" | sort -n | head -1)
  printf '# %s\n\n%s; commit %s; %s. Written by `bench/conformance.sh`.\n\n' "$title" \
    "$(date --utc --date "@$oldest" +%F)" "$commit" "$versions"
}

{
  begin 'The rules of HTTP/1 on the wire' "$build/wire-http-table.md"
  echo '`holds` or `-`; what a case is: [tests/system/wire](../../tests/system/wire/README.md).'
  echo
  cat "$build/wire-http-table.md"
} > "$folder/wire.md"
{
  begin 'The rules of HTTP caching on the wire' "$build/wire-caching-table.md"
  echo '`holds` or `-`; what a case is: [tests/system/wire](../../tests/system/wire/README.md).'
  echo
  cat "$build/wire-caching-table.md"
} > "$folder/caching.md"
{
  begin 'Where a backend gets something else than from NGINX or HAProxy' "$build/differential-table.md"
  echo 'How it is played: [tests/system/differential](../../tests/system/differential/README.md).'
  echo
  cat "$build/differential-table.md"
} > "$folder/differential.md"
{
  begin 'Faults' "$build"/faults-{backend,connections,greedy,errors,tunnels,process}.md
  echo 'What a row and its words are: [tests/system/faults](../../tests/system/faults/README.md).'
  for part in backend:Backends 'connections:Connections, and clients that leave' \
    'greedy:Clients that hold what they do not pay for' errors:Errors tunnels:Tunnels 'process:The process'; do
    printf '\n## %s\n\n' "${part#*:}"
    cat "$build/faults-${part%%:*}.md"
  done
} > "$folder/faults.md"
