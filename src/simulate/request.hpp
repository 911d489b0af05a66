// One modelled request, and a pool of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "dispatch/shadow_gate.hpp"
#include "dispatch/waiter.hpp"
#include "overload/budgets.hpp"
#include "resilience/circuit_breaker.hpp"
#include "resilience/server_set.hpp"

namespace spillway::simulate {

// What the proxy knows of a request's attempts at servers.
struct RequestCall {
  resilience::ServerSet tried;
  resilience::CircuitBreaker::Call of_circuit;
  bool is_open = false;      // connected, and its end not yet recorded
  bool was_refused = false;  // a connection, by any server
  std::uint32_t retries = 0, pauses = 0;
};

struct Request : dispatch::Waiter {
  std::uint32_t clients = 0;  // which of the scenario's
  std::uint32_t tenant = 0;   // which of theirs
  TenantId tenant_id{};
  std::uint64_t address = 0;  // of its client, hashed
  bool is_bad = false;        // the backend will answer it with an error
  std::uint32_t key = 0;      // of its answer in its route's cache; 0: none
  std::uint32_t attempt = 1;  // 2: the first retry
  double work = 0;            // seconds of a server at normal speed
  double full_work = 0;       // the same, not degraded
  TimePoint came{};
  TimePoint dispatched{};  // sent to the backend
  TimePoint begun{};       // its service began
  bool client_waits = false;
  bool in_backend = false;
  bool in_loop = false;      // not yet seen by the proxy, whose event loop is busy
  bool is_sent = false;      // to the backend, at least once
  bool fails = false;        // its answer will be an error
  bool timed_out = false;    // answered by the proxy, while the backend is still at it
  std::uint32_t server = 0;  // of the backend
  RequestCall call;
  bool has_slot = false;      // of the gate
  bool is_forwarded = false;  // in flight for the proxy: not answered, client still there
  bool was_answered = false;  // by the backend, perhaps with an error
  dispatch::ShadowGate::Ghost* ghost = nullptr;  // shadow mode
  bool degraded = false;
  bool is_answered = false;    // by the fallback or from the cache, without the backend
  bool is_cached = false;      // from the cache
  overload::Token token;       // of its class's budget, until it is sent to the backend
  std::size_t in_flight = 0;   // its index among the dispatched requests
  bool is_job = false;         // deferred, and forwarded now; its client has its answer
  Request* visitor = nullptr;  // of a page: what its visitor's pages are made of
  std::uint64_t visit = 0;     // of that: the visitor's number
  std::uint64_t job = 0;       // its number, in the order of acceptance
  std::uint32_t attempts = 0;  // of a job, that reached the backend
  TimePoint due{};             // of a job that waits
  std::uint64_t use = 0;       // of the object, counted by the pool: events of former uses are void

  // A job that failed at the backend before.
  bool is_retried_job() const { return is_job && attempts > 0; }
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
    ++request.use;
    request.degraded = request.is_answered = request.is_sent = request.fails = false;
    request.timed_out = request.is_cached = request.was_answered = request.is_job = false;
    request.call = {};
    request.visitor = nullptr;
    free_.push_back(&request);
  }

 private:
  std::deque<Request> all_;
  std::vector<Request*> free_;
};

}  // namespace spillway::simulate
