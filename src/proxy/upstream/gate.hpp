// The concurrency limit and queues of one upstream, shared by all workers: a mutex around the pure
// dispatch::Scheduler. Thread-safe.
//
// A request is queued, granted, cancelled or expired only under the lock, which is held for tens of
// nanoseconds: no check-then-act. A waiter that is granted, evicted or expired by another request's
// action is delivered through its worker's mailbox.
//
// After a reload, requests of the former configuration stay at its gate, with its classes and
// queues. All gates of one upstream share its slots:
// * the newest gate's concurrency applies; an older gate never uses more than its own, for which
// its connection budget was made;
// * waiters at older gates are served first;
// * the reserved slots of a class are reserved for requests at the newest gate;
// * max_inflight of a class counts requests at all gates, matching classes by name.
//
// If there are several servers, each has a part of the slots. A server that is lost takes its part
// with it, at once: each request that enters or leaves sees that (resilience::Rotation).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/withdrawal.hpp"
#include "config/config.hpp"
#include "dispatch/queue/waiter.hpp"
#include "dispatch/scheduler/scheduler.hpp"
#include "dispatch/scheduler/shadow_gate.hpp"
#include "observe/snapshot/snapshot.hpp"
#include "proxy/net/capped_counter.hpp"
#include "proxy/net/mailbox.hpp"
#include "resilience/slot_terms.hpp"

namespace spillway::proxy {

class Gate;
class Servers;

// A request in the queue.
struct Ticket : dispatch::Waiter, Letter {};

// What a request that holds a slot waits for, as far as it matters to other requests.
enum class SlotWait : std::uint8_t {
  nothing,    // nothing, or something that usually takes no longer
  client,     // its client, which has to send or to take bytes
  delayed,    // the upstream: its response head takes long (dispatch::QuietLatency::is_delayed)
  late,       // the same, and the head is overdue (is_late)
  abandoned,  // the same, but its client has left
};

// The slots of one upstream, shared by its gates.
struct Slots {
  std::mutex mutex;
  std::vector<Gate*> gates;  // oldest first
  // See Gate::limit_to(). Written under the mutex.
  std::atomic<std::uint32_t> limit = std::numeric_limits<std::uint32_t>::max();
  // See Slot::set_wait().
  std::atomic<std::uint32_t> awaiting_client{0};
  std::array<std::atomic<std::uint32_t>, kMaxClasses> late{};  // by class
  std::atomic<std::uint32_t> abandoned{0};
  std::atomic<std::uint32_t> delayed{0};
  // See Slot::release_at_work() and Slot::give_to_first().
  CappedCounter at_work_without, given_to_first;
  // How many slots with SlotWait::client were released while requests are late; at most as many as
  // are late, and one less for each that is no longer late. Each late request of a higher class may
  // have one slot taken back: if that does not help, no more are.
  std::atomic<std::uint32_t> freed_for_late{0};

  // `waited`: how long the upstream has owed the head, if that is late.
  void change_wait(ClassId served_as, SlotWait from, SlotWait to, TimePoint now, Duration waited);
  // Counts a slot with SlotWait::client that is about to be released.
  void frees_one(TimePoint now);
  // A response head of any request has come.
  void on_response_head(TimePoint now) {
    constexpr Duration kPrecision = std::chrono::milliseconds(10);  // so that it is seldom written
    if (now - silent_since() > kPrecision) begin_silence(now);
  }
  // While requests are late: the upstream has sent no head at all for resilience::kSilence, or for
  // as long as the first of them had waited by then, but for at most kLongestSilence; nor was a
  // slot taken back in that time.
  bool is_silent(TimePoint now) const;
  std::uint32_t late_in_all() const {
    std::uint32_t sum = 0;
    for (const auto& each : late) sum += each.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  std::atomic<std::uint32_t>* count_of(SlotWait wait, ClassId served_as);
  TimePoint silent_since() const {
    return TimePoint(Duration(silent_since_.load(std::memory_order_relaxed)));
  }
  void begin_silence(TimePoint now) {
    silent_since_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  }

  std::atomic<Duration::rep> silent_since_{0};
  std::atomic<Duration::rep> first_waited_{0};
};

class Gate {
 public:
  // Becomes the newest gate of `slots`. `adapts`: see dispatch::TargetWait. `shadow_routes`: in
  // shadow mode the number of routes, otherwise 0. `servers`: must outlive this; null: a single
  // server.
  Gate(const config::Dispatch& settings, std::span<const config::TrafficClass> classes,
       std::shared_ptr<Slots> slots = std::make_shared<Slots>(), bool adapts = true,
       std::size_t shadow_routes = 0, const Servers* servers = nullptr);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  const std::shared_ptr<Slots>& slots() const { return slots_; }

