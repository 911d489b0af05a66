// The scheduler of one upstream: a fixed number of slots, a bounded queue per class, a discipline
// that picks the class to serve next, and the classes' guaranteed shares, which take precedence.
//
// Pure and not thread-safe: the gate holds a lock around every call, and calls next() after a
// release until it returns nullptr. A `now` earlier than the last one (read just before another
// thread got the lock) counts as the last one. Never more than `concurrency` slots are held, except
// after share_slots(). Nothing allocates after construction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/due_time.hpp"
#include "base/ids.hpp"
#include "base/reason.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "dispatch/discipline/discipline.hpp"
#include "dispatch/discipline/min_share.hpp"
#include "dispatch/estimate/quiet_hold.hpp"
#include "dispatch/estimate/wait_prediction.hpp"
#include "dispatch/queue/class_queue.hpp"
#include "dispatch/queue/deadline_wheel.hpp"
#include "dispatch/queue/queues.hpp"
#include "dispatch/queue/waiter.hpp"
#include "dispatch/scheduler/dynamic_weight.hpp"
#include "dispatch/scheduler/target_wait.hpp"

namespace spillway::dispatch {

struct Terms {
  ClassId traffic_class{};
  DueTime deadline;
  // Set if `deadline` is the class's (its sla_ms), which adapts to how long slots are held: the
  // client's own deadline (kNever: none).
  std::optional<TimePoint> clients_deadline;
  // The time until which its answer is of use; its route usually takes `takes` and at least
  // `takes_at_least` (zero: not known). It is refused, at once or before a wait, if it could only
  // start too late for that. Not with Late::process_with_tag.
  DueTime answer_by;
  Duration takes{0};
  Duration takes_at_least{0};
  // The longest wait; usually its class's max_wait.
  Duration max_wait = Duration::max();
  // The share of its wait limit (max_wait or the time to its deadline, the smaller one) that the
  // predicted wait may reach, in (0, 1]. A prediction is a mean: at 1, half of the requests
  // admitted at the limit would time out.
  double certainty = 1;
  // Refuse it with short_wait_reason if no slot is free for its class, its class already has a
  // waiter, and the predicted wait exceeds this; nullopt: no such condition. A class without a
  // waiter may always queue one: so no slot idles and the discipline always has a waiter of each
  // class to choose from.
  std::optional<Duration> short_wait;
  // In place of short_wait: the adaptive target wait, but at most half of max_wait.
  bool up_to_target_wait = false;
  Reason short_wait_reason = Reason::none;
  // Refuse it with short_wait_reason if no slot is free for its class and a higher class waits.
  bool gives_way = false;
  // No client waits for it: it gets only slots that no client's request needs. Without one it is
  // refused without a reason or, if it has time, queued for as long as it takes. Not counted in
  // ClassTotals, which count clients' requests, nor in queued() and in expire().
  bool in_background = false;
  bool has_time = false;
  // With has_time: it goes before others that wait there, although they came first.
  bool goes_first = false;
  // Tenants share their class's turns by weight (TenantQueue). The default: one tenant.
  TenantId tenant{};
  double tenant_weight = 1;  // > 0
  // The newest waiter of a tenant goes first, as long as newcomers of its class have this set.
  bool newest_first = false;
  // Estimated milliseconds of the upstream's time; a value that is not positive and finite counts
  // as 1.
  double cost = 1;
};

struct Offer {
  enum class Kind : std::uint8_t { granted, queued, refused };

  Kind kind = Kind::refused;
  Reason reason = Reason::none;            // of the refusal
  std::optional<Duration> predicted_wait;  // zero when granted; nullopt: no prediction
  // Removed from its queue in favour of this one: refuse it as EVICTED. Of a lower class, or of a
  // tenant of the same class that has more queued.
  Waiter* evicted = nullptr;
  // The end of its wait, unless its answer's deadline ends it earlier: the deadline of its Terms,
  // or a later one if its class's adapts to how long slots are held.
  DueTime deadline;
};

// A slot that may be given back.
struct HeldSlot {
  ClassId served_as{};        // in the class ids of the scheduler asked
  bool is_elsewhere = false;  // granted by another scheduler of the same slots
  // How many slots could be given back together, as far as known.
  std::uint32_t can_follow = 1;
};

// The request that a slot would serve if it were given back.
enum class WouldServe : std::uint8_t { nobody, lower_class, same_or_higher };

// Counts the requests of a class, by traffic_class; only `downgraded` counts by the queue.
struct ClassTotals {
  std::uint64_t enqueued = 0;       // had to wait
  std::uint64_t started = 0;        // got a slot, at once or after waiting
  std::uint64_t queue_full = 0;     // refused
  std::uint64_t wait_risk = 0;      // refused: predicted wait beyond deadline or longest wait
  std::uint64_t not_short = 0;      // refused: short_wait
  std::uint64_t expired = 0;        // refused: late on arrival
  std::uint64_t queue_timeout = 0;  // waited for max_wait
  std::uint64_t deadline_miss = 0;  // deadline passed in the queue; expired or started late
  std::uint64_t clients_miss = 0;   // the same, by a deadline that the client chose
  std::uint64_t downgraded = 0;     // moved from this class's queue to the next lower one
  std::uint64_t evicted = 0;
  std::uint64_t cancelled = 0;
  Duration wait_sum{0};  // of those started
  Duration wait_max{0};
};

class Scheduler {
 public:
  // At least one class, at most kMaxClasses; the sum of reserved slots does not exceed the
  // concurrency; max_inflight >= reserved. Checked by assertions only: the validation of the
  // configuration ensures it.
  // `adapts`: see TargetWait.
  Scheduler(const config::Dispatch& settings, std::span<const config::TrafficClass> classes,
            bool adapts = true);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // `former`: the same upstream's scheduler under the former configuration.
  void continue_from(const Scheduler& former) { quiet_hold_ = former.quiet_hold_; }

