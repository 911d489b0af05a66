// A recording as JSON, for other tools.
//
// Keys come in the order below. Durations and points in time are milliseconds with a `_ms` suffix,
// rounded to the microsecond; shares and the Jain index are numbers rounded to six digits. `null`
// means no value: a latency where nothing was served, a reason where there is none, the Jain index
// without tenants, and any number that is not finite. Names must be UTF-8.
//
//   scenario, sentence
//   backend  {slots, service_ms, capacity_rps, offered_rps, load}   as planned, without retries
//   seed, shedding, duration_ms, warm_up_ms
//   goodput, wasted, max_queued, p95_ms, jain                       after the warm-up, as are:
//   classes  [{name, offered, admitted, degraded, denied, expired, failed, served, cached, late,
//              would_deny,
//              success, p50_ms, p95_ms, p99_ms, max_wait_ms}]       highest first
//   tenants  [{name, offered, served}]
//   changes  [{at_ms, to, reason}]                                  the whole run, as are:
//   seconds  [{state, reason, queued, running, p95_ms,
//              classes [{offered, admitted, degraded, denied, expired, failed, served, cached,
//                        late, would_deny, queued}]}]
#pragma once

#include <nlohmann/json.hpp>

#include "simulate/recording/recording.hpp"

namespace spillway::simulate {

nlohmann::ordered_json to_json(const Recording& recording);

}  // namespace spillway::simulate