  // See dispatch::Scheduler::offer. A granted request must leave() exactly once (Slot does so). A
  // queued one will be delivered, unless it is withdrawn before.
  dispatch::Offer enter(Ticket& ticket, const dispatch::Terms& terms, TimePoint now);
  // `served_as`: see dispatch::Waiter.
  void leave(ClassId served_as, Duration held, TimePoint now, bool for_job = false);
  // Likewise for an abandoned request of a lower class whose upstream goes on, if a request of the
  // first class has waited for long: the slot goes to that. As long as the upstream goes on, a slot
  // is reserved for the first class in its place, up to an eighth of all slots: so the lower
  // classes together never have more at work than before. False: the slot is kept.
  bool give_to_first(ClassId served_as, Duration held, TimePoint now, bool for_job = false);
  Withdrawal cancel(Ticket& ticket, TimePoint now);
  // Whether a slot held by this class, if released now, alone or together with others that wait for
  // their clients, would go to a waiter at any gate.
  bool would_serve(ClassId served_as) const;
  // How scarce slots are, over all gates, if a waiter would get this slot, or if the upstream is at
  // a standstill and requests of a higher class are late, or, while it is silent, of the same
  // class. nullopt: neither, or they have no claim to this slot (resilience::may_ask).
  std::optional<resilience::SlotLoad> contention(ClassId served_as,
                                                 TimePoint now = Clock::now()) const;
  // Delivers waiters whose deadline has passed. Every worker calls it every 10 ms.
  void expire(TimePoint now);

  // In shadow mode, instead of enter() and leave(): see dispatch::ShadowGate. Each ghost must be
  // passed to leave_shadow() exactly once, with `served` if its request was served.
  using Ghost = dispatch::ShadowGate::Ghost;
  dispatch::ShadowGate::Entry enter_shadow(RouteId route, const dispatch::Terms& terms,
                                           TimePoint now);
  Ghost* pass_shadow(RouteId route, TimePoint now);
  std::optional<Reason> leave_shadow(Ghost& ghost, bool served, TimePoint now);
  // How ghosts ended since the last call, whichever worker's they were.
  void take_shadow_events(std::vector<dispatch::ShadowGate::Event>& events);

  // Sets the effective limit of all servers together: no gate of these slots grants more than
  // `slots` at once, or less if its concurrency allows less.
  void limit_to(std::uint32_t slots, TimePoint now);
  // The limit that is divided among the servers. Takes no lock.
  std::uint32_t limit_of_all() const {
    return std::min(concurrency_, slots_->limit.load(std::memory_order_relaxed));
  }
  // In force now: the limit of the servers in rotation, plus requests at the others. Takes no lock.
  std::uint32_t limit() const;

  // Input for the control tick.
  struct Load {
    double busy_slot_seconds = 0;
    double shared_slot_seconds = 0;      // see dispatch::Scheduler
    std::uint32_t limit = 0;             // see limit()
    std::uint32_t reserved = 0;          // slots
    std::uint32_t awaiting_client = 0;   // slots
    std::uint32_t behind_others = 0;     // slots with SlotWait::late or abandoned
    std::vector<std::uint32_t> queued;   // by class
    std::vector<std::uint64_t> started;  // by class: requests that got a slot; only grows
    std::vector<double> predicted_wait;  // by class, seconds: of a request that would come now
    std::optional<double> mean_hold;     // of a slot, seconds; see dispatch::Scheduler
  };
  void read_load(Load& load, TimePoint now);
  // Fills in the queues and limits; `inflight` includes the requests of the other gates.
  void read_snapshot(observe::UpstreamSnapshot& snapshot, TimePoint now);

 private:
  // Requests whose response heads are overdue.
  struct Late {
    std::uint32_t asking = 0;      // how many may ask for a slot of the given class
    std::uint32_t for_pauses = 0;  // how many may if the slot's client pauses
    std::uint32_t in_all = 0;      // all, including abandoned ones
  };
  Late late_for(ClassId served_as, bool may_ask_its_own = false) const;
  Duration longest_waited(ClassId served_as, TimePoint now) const;
  void deliver_startable(dispatch::Waiter* first, TimePoint now);
  void deliver_background(TimePoint now);
  void settle_shadow(TimePoint now);
  bool is_only_gate() const { return slots_->gates.size() == 1; }
  bool is_newest() const { return slots_->gates.back() == this; }
  bool is_steady();
  void follow_servers(TimePoint now);
  std::uint32_t limit_of_gates() const;
  std::uint32_t running_elsewhere() const;
  std::uint32_t running_in_all() const;
  std::uint32_t running_elsewhere(std::string_view traffic_class) const;
  dispatch::WouldServe would_serve_locked(ClassId served_as, const Late& late) const;
  ClassId class_like(const Gate& other, ClassId id) const;
  void update_slot_share();
  void grant_waiting(TimePoint now);
  std::uint32_t most_given_to_first() const { return limit() / kGivenToFirst; }
  void keep_for_first(TimePoint now);

