// Whose turn is it? The slots of one upstream and the bounded class queues before them.
//
// Pure and not thread-safe: the gate holds a lock around every call, and after a release hands
// out slots until next() yields nothing more.
// A `now` older than the last one (read just before another thread got the lock) is taken for
// the last one. Never more than `concurrency` slots are held, but after share_slots(). Nothing
// allocates after construction.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "base/reason.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "dispatch/class_queue.hpp"
#include "dispatch/deadline_wheel.hpp"
#include "dispatch/discipline.hpp"
#include "dispatch/dynamic_weight.hpp"
#include "dispatch/queues.hpp"
#include "dispatch/wait_prediction.hpp"
#include "dispatch/waiter.hpp"

namespace spillway::dispatch {

struct Terms {
  ClassId traffic_class{};
  TimePoint deadline = kNever;
  // Longest wait it accepts; usually its class's max_wait.
  Duration max_wait = Duration::max();
  // The part of its patience (its longest wait, or its deadline if that is sooner) that the
  // predicted wait may take up, in (0, 1]. A prediction is a mean: of those let in last at 1 every
  // other one would wait in vain.
  double certainty = 1;
  // Refuse it with short_wait_reason if no slot is free to its class, its class already has a
  // waiter, and the predicted wait exceeds this; nullopt: no such condition. A class without a
  // waiter may always queue one: so no slot idles and the discipline always has someone of each
  // class to choose.
  std::optional<Duration> short_wait;
  Reason short_wait_reason = Reason::none;
  // A slot that is free now or none: refused without a reason otherwise. Not counted in
  // ClassTotals, which are about clients' requests.
  bool in_background = false;
  // Estimated milliseconds of the upstream's time; what is not above 0 and finite counts as 1.
  double cost = 1;
};

struct Offer {
  enum class Kind : std::uint8_t { granted, queued, refused };

  Kind kind = Kind::refused;
  Reason reason = Reason::none;            // of the refusal
  std::optional<Duration> predicted_wait;  // zero when granted; nullopt: no prediction
  Waiter* evicted = nullptr;               // lost its place to this one: answer it EVICTED
};

struct ClassTotals {
  std::uint64_t enqueued = 0;       // had to wait
  std::uint64_t started = 0;        // got a slot, at once or after waiting
  std::uint64_t queue_full = 0;     // refused
  std::uint64_t wait_risk = 0;      // refused: predicted wait beyond deadline or longest wait
  std::uint64_t not_short = 0;      // refused: short_wait
  std::uint64_t expired = 0;        // refused: late on arrival
  std::uint64_t queue_timeout = 0;  // waited as long as it may
  std::uint64_t deadline_miss = 0;  // deadline passed in the queue; answered or started late
  std::uint64_t evicted = 0;
  std::uint64_t cancelled = 0;
  Duration wait_sum{0};  // of those started
  Duration wait_max{0};
};

class Scheduler {
 public:
  // At least one class, at most kMaxClasses; all reserved slots together do not exceed the
  // concurrency; max_inflight >= reserved. Checked by assertions only: the configuration's
  // validation is the guard.
  Scheduler(const config::Dispatch& settings, std::span<const config::TrafficClass> classes);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // `waiter` is idle. Granted: it holds a slot. Queued: it will come out of next(), expire() or
  // another's Offer::evicted, or be cancelled. Refused: it is idle again.
  Offer offer(Waiter& waiter, const Terms& terms, TimePoint now);

  // A slot that `traffic_class` was granted is free again, after being held for `held`. Returns
  // next(now). Call it, or give_back(), exactly once for each grant.
  Waiter* release(ClassId traffic_class, Duration held, TimePoint now);
  // The same without a next one.
  void give_back(ClassId traffic_class, Duration held, TimePoint now);

  // The next waiter to start, now granted; nullptr when none may. One release can let several
  // start when lanes are configured: call until nullptr.
  Waiter* next(TimePoint now);

  // True if it was still waiting: it is idle now. False if it was granted, expired or evicted
  // before; a granted one must still be released.
  bool cancel(Waiter& waiter, TimePoint now);

