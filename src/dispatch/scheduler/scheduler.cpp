#include "dispatch/scheduler/scheduler.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace spillway::dispatch {
namespace {

// A longer prediction has no more meaning.
constexpr double kLongestPrediction = 1e6;  // seconds

TimePoint before(TimePoint time, Duration earlier) {
  return time == kNever ? kNever : time - earlier;
}

DueTime before(const DueTime& due, Duration earlier) {
  return {before(due.operators, earlier), before(due.at, earlier)};
}

void set_deadline(Waiter& waiter, const DueTime& due) {
  waiter.deadline = due.at;
  waiter.operators_deadline = due.operators;
}

// The client's deadline passed, or will pass, before the operator's.
bool is_clients_deadline(const Waiter& waiter) {
  return waiter.deadline < waiter.operators_deadline;
}

Duration longest_of(std::span<const config::TrafficClass> classes) {
  Duration longest{0};
  for (const config::TrafficClass& one : classes)
    longest = std::max(longest, Duration(one.max_wait));
  return longest;
}

Duration duration_of(double seconds) { return from_seconds(std::min(seconds, kLongestPrediction)); }

// Initialises the waiter as a newcomer with these terms.
void prepare(Waiter& waiter, const Terms& terms, TimePoint now) {
  waiter.state = Waiter::State::idle;
  waiter.reason = Reason::none;
  waiter.traffic_class = waiter.served_as = terms.traffic_class;
  waiter.in_background = terms.in_background;
  waiter.late = waiter.by_clients_deadline = false;
  waiter.arrived = now;
  set_deadline(waiter, terms.deadline);
  waiter.cost = std::isfinite(terms.cost) && terms.cost > 0 ? terms.cost : 1;
  waiter.tenant = terms.tenant;
  waiter.tenant_weight = static_cast<float>(terms.tenant_weight);
  waiter.waited = Duration{0};
  waiter.predicted_wait.reset();
}

}  // namespace

Scheduler::Scheduler(const config::Dispatch& settings,
                     std::span<const config::TrafficClass> classes, bool adapts)
    : slots_{.total = settings.concurrency},
      late_(settings.late),
      downgrades_(settings.expire_policy == config::ExpirePolicy::downgrade),
      evict_(settings.evict),
      classes_(classes.size()),
      discipline_(make_discipline(settings, classes)),
      min_shares_(classes, discipline_->shares_by_cost()),
      queues_(classes),
      boost_(settings.target_wait),
      target_wait_(settings.target_wait, longest_of(classes), adapts) {
  dynamic_weights_ = settings.dynamic_weights && discipline_->shares_by_weight();
  for (std::size_t i = 0; i < classes.size(); ++i) {
    Class& c = classes_[i];
    c.max_queue = classes[i].max_queue;
    c.max_wait = classes[i].max_wait;
    c.sla = classes[i].sla;
    c.stretches = classes[i].stretches;
    c.reserved = classes[i].reserved;
    c.max_inflight = classes[i].max_inflight.value_or(slots_.total);
    c.weight = discipline_->weight(static_cast<ClassId>(i));
    assert(c.reserved <= c.max_inflight);
    slots_.reserved += c.reserved;
  }
  assert(slots_.reserved <= slots_.total);
  slots_.open_reserved = slots_.reserved;
}

Offer Scheduler::offer(Waiter& waiter, const Terms& terms, TimePoint at) {
  assert(waiter.state != Waiter::State::queued);
  const TimePoint now = advance(at);
  prepare(waiter, terms, now);
  if (terms.in_background) return offer_in_background(waiter, terms, now);
  const Bounds its = bounds(classes_[index(terms.traffic_class)], terms);
  Offer offer = offer_to_client(waiter, terms, its, now);
  offer.deadline = its.deadline;
  return offer;
}

