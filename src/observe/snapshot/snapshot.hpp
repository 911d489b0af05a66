// The state of gates and control thread at one moment, copied for a scrape or for /state.
//
// Plain values without references to their sources.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/reason.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "dispatch/scheduler/scheduler.hpp"
#include "observe/count/local_shortage.hpp"
#include "observe/count/server_failure.hpp"
#include "observe/snapshot/health_check_result.hpp"
#include "observe/snapshot/jobs_snapshot.hpp"
#include "observe/snapshot/phase.hpp"
#include "overload/signals/signals.hpp"
#include "overload/signals/state.hpp"
#include "resilience/health.hpp"
#include "traffic/trusted_token/visitor_claims.hpp"
#include "waiting/room/counts.hpp"
#include "waiting/ticket/ticket_events.hpp"
#include "waiting/token/challenge.hpp"

namespace spillway::observe {

struct WaitingRoomSnapshot {
  std::string name;
  waiting::Counts counts;
  std::vector<std::string> tiers;                         // names, in the order of Counts::tiers
  std::uint64_t bypassed = 0;                             // requests that did not wait
  std::uint64_t limited_polls = 0;                        // refused: too many polls
  std::uint64_t limited_joins = 0;                        // refused: too many new tickets
  std::uint64_t offered = 0;                              // first contacts offered a place
  std::array<std::uint64_t, waiting::kWorkCount> work{};  // proofs of work, by waiting::Work
  // Visitors' tokens that were not accepted, by TokenSource and TokenFault.
  std::array<std::array<std::uint64_t, traffic::kTokenFaultCount>, 3> unverified{};
  std::array<std::uint64_t, waiting::kEventCount> events{};  // stored for the webhook
  std::uint64_t events_not_written = 0;                      // the store did not accept them
};

// One class's queue at one upstream.
struct ClassSnapshot {
  std::size_t queued = 0;
  std::size_t inflight = 0;
  Duration oldest_wait{};                  // 0: no waiter
  std::optional<Duration> predicted_wait;  // for a request arriving now; nullopt: no prediction
  Duration returns_booked{};               // how far ahead Retry-After times have been given
  double weight = 0;  // the share it is served with now, including dynamic weights
  dispatch::ClassTotals totals;
  config::Rule rule;                    // in force, for routes without overrides
  std::size_t above_share = 0;          // tenants
  std::optional<double> budget_tokens;  // left; nullopt without a budget
};

struct TransitionCount {
  overload::State to{};
  Reason reason = Reason::none;
  std::uint64_t count = 0;
};

// A tenant above its fair share, while overloaded.
struct TenantSnapshot {
  ClassId traffic_class{};
  std::string name;   // empty: no longer known
  double excess = 0;  // the part of its requests above the fair share
};

// One expired request (expire_policy dead_letter).
struct DeadLetterSnapshot {
  Duration age{};  // since it expired
  Reason reason = Reason::none;
  ClassId traffic_class{};
  RouteId route{};
  Duration waited{};
  std::string method, path, request_id, tenant;
};

// One server of an upstream.
struct ServerSnapshot {
  std::string address;  // the one that connections are made to
  bool is_up = true;    // neither unhealthy nor ejected
  resilience::HealthState health{};
  std::optional<HealthCheckReport> last_check;
  Duration ejected_for{};  // from now on; 0 if it is not ejected
  std::uint32_t in_flight = 0;
  std::uint32_t open_circuits = 0;      // over all workers: circuits that are not closed
  std::uint32_t failures_in_a_row = 0;  // over all workers
  // Since the start.
  std::uint64_t ejections = 0;
  std::array<std::uint64_t, kServerFailureCount> failures{};
  std::array<std::uint64_t, kHealthCheckResultCount> checks{};
};

// In the order of the configuration's upstreams.
struct UpstreamSnapshot {
  std::size_t inflight = 0;
  std::size_t concurrency_limit = 0;
  std::size_t effective_limit = 0;  // at most the concurrency limit
  bool newest_first = false;        // order of a class's queue, see overload::QueueOrder
  Duration target_wait{0};          // adaptive, see dispatch::TargetWait
  overload::State state{};
  Reason reason = Reason::none;
  Duration in_state{};  // how long it has been in this state
  overload::OverloadSignals signals;
  bool is_limit_at_max = false;  // the adaptive limit, while more requests arrive
  std::vector<TransitionCount> transitions;
  bool is_live = true;                  // for /readyz
  std::uint32_t open_circuits = 0;      // of its servers, over all workers: those not closed
  std::vector<ServerSnapshot> servers;  // in the order of its configuration
  std::array<std::uint64_t, kLocalShortageCount> shortages{};  // failed connections, by kind
  std::vector<ClassSnapshot> classes;  // in the order of the configuration's classes
  std::vector<TenantSnapshot> tenants_above_share;
  std::uint64_t dead_letters_total = 0;
  std::vector<DeadLetterSnapshot> dead_letters;  // newest first
};

// One route's response cache. Memory includes all overhead.
struct CacheSnapshot {
  RouteId route{};
  std::uint64_t bytes = 0;
  std::uint64_t max_bytes = 0;
  std::uint64_t entries = 0;
  // Since the start.
  std::uint64_t stores = 0;         // responses stored, including renewed ones
  std::uint64_t evictions = 0;      // responses evicted
  std::uint64_t invalidations = 0;  // URIs invalidated by unsafe methods
};

// The configuration in effect, and the reloads so far.
struct Reloads {
  std::uint64_t generation = 1;  // the one at start is 1
  Duration in_effect{};          // how long it has been in effect
  std::uint64_t former = 0;      // former generations still pinned by requests
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::vector<std::string> problems;  // of the last reload; empty: it succeeded
};

// The listener's counts since the start.
struct ListenerSnapshot {
  std::uint64_t most_connections = 0;        // bounded by the limit of open files
  std::uint64_t refused_by_address = 0;      // connections beyond limits.connections_per_address
  std::uint64_t pauses_for_connections = 0;  // times that accepting paused: at limits.connections
  std::uint64_t pauses_for_descriptors = 0;  // and when no more descriptors could be opened
};

struct Snapshot {
  std::chrono::system_clock::time_point taken_at;
  Duration uptime{};
  Reloads reloads;
  Phase phase = Phase::serving;
  std::uint64_t log_dropped = 0;
  ListenerSnapshot listener;
  std::vector<UpstreamSnapshot> upstreams;
  std::optional<JobsSnapshot> jobs;  // nullopt: no route has `defer`
  std::vector<WaitingRoomSnapshot> waiting_rooms;
  bool are_places_kept = false;       // of waiting rooms, when the process ends
  std::vector<CacheSnapshot> caches;  // of routes with a cache, in the configuration's order
};

// The data of `spillway version` and spillway_build_info.
struct BuildInfo {
  std::string version;
  std::string compiler;
};

}  // namespace spillway::observe
