# What bench/run and bench/gate share. Sourced from the root of the repository, with $programs set
# to the folder of the programs or empty; then they are built, into build/bench with $preset
# bench, and with profiled as profile.sh does. $needed: which; unset: those that measure.
if [[ ! -v needed ]]; then needed=(spillway spillway-bench-{relay,idle,overload}); fi
if [[ -z $programs ]]; then
  docker/install-deps.sh develop >&2
  if [[ $preset == profiled ]]; then bench/profile.sh >&2; else cmake --preset bench >&2; fi
  cmake --build --preset "$preset" --target "${needed[@]}" >&2
  programs=build/$preset
fi
for each in "${needed[@]}"; do
  if [[ ! -x $programs/$each ]]; then
    echo "$0: there is no program $programs/$each" >&2
    exit 2
  fi
done

# Waits for a child; when this script is to end meanwhile, so is the child, which cleans up.
wait_for() { # pid
  trap 'kill -TERM "$child" 2> /dev/null || true; wait "$child" || true; exit 130' INT
  trap 'kill -TERM "$child" 2> /dev/null || true; wait "$child" || true; exit 143' TERM
  child=$1
  wait "$child"
}

# The result line about the run: when, what and where.
describe_run() { # quick: 0 or not, [versions of more programs: ,"name":"version"...]
  local commit cpu quick=true
  commit=$(git rev-parse --short HEAD 2> /dev/null || echo unknown)
  [[ -z $(git status --porcelain --untracked-files=no 2> /dev/null) ]] || commit+=+
  cpu=$(sed -nE 's/^model name\s*: //p' /proc/cpuinfo | head -n 1 | tr -d '"\\')
  (($1)) || quick=false
  printf '{"suite":"run","date":"%s","commit":"%s","quick":%s,"cpu":"%s","cores":%d,"kernel":"%s",' \
    "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$commit" "$quick" "$cpu" "$(nproc)" "$(uname -r)"
  printf '"congestion_control":"%s",' "$(cat /proc/sys/net/ipv4/tcp_congestion_control)"
  printf '"load_average":%s,"versions":{"spillway":"%s","haproxy":"%s","nginx":"%s","wrk":"%s"%s}}\n' \
    "$(cut -d' ' -f1 /proc/loadavg)" "$(spillway_version)" \
    "$(first_version haproxy -v)" "$(first_version nginx -v)" "$(first_version wrk -v)" "${2:-}"
}

spillway_version() {
  local how=
  if "$programs/spillway" version | grep -q 'by a profile$'; then how=' (profiled)'; fi
  printf '%s%s' "$(first_version "$programs/spillway" version)" "$how"
}

# The first dotted number in a program's output: its version.
first_version() { "$@" 2>&1 | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1; }

# Those of what bench/jobs measures beside Spillway, for describe_run, as far as they are installed.
versions_of_queues() {
  local name version
  while read -r name version; do
    [[ -z $version ]] || printf ',"%s":"%s"' "$name" "$version"
  done << END
postgresql $(first_version psql --version)
rabbitmq $(first_version ls /usr/lib/rabbitmq/lib)
nats $(first_version nats-server --version)
END
}
