// One request in a dispatch queue. Owned by the caller, which neither moves nor destroys it until
// it is granted, refused, evicted, expired or cancelled.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.hpp"
#include "base/reason.hpp"
#include "base/time.hpp"
#include "dispatch/queue/class_queue.hpp"

namespace spillway::dispatch {

struct InClassQueue;
struct InTenantQueue;
struct InDeadlineWheel;

struct Waiter : Hook<InClassQueue>, Hook<InTenantQueue>, Hook<InDeadlineWheel> {
  enum class State : std::uint8_t {
    idle,     // not with the scheduler: new, refused or cancelled
    queued,   // waits for a slot, or to be collected by expire()
    granted,  // holds a slot, to be released once
    expired,  // not granted in time; `reason` says why
    evicted,  // removed for a waiter of a higher class
  };

  State state = State::idle;
  ClassId traffic_class{};
  // The class whose queue, turns and slots it uses: a lower one after a downgrade (expire_policy).
  ClassId served_as{};
  std::uint16_t flow = 0;      // in its class's queue, see TenantQueue
  bool in_background = false;  // see Terms
  bool late = false;           // granted after its deadline (only with Late::process_with_tag)
  // Refused or expired only because of the deadline that its client chose.
  bool by_clients_deadline = false;
  Reason reason = Reason::none;  // why it expired or was evicted or refused
  TenantId tenant{};
  float tenant_weight = 1;  // > 0
  TimePoint arrived{};
  TimePoint deadline = kNever;
  // The operator's deadline, never before `deadline`: it decides its turn (EarliestDeadline). A
  // client's own deadline ends its wait, and never moves it ahead of others.
  TimePoint operators_deadline = kNever;
  TimePoint expires_at = kNever;           // the earlier of deadline and longest wait in its queue
  double cost = 1;                         // estimated milliseconds of the upstream's time
  std::optional<Duration> predicted_wait;  // on arrival
  Duration waited{0};                      // set whenever it leaves the queue, for any reason
};

}  // namespace spillway::dispatch