  // `waiter` is idle. Granted: it holds a slot. Queued: next(), expire() or the Offer::evicted of
  // another one will return it, unless it is cancelled. Refused: it is idle again.
  Offer offer(Waiter& waiter, const Terms& terms, TimePoint now);

  // Frees a slot that was granted to a waiter served_as this class and held for `held`. `for_job`:
  // the waiter was in the background and had time. Returns next(now). Call it, or give_back(),
  // exactly once for each grant.
  Waiter* release(ClassId served_as, Duration held, TimePoint now, bool for_job = false);
  // The same without next().
  void give_back(ClassId served_as, Duration held, TimePoint now, bool for_job = false);

  // The next waiter to start, now granted; nullptr when none may start. With lanes (`reserved`,
  // `max_inflight`) one release can let several start: call it until nullptr.
  Waiter* next(TimePoint now);
  // The same for waiters in the background; call it when next() has returned nullptr.
  Waiter* next_in_background(TimePoint now);

  // Whether a slot, if given back now, would go to a waiter; if more slots are held than permitted
  // in total or for its class (a limit was lowered), together with as many others as can follow.
  WouldServe would_serve(const HeldSlot& slot) const;

  // True if it was still waiting: it is now idle. False if it was granted, expired or evicted
  // before; a granted one must still be released.
  bool cancel(Waiter& waiter, TimePoint now);

  // The next waiter whose time is over, now expired with its reason; nullptr if there is none. With
  // Late::process_with_tag waiters never expire. With ExpirePolicy::downgrade a waiter whose
  // longest wait ends before its deadline moves to the tail of the next lower class's queue
  // instead, for at most that class's max_wait, if there is room and the predicted wait is no
  // longer than that.
  Waiter* expire(TimePoint now);

  // For two schedulers of the same slots (two generations of the configuration): sets the number of
  // slots and how many the other schedulers hold. If more are held than exist, none is granted
  // until enough are given back. Slots reserved for a class are kept free, or lent to the other
  // classes if new requests go to the other scheduler.
  enum class Reserved : std::uint8_t { kept, lent };
  void share_slots(std::uint32_t slots, std::uint32_t elsewhere, Reserved reserved) {
    slots_.total = slots;
    slots_.elsewhere = elsewhere;
    slots_.keeps_reserved = reserved == Reserved::kept;
  }
  // The same for a class, whose max_inflight limits the sum over all schedulers.
  void set_elsewhere(ClassId id, std::uint32_t running) { classes_[index(id)].elsewhere = running; }

  // Reserves `slots` more for the first class than its configuration does, until the next call.
  void keep_for_first(std::uint32_t slots, TimePoint now);
  // A request of the first class has waited for a quarter of the time it has (its longest wait or
  // its deadline), and not for its class's own max_inflight.
  bool first_waits_long(TimePoint now) const;

  std::uint32_t concurrency() const { return slots_.total; }
  std::uint32_t running() const { return slots_.running; }
  std::uint32_t running(ClassId id) const { return classes_[index(id)].running; }
  std::uint32_t queued() const { return queued_; }
  std::uint32_t queued(ClassId id) const { return queues_.waiting(id); }
  std::size_t class_count() const { return classes_.size(); }
  // Shows starvation; zero if none waits.
  Duration oldest_wait(ClassId id, TimePoint now) const;
  // The wait of a request of this class that arrives now without a free slot; zero if a slot is
  // free for it; nullopt: no prediction.
  std::optional<Duration> predicted_wait(ClassId id, TimePoint now) const;
  // The same for a lack of slots only: zero for a class that waits for its own max_inflight.
  std::optional<Duration> wait_for_room(ClassId id, TimePoint now) const;
  // Seconds for which recent slots were held; nullopt before 20 of them.
  std::optional<double> mean_hold() const { return hold_.mean(); }
  // Integral of running() over time, without background requests that had time: they take spare
  // slots only, and thus say nothing about the load. Only grows.
  double busy_slot_seconds(TimePoint now) const;
  // The part of it beyond the slots reserved for the requests' classes. Only grows.
  double shared_slot_seconds(TimePoint now) const;
  std::uint32_t reserved() const { return slots_.reserved; }  // slots, for any class
  const ClassTotals& totals(ClassId id) const { return classes_[index(id)].totals; }
  double weight(ClassId id) const { return discipline_->weight(id); }
  const TargetWait& target_wait() const { return target_wait_; }
  // For a request of this class with this longest wait, see Terms::up_to_target_wait.
  Duration target_wait(ClassId id, Duration max_wait) const;

