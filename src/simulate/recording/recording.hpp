// One simulated run, second by second: the data behind table, plot and --json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/reason.hpp"
#include "base/state.hpp"

namespace spillway::simulate {

// Requests by class, counted in the second in which they arrived unless said otherwise. A retry
// counts as a separate request.
struct ClassCounts {
  std::uint64_t offered = 0;
  std::uint64_t admitted = 0;    // sent to the backend, in the second of the sending
  std::uint64_t degraded = 0;    // of those served: answered with less than asked for
  std::uint64_t denied = 0;      // refused on arrival, by rule or by the gate; dropped ones too
  std::uint64_t would_deny = 0;  // shadow mode: denied or expired if it were enforced
  std::uint64_t expired = 0;     // left the queue without a slot: timed out, evicted
  std::uint64_t left = 0;        // of those expired: the client left the queue
  std::uint64_t told_late = 0;   // of those expired: refused after more than 5 ms in the queue
  std::uint64_t failed = 0;      // answered with an error: the backend's, or it was unreachable
  std::uint64_t served = 0;      // answered before the client gave up; in the second of the answer
  std::uint64_t cached = 0;      // of those served: from a route's cache
  std::uint64_t late = 0;      // answered by the backend after the client had given up; wasted work
  std::uint64_t deferred = 0;  // became a job; answered 202
};

// Seconds of a server at normal speed, since the beginning; only grows.
struct WorkDone {
  double available = 0;  // the most that the slots in force could do
  double useful = 0;     // for clients that waited until the end
  double wasted = 0;     // for clients that had left, or for an error
};

struct Second {
  State state = State::normal;
  Reason reason = Reason::none;
  std::uint32_t queued = 0;   // at the end of the second, all classes
  std::uint32_t running = 0;  // at the end of the second, in the backend
  double p95 = 0;             // seconds from arrival to answer, of requests served in this second
  std::uint32_t limit = 0;    // of the gate, at the end of the second
  bool is_limit_at_max = false;  // Controller::is_limit_at_max(), at the end of the second
  WorkDone work;                 // of the backend, since the beginning
  std::vector<ClassCounts> classes;
  std::vector<std::uint32_t> class_queued;  // at the end of the second
  std::uint64_t jobs_pending = 0;           // at the end of the second: neither done nor given up
  std::uint64_t jobs_done = 0;              // of these, since the beginning
  std::uint64_t visitors_waiting = 0;       // at the end of the second, with a ticket
  std::uint64_t visitors_inside = 0;        // at the end of the second
  std::uint64_t polls = 0;                  // of those who wait, in this second
};

struct StateChange {
  double at = 0;  // seconds since the beginning
  State to = State::normal;
  Reason reason = Reason::none;
};

// Over the whole run after the warm-up.
struct ClassSummary {
  std::string name;
  ClassCounts counts;
  double success = 0;  // served / offered
  double p50 = 0;      // seconds from arrival to answer, of those served
  double p95 = 0;
  double p99 = 0;
  double max_wait = 0;  // seconds in the queue, of those served
};

struct TenantSummary {
  std::string name;
  std::uint64_t offered = 0;
  std::uint64_t served = 0;
};

// The deferred requests of the whole run, the warm-up included. Each is done, dead, expired or
// pending.
struct JobsSummary {
  std::uint64_t deferred = 0;
  std::uint64_t not_kept = 0;  // refused because their route had its maximum waiting
  std::uint64_t done = 0;
  std::uint64_t dead = 0;     // failed for good
  std::uint64_t expired = 0;  // their time to live was over
  std::uint64_t retried = 0;  // attempts that were followed by another
  std::uint64_t pending = 0;  // at the end
  std::uint64_t most_pending = 0;
  double most_pending_at = 0;      // seconds since the beginning
  std::optional<double> empty_at;  // when the last one had ended; none: some are pending
  double longest = 0;  // seconds from the answer 202 to the end, or to now, of the slowest
};

// How long visitors waited, of those who entered, but not at once. In seconds.
struct Waits {
  std::uint64_t count = 0;
  double p50 = 0;
  double p95 = 0;
  double longest = 0;
};

// Visitors of one tier of a waiting room.
struct TierSummary {
  std::string name;
  std::uint64_t came = 0;
  Waits waits;
};

// Visitors who have left, by the reason.
struct Departures {
  std::uint64_t turned_away = 0;  // told on arrival that there is no place
  std::uint64_t ghosts = 0;       // never returned
  std::uint64_t gave_up_in_line = 0;
  std::uint64_t lost_place = 0;      // their ticket ended
  std::uint64_t sent_out = 0;        // their session ended before they were done
  std::uint64_t gave_up_inside = 0;  // waiting for a page
  std::uint64_t done = 0;            // saw all their pages
};

// The visitors of the whole run, the warm-up included.
struct VisitorsSummary {
  bool has_room = false;   // some go through a waiting room
  std::uint64_t came = 0;  // each has left by the end, or is still there
  Departures left;
  std::uint64_t entered = 0;
  std::uint64_t waiting = 0;  // at the end, with a ticket
  std::uint64_t inside = 0;   // at the end
  std::uint64_t most_waiting = 0;
  std::uint64_t most_sessions = 0;  // as the waiting room counts them
  double use = 0;                   // mean share of the sessions in use, while a visitor waited
  Waits waits;
  std::uint64_t polls = 0;
  std::uint64_t most_polls = 0;    // in a second
  std::uint64_t told = 0;          // of those called: had been told an estimate
  std::uint64_t within = 0;        // and called within that range
  std::vector<TierSummary> tiers;  // only if clients have one
};

// The modelled backend at full strength, and the load that its clients offer by plan.
struct Size {
  std::uint32_t slots = 0;
  double service = 0;   // mean seconds, before tail and relative costs
  double capacity = 0;  // requests per second of the offered mix
  double offered = 0;   // new requests per second, mean over the run
  double load = 0;      // offered / capacity
};

struct Recording {
  std::string scenario;
  std::string sentence;  // what the scenario is about
  Size size;
  std::uint64_t seed = 1;
  bool shedding = true;
  double warm_up = 0;  // seconds that the summary leaves out
  double goodput = 0;  // useful / available work of the backend, over the run after the warm-up
  double wasted =
      0;  // share of the backend's work done for clients that had given up, or for errors
  std::uint32_t max_queued = 0;
  double p95 = 0;   // seconds, all classes, of those served
  double jain = 1;  // fairness among tenants, if any: see max_min_fairness
  std::vector<Second> seconds;
  std::vector<StateChange> changes;
  std::vector<ClassSummary> classes;        // highest first
  std::vector<TenantSummary> tenants;       // only for scenarios that name tenants
  std::optional<JobsSummary> jobs;          // only for runs in which requests can be deferred
  std::optional<VisitorsSummary> visitors;  // only for runs with visitors
};

}  // namespace spillway::simulate
