// One command on its way to the store and back.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "base/time.hpp"
#include "jobs/route_capacity.hpp"
#include "proxy/net/mailbox.hpp"
#include "store/contract/command.hpp"
#include "store/contract/job_store.hpp"

namespace spillway::proxy {

// As a letter it comes back to the worker that waits for it (`mailbox`, `parking`); without one
// `done` is called on the store's thread. It must stay alive until then.
struct StoreCall : Letter {
  explicit StoreCall(store::Command asked) : command(std::move(asked)) {}

  template <class Kind>
  const Kind& as() const {
    return std::get<Kind>(command);
  }
  template <class Kind>
  Kind& as() {
    return std::get<Kind>(command);
  }

  store::Command command;
  std::optional<store::Failure> failure;  // the command was not executed
  std::function<void()> done;
  // Of an Enqueue: it is Spillway's own, and no client waits for it.
  bool is_notice = false;
  // Of a Find: what has become of a duplicate's job.
  bool is_of_key = false;
  // Of a Settle: nothing more of its route is pulled for so long.
  std::optional<Duration> pauses_route;
  // Likewise: its upstream has refused it, and asks for so long a pause (RouteCapacity::refused).
  std::optional<Duration> refused_for;
  // Likewise: its job got no slot (RouteCapacity::rest).
  std::optional<jobs::NoSlot> no_slot;
};

// Waits until the state of a job changes here, or the store fails, which may have changed it.
// Another proxy's change is not seen.
struct JobWatch : Letter {
  jobs::JobId id;
};

}  // namespace spillway::proxy