  static constexpr std::uint32_t kGivenToFirst = 8;

  const std::shared_ptr<Slots> slots_;
  const Servers* const servers_;
  std::uint32_t concurrency_;
  std::vector<std::string> class_names_;
  // Under the mutex of the slots:
  dispatch::Scheduler scheduler_;
  std::optional<dispatch::ShadowGate> shadow_;  // in shadow mode only
  bool was_whole_ = true;                       // at the last check: no server was lost

  const std::uint32_t reserved_ = scheduler_.reserved();  // as configured, for all classes
};

// An abandoned request on which its upstream may still work although its slot was released.
class WorkWithoutSlot {
 public:
  // The work has already been counted.
  explicit WorkWithoutSlot(std::shared_ptr<CappedCounter> count) : count_(std::move(count)) {}
  WorkWithoutSlot(WorkWithoutSlot&&) = default;
  WorkWithoutSlot& operator=(WorkWithoutSlot&&) = delete;
  ~WorkWithoutSlot() {
    if (count_) count_->decrement();
  }

 private:
  std::shared_ptr<CappedCounter> count_;  // of the upstream's slots
};

// A dispatch slot; released by the destructor.
class Slot {
 public:
  Slot() = default;
  // `for_job`: see dispatch::Scheduler::release.
  Slot(Gate& gate, ClassId served_as, TimePoint since, bool for_job = false)
      : gate_(&gate), served_as_(served_as), for_job_(for_job), since_(since) {}
  Slot(Slot&& other) noexcept { *this = std::move(other); }
  Slot& operator=(Slot&& other) noexcept {
    release();
    gate_ = std::exchange(other.gate_, nullptr);
    wait_ = std::exchange(other.wait_, SlotWait::nothing);
    served_as_ = other.served_as_;
    for_job_ = other.for_job_;
    since_ = other.since_;
    return *this;
  }
  ~Slot() { release(); }

  explicit operator bool() const { return gate_ != nullptr; }
  // Another request waits for this slot.
  bool is_contended() const { return gate_ != nullptr && gate_->would_serve(served_as_); }
  // How scarce slots are, if that is so.
  std::optional<resilience::SlotLoad> contention() const {
    return gate_ != nullptr ? gate_->contention(served_as_) : std::nullopt;
  }
  // Holds until the next call or the release. `waited`: see Slots::change_wait().
  void set_wait(SlotWait wait, Duration waited = {}) {
    if (gate_ == nullptr || wait == wait_) return;
    gate_->slots()->change_wait(served_as_, std::exchange(wait_, wait), wait, Clock::now(), waited);
  }
  void on_response_head(TimePoint now) {
    if (gate_ != nullptr) gate_->slots()->on_response_head(now);
  }
  void release() {
    if (gate_ != nullptr) release(Clock::now());
  }
  // Releases the slot although the upstream may still be at work on its request, and counts that
  // work until the result, a permit, is destroyed. nullopt: there is already as much such work as
  // there are slots; the slot is kept.
  std::optional<WorkWithoutSlot> release_at_work(TimePoint now) {
    if (gate_ == nullptr) return std::nullopt;
    std::shared_ptr<Slots> slots = gate_->slots();
    if (!slots->at_work_without.try_increment(gate_->limit_of_all())) return std::nullopt;
    release(now);
    CappedCounter* const count = &slots->at_work_without;
    return WorkWithoutSlot({std::move(slots), count});
  }
  // The same for the sake of the first class; see Gate::give_to_first().
  std::optional<WorkWithoutSlot> give_to_first(TimePoint now) {
    if (gate_ == nullptr) return std::nullopt;
    std::shared_ptr<Slots> slots = gate_->slots();
    if (!gate_->give_to_first(served_as_, now - since_, now, for_job_)) return std::nullopt;
    set_wait(SlotWait::nothing);
    gate_ = nullptr;
    CappedCounter* const count = &slots->given_to_first;
    return WorkWithoutSlot({std::move(slots), count});
  }
  void release(TimePoint now) {
    if (gate_ != nullptr && wait_ == SlotWait::client) gate_->slots()->frees_one(now);
    set_wait(SlotWait::nothing);
    if (gate_ != nullptr)
      std::exchange(gate_, nullptr)->leave(served_as_, now - since_, now, for_job_);
  }

 private:
  Gate* gate_ = nullptr;
  ClassId served_as_{};
  bool for_job_ = false;
  SlotWait wait_ = SlotWait::nothing;
  TimePoint since_{};
};

}  // namespace spillway::proxy
