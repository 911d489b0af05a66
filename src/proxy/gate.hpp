// The gate before one upstream, shared by all workers: one lock around the pure scheduler.
//
// The lock is held for tens of nanoseconds; a request's fate changes only under it, so there is
// no check-then-act. Whoever leaves the queue other than by its own enter() or cancel() is
// delivered to its worker's mailbox.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "config/config.hpp"
#include "dispatch/scheduler.hpp"
#include "observe/snapshot.hpp"
#include "proxy/mailbox.hpp"

namespace spillway::proxy {

class Gate {
 public:
  Gate(const config::Dispatch& settings, std::span<const config::TrafficClass> classes);

  // See dispatch::Scheduler::offer. A granted request must leave() exactly once (see Slot). A
  // queued one will be delivered, unless cancel() returns true.
  dispatch::Offer enter(Ticket& ticket, const dispatch::Terms& terms, TimePoint now);
  void leave(ClassId traffic_class, Duration held, TimePoint now);
  bool cancel(Ticket& ticket, TimePoint now);
  // Delivers those whose time has run out. Called every 10 ms by every worker.
  void expire(TimePoint now);

  // What the control tick needs.
  struct Load {
    double busy_slot_seconds = 0;
    std::vector<std::uint32_t> queued;  // by class
  };
  void read_load(Load& load, TimePoint now);
  // Fills in what the gate knows of an upstream.
  void read_snapshot(observe::UpstreamSnapshot& snapshot, TimePoint now);

 private:
  void deliver_startable(dispatch::Waiter* first, TimePoint now);

  std::mutex mutex_;
  dispatch::Scheduler scheduler_;
};

// A dispatch slot, given back when it goes out of scope.
class Slot {
 public:
  Slot() = default;
  Slot(Gate& gate, ClassId traffic_class, TimePoint since)
      : gate_(&gate), traffic_class_(traffic_class), since_(since) {}
  Slot(Slot&& other) noexcept { *this = std::move(other); }
  Slot& operator=(Slot&& other) noexcept {
    release(Clock::now());
    gate_ = std::exchange(other.gate_, nullptr);
    traffic_class_ = other.traffic_class_;
    since_ = other.since_;
    return *this;
  }
  ~Slot() { release(Clock::now()); }

  explicit operator bool() const { return gate_ != nullptr; }
  void release(TimePoint now) {
    if (gate_ != nullptr) std::exchange(gate_, nullptr)->leave(traffic_class_, now - since_, now);
  }

 private:
  Gate* gate_ = nullptr;
  ClassId traffic_class_{};
  TimePoint since_{};
};

}  // namespace spillway::proxy