 private:
  struct Class {
    std::uint32_t max_queue = 0;
    Duration max_wait{0}, sla{0};
    bool stretches = false;
    std::uint32_t running = 0;
    std::uint32_t reserved = 0;
    std::uint32_t max_inflight = 0;
    std::uint32_t elsewhere = 0;  // slots granted by other schedulers
    double weight = 1;
    ClassTotals totals;

    std::uint32_t open_reserved() const { return running < reserved ? reserved - running : 0; }
  };

  // The slots of the upstream.
  struct Slots {
    std::uint32_t total = 0;
    std::uint32_t elsewhere = 0;      // held by other schedulers
    std::uint32_t running = 0;        // held by this one
    std::uint32_t for_jobs = 0;       // of these, in the background
    std::uint32_t reserved = 0;       // for any class
    std::uint32_t open_reserved = 0;  // of these, not in use by their class
    std::uint32_t for_first = 0;      // of `reserved`: see keep_for_first()
    bool keeps_reserved = true;       // see share_slots()
    TimePoint changed{};              // when one was last taken or given back
    double kept_seconds = 0;          // integral of kept() until last_
    double shared_seconds = 0;        // the same for shared()

    std::uint32_t free() const {
      const std::uint64_t held = std::uint64_t{running} + elsewhere;
      return held < total ? total - static_cast<std::uint32_t>(held) : 0;
    }
    // Free slots that are kept for classes that do not need them now.
    std::uint32_t kept() const { return keeps_reserved ? std::min(open_reserved, free()) : 0; }
    // Slots in use beyond those reserved for their class.
    std::uint32_t shared() const {
      return running - std::min(running, reserved - open_reserved + for_jobs);
    }
  };

  // Bounds of one request's wait, apart from those that follow from its answer's deadline.
  struct Bounds {
    DueTime deadline;
    Duration max_wait;
  };

  // The judgement of a request's predicted wait.
  enum class Prospect : std::uint8_t { good, in_vain, not_short };

  // Waiters in the background that have time.
  struct Background {
    IntrusiveList<Waiter, InClassQueue> waiters;  // in the order of service
    double busy = 0;                              // the part of busy_ by those that ran
  };

  TimePoint advance(TimePoint now);
  static Duration shorter_of(Duration max_wait, TimePoint deadline, TimePoint now);
  double stretch(const Class& c) const;
  Duration longest_wait(const Class& c) const;
  Bounds bounds(const Class& c, const Terms& terms) const;
  Prospect prospect(Waiter& waiter, const Terms& terms, const Bounds& its, TimePoint now) const;
  void adapt_target_wait(TimePoint now);
  Offer offer_to_client(Waiter& waiter, const Terms& terms, const Bounds& its, TimePoint now);
  Offer offer_in_background(Waiter& waiter, const Terms& terms, TimePoint now);
  bool may_start(const Class& c) const;
  static bool is_at_cap(const Class& c) { return c.running + c.elsewhere >= c.max_inflight; }
  // Whether its own cap holds the class back, so that more slots would not help it.
  bool waits_for_itself(const Class& c) const {
    const std::uint64_t its_slots = std::uint64_t{c.max_inflight} + slots_.reserved - c.reserved;
    return is_at_cap(c) && its_slots < slots_.total;
  }
  bool is_wanted_above(ClassId id) const;
  ClassSet ready() const;
  bool would_serve(const HeldSlot& slot, std::size_t waiting) const;
  bool has_room(std::size_t i) const;
  Waiter* evict_for(const Waiter& newcomer, TimePoint now);
  bool downgrade(Waiter& waiter, TimePoint now);
  std::optional<double> seconds_to_wait(Newcomer& newcomer) const;  // fills in hold and slots
  void adapt_weights(TimePoint now);
  void take_slot(Waiter& waiter, TimePoint now);
  void start(Waiter& waiter, TimePoint now);
  void enqueue(Waiter& waiter, TimePoint now);
  void leave_queue(Waiter& waiter, TimePoint now);
  Offer refuse(Waiter& waiter, Reason reason, std::uint64_t& count);

  Slots slots_;
  config::Late late_;
  bool downgrades_;
  bool dynamic_weights_ = false;
  std::vector<ClassId> evict_;
  std::vector<Class> classes_;
  std::unique_ptr<Discipline> discipline_;
  MinShares min_shares_;
  Queues queues_;
  DynamicWeight boost_;
  TargetWait target_wait_;
  HoldTime hold_;
  QuietHold quiet_hold_;
  DeadlineWheel wheel_;
  WheelList due_;  // out of their class queues, to be collected by expire()
  Background background_;
  std::uint32_t queued_ = 0;
  std::uint32_t borrowing_ = 0;  // classes with more waiters than their max_queue
  double busy_ = 0;              // slot seconds until last_
  TimePoint last_{};
};

}  // namespace spillway::dispatch