Offer Scheduler::offer_to_client(Waiter& waiter, const Terms& terms, const Bounds& its,
                                 TimePoint now) {
  Class& c = classes_[index(terms.traffic_class)];
  const bool drops_late = late_ == config::Late::drop;
  const DueTime answer_by = drops_late ? terms.answer_by : DueTime();
  set_deadline(waiter, earlier_of(its.deadline, before(answer_by, terms.takes_at_least)));
  if (waiter.deadline <= now) return refuse(waiter, Reason::deadline_expired, c.totals.expired);
  if (queued(terms.traffic_class) == 0 && may_start(c)) {
    discipline_->passed(waiter);
    start(waiter, now);
    return {Offer::Kind::granted, Reason::none, Duration{0}, nullptr};
  }

  if (terms.gives_way && is_wanted_above(terms.traffic_class))
    return refuse(waiter, terms.short_wait_reason, c.totals.not_short);
  queues_.set_newest_first(terms.traffic_class, terms.newest_first);
  const std::uint32_t ahead = queued(terms.traffic_class);
  // If it waits, it must start in time for its answer.
  set_deadline(waiter, earlier_of(its.deadline, before(answer_by, terms.takes)));
  if (waiter.deadline <= now) return refuse(waiter, Reason::deadline_expired, c.totals.expired);
  Newcomer newcomer{.traffic_class = terms.traffic_class,
                    .ahead = queues_.of(terms.traffic_class).turns_before(waiter),
                    .now = now,
                    .deadline = waiter.operators_deadline,
                    .cost = waiter.cost};
  const auto seconds = seconds_to_wait(newcomer);
  if (seconds) waiter.predicted_wait = duration_of(*seconds);
  // The first waiter of a class is never refused on a prediction: the discipline needs a waiter of
  // every class to choose from; otherwise a class that rarely gets a turn would get none.
  if (seconds && ahead > 0) {
    switch (prospect(waiter, terms, its, now)) {
      case Prospect::good: break;
      case Prospect::in_vain: return refuse(waiter, Reason::queue_wait_risk, c.totals.wait_risk);
      case Prospect::not_short: return refuse(waiter, terms.short_wait_reason, c.totals.not_short);
    }
  }

  Waiter* evicted = nullptr;
  if (!has_room(index(terms.traffic_class))) {
    evicted = evict_for(waiter, now);
    if (evicted == nullptr) return refuse(waiter, Reason::queue_full, c.totals.queue_full);
    target_wait_.refused();
  }
  // With process_with_tag waiters start late rather than expire.
  const Duration patience = shorter_of(its.max_wait, waiter.deadline, now);
  const bool patient = late_ == config::Late::process_with_tag || patience > kNever - now;
  waiter.expires_at = patient ? kNever : now + patience;
  enqueue(waiter, now);
  ++c.totals.enqueued;
  adapt_weights(now);
  return {Offer::Kind::queued, Reason::none, waiter.predicted_wait, evicted};
}

Waiter* Scheduler::release(ClassId served_as, Duration held, TimePoint now, bool for_job) {
  give_back(served_as, held, now, for_job);
  return next(now);
}

void Scheduler::give_back(ClassId served_as, Duration held, TimePoint at, bool for_job) {
  const TimePoint now = advance(at);
  Class& c = classes_[index(served_as)];
  assert(c.running > 0 && slots_.running > 0);
  --c.running;
  --slots_.running;
  if (for_job) --slots_.for_jobs;
  if (c.running < c.reserved) ++slots_.open_reserved;
  slots_.changed = now;
  hold_.record(held, now);
  quiet_hold_.record(held, queued_ == 0 && 2 * slots_.running < slots_.total, now);
}

Waiter* Scheduler::next(TimePoint at) {
  const TimePoint now = advance(at);
  adapt_weights(now);
  while (slots_.free() > 0) {
    const ClassSet competing = ready();
    if (competing == 0) return nullptr;
    const std::optional<ClassId> due = min_shares_.due(competing, queues_);
    Waiter& waiter = *queues_.next(due ? *due : discipline_->pick(competing, queues_, now));
    const bool overdue = waiter.expires_at <= now;
    leave_queue(waiter, now);
    if (overdue) {
      due_.push_back(waiter);
      continue;
    }
    queues_.served(waiter);
    due ? discipline_->passed(waiter) : discipline_->served(waiter, queues_);
    min_shares_.served(waiter, competing, queues_);
    start(waiter, now);
    return &waiter;
  }
  return nullptr;
}

bool Scheduler::cancel(Waiter& waiter, TimePoint at) {
  if (waiter.state != Waiter::State::queued) return false;
  const bool is_clients = !waiter.in_background;
  leave_queue(waiter, advance(at));
  waiter.state = Waiter::State::idle;
  if (!is_clients) return true;
  ++classes_[index(waiter.traffic_class)].totals.cancelled;
  return true;
}

