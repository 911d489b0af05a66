# What the scripts of the demos share; they source it with $programs set to the folder of the
# programs. Ports are free ones; every process it starts has ended when the script ends.

patience=100 # tenths of a second to wait for a program to start

files=$(mktemp -d)
end_all() {
  trap '' INT TERM # another signal is not to cut this short
  local running
  running=$(jobs -rp) # of this shell, so no foreign process
  [[ -z $running ]] || kill -TERM $running 2> /dev/null || true
  wait
  rm -rf "$files"
}
trap end_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Prints the first line of FILE that the sed SCRIPT extracts, as soon as there is one; fails
# when process PID ends before that.
await() {
  local pid=$1 file=$2 script=$3 found
  for ((i = 0; i < patience; ++i)); do
    found=$(sed -nE "$script" "$file" | head -n 1)
    if [[ -n $found ]]; then
      echo "$found"
      return
    fi
    kill -0 "$pid" 2> /dev/null || break
    sleep 0.1
  done
  echo "$0: a program did not start; it said:" >&2
  cat "$file" >&2
  return 1
}

# Starts a demo backend of $slots slots and $service_ms; $port is where it listens.
start_backend() { # more options
  local said
  said=$(mktemp -p "$files") # there before await looks
  "$programs/spillway-demo-backend" --slots "$slots" --service-ms "$service_ms" \
    "$@" > "$said" 2>&1 &
  port=$(await $! "$said" 's/^([0-9]+)$/\1/p')
}

# Starts a Spillway with the configuration on standard input; $proxy and $admin are its ports,
# $proxy_pid its process and $proxy_log its log.
start_spillway() {
  local configuration
  configuration=$(mktemp -p "$files")
  proxy_log=$(mktemp -p "$files")
  cat > "$configuration"
  "$programs/spillway" run --config "$configuration" > "$proxy_log" 2>&1 &
  proxy_pid=$!
  # {"time":…,"event":"listening","listener":"proxy","address":"127.0.0.1","port":40123}
  proxy=$(await $proxy_pid "$proxy_log" 's/.*"listener":"proxy".*"port":([0-9]+).*/\1/p')
  admin=$(await $proxy_pid "$proxy_log" 's/.*"listener":"admin".*"port":([0-9]+).*/\1/p')
}

# Ends the script with the log's end if that Spillway has ended.
still_runs() { # pid log
  kill -0 "$1" 2> /dev/null && return
  echo "$0: Spillway ended meanwhile; its last words:" >&2
  tail -n 20 "$2" >&2
  exit 1
}
