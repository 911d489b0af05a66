# What a process took and holds, and how busy cores were. Sourced by run.sh.

# A process and its children, e.g. NGINX's workers.
family() { echo "$1" $(pgrep -P "$1" || true); }

# CPU of a process and its children until now: nanoseconds, and of user and system mode clock
# ticks. The kernel counts nanoseconds for each thread (schedstat), and is exact for one that
# sleeps, as all do when the load is over. A thread that ended would be missing, so none may.
cpu_of() { # pid
  local each
  for each in $(family "$1"); do
    cat "/proc/$each/task/"*/schedstat | awk '{ ns += $1 } END { printf "%.0f 0 0\n", ns }'
    sed 's/.*) //' "/proc/$each/stat" | awk '{ print 0, $12, $13 }'
  done | awk '{ ns += $1; user += $2; sys += $3 } END { printf "%.0f %d %d\n", ns, user, sys }'
}

# Resident memory of a process and its children in KiB.
rss_of() { # pid
  local each
  for each in $(family "$1"); do
    awk '/^VmRSS:/ { print $2 }' "/proc/$each/status"
  done | awk '{ kib += $1 } END { print kib }'
}

# Clock ticks for which these cores were not idle, until now.
busy_ticks() { # cores, e.g. 0 or 0,1
  awk -v cores="$1" '
    BEGIN { n = split(cores, list, ","); for (i = 1; i <= n; i++) wanted["cpu" list[i]] = 1 }
    $1 in wanted { busy += $2 + $3 + $4 + $7 + $8 + $9 }
    END { print busy }' /proc/stat
}
