// One modelled request, and a pool of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "dispatch/queue/waiter.hpp"
#include "dispatch/scheduler/shadow_gate.hpp"
#include "jobs/job.hpp"
#include "overload/admission/budgets.hpp"
#include "resilience/circuit_breaker.hpp"
#include "resilience/server_search.hpp"

namespace spillway::simulate {

// The client's request, which a retry repeats.
struct Demand {
  std::uint32_t clients = 0;  // index in the scenario's clients
  std::uint32_t tenant = 0;   // index among their tenants
  TenantId tenant_id{};
  std::uint64_t address = 0;  // of its client, hashed
  std::uint32_t key = 0;      // of its answer in its route's cache; 0: none
  double work = 0;            // seconds of a server at normal speed
  bool is_bad = false;        // the backend will answer it with an error
  std::uint32_t attempt = 1;  // 2: the first retry
};

// Used by ProxyModel: what a request holds, at the gate and from there on.
struct Passage {
  overload::Token token;  // of its class's budget, until it is sent to the backend
  bool has_slot = false;  // of the gate
  dispatch::ShadowGate::Ghost* ghost = nullptr;  // shadow mode
  TimePoint dispatched{};                        // sent to the backend
  std::optional<std::size_t> in_flight;  // its index there, until it is answered or its client left
  bool was_answered = false;             // by the backend, perhaps with an error
  bool may_wait_for_spare_slot = false;  // a job with a class: it was not refused by a rule
};

// Used by ServersModel: its attempts at servers.
struct RequestCall {
  std::uint32_t server = 0;  // of the last one
  resilience::ServerSearch search;
  resilience::CircuitBreaker::Call of_circuit;
  std::uint32_t trial = 0;   // of its server: see resilience::InFlightCounts
  bool is_open = false;      // connected, and its end not yet recorded
  bool lingers = false;      // timed out or was abandoned, and keeps its slot
  bool was_refused = false;  // a connection, by any server
  std::uint32_t retries = 0, pauses = 0;
};

// Used by JobsModel: the additional state of a deferred request.
struct DeferredJob {
  std::uint64_t number = 0;  // in the order of acceptance
  jobs::Lane lane{};
  jobs::WallTime expires{};
  jobs::Progress progress{};
  TimePoint waits_until{};  // for a spare slot, if it has a class
};

enum class AnsweredBy : std::uint8_t { backend, fallback, cache };

struct Request : dispatch::Waiter {
  Demand demand;
  double work = 0;  // its cost at the backend: lower than demanded if degraded or failing
  TimePoint came{};
  bool client_waits = false;
  bool in_loop = false;    // not yet handled by the proxy, whose event loop is busy
  bool is_sent = false;    // to the backend, at least once
  bool timed_out = false;  // answered by the proxy, while the backend still works on it
  bool degraded = false;
  AnsweredBy answered_by = AnsweredBy::backend;
  Passage passage;
  RequestCall call;
  bool in_backend = false;
  bool fails = false;                 // its answer will be an error
  TimePoint begun{};                  // its service began
  std::optional<DeferredJob> as_job;  // deferred, and forwarded now; its client has its answer
  Request* visitor = nullptr;         // of a page: the request its visitor's pages are made from
  std::uint64_t visit = 0;            // of that request: the visitor's number
  std::uint64_t use = 0;  // of the object, counted by the pool: events of former uses are void

  // Whether it is a job that has failed at the backend before.
  bool is_retried_job() const { return as_job && as_job->progress.attempts > 0; }
};

class RequestPool {
 public:
  Request& acquire() {
    if (free_.empty()) free_.push_back(&all_.emplace_back());
    Request& request = *free_.back();
    free_.pop_back();
    return request;
  }
  // The request must be neither queued nor in the backend.
  void release(Request& request) {
    const std::uint64_t next_use = request.use + 1;
    std::destroy_at(&request);
    std::construct_at(&request)->use = next_use;
    free_.push_back(&request);
  }

 private:
  std::deque<Request> all_;
  std::vector<Request*> free_;
};

}  // namespace spillway::simulate