Waiter* Scheduler::expire(TimePoint at) {
  const TimePoint now = advance(at);
  wheel_.collect(now, due_);
  while (Waiter* waiter = due_.front()) {
    leave_queue(*waiter, now);
    if (downgrades_ && downgrade(*waiter, now)) continue;
    ClassTotals& totals = classes_[index(waiter->traffic_class)].totals;
    const bool missed = waiter->expires_at == waiter->deadline;
    waiter->by_clients_deadline = missed && is_clients_deadline(*waiter);
    std::uint64_t& misses =
        waiter->by_clients_deadline ? totals.clients_miss : totals.deadline_miss;
    ++(missed ? misses : totals.queue_timeout);
    waiter->reason = missed ? Reason::deadline_expired : Reason::queue_timeout;
    waiter->state = Waiter::State::expired;
    return waiter;
  }
  return nullptr;
}

// Moves it to the tail of the next lower class's queue; false if there is none, it has no room, or
// the wait there would be too long.
bool Scheduler::downgrade(Waiter& waiter, TimePoint now) {
  const std::size_t lower = index(waiter.served_as) + 1;
  if (lower == classes_.size() || waiter.deadline <= now || !has_room(lower)) return false;
  const Duration patience = shorter_of(longest_wait(classes_[lower]), waiter.deadline, now);
  if (patience <= Duration{0}) return false;
  const auto id = static_cast<ClassId>(lower);
  Newcomer newcomer{.traffic_class = id,
                    .ahead = queues_.of(id).turns_before(waiter),
                    .now = now,
                    .deadline = waiter.operators_deadline,
                    .cost = waiter.cost};
  const auto seconds = seconds_to_wait(newcomer);
  if (seconds && queued(id) > 0 && duration_of(*seconds) > patience) return false;
  ++classes_[index(waiter.served_as)].totals.downgraded;
  waiter.served_as = id;
  waiter.expires_at = now + patience;
  enqueue(waiter, now);
  return true;
}

Duration Scheduler::oldest_wait(ClassId id, TimePoint now) const {
  const Waiter* oldest = queues_.oldest(index(id));
  return oldest == nullptr ? Duration{0} : std::max(now - oldest->arrived, Duration{0});
}

std::optional<Duration> Scheduler::predicted_wait(ClassId id, TimePoint now) const {
  const std::uint32_t ahead = queued(id);
  if (ahead == 0 && may_start(classes_[index(id)])) return Duration{0};
  Newcomer newcomer{
      .traffic_class = id, .ahead = static_cast<double>(ahead), .now = std::max(now, last_)};
  const auto seconds = seconds_to_wait(newcomer);
  return seconds ? std::optional(duration_of(*seconds)) : std::nullopt;
}

std::optional<Duration> Scheduler::wait_for_room(ClassId id, TimePoint now) const {
  return waits_for_itself(classes_[index(id)]) ? Duration{0} : predicted_wait(id, now);
}

Duration Scheduler::target_wait(ClassId id, Duration max_wait) const {
  const bool is_lowest = index(id) + 1 == classes_.size();
  return std::min(is_lowest ? target_wait_.target() : target_wait_.target_above(), max_wait / 2);
}

double Scheduler::busy_slot_seconds(TimePoint now) const {
  const std::uint32_t running = slots_.running - slots_.for_jobs;
  return busy_ - background_.busy + running * to_seconds(std::max(now - last_, Duration{0}));
}

double Scheduler::shared_slot_seconds(TimePoint now) const {
  return slots_.shared_seconds + slots_.shared() * to_seconds(std::max(now - last_, Duration{0}));
}

TimePoint Scheduler::advance(TimePoint now) {
  if (now <= last_) return last_;
  slots_.kept_seconds += slots_.kept() * to_seconds(now - last_);
  slots_.shared_seconds += slots_.shared() * to_seconds(now - last_);
  busy_ += slots_.running * to_seconds(now - last_);
  background_.busy += slots_.for_jobs * to_seconds(now - last_);
  adapt_target_wait(now);
  return last_ = now;
}

// Whether an unreserved slot, or one of the class's own, is free, and its max_inflight not reached.
bool Scheduler::may_start(const Class& c) const {
  const std::uint32_t kept = slots_.keeps_reserved ? slots_.open_reserved - c.open_reserved() : 0;
  return slots_.free() > kept && !is_at_cap(c);
}

// Whether a class above it has a waiter that could use any slot given back.
bool Scheduler::is_wanted_above(ClassId id) const {
  const ClassSet above = set_of(id) - 1;
  for (ClassSet rest = queues_.backlogged() & above; rest != 0; rest &= rest - 1) {
    if (!waits_for_itself(classes_[static_cast<std::size_t>(std::countr_zero(rest))])) return true;
  }
  return false;
}