  // The next waiter that ran out of time, now expired with its reason; nullptr when none has.
  // With Late::process_with_tag nobody does.
  Waiter* expire(TimePoint now);

  // Another scheduler before the same slots: until further notice there are so many, of which
  // others hold so many. More may be held then than there are: none is granted until enough are
  // given back. Without `reserves` none is kept for a class that reserved it: whoever that is for
  // comes to the other scheduler.
  void share_slots(std::uint32_t slots, std::uint32_t elsewhere, bool reserves) {
    concurrency_ = slots;
    elsewhere_ = elsewhere;
    reserves_ = reserves;
  }
  // Likewise of a class, whose max_inflight holds for all of them together.
  void set_elsewhere(ClassId id, std::uint32_t running) { classes_[index(id)].elsewhere = running; }

  std::uint32_t concurrency() const { return concurrency_; }
  std::uint32_t running() const { return running_; }
  std::uint32_t running(ClassId id) const { return classes_[index(id)].running; }
  std::uint32_t queued() const { return queued_; }
  std::uint32_t queued(ClassId id) const { return queues_.waiting(id); }
  std::uint32_t max_queue(ClassId id) const { return classes_[index(id)].max_queue; }
  std::size_t class_count() const { return classes_.size(); }
  // The starvation indicator; zero when none waits.
  Duration oldest_wait(ClassId id, TimePoint now) const;
  // Integral of running() over time; only grows.
  double busy_slot_seconds(TimePoint now) const;
  const ClassTotals& totals(ClassId id) const { return classes_[index(id)].totals; }
  // Of a request arriving now; nullopt before 20 slots were given back.
  std::optional<Duration> predicted_wait(ClassId id, TimePoint now) const;
  double weight(ClassId id) const { return discipline_->weight(id); }
  std::optional<double> mean_hold() const { return hold_.mean(); }  // seconds

 private:
  struct Class {
    std::uint32_t max_queue = 0;
    std::uint32_t running = 0;
    std::uint32_t reserved = 0;
    std::uint32_t max_inflight = 0;
    std::uint32_t elsewhere = 0;  // running, granted by other schedulers
    double weight = 1;
    ClassTotals totals;

    std::uint32_t open_reserved() const { return running < reserved ? reserved - running : 0; }
  };

  TimePoint advance(TimePoint now);
  std::uint32_t free_slots() const {
    const std::uint64_t held = std::uint64_t{running_} + elsewhere_;
    return held < concurrency_ ? concurrency_ - static_cast<std::uint32_t>(held) : 0;
  }
  bool may_start(const Class& c) const;
  bool has_place(std::size_t i) const;
  Waiter* evict_for(ClassId id, TimePoint now);
  std::optional<double> seconds_to_wait(Place& place) const;  // fills in hold and slots
  void adapt_weights(TimePoint now);
  void take_slot(Waiter& waiter, TimePoint now);
  void start(Waiter& waiter, TimePoint now);
  void enqueue(Waiter& waiter, TimePoint now);
  void leave_queue(Waiter& waiter, TimePoint now);
  Offer refuse(Waiter& waiter, Reason reason, std::uint64_t& count);

  std::uint32_t concurrency_;
  std::uint32_t elsewhere_ = 0;
  bool reserves_ = true;
  config::Late late_;
  bool dynamic_weights_ = false;
  std::vector<ClassId> evict_;
  std::vector<Class> classes_;
  std::unique_ptr<Discipline> discipline_;
  Queues queues_;
  DynamicWeight boost_;
  HoldTime hold_;
  DeadlineWheel wheel_;
  WheelList due_;  // out of their class queue, to be collected by expire()
  std::uint32_t queued_ = 0;
  std::uint32_t borrowing_ = 0;  // classes with more waiters than places of their own
  std::uint32_t running_ = 0;
  std::uint32_t reserved_ = 0;       // of all classes
  std::uint32_t open_reserved_ = 0;  // reserved slots not in use by their class
  double busy_ = 0;                  // slot seconds until last_
  TimePoint last_{};
  TimePoint slots_changed_{};  // when a slot was last taken or given back
};

}  // namespace spillway::dispatch
