// One modelled request, and the store that requests are taken from and given back to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "dispatch/waiter.hpp"
#include "overload/budgets.hpp"

namespace spillway::simulate {

struct Request : dispatch::Waiter {
  std::uint32_t clients = 0;  // which of the scenario's
  std::uint32_t tenant = 0;   // which of theirs
  TenantId tenant_id{};
  std::uint32_t attempt = 1;  // 2: the first retry
  double work = 0;            // seconds of a server at normal speed
  double full_work = 0;       // the same, not degraded
  TimePoint came{};
  TimePoint dispatched{};  // sent to the backend
  TimePoint begun{};       // worked on
  bool client_waits = false;
  bool in_backend = false;
  bool has_slot = false;      // of the gate
  bool is_forwarded = false;  // for the proxy: neither answered nor left
  bool is_ghost = false;      // shadow mode: is in the backend, and its place still in the queue
  bool degraded = false;
  bool is_answered = false;   // with a prepared answer, without the backend
  overload::Token token;      // of its class's budget, until it is sent to the backend
  std::size_t in_flight = 0;  // its place among those dispatched, while it has a slot
  std::uint64_t turn = 0;     // changes when it becomes another request: old timers are void
};

class RequestStore {
 public:
  Request& take() {
    if (free_.empty()) free_.push_back(&all_.emplace_back());
    Request& request = *free_.back();
    free_.pop_back();
    return request;
  }
  // It is neither queued nor in the backend.
  void give_back(Request& request) {
    ++request.turn;
    request.degraded = request.is_answered = false;
    free_.push_back(&request);
  }

 private:
  std::deque<Request> all_;
  std::vector<Request*> free_;
};

}  // namespace spillway::simulate
