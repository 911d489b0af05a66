// The gate before one upstream, shared by all workers: one lock around the pure scheduler.
//
// The lock is held for tens of nanoseconds; a request's fate changes only under it, so there is
// no check-then-act. Whoever leaves the queue other than by its own enter() or cancel() is
// delivered to its worker's mailbox.
//
// After a reload the requests of the former configuration keep to its gate, with its classes and
// queues; the slots are the same. The gates of one upstream therefore share them: as many as the
// newest says (an older gate hands out no more than it ever did, which its connections are counted
// for), and who waits at an older gate goes first. So many slots as a class reserves are kept for
// those who come to the newest; the max_inflight of a class, known by its name, holds for all.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "dispatch/scheduler.hpp"
#include "dispatch/waiter.hpp"
#include "observe/snapshot.hpp"
#include "proxy/net/mailbox.hpp"

namespace spillway::proxy {

class Gate;

// A request's place at the gate.
struct Ticket : dispatch::Waiter, Letter {};

// The slots of one upstream and the gates before them, the oldest first.
struct Slots {
  std::mutex mutex;
  std::vector<Gate*> gates;
};

class Gate {
 public:
  // The newest of the gates before these slots.
  Gate(const config::Dispatch& settings, std::span<const config::TrafficClass> classes,
       std::shared_ptr<Slots> slots = std::make_shared<Slots>());
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  const std::shared_ptr<Slots>& slots() const { return slots_; }

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
  // Fills in what the gate knows of an upstream; in flight are also the requests of older gates.
  void read_snapshot(observe::UpstreamSnapshot& snapshot, TimePoint now);

 private:
  void deliver_startable(dispatch::Waiter* first, TimePoint now);
  bool is_alone() const { return slots_->gates.size() == 1; }
  std::uint32_t running_elsewhere() const;
  std::uint32_t running_elsewhere(std::string_view traffic_class) const;
  void see_slots();
  void hand_out(TimePoint now);

  const std::shared_ptr<Slots> slots_;
  std::uint32_t concurrency_;
  std::vector<std::string> class_names_;
  dispatch::Scheduler scheduler_;  // under the mutex of the slots
};

// A dispatch slot, given back when it goes out of scope.
class Slot {
 public:
  Slot() = default;
  Slot(Gate& gate, ClassId traffic_class, TimePoint since)
      : gate_(&gate), traffic_class_(traffic_class), since_(since) {}
  Slot(Slot&& other) noexcept { *this = std::move(other); }
  Slot& operator=(Slot&& other) noexcept {
    release();
    gate_ = std::exchange(other.gate_, nullptr);
    traffic_class_ = other.traffic_class_;
    since_ = other.since_;
    return *this;
  }
  ~Slot() { release(); }

  explicit operator bool() const { return gate_ != nullptr; }
  void release() {
    if (gate_ != nullptr) release(Clock::now());
  }
  void release(TimePoint now) {
    if (gate_ != nullptr) std::exchange(gate_, nullptr)->leave(traffic_class_, now - since_, now);
  }

 private:
  Gate* gate_ = nullptr;
  ClassId traffic_class_{};
  TimePoint since_{};
};

}  // namespace spillway::proxy
