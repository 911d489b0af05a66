#include "proxy/upstream/gate.hpp"

#include <algorithm>
#include <utility>

#include "proxy/upstream/servers.hpp"

namespace spillway::proxy {

namespace {
// Every waiter was passed to enter() as a Ticket.
Ticket& ticket_of(dispatch::Waiter& waiter) { return static_cast<Ticket&>(waiter); }

void deliver(dispatch::Waiter& waiter) {
  Ticket& ticket = ticket_of(waiter);
  ticket.mailbox->deliver(ticket);
}
}  // namespace

std::atomic<std::uint32_t>* Slots::count_of(SlotWait wait, ClassId served_as) {
  switch (wait) {
    case SlotWait::client: return &awaiting_client;
    case SlotWait::late: return &late[index(served_as)];
    case SlotWait::abandoned: return &abandoned;
    case SlotWait::delayed: return &delayed;
    default: return nullptr;
  }
}

void Slots::change_wait(ClassId served_as, SlotWait from, SlotWait to, TimePoint now,
                        Duration waited) {
  if (to == SlotWait::late && late_in_all() + abandoned.load(std::memory_order_relaxed) == 0) {
    begin_silence(now);
    first_waited_.store(waited.count(), std::memory_order_relaxed);
  }
  if (auto* const count = count_of(from, served_as)) count->fetch_sub(1, std::memory_order_relaxed);
  if (auto* const count = count_of(to, served_as)) count->fetch_add(1, std::memory_order_relaxed);
  if (from != SlotWait::late) return;
  const std::uint32_t most = late_in_all();
  std::uint32_t freed = freed_for_late.load(std::memory_order_relaxed);
  while (freed > 0 && !freed_for_late.compare_exchange_weak(freed, std::min(freed - 1, most),
                                                            std::memory_order_relaxed)) {
  }
}

bool Slots::is_silent(TimePoint now) const {
  const Duration first_waited(first_waited_.load(std::memory_order_relaxed));
  return now - silent_since() >=
         std::clamp(first_waited, resilience::kSilence, resilience::kLongestSilence);
}

void Slots::frees_one(TimePoint now) {
  begin_silence(now);
  const std::uint32_t most = late_in_all();
  std::uint32_t freed = freed_for_late.load(std::memory_order_relaxed);
  while (freed < most &&
         !freed_for_late.compare_exchange_weak(freed, freed + 1, std::memory_order_relaxed)) {
  }
}

Gate::Gate(const config::Dispatch& settings, std::span<const config::TrafficClass> classes,
           std::shared_ptr<Slots> slots, bool adapts, std::size_t shadow_routes,
           const Servers* servers)
    : slots_(std::move(slots)),
      servers_(servers),
      concurrency_(settings.concurrency),
      scheduler_(settings, classes, adapts) {
  for (const config::TrafficClass& each : classes) class_names_.push_back(each.name);
  if (shadow_routes > 0) shadow_.emplace(scheduler_, shadow_routes);
  const std::lock_guard lock(slots_->mutex);
  if (!slots_->gates.empty()) scheduler_.continue_from(slots_->gates.back()->scheduler_);
  slots_->gates.push_back(this);
}

Gate::~Gate() {
  const std::lock_guard lock(slots_->mutex);
  std::erase(slots_->gates, this);
  for (Gate* gate : slots_->gates) gate->update_slot_share();
}

dispatch::Offer Gate::enter(Ticket& ticket, const dispatch::Terms& terms, TimePoint now) {
  const std::lock_guard lock(slots_->mutex);
  follow_servers(now);
  const dispatch::Offer offer = scheduler_.offer(ticket, terms, now);
  if (offer.evicted != nullptr) deliver(*offer.evicted);
  return offer;
}

void Gate::leave(ClassId served_as, Duration held, TimePoint now, bool for_job) {
  const std::lock_guard lock(slots_->mutex);
  if (is_steady()) {
    deliver_startable(scheduler_.release(served_as, held, now, for_job), now);
    deliver_background(now);
    return;
  }
  scheduler_.give_back(served_as, held, now, for_job);
  grant_waiting(now);
}

bool Gate::give_to_first(ClassId served_as, Duration held, TimePoint now, bool for_job) {
  const std::lock_guard lock(slots_->mutex);
  Gate& newest = *slots_->gates.back();  // requests that come wait there
  if (index(newest.class_like(*this, served_as)) == 0 || newest.shadow_) return false;
  if (!newest.scheduler_.first_waits_long(now)) return false;
  if (!slots_->given_to_first.try_increment(newest.most_given_to_first())) return false;
  newest.keep_for_first(now);
  scheduler_.give_back(served_as, held, now, for_job);
  grant_waiting(now);
  return true;
}

// As many slots as are given now: when the work behind one ends, the lower classes have it back.
void Gate::keep_for_first(TimePoint now) {
  scheduler_.keep_for_first(std::min(slots_->given_to_first.count(), most_given_to_first()), now);
}

Withdrawal Gate::cancel(Ticket& ticket, TimePoint now) {
  const std::lock_guard lock(slots_->mutex);
  if (!scheduler_.cancel(ticket, now)) return Withdrawal::too_late;
  grant_waiting(now);
  return Withdrawal::withdrawn;
}

bool Gate::would_serve(ClassId served_as) const {
  const std::lock_guard lock(slots_->mutex);
  return would_serve_locked(served_as, late_for(served_as)) != dispatch::WouldServe::nobody;
}

std::optional<resilience::SlotLoad> Gate::contention(ClassId served_as, TimePoint now) const {
  const std::lock_guard lock(slots_->mutex);
  const std::uint32_t awaiting_client = slots_->awaiting_client.load(std::memory_order_relaxed);
  const bool are_many =
      awaiting_client >= resilience::least_for_own_class(slots_->gates.back()->limit());
  Late late = late_for(served_as, are_many && slots_->is_silent(now));
  const std::uint32_t running = running_in_all();
  const bool stands_still = resilience::is_at_standstill(running, awaiting_client, late.in_all);
  if (!stands_still) late.asking = 0;
  const std::uint32_t delayed = late.in_all + slots_->delayed.load(std::memory_order_relaxed);
  const bool are_delayed =
      are_many && resilience::is_at_standstill(running, awaiting_client, delayed);
  if (!are_delayed) late.for_pauses = 0;
  const dispatch::WouldServe whom = would_serve_locked(served_as, late);
  const bool has_waiter = whom == dispatch::WouldServe::same_or_higher;
  const bool only_for_pauses = late.asking == 0 && !has_waiter && late.for_pauses > 0;
  if (only_for_pauses) late.asking = late.for_pauses;
  if (whom == dispatch::WouldServe::nobody && late.asking == 0) return std::nullopt;
  resilience::SlotLoad load{
      .slots = slots_->gates.back()->limit(),
      .awaiting_client = awaiting_client,
      .waiting = late.asking,
      .only_lower_wait = whom == dispatch::WouldServe::lower_class && late.asking == 0,
      .only_late_wait = !has_waiter && late.asking > 0,
      .only_for_pauses = only_for_pauses};
  for (const Gate* gate : slots_->gates) load.waiting += gate->scheduler_.queued();
  load.waited = late.asking > 0 ? resilience::kMostPauses : longest_waited(served_as, now);
  // A few slow clients do not explain a pause of the upstream, however many wait behind it.
  const std::uint32_t at_work = resilience::at_work(load.slots, running, late.in_all);
  const bool is_held_up = stands_still && awaiting_client > resilience::kPlentifulShare * at_work &&
                          awaiting_client >= resilience::least_for_own_class(load.slots);
  if (late.asking > 0 || (has_waiter && is_held_up)) load.slots = std::min(load.slots, at_work);
  if (are_delayed) load.serves = resilience::at_work(load.slots, running, delayed);
  return resilience::may_ask(load) ? std::optional(load) : std::nullopt;
}

// After a limit was lowered, several slots have to be released before one waiter is served. Slots
// that wait for clients, and those of late requests, may be released together with this one; when
// the others will be released is not known.
dispatch::WouldServe Gate::would_serve_locked(ClassId served_as, const Late& late) const {
  auto most = dispatch::WouldServe::nobody;
  const std::uint32_t can_follow =
      slots_->awaiting_client.load(std::memory_order_relaxed) + late.in_all;
  for (const Gate* gate : slots_->gates) {
    most = std::max(most,
                    gate->scheduler_.would_serve({.served_as = gate->class_like(*this, served_as),
                                                  .is_elsewhere = gate != this,
                                                  .can_follow = can_follow}));
  }
  return most;
}

// Each late request of a higher class asks for one slot (Slots::freed_for_late). While the upstream
// is silent, one late request of the same class asks too, if several are late: if the upstream has
// fewer workers than slots, slow clients of one class could hold all of them. While response heads
// come there are free workers. All late requests ask for the slots of clients that pause. Gates of
// a former configuration count by the rank of their classes.
Gate::Late Gate::late_for(ClassId served_as, bool may_ask_its_own) const {
  Late late;
  for (std::size_t c = 0; c < kMaxClasses; ++c) {
    const std::uint32_t its = slots_->late[c].load(std::memory_order_relaxed);
    late.in_all += its;
    if (c < index(served_as)) late.asking += its;
  }
  const std::uint32_t freed = slots_->freed_for_late.load(std::memory_order_relaxed);
  const auto of_its_class = slots_->late[index(served_as)].load(std::memory_order_relaxed);
  if (late.asking > 0 || of_its_class > 1) late.for_pauses = late.asking + of_its_class;
  late.asking -= std::min(freed, late.asking);
  if (may_ask_its_own && late.asking == 0 && of_its_class > 1) late.asking = 1;
  late.in_all += slots_->abandoned.load(std::memory_order_relaxed);
  return late;
}

// The longest wait for a slot among the requests of this class and of higher ones.
Duration Gate::longest_waited(ClassId served_as, TimePoint now) const {
  Duration longest{0};
  for (const Gate* gate : slots_->gates) {
    const std::size_t last = index(gate->class_like(*this, served_as));
    for (std::size_t c = 0; c <= last; ++c)
      longest = std::max(longest, gate->scheduler_.oldest_wait(ClassId(c), now));
  }
  return longest;
}

// The class of the same name, or else of the same rank.
ClassId Gate::class_like(const Gate& other, ClassId id) const {
  if (this == &other) return id;
  const auto same = std::ranges::find(class_names_, other.class_names_[index(id)]);
  const auto place = static_cast<std::size_t>(same - class_names_.begin());
  return ClassId(same != class_names_.end() ? place : std::min(index(id), class_names_.size() - 1));
}

void Gate::expire(TimePoint now) {
  const std::lock_guard lock(slots_->mutex);
  if (shadow_) return settle_shadow(now);
  while (dispatch::Waiter* waiter = scheduler_.expire(now)) deliver(*waiter);
  if (is_newest()) keep_for_first(now);
  grant_waiting(now);
}

void Gate::deliver_startable(dispatch::Waiter* first, TimePoint now) {
  for (dispatch::Waiter* waiter = first; waiter != nullptr; waiter = scheduler_.next(now)) {
    shadow_ ? shadow_->granted(*waiter, now) : deliver(*waiter);
  }
}

void Gate::deliver_background(TimePoint now) {
  while (dispatch::Waiter* waiter = scheduler_.next_in_background(now)) deliver(*waiter);
}

void Gate::settle_shadow(TimePoint now) {
  if (!is_steady()) update_slot_share();
  shadow_->advance(now);
  // Jobs wait for real slots: those that ghosts have left free.
  is_only_gate() ? deliver_background(now) : grant_waiting(now);
}

dispatch::ShadowGate::Entry Gate::enter_shadow(RouteId route, const dispatch::Terms& terms,
                                               TimePoint now) {
  const std::lock_guard lock(slots_->mutex);
  follow_servers(now);
  return shadow_->enter(route, terms, now);
}

Gate::Ghost* Gate::pass_shadow(RouteId route, TimePoint now) {
  const std::lock_guard lock(slots_->mutex);
  return &shadow_->pass(route, now);
}

std::optional<Reason> Gate::leave_shadow(Ghost& ghost, bool served, TimePoint now) {
  const std::lock_guard lock(slots_->mutex);
  if (!is_steady()) update_slot_share();
  return served ? shadow_->ended(ghost, now) : shadow_->left(ghost, now);
}

void Gate::take_shadow_events(std::vector<dispatch::ShadowGate::Event>& events) {
  events.clear();
  if (!shadow_) return;
  const std::lock_guard lock(slots_->mutex);
  while (const auto event = shadow_->next_event()) events.push_back(*event);
}

std::uint32_t Gate::running_elsewhere() const {
  std::uint32_t sum = 0;
  for (const Gate* gate : slots_->gates) {
    if (gate != this) sum += gate->scheduler_.running();
  }
  return sum;
}

std::uint32_t Gate::running_in_all() const { return scheduler_.running() + running_elsewhere(); }

std::uint32_t Gate::running_elsewhere(std::string_view traffic_class) const {
  std::uint32_t sum = 0;
  for (const Gate* gate : slots_->gates) {
    if (gate == this) continue;
    for (std::size_t c = 0; c < gate->class_names_.size(); ++c) {
      if (gate->class_names_[c] == traffic_class) sum += gate->scheduler_.running(ClassId(c));
    }
  }
  return sum;
}

// The number of slots has not changed since the last call.
bool Gate::is_steady() {
  const bool is_whole = servers_ == nullptr || servers_->is_whole();
  const bool was_whole = std::exchange(was_whole_, is_whole);
  return is_only_gate() && is_whole && was_whole;
}

// Requests that wait go before new ones, also for the slots of a server that has just returned.
void Gate::follow_servers(TimePoint now) {
  if (is_steady()) return;
  const std::uint32_t before = scheduler_.concurrency();
  update_slot_share();
  if (scheduler_.concurrency() > before) grant_waiting(now);
}

// Reserved slots stay, and the other classes keep one more, as under an automatic limit.
std::uint32_t Gate::limit() const {
  const std::uint32_t all = limit_of_all();
  if (servers_ == nullptr) return all;
  return std::min(all, std::max(servers_->usable(all), reserved_ + 1));
}

// Requests of former gates in flight at lost servers keep their slots too.
std::uint32_t Gate::limit_of_gates() const {
  const Gate& newest = *slots_->gates.back();
  const std::uint32_t most = std::min(limit_of_all(), newest.concurrency_);
  std::uint64_t slots = newest.limit();
  for (const Gate* gate : slots_->gates) {
    if (gate == &newest || gate->servers_ == nullptr || slots >= most) continue;
    slots += gate->servers_->elsewhere(most);
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(slots, most));
}

void Gate::update_slot_share() {
  using Reserved = dispatch::Scheduler::Reserved;
  const Gate& newest = *slots_->gates.back();
  scheduler_.share_slots(limit_of_gates(), running_elsewhere(),
                         this == &newest ? Reserved::kept : Reserved::lent);
  for (std::size_t c = 0; c < class_names_.size(); ++c)
    scheduler_.set_elsewhere(ClassId(c), running_elsewhere(class_names_[c]));
}

// Free slots go to waiters at the oldest gate first; what is left goes to background requests.
void Gate::grant_waiting(TimePoint now) {
  if (is_only_gate()) {
    update_slot_share();
    deliver_startable(scheduler_.next(now), now);
    deliver_background(now);
    return;
  }
  for (Gate* gate : slots_->gates) {
    gate->update_slot_share();
    gate->deliver_startable(gate->scheduler_.next(now), now);
  }
  for (Gate* gate : slots_->gates) {
    gate->update_slot_share();
    gate->deliver_background(now);
  }
}

void Gate::limit_to(std::uint32_t slots, TimePoint now) {
  const std::lock_guard lock(slots_->mutex);
  if (slots_->limit == slots) return;
  slots_->limit = slots;
  for (Gate* gate : slots_->gates) gate->update_slot_share();
  grant_waiting(now);
}

void Gate::read_load(Load& load, TimePoint now) {
  const std::lock_guard lock(slots_->mutex);
  load.busy_slot_seconds = scheduler_.busy_slot_seconds(now);
  load.shared_slot_seconds = scheduler_.shared_slot_seconds(now);
  load.limit = limit();
  load.reserved = scheduler_.reserved();
  load.awaiting_client = slots_->awaiting_client.load(std::memory_order_relaxed);
  load.behind_others = slots_->late_in_all() + slots_->abandoned.load(std::memory_order_relaxed);
  load.mean_hold = scheduler_.mean_hold();
  const std::size_t classes = scheduler_.class_count();
  load.queued.resize(classes);
  load.started.resize(classes);
  load.predicted_wait.resize(classes);
  for (std::size_t c = 0; c < classes; ++c) {
    const ClassId id{static_cast<std::uint8_t>(c)};
    load.queued[c] = scheduler_.queued(id);
    load.started[c] = scheduler_.totals(id).started;
    load.predicted_wait[c] = to_seconds(scheduler_.wait_for_room(id, now).value_or(Duration{0}));
  }
}

void Gate::read_snapshot(observe::UpstreamSnapshot& snapshot, TimePoint now) {
  const std::lock_guard lock(slots_->mutex);
  snapshot.inflight = running_in_all();
  snapshot.concurrency_limit = concurrency_;
  snapshot.effective_limit = limit();
  snapshot.target_wait = scheduler_.target_wait().target();
  snapshot.classes.resize(scheduler_.class_count());
  for (std::size_t c = 0; c < snapshot.classes.size(); ++c) {
    const ClassId id{static_cast<std::uint8_t>(c)};
    snapshot.classes[c] = {.queued = scheduler_.queued(id),
                           .inflight = scheduler_.running(id),
                           .oldest_wait = scheduler_.oldest_wait(id, now),
                           .predicted_wait = scheduler_.predicted_wait(id, now),
                           .weight = scheduler_.weight(id),
                           .totals = scheduler_.totals(id)};
  }
}

}  // namespace spillway::proxy