// The classes that compete for a free slot: those with a waiter that may start.
ClassSet Scheduler::ready() const {
  ClassSet ready = 0;
  for (ClassSet rest = queues_.backlogged(); rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    if (may_start(classes_[static_cast<std::size_t>(i)])) ready |= ClassSet{1} << i;
  }
  return ready;
}

std::optional<double> Scheduler::seconds_to_wait(Newcomer& newcomer) const {
  auto hold = hold_.mean();
  if (!hold) return std::nullopt;
  // If no slot has been taken or given back since, each has been held for at least that time: a
  // stalled upstream gives back no slots to learn from.
  if (slots_.free() == 0) hold = std::max(*hold, to_seconds(newcomer.now - slots_.changed));
  const Class& c = classes_[index(newcomer.traffic_class)];
  Backlog backlog;
  const double reserved_for_others = slots_.reserved - c.reserved;
  backlog.slots = std::max<double>(1, slots_.total - reserved_for_others);
  newcomer.hold = *hold;
  newcomer.slots = backlog.slots;
  backlog.turns = min_shares_.turns(discipline_->turns(newcomer, queues_), newcomer, queues_);
  backlog.own_turns = newcomer.ahead + 1;
  backlog.own_slots = c.running >= c.max_inflight ? c.max_inflight : 0;
  backlog.reserved_slots = c.reserved;
  return predict_wait(backlog, *hold);
}

void Scheduler::adapt_weights(TimePoint now) {
  if (!dynamic_weights_ || !boost_.due(now)) return;
  constexpr ClassId kTop{0};
  const Class& top = classes_[index(kTop)];
  double last = 0;
  if (const std::uint32_t waiting = queued(kTop); waiting > 0) {
    Newcomer newcomer{.traffic_class = kTop, .ahead = waiting - 1.0, .now = now};
    last = seconds_to_wait(newcomer).value_or(0);
  }
  discipline_->set_weight(kTop, top.weight * boost_.update(duration_of(last), now));
}

void Scheduler::take_slot(Waiter& waiter, TimePoint now) {
  Class& c = classes_[index(waiter.served_as)];
  assert(slots_.free() > 0 && c.running < c.max_inflight);
  if (c.running < c.reserved) --slots_.open_reserved;
  ++c.running;
  ++slots_.running;
  slots_.changed = now;
  waiter.state = Waiter::State::granted;
}

void Scheduler::start(Waiter& waiter, TimePoint now) {
  take_slot(waiter, now);
  ClassTotals& totals = classes_[index(waiter.traffic_class)].totals;
  waiter.late = waiter.deadline <= now;
  ++totals.started;
  if (waiter.late) ++(is_clients_deadline(waiter) ? totals.clients_miss : totals.deadline_miss);
  totals.wait_sum += waiter.waited;
  totals.wait_max = std::max(totals.wait_max, waiter.waited);
}

void Scheduler::enqueue(Waiter& waiter, TimePoint now) {
  waiter.state = Waiter::State::queued;
  queues_.push(waiter);
  if (waiter.expires_at != kNever) wheel_.insert(waiter, now);
  ++queued_;
  if (queued(waiter.served_as) == classes_[index(waiter.served_as)].max_queue + 1) ++borrowing_;
}

// Removes it from its lists: its class's, and the wheel or due_.
void Scheduler::leave_queue(Waiter& waiter, TimePoint now) {
  waiter.waited = now - waiter.arrived;
  if (waiter.Hook<InDeadlineWheel>::linked()) waiter.Hook<InDeadlineWheel>::unlink();
  if (!waiter.Hook<InClassQueue>::linked()) return;
  if (waiter.in_background) {
    waiter.Hook<InClassQueue>::unlink();
    return;
  }
  queues_.remove(waiter);
  --queued_;
  if (queued(waiter.served_as) == classes_[index(waiter.served_as)].max_queue) --borrowing_;
}

Offer Scheduler::refuse(Waiter& waiter, Reason reason, std::uint64_t& count) {
  ++count;
  if (reason == Reason::deadline_expired)
    waiter.by_clients_deadline = is_clients_deadline(waiter) && waiter.operators_deadline > last_;
  else
    target_wait_.refused();
  waiter.reason = reason;
  return {Offer::Kind::refused, reason, waiter.predicted_wait, nullptr};
}

}  // namespace spillway::dispatch
