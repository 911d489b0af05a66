# What bench/cost measures: one line a workload. Sourced by run.sh.
#
#   name | path | connections | workers | their cores | arguments of load.lua |
#     answer: status and bytes | contenders
#
# "direct" is the backend alone, "relay" passes bytes on without parsing them: neither has denials,
# routes or workers. The relay would open a backend connection for each client's, so it is no
# floor where each request has a connection of its own.
proxies="spillway haproxy nginx"
workloads="
small-get        | /        |   64 | 1 | 1 |                 | 200 30      | $proxies relay direct
get-16k          | /16k     |   64 | 1 | 1 |                 | 200 16384   | $proxies relay direct
get-1m           | /1m      |   64 | 1 | 1 |                 | 200 1048576 | $proxies relay direct
post-16k         | /upload  |   64 | 1 | 1 | BODY=16384      | 200 30      | $proxies relay direct
chunked          | /chunked |   64 | 1 | 1 |                 | 200 16384   | $proxies relay direct
new-connection   | /        |   64 | 1 | 1 | HEADERS=close   | 200 30      | $proxies direct
connections-1    | /        |    1 | 1 | 1 |                 | 200 30      | $proxies relay direct
connections-1000 | /        | 1000 | 1 | 1 |                 | 200 30      | $proxies relay direct
browser-headers  | /browser |   64 | 1 | 1 | HEADERS=browser | 200 30      | $proxies relay direct
denied           | /denied  |   64 | 1 | 1 |                 | 429 -       | $proxies
two-workers      | /        |   64 | 2 | 2 |                 | 200 30      | $proxies
two-on-one-core  | /        |   64 | 2 | 1 |                 | 200 30      | $proxies
paced            | /        |   64 | 1 | 1 | THINK=2         | 200 30      | $proxies
paced-1m         | /1m      |   64 | 1 | 1 | THINK=40        | 200 1048576 | $proxies
paced-workers    | /        |   64 | 2 | 2 | THINK=2         | 200 30      | $proxies
routes-10        | /r1/item |   64 | 1 | 1 | ROUTES=10       | 200 30      | $proxies
routes-10000     | /r1/item |   64 | 1 | 1 | ROUTES=10000    | 200 30      | $proxies
idle             | /        | 8000 | 1 | 1 |                 | 200 30      | $proxies
"

# Sets $path $connections $workers $cores $tell $status $bytes $contenders of a workload; status 1 if
# there is none of that name.
look_up() { # name
  local name
  while IFS='|' read -r name path connections workers cores tell answer contenders; do
    if [[ ${name// /} == "$1" ]]; then
      path=${path// /} connections=${connections// /} workers=${workers// /} cores=${cores// /}
      tell=${tell// /}
      read -r status bytes <<< "$answer"
      return
    fi
  done <<< "$workloads"
  return 1
}

workload_names() { awk -F'|' 'NF > 1 { gsub(/ /, "", $1); print $1 }' <<< "$workloads"; }
