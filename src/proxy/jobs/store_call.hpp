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

// As a letter it returns to the worker that waits for it (`mailbox`, `parking`); without a mailbox
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
  // For an Enqueue: a request of Spillway's own, for which no client waits.
  bool is_notice = false;
  // For a Find: looks up the job of a duplicate.
  bool is_of_key = false;
  // For a Settle: how long nothing more is pulled from its route.
  std::optional<Duration> pauses_route;
  // Likewise: the upstream has refused it, and asks for this pause (RouteCapacity::refused).
  std::optional<Duration> refused_for;
  // Likewise: the job got no slot (RouteCapacity::rest).
  std::optional<jobs::NoSlot> no_slot;
};

// Waits until the state of a job changes here, or until the store fails, since that may have
// changed it. Changes by other proxies are not seen.
struct JobWatch : Letter {
  jobs::JobId id;
};

}  // namespace spillway::proxy
